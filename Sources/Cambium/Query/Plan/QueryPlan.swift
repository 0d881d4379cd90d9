/// The plan of one query.
struct QueryPlan {
  var access: QueryAccess
  /// The part of the condition that the access does not cover; nil if there is none.
  var residual: RowCondition?
  /// The uncovered part as the user wrote it, for explanations.
  var unsaid: FieldCondition?
  let order: BoundOrder
  /// The part of the order that the access gives.
  var given: GivenOrder
  /// About how many entries are read: exact where the access is all of the condition.
  var estimate: Int
  /// In nanoseconds, to compare plans by.
  var cost: Double
  /// The values of parts that can have only one, in the access's tree.
  var fixed: [FieldValue?] = []
  /// True if the rows of the records are wanted.
  let needsRows: Bool
  /// The related records that are found before those of the query, or looked up for them; nil if there are none.
  var related: RelatedPlan?
  /// How the queries in the condition were run before.
  var queried: [QueriedRun] = []
  /// The rest of the query's budget; nil without a budget.
  var meter: QueryMeter?

  /// True if the entries that are read are the records that are wanted, as many.
  var isExact: Bool { residual == nil }
}

/// The trees in which records are searched.
enum QueryAccess {
  /// Among the rows, by primary key.
  case rows([KeyRange])
  /// By an index, given by its place.
  case index(Int, [KeyRange])
  /// By the primary keys that any of these have. They are found first, and come in their order.
  case union([QueryAccess])
  /// By the primary keys that all of these have, likewise.
  case intersection([QueryAccess])
  /// By the primary keys of those that other records lead to, or are led to by.
  case related(RelatedKeys)
  /// By the keys of the records that lead to others, which come in the order of an index of theirs.
  case relatedOrder(RelatedOrder)
}

/// The parts of the found records that a query needs.
struct QueryNeed: Hashable, Sendable {
  /// True if rows are wanted, and not only primary keys.
  let needsRows: Bool
  /// True if it matters in which order they come.
  let isOrdered: Bool

  static let records = QueryNeed(needsRows: true, isOrdered: true)
  static let keys = QueryNeed(needsRows: false, isOrdered: true)
  static let recordsInAnyOrder = QueryNeed(needsRows: true, isOrdered: false)
  static let keysInAnyOrder = QueryNeed(needsRows: false, isOrdered: false)
}
