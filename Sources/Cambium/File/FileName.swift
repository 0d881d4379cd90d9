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
    /// Space for when the disk is full.
    case reserve
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
  package static let reserve = FileName(.reserve)

  /// The name this file has until it is complete.
  package var temporary: FileName { FileName(kind, isTemporary: true) }
}

extension FileName {
  /// True of a file without which a store is the same.
  package var isBesidesContent: Bool { self == .lock || self == .reserve }
}

extension FileName: CustomStringConvertible {
  /// The name in the directory. Numbers of segments that are only ever added have ten digits, so
  /// that a listing shows them in order.
  package var description: String {
    let complete =
      switch kind {
      case .pages(let number): "pages-" + FileName.tenDigits(number)
      case .log(let number): "log-\(number)"
      case .blobs(let number): "blobs-" + FileName.tenDigits(number)
      case .lock: "LOCK"
      case .reserve: "RESERVE"
      }
    return isTemporary ? complete + FileName.temporarySuffix : complete
  }

  private static let temporarySuffix = ".new"

  private static func tenDigits(_ number: UInt32) -> String {
    let digits = String(number)
    return String(repeating: "0", count: 10 - digits.count) + digits
  }
}

extension FileName: LosslessStringConvertible {
  /// The file that has this name, or `nil` if no file of a store has it.
  ///
  /// Only the exact text that `description` computes is taken: a `log-007` of another origin in
  /// the directory is not ours to open or remove.
  package init?(_ text: String) {
    let isTemporary = text.hasSuffix(FileName.temporarySuffix)
    let complete = isTemporary ? text.dropLast(FileName.temporarySuffix.count) : text[...]
    guard let kind = Kind(complete) else { return nil }
    self.init(kind, isTemporary: isTemporary)
    guard description.utf8.elementsEqual(text.utf8) else { return nil }
  }
}

extension FileName.Kind {
  /// Reads leniently; the caller compares with the computed name.
  fileprivate init?(_ text: Substring) {
    switch text {
    case "LOCK":
      self = .lock
      return
    case "RESERVE":
      self = .reserve
      return
    default: break
    }
    let parts = text.split(separator: "-", maxSplits: 1)
    guard parts.count == 2, let number = UInt32(parts[1]) else { return nil }
    switch parts[0] {
    case "pages": self = .pages(number)
    case "log": self = .log(number)
    case "blobs": self = .blobs(number)
    default: return nil
    }
  }
}
