/// The ranks of records that come in an order, within groups.
struct RunningRanks {
  /// True if the order tells all records apart.
  private let isComplete: Bool
  private let order: BoundOrder
  private let layout: RowLayout
  private let encoder = KeyEncoder()
  /// By the places of the groups.
  private var groups: [Int: Group] = [:]

  private struct Group {
    var count = 0
    var rank = 0
    var denseRank = 0
    /// The place of the last record in the order.
    var place: [UInt8] = []
  }

  /// - Parameters:
  ///   - query: The query whose records come.
  ///   - order: Its order as the plan has it.
  init(_ query: FieldQuery, _ order: BoundOrder, of record: Entity) {
    self.order = order
    layout = record.layout
    let exact = query.order.filter { !$0.isCaseInsensitive && $0.collation == nil }
    isComplete =
      query.order.isEmpty
      || record.record.primaryKey.allSatisfy { part in
        let name = record.record.field(part.field)?.name
        return exact.contains { $0.field == name }
      }
  }

  /// Adds the next record to a group, and returns its rank, and its rank without gaps.
  ///
  /// - Throws: `.invalidQuery` if a value of the order has no result; `.corrupt`, `.io`.
  mutating func add(
    _ key: RawSpan, _ row: RawSpan, to place: Int
  ) throws(StoreError) -> (rank: Int, denseRank: Int) {
    var group = groups[place] ?? Group()
    group.count += 1
    if isComplete {
      group.rank = group.count
      group.denseRank = group.count
    } else {
      let (layout, encoder) = (layout, encoder)
      try order.encode(try RowReader(key: key, row: row, layout: layout), to: encoder)
      // The primary key is the end.
      let own = Array(encoder.key.array().dropLast(key.byteCount))
      if group.count == 1 || own != group.place {
        group.rank = group.count
        group.denseRank += 1
        group.place = own
      }
    }
    groups[place] = group
    return (group.rank, group.denseRank)
  }
}
