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
    let grouping = try RecordGrouping(type, by: keys, computed, in: self)
    let need = QueryNeed.recordsInAnyOrder
    let table = try GroupTable(of: try find(query.query, of: type, for: need), by: grouping)
    func group(_ place: Int) throws -> RecordGroup<Key, Value> {
      RecordGroup(
        key: try query.key(table.values(place), type), count: table.count(place),
        value: try query.value(table.results(place), type))
    }
    // Without conditions, only the groups that are returned are made.
    guard !query.conditions.isEmpty else {
      return try table.sorted(by: order, limit: query.limit, offset: query.offset).map(group)
    }
    var groups: [RecordGroup<Key, Value>] = []
    for place in table.sorted(by: order) {
      let found = try group(place)
      guard query.conditions.allSatisfy({ $0(found) }) else { continue }
      groups.append(found)
    }
    return Array(groups.window(limit: query.limit, offset: query.offset))
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
}

extension GroupTable {
  /// The number of groups up to which the first in an order are kept while all are looked at, without sorting the others.
  private static var keptMax: Int { 256 }

  /// Returns the places of groups in an order; those that agree in it stay in that of their keys.
  ///
  /// - Parameters:
  ///   - limit: The highest number of places; nil for all.
  ///   - offset: The number of places that are left out at the beginning.
  /// - Complexity: O(n log n); about O(n) for the first few.
  fileprivate func sorted(
    by order: [GroupOrder], limit: Int? = nil, offset: Int = 0
  ) -> [Int] {
    if order.isEmpty { return Array(sorted.window(limit: limit, offset: offset)) }
    let parts = order.map { part in
      (
        keys: part.place.map { number in sorted.map { GroupSortKey(result(number, of: $0)) } },
        isDescending: part.isDescending
      )
    }
    func isBefore(_ one: Int, _ other: Int) -> Bool {
      for part in parts {
        let sign = part.keys.map { $0[one].order(to: $0[other]) } ?? one - other
        if sign != 0 { return part.isDescending ? sign > 0 : sign < 0 }
      }
      return one < other
    }
    let (end, isTooMuch) = offset.addingReportingOverflow(limit ?? .max)
    var first = Array(sorted.indices)
    if isTooMuch || end > Self.keptMax {
      first.sort(by: isBefore)
    } else {
      first = Self.first(end, of: sorted.count, by: isBefore)
    }
    return first.window(limit: limit, offset: offset).map { sorted[$0] }
  }

  /// Returns the first of the numbers below a count in an order, sorted.
  private static func first(
    _ wanted: Int, of count: Int, by isBefore: (Int, Int) -> Bool
  ) -> [Int] {
    var first: [Int] = []
    for number in 0..<count {
      if first.count == wanted {
        guard let last = first.last, isBefore(number, last) else { continue }
        first.removeLast()
      }
      var (low, high) = (0, first.count)
      while low < high {
        let middle = (low + high) / 2
        if isBefore(number, first[middle]) { high = middle } else { low = middle + 1 }
      }
      first.insert(number, at: low)
    }
    return first
  }
}

/// A result in the order of sorting: null first, NaN last.
struct GroupSortKey {
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
