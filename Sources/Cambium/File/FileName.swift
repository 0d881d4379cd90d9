/// The name of a file in a store's directory.
///
/// Names are computed from these values and never taken from a file's contents, so no file can
/// lead an operation outside the directory.
package struct FileName: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case pages(UInt32)
    case log(UInt32)
    case blobs(UInt32)
    case lock
  }

  package let kind: Kind
  /// Being created: it gets its real name once it is complete and synced.
  package let isTemporary: Bool

  package init(_ kind: Kind, isTemporary: Bool = false) {
    self.kind = kind
    self.isTemporary = isTemporary
  }

  package static func pages(_ number: UInt32) -> FileName { FileName(.pages(number)) }
  package static func log(_ number: UInt32) -> FileName { FileName(.log(number)) }
  package static func blobs(_ number: UInt32) -> FileName { FileName(.blobs(number)) }
  package static let lock = FileName(.lock)

  /// The name this file has until it is complete.
  package var temporary: FileName { FileName(kind, isTemporary: true) }
}
