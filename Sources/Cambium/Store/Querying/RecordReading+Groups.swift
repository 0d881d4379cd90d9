/// Records that have the same values in some properties.
public struct RecordGroup<Key> {
  /// Those values: one, or a tuple.
  public let key: Key
  /// How many records it has.
  public let count: Int
  /// What was computed of them, in the order in which it was asked for.
  public let values: [FieldValue]
}

extension RecordGroup: Sendable where Key: Sendable {}

extension RecordReading where Self: ~Copyable {
  /// Groups of a query's records that have the same values in some properties, sorted by those.
  ///
  /// ```swift
  /// let groups = try store.group(
  ///   Query<Sale>(where: \.year == 2026), by: \.city, computing: [.sum(\.amount), .max(\.day)],
  ///   having: { $0.count > 3 })
  /// ```
  ///
  /// - Parameters:
  ///   - aggregates: What is computed of each group besides its count.
  ///   - having: Whether a group is wanted.
  /// - Complexity: linear in the query's records; memory for each group.
  /// - Throws: as `fetch(_:after:)`; `StoreError.invalidQuery` where values have no order, or no sum, or the sum
  ///   of integers is beyond 64 bits; what `having` throws.
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

  /// The same by two properties.
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

  /// The same by three properties.
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
    let type = try types.type(Subject.self)
    var names: [String] = []
    for property in properties { names.append(try type.field(of: property)) }
    var computed: [(kind: AggregateKind, field: String)] = []
    for aggregate in aggregates {
      computed.append((aggregate.kind, try type.field(of: aggregate.property)))
    }
    var grouping = try RecordGrouping(type.trees, by: names, computed)
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
