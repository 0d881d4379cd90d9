/// The changes of records that meet a condition: one that begins to meet it comes, one that ceases to goes.
struct RowFilter: Sendable {
  let layout: RowLayout
  private let condition: RowCondition

  /// - Throws: what `RowCondition.init` does.
  init(_ condition: FieldCondition, in layout: RowLayout) throws(StoreError) {
    self.layout = layout
    self.condition = try RowCondition(condition, in: layout)
  }

  /// Returns the change as seen among the records that meet the condition; nil if there is none.
  ///
  /// - Throws: `.corrupt`.
  func filtered(_ change: EntryChange) throws(StoreError) -> EntryChange? {
    let old = try matching(change.key, change.old)
    let new = try matching(change.key, change.new)
    return old == nil && new == nil ? nil : EntryChange(key: change.key, old: old, new: new)
  }

  /// The row, if there is one that meets the condition.
  private func matching(_ key: [UInt8], _ row: [UInt8]?) throws(StoreError) -> [UInt8]? {
    guard let row else { return nil }
    let layout = layout
    let reader = try RowReader(key: key.rawSpan, row: row.rawSpan, layout: layout)
    return try condition.holds(for: reader) ? row : nil
  }
}
