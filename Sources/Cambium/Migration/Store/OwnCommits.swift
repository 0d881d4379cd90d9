/// The number of commits that the library made for itself while states were kept from before migrations: slices, counts,
/// rollbacks. A rollback discards only the other commits.
///
/// It is the only entry of a tree of its own, and each of these commits changes it. A kept state has the number of the time
/// when it was kept.
enum OwnCommits {
  static let treeName = "own"
  private static let key: [UInt8] = [1]

  /// - Throws: `.corrupt` (D2), `.io`.
  static func count(in trees: TreeAccess, _ names: TreeNames) throws(StoreError) -> UInt64 {
    var value: [UInt8] = []
    let slot = try names.slot(of: treeName)
    guard try trees.copyValue(of: key.rawSpan, in: slot, to: &value) else { return 0 }
    guard value.count == 8 else {
      throw .corrupt(
        .entry(tree: treeName, key: key), invariant: .schemaContents,
        reason: "it is not a number of commits")
    }
    return value.rawSpan.load(0, as: UInt64.self)
  }

  static func set(
    _ count: UInt64, in trees: TransactionTrees, _ names: TreeNames
  ) throws(StoreError) {
    var value: [UInt8] = []
    value.append(integer: count)
    try trees.put(key.rawSpan, value.rawSpan, in: try names.slot(of: treeName))
  }

  /// Counts a transaction as one of the library's own, if there is or will be a state to roll back to.
  static func note(in trees: TransactionTrees, _ names: TreeNames) throws(StoreError) {
    guard trees.keepsStates || trees.keepsPresent else { return }
    try set(try count(in: .transaction(trees), names) &+ 1, in: trees, names)
  }
}
