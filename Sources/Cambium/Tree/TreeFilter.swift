/// Tells for most keys that a run or a level does not have that it does not, without reading its pages.
final class TreeFilter: Sendable {
  private let filter: KeyFilter

  init(_ filter: consuming KeyFilter) {
    self.filter = filter
  }

  /// - Parameter hash: As `hash(_:)` makes it.
  @inline(__always)
  func mayContain(_ hash: UInt64) -> Bool { filter.mayContain(hash) }

  /// A number that depends on every bit of a key. Each filter is of one tree, so the tree is not in it.
  @inline(__always)
  static func hash(_ key: RawSpan) -> UInt64 { KeyFilter.hash(key) }
}
