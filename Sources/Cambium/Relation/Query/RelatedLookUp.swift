/// How a condition across a relation is decided for one record, by looking up its related records.
struct RelatedLookUp {
  /// About how long it takes for one record, in nanoseconds.
  let cost: Double
  /// The index that is read, for people; empty if the record has the keys itself.
  let text: String

  /// - Parameters:
  ///   - hasCondition: True if the related records have to meet a condition; otherwise their rows are not read.
  ///   - share: The share of the related records that meet the condition, if the first of them decides it; nil if all are
  ///     counted.
  init(
    of side: RelationSide, hasCondition: Bool, endsAt share: Double?, in trees: TreeAccess
  ) throws(StoreError) {
    let link = side.link
    let related = try link.entriesPerRecord(isInverse: side.isInverse, in: trees)
    // Of those that meet it by chance, the first comes after 1 / share of them.
    let read = share.map { min(related, 1 / max($0, 1e-9)) } ?? related
    guard side.isInverse else {
      // A checked reference says by itself that there is a record.
      let isSure = try link.leadsSomewhere(in: trees)
      let needsRow = share == nil || hasCondition || !isSure
      cost = read * (needsRow ? QueryCost.lookup : QueryCost.indexEntry)
      text = ""
      return
    }
    text = " " + link.wayBackText
    let rows = Double(try link.rowsRead(in: trees)) * QueryCost.scannedRow * 2
    if hasCondition {
      cost = rows + QueryCost.seek + read * (QueryCost.indexEntry + QueryCost.lookup)
    } else {
      // One entry says that there is one, and two ranks how many there are.
      cost = rows + (share == nil ? 2 * QueryCost.seek : QueryCost.seek + QueryCost.indexEntry)
    }
  }
}
