/// A query of groups by the stored names of fields: the values by which records are grouped, and those that are computed of each
/// group.
package struct StoredGrouping<Subject: Record, Key, Value>: Sendable {
  /// The query of the records that are grouped.
  package let query: StoredQuery
  /// The values by which records are grouped.
  package let keys: [FieldExpression]
  /// The values to be computed of the records of each group.
  package let aggregates: [FieldAggregate]
  private let order: [GroupOrder]
  private let groupedQuery: GroupedQuery<Subject, Key, Value>
  private let type: RecordType<Subject>

  fileprivate init(
    _ grouped: GroupedQuery<Subject, Key, Value>, _ query: StoredQuery,
    of type: RecordType<Subject>, _ entities: Entities
  ) throws(StoreError) {
    try FieldQuery(limit: grouped.limit, offset: grouped.offset).checkWindow(of: type.record)
    self.query = query
    groupedQuery = grouped
    self.type = type
    var keys: [FieldExpression] = []
    for key in grouped.keys { keys.append(try key.fields(in: type, entities)) }
    self.keys = keys
    // Those that only the order needs come last.
    var aggregates = grouped.aggregates
    var order: [GroupOrder] = []
    for part in grouped.order {
      order.append(GroupOrder(part.aggregate, among: &aggregates, part.isDescending))
    }
    self.order = order
    var computed: [FieldAggregate] = []
    for aggregate in aggregates {
      computed.append(
        FieldAggregate(aggregate.kind, try aggregate.value.fields(in: type, entities)))
    }
    self.aggregates = computed
  }

  /// Returns the groups of the query: those of the given ones that meet its conditions, in its order, within its limit.
  ///
  /// - Parameter found: All groups, sorted by their keys, each with the values of the aggregates.
  /// - Throws: `StoreError.invalidQuery` if a value is out of the range of its type.
  package func groups(
    _ found: [RecordGroup<[FieldValue], [FieldValue]>]
  ) throws -> [RecordGroup<Key, Value>] {
    var groups: [(group: RecordGroup<Key, Value>, results: [FieldValue])] = []
    for group in found {
      let result = RecordGroup(
        key: try groupedQuery.key(group.key, type), count: group.count,
        value: try groupedQuery.value(group.value, type))
      if groupedQuery.conditions.allSatisfy({ $0(result) }) { groups.append((result, group.value)) }
    }
    let keys = groups.map { group in
      order.map { part in part.place.map { GroupSortKey(group.results[$0]) } }
    }
    // Groups that agree stay in the order of their keys.
    let places = groups.indices.sortedRarely { one, other in
      for (number, part) in order.enumerated() {
        var sign = one - other
        if let key = keys[one][number], let otherKey = keys[other][number] {
          sign = key.order(to: otherKey)
        }
        if sign != 0 { return part.isDescending ? sign > 0 : sign < 0 }
      }
      return one < other
    }
    return places.window(limit: groupedQuery.limit, offset: groupedQuery.offset)
      .map { groups[$0].group }
  }
}

extension RecordGroup where Key == [FieldValue], Value == [FieldValue] {
  /// Creates a group that a store has computed.
  package init(storedKey key: [FieldValue], count: Int, values: [FieldValue]) {
    self.init(key: key, count: count, value: values)
  }
}

extension RecordMapping {
  /// Returns a query of groups by the stored names of its fields.
  ///
  /// - Throws: as `stored(_:)` of a query.
  package func stored<Subject: Record, Key, Value>(
    _ query: GroupedQuery<Subject, Key, Value>
  ) throws(StoreError) -> StoredGrouping<Subject, Key, Value> {
    try StoredGrouping(
      query, try stored(query.query), of: try entities.type(Subject.self), entities)
  }
}
