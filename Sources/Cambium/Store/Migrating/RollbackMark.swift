/// A mark in a store for a version from which it was rolled back: programs of that version must not migrate it again
/// unasked.
///
/// The marks are in a tree of their own, which every rollback keeps: the version to which the store was rolled back,
/// under the version that was abandoned.
struct RollbackMark: Hashable {
  static let treeName = "rollback"

  /// The version that was left.
  let from: UInt32
  let to: UInt32

  func put(into trees: TransactionTrees, _ names: TreeNames) throws(StoreError) {
    var value: [UInt8] = []
    value.append(integer: to)
    try trees.put(
      Schema.key(of: from).rawSpan, value.rawSpan, schemaVersion: Entities.systemVersion,
      in: try names.slot(of: Self.treeName))
  }

  /// All of a state, ascending.
  ///
  /// - Throws: `.corrupt` (D2), `.io`.
  static func all(
    in trees: TreeAccess, _ names: TreeNames
  ) throws(StoreError) -> [RollbackMark] {
    let cursor = try trees.cursor(in: try names.slot(of: treeName))
    var marks: [RollbackMark] = []
    while try cursor.advance() {
      let (key, value) = (cursor.key.array(), try cursor.value())
      guard key.count == 4, value.byteCount == 4 else {
        throw .corrupt(
          .entry(tree: treeName, key: key), invariant: .schemaContents,
          reason: "it does not name two versions")
      }
      marks.append(
        RollbackMark(
          from: key.rawSpan.load(0, as: UInt32.self).byteSwapped,
          to: value.load(0, as: UInt32.self)))
    }
    return marks
  }

  /// Refuses to make a store of `stored` one of `wanted` where it was rolled back from that or a later version.
  ///
  /// - Throws: `.rolledBack`, `.corrupt`, `.io`.
  static func refuse(
    from stored: UInt32, to wanted: UInt32, in trees: TreeAccess, _ names: TreeNames
  ) throws(StoreError) {
    let marks = try all(in: trees, names)
    guard let mark = marks.first(where: { $0.from > stored && $0.from >= wanted }) else { return }
    throw .rolledBack(from: Int(mark.from), to: Int(stored))
  }
}
