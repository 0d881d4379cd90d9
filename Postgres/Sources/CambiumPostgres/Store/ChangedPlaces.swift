/// The places whose records a transaction has changed.
struct ChangedPlaces {
  /// The foreign servers, by their numbers in the catalog.
  private var others: Set<Int64> = []
  /// True if records on the server of the address were changed.
  private var hasOwn = false
  /// True if foreign keys may be broken that are checked at the end.
  private(set) var mayBreakReferences = false

  var hasOthers: Bool { !others.isEmpty }
  var serverCount: Int { others.count + (hasOwn ? 1 : 0) }

  /// Notes a change on a server that has a part of a divided table.
  mutating func note(_ server: Int64) { others.insert(server) }

  /// Notes that rows of a table were written.
  mutating func noteWrite(to table: TablePlan) {
    hasOwn = true
    if !table.foreignKeys.isEmpty || !table.lists.isEmpty { mayBreakReferences = true }
  }

  /// Notes that rows of a table were deleted, and perhaps others by its foreign keys.
  mutating func noteDeletion(from table: TablePlan, in plan: PostgresPlan) {
    hasOwn = true
    if plan.hasForeignKey(to: table) { mayBreakReferences = true }
  }
}

extension PostgresPlan {
  /// True if a foreign key leads to a table.
  fileprivate func hasForeignKey(to table: TablePlan) -> Bool {
    tables.contains { other in
      (other.foreignKeys + other.lists.map(\.foreignKey)).contains { $0.table == table.name }
    }
  }
}
