/// How the records of one query are found.
struct QueryPlan: Sendable {
  var access: QueryAccess
  /// What of the condition the access does not say; nil if nothing.
  var residual: RowCondition?
  /// The same as the user wrote it, for explanations.
  var unsaid: FieldCondition?
  let order: BoundOrder
  /// What the access's own order does for that.
  var given: GivenOrder
  /// About how many entries are read: exact where the access is all of the condition.
  var estimate: Int
  /// In nanoseconds, to compare plans by.
  var cost: Double
  /// The values of parts that can have only one, in the access's tree.
  var fixed: [FieldValue?] = []
  /// Whether the rows of the records are wanted.
  let needsRows: Bool

  /// Whether the entries that are read are the records that are wanted, as many.
  var isExact: Bool { residual == nil }
}

/// Where records are looked for.
enum QueryAccess: Sendable {
  /// Among the rows, by primary key.
  case rows([KeyRange])
  /// By an index, given by its place.
  case index(Int, [KeyRange])
  /// By primary keys that are found first, and come in their order.
  case keys(KeySet)
}

/// Primary keys, found by indexes.
indirect enum KeySet: Sendable {
  case rows([KeyRange])
  case index(Int, [KeyRange])
  case union([KeySet])
  case intersection([KeySet])
}

/// What a query needs of the records that it finds.
struct QueryNeed: Hashable, Sendable {
  /// Whether rows are wanted, and not only primary keys.
  let needsRows: Bool
  /// Whether it matters in which order they come.
  let isOrdered: Bool

  static let records = QueryNeed(needsRows: true, isOrdered: true)
  static let keys = QueryNeed(needsRows: false, isOrdered: true)
  static let recordsInAnyOrder = QueryNeed(needsRows: true, isOrdered: false)
  static let keysInAnyOrder = QueryNeed(needsRows: false, isOrdered: false)
}
