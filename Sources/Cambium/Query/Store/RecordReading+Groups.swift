extension RecordReading where Self: ~Copyable {
  /// Returns the groups of a query.
  ///
  /// ```swift
  /// let sales = try store.fetch(
  ///   Sale.where { $0.year == 2026 }.grouped(by: \.city).computing(.sum(\.amount)))
  /// ```
  ///
  /// - Complexity: Linear in the query's records; memory for each group. Fields that no part of the query names are not read.
  /// - Throws: As `fetch(_:after:)` of a query of records; `StoreError.invalidQuery` if a computation of numbers has no result, a
  ///   sum of integers exceeds 64 bits, or a value is out of the range of its type.
  public func fetch<Subject: Record, Key, Value>(
    _ query: GroupedQuery<Subject, Key, Value>
  ) throws -> [RecordGroup<Key, Value>] {
    try recordReader().groups(query)
  }
}

extension RecordReader {
  fileprivate func groups<Subject: Record, Key, Value>(
    _ query: GroupedQuery<Subject, Key, Value>
  ) throws -> [RecordGroup<Key, Value>] {
    let type = try entities.type(Subject.self)
    try FieldQuery(limit: query.limit, offset: query.offset).checkWindow(of: type.record)
    var keys: [FieldExpression] = []
    for key in query.keys { keys.append(try key.fields(in: type, entities)) }
    // Those that only the order needs come last.
    var aggregates = query.aggregates
    var order: [GroupOrder] = []
    for part in query.order {
      order.append(GroupOrder(part.aggregate, among: &aggregates, part.isDescending))
    }
    var computed: [FieldAggregate] = []
    for aggregate in aggregates {
      computed.append(
        FieldAggregate(aggregate.kind, try aggregate.value.fields(in: type, entities)))
    }
    var grouping = try RecordGrouping(type, by: keys, computed, in: self)
    let need = QueryNeed.recordsInAnyOrder
    let found = try grouping.groups(of: try find(query.query, of: type, for: need), in: type)
    var groups: [(group: RecordGroup<Key, Value>, results: [FieldValue])] = []
    for group in found {
      let result = RecordGroup(
        key: try query.key(group.key, type), count: group.count,
        value: try query.value(group.value, type))
      if query.conditions.allSatisfy({ $0(result) }) { groups.append((result, group.value)) }
    }
    return GroupOrder.sorted(groups, by: order) { $0.results }
      .window(limit: query.limit, offset: query.offset).map { $0.group }
  }
}

extension RecordGrouping {
  /// Groups records, and returns the groups sorted by their values.
  mutating func groups(
    of found: FoundRecords, in record: Entity
  ) throws(StoreError) -> [RecordGroup<[FieldValue], [FieldValue]>] {
    let layout = record.layout
    var keys: [[FieldValue]] = isOfAll ? [[]] : []
    while try found.next(where: { row throws(StoreError) in try add(found.key, row) }) {
      let row = try RowReader(
        key: found.key, row: try found.row(), layout: layout, blobs: found.blobs)
      keys.append(try values(of: row))
    }
    var groups: [RecordGroup<[FieldValue], [FieldValue]>] = []
    for place in sorted {
      groups.append(
        RecordGroup(key: keys[place], count: count(place), value: try results(place)))
    }
    return groups
  }
}

// MARK: - Order

/// The place of a result by which groups are sorted.
struct GroupOrder {
  /// Nil for the key, in the order of which the groups are.
  let place: Int?
  let isDescending: Bool

  init(place: Int?, isDescending: Bool) {
    self.place = place
    self.isDescending = isDescending
  }

  /// Creates the order by an aggregate, which is added to those to be computed unless it is among them.
  init(
    _ aggregate: GroupedAggregate?, among aggregates: inout [GroupedAggregate],
    _ isDescending: Bool
  ) {
    var place: Int?
    if let aggregate {
      place = aggregates.firstIndex(of: aggregate)
      if place == nil {
        place = aggregates.count
        aggregates.append(aggregate)
      }
    }
    self.init(place: place, isDescending: isDescending)
  }

  /// Returns groups that are sorted by their keys in another order; those that agree in it stay in that of their keys.
  ///
  /// - Complexity: O(n log n)
  static func sorted<Group>(
    _ groups: [Group], by order: [GroupOrder], results: (Group) -> [FieldValue]
  ) -> [Group] {
    if order.isEmpty { return groups }
    let keyed = groups.enumerated().map { place, group in
      let results = results(group)
      let key = order.map { part in
        GroupSortKey(part.place.map { results[$0] } ?? .integer(Int64(place)))
      }
      return (place: place, key: key, group: group)
    }
    return keyed.sorted { one, other in
      for (index, part) in order.enumerated() {
        let sign = one.key[index].order(to: other.key[index])
        if sign != 0 { return part.isDescending ? sign > 0 : sign < 0 }
      }
      return one.place < other.place
    }.map { $0.group }
  }
}

/// A result in the order of sorting: null first, NaN last.
private struct GroupSortKey {
  private let rank: Int
  private let value: ComputedValue

  init(_ value: FieldValue) {
    self.value = ComputedValue(value)
    if case .null = self.value { rank = 0 } else { rank = self.value.isNotANumber ? 2 : 1 }
  }

  func order(to other: GroupSortKey) -> Int {
    if rank != other.rank { return rank < other.rank ? -1 : 1 }
    return switch value.order(to: other.value) {
    case .less?: -1
    case .greater?: 1
    default: 0
    }
  }
}

extension Array {
  /// Returns those after so many, and not more than a limit.
  func window(limit: Int?, offset: Int) -> ArraySlice<Element> {
    let rest = dropFirst(offset)
    return limit.map { rest.prefix($0) } ?? rest
  }
}
