// Plans that the form of a condition gives, whatever its values: an index of the record is the plan of all conditions that
// give each of its fields a value.

extension QueryPlanner {
  /// Returns the plan of all records, by primary key; nil if the query asks for anything else. There is no other plan.
  ///
  /// - Throws: `.invalidQuery` for a negative limit or offset.
  func planOfAll(_ query: FieldQuery, for need: QueryNeed) throws(StoreError) -> QueryPlan? {
    guard query.condition == nil, query.order.isEmpty, case .none = query.after else { return nil }
    try query.checkWindow(of: record.record)
    return QueryPlan(
      access: .rows([.all]), order: .byPrimaryKey,
      given: GivenOrder(extent: .all, isByKeyInGroups: true), estimate: 0, cost: QueryCost.seek,
      needsRows: need.needsRows, meter: reader.meter)
  }

  /// The smallest number of records for which a plan is taken by its form: of fewer, a scan may be cheaper than any index.
  static var formPlanFrom: Int { 1_024 }
  /// The number of records that such a plan finds before all plans are compared after all: most records may have the value,
  /// and a scan is cheaper then. Comparing takes little of the time that so many records have taken.
  static var formPlanUpTo: Int { 64 }

  /// Returns the plan of a condition that fields are equal to values, if those are all fields of an index: no other plan
  /// reads fewer entries, so nothing is counted, and no other plan is considered. Nil if all plans have to be compared.
  ///
  /// - Parameter smallest: The smallest number of records for which that is so.
  /// - Throws: As `plan`.
  func planByForm(
    _ query: FieldQuery, for need: QueryNeed, from smallest: Int = QueryPlanner.formPlanFrom
  ) throws(StoreError) -> QueryPlan? {
    // In a transaction, records may change while they are found, and comparing later would begin again.
    guard query.order.isEmpty, case .none = query.after, !trees.isChanging,
      let condition = query.condition, condition.isOfEqualities,
      try trees.estimatedCount(in: record.rows) >= smallest
    else { return nil }
    try query.checkWindow(of: record.record)
    let equalities = Conjunction(condition, in: record.layout)
    guard let columns = equalities.equalColumns,
      let place = record.indexes.firstIndex(where: { $0.layout.isOf(columns, record.layout) }),
      try trees.isWhole(record.indexes[place].slot)
    else { return nil }
    let index = record.indexes[place].layout
    var builder = KeyRangeBuilder(index, of: record.layout, equalities.terms, encoder)
    let ranges = try builder.build()
    let order = BoundOrder.byPrimaryKey
    let given = order.given(by: index.parts.columns, fixed: ranges.fixed, of: index)
    // A long value is cut in an index, so that its range has entries of others.
    guard ranges.ranges.count <= 1, ranges.said.count == equalities.conjuncts.count,
      given.extent == .all
    else { return nil }
    return QueryPlan(
      access: .index(place, ranges.ranges), order: order, given: given, estimate: 0,
      cost: QueryCost.seek, fixed: ranges.fixed, needsRows: need.needsRows, meter: reader.meter)
  }
}

/// The comparison of all plans of a query, which is put off until many of its records were found.
struct LaterComparison {
  let reader: RecordReader
  let query: FieldQuery
  let need: QueryNeed
  /// The number of records after which plans are compared, one at least.
  var foundCount = QueryPlanner.formPlanUpTo

  /// Returns the cheapest plan of the rest of the query, which finds records in the order in which the first were found.
  ///
  /// - Throws: As `QueryPlanner.plan`.
  func cheapestPlan(of rest: FieldQuery, for record: Entity) throws(StoreError) -> QueryPlan {
    try QueryPlanner(record, in: reader)
      .plan(rest, for: QueryNeed(needsRows: need.needsRows, isOrdered: true))
  }
}

extension FieldCondition {
  /// True for an equality of a field with a value that is not null, and for several.
  fileprivate var isOfEqualities: Bool {
    switch self {
    case .comparison(_, .equal, let value): return value != .null
    case .and(let operands):
      return !operands.isEmpty
        && operands.allSatisfy {
          if case .comparison(_, .equal, let value) = $0 { value != .null } else { false }
        }
    default: return false
    }
  }
}

extension Conjunction {
  /// The columns that each conjunct gives one value; nil if one of them says something else.
  fileprivate var equalColumns: [Int]? {
    guard terms.count == conjuncts.count else { return nil }
    var columns: [Int] = []
    for term in terms {
      guard case .isAny(let values) = term.demand, values.count == 1, term.expansion == .none,
        !columns.contains(term.column)
      else { return nil }
      columns.append(term.column)
    }
    return columns
  }
}

extension IndexLayout {
  /// Returns true if the index has all records, by these columns as they are and by no others.
  ///
  /// With the first column of the primary key, the rows may be a way that reads as few entries.
  fileprivate func isOf(_ columns: [Int], _ layout: RowLayout) -> Bool {
    guard schema.condition == nil, expanded == nil, parts.columns.count == columns.count,
      !columns.contains(Int(layout.key.columns[0].column))
    else { return false }
    return parts.columns.allSatisfy { $0.isExact && columns.contains(Int($0.column)) }
  }
}
