/// A group of records that have the same values in some properties.
public struct RecordGroup<Key> {
  /// The common values: one value, or a tuple.
  public let key: Key
  /// The number of records in it.
  public let count: Int
  /// The aggregates that were computed, in the order of the request.
  public let values: [FieldValue]
}

extension RecordGroup: Sendable where Key: Sendable {}

extension RecordReading where Self: ~Copyable {
  /// Groups a query's records by one property, and returns the groups sorted by it.
  ///
  /// ```swift
  /// let groups = try store.group(
  ///   Query<Sale>(where: \.year == 2026), by: \.city, computing: [.sum(\.amount), .max(\.day)],
  ///   having: { $0.count > 3 })
  /// ```
  ///
  /// - Parameters:
  ///   - aggregates: The aggregates to be computed of each group besides its count.
  ///   - having: Returns true for the groups to be returned.
  /// - Complexity: Linear in the query's records; memory for each group.
  /// - Throws: As `fetch(_:after:)`; `StoreError.invalidQuery` if values have no order or no sum, or a sum of integers
  ///   exceeds 64 bits; what `having` throws.
  public func group<Subject: Record, One>(
    _ query: Query<Subject>, by one: KeyPath<Subject, One>,
    computing aggregates: [Aggregate<Subject>] = [],
    having: (RecordGroup<One>) throws -> Bool = { _ in true }
  ) throws -> [RecordGroup<One>] {
    try recordReader().groups(query, by: [PropertyReference(one)], aggregates, having: having) {
      $0[keyPath: one]
    }
  }

  // A pack of types in a group's would be more general; Swift 6.3 aborts when it looks such a type up.

  /// Groups a query's records by two properties, and returns the groups sorted by them.
  public func group<Subject: Record, One, Two>(
    _ query: Query<Subject>, by one: KeyPath<Subject, One>, _ two: KeyPath<Subject, Two>,
    computing aggregates: [Aggregate<Subject>] = [],
    having: (RecordGroup<(One, Two)>) throws -> Bool = { _ in true }
  ) throws -> [RecordGroup<(One, Two)>] {
    try recordReader().groups(
      query, by: [PropertyReference(one), PropertyReference(two)], aggregates, having: having
    ) {
      ($0[keyPath: one], $0[keyPath: two])
    }
  }

  /// Groups a query's records by three properties, and returns the groups sorted by them.
  public func group<Subject: Record, One, Two, Three>(
    _ query: Query<Subject>, by one: KeyPath<Subject, One>, _ two: KeyPath<Subject, Two>,
    _ three: KeyPath<Subject, Three>, computing aggregates: [Aggregate<Subject>] = [],
    having: (RecordGroup<(One, Two, Three)>) throws -> Bool = { _ in true }
  ) throws -> [RecordGroup<(One, Two, Three)>] {
    let properties = [
      PropertyReference(one), PropertyReference(two), PropertyReference(three),
    ]
    return try recordReader().groups(query, by: properties, aggregates, having: having) {
      ($0[keyPath: one], $0[keyPath: two], $0[keyPath: three])
    }
  }
}

extension RecordReader {
  /// - Parameter key: Makes the values of a group of its first record.
  func groups<Subject: Record, Key>(
    _ query: Query<Subject>, by properties: [PropertyReference], _ aggregates: [Aggregate<Subject>],
    having: (RecordGroup<Key>) throws -> Bool, key: (Subject) -> Key
  ) throws -> [RecordGroup<Key>] {
    let type = try entities.type(Subject.self)
    var names: [String] = []
    for property in properties { names.append(try type.field(of: property)) }
    var computed: [(kind: AggregateKind, field: String)] = []
    for aggregate in aggregates {
      computed.append((aggregate.kind, try type.field(of: aggregate.property)))
    }
    var grouping = try RecordGrouping(type, by: names, computed)
    var keys: [Key] = []
    let found = try find(query, of: type, for: .recordsInAnyOrder)
    while try found.next() {
      if try grouping.add(found.key, try found.row()) {
        keys.append(key(try type.load(key: found.key, row: try found.row(), blobs: found.blobs)))
      }
    }
    var groups: [RecordGroup<Key>] = []
    for place in grouping.sorted {
      let group = RecordGroup(
        key: keys[place], count: grouping.count(place), values: try grouping.values(place))
      if try having(group) { groups.append(group) }
    }
    return groups
  }
}
