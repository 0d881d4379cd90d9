/// The tree that a node was written for, as the node says itself: salvage reads leaves to which nothing leads any more.
///
/// It is the CRC-32C of the tree's name. What a migration makes to take a tree's place counts as that tree, since nodes are
/// not written again when it does.
struct TreeTag: Hashable, Sendable {
  let rawValue: UInt32

  /// The tag of nodes that do not say it.
  static let none = TreeTag(rawValue: 0)

  init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// - Parameter name: The name of the tree, such as `r7`, or `m.2.r7` while it is made.
  init(of name: String) {
    var bytes = Array(name.utf8)
    let parts = bytes.split(
      separator: UInt8(ascii: "."), maxSplits: 2, omittingEmptySubsequences: false)
    if parts.count == 3, parts[0] == [UInt8(ascii: "m")] { bytes = Array(parts[2]) }
    var checksum = Checksum()
    checksum.update(bytes.rawSpan)
    rawValue = checksum.rawValue
  }
}
