extension RecordReading where Self: ~Copyable {
  /// Returns properties of a query's records, as tuples. Records are decoded as wholes.
  ///
  /// ```swift
  /// for (name, age) in try store.select(\.name, \.age, from: adults) { … }
  /// ```
  ///
  /// - Throws: as `fetch(_:after:)`.
  @inlinable
  public func select<Subject: Record, each Value>(
    _ fields: repeat KeyPath<Subject, each Value>, from query: Query<Subject>
  ) throws -> [(repeat each Value)] {
    let cursor = try cursor(query)
    var rows: [(repeat each Value)] = []
    while let record = try cursor.next() { rows.append((repeat record[keyPath: each fields])) }
    return rows
  }

  /// Returns the different values of properties among a query's records, sorted by those properties.
  ///
  /// - Complexity: Linear in the query's records; memory for each value once.
  /// - Throws: As `fetch(_:after:)`; `StoreError.invalidQuery` if values have no order.
  public func distinct<Subject: Record, each Value>(
    _ fields: repeat KeyPath<Subject, each Value>, from query: Query<Subject>
  ) throws -> [(repeat each Value)] {
    var properties: [PropertyReference] = []
    for field in repeat each fields { properties.append(PropertyReference(field)) }
    return try recordReader().distinct(query, properties) { (repeat $0[keyPath: each fields]) }
  }
}

extension RecordReader {
  /// - Parameter key: Makes the values of the first record that has them.
  fileprivate func distinct<Subject: Record, Key>(
    _ query: Query<Subject>, _ properties: [PropertyReference], key: (Subject) -> Key
  ) throws -> [Key] {
    var keys: [Key] = []
    let groups = try groups(
      query, by: properties, [], having: { _ in true },
      key: { record in
        keys.append(key(record))
        return keys.count - 1
      })
    return groups.map { keys[$0.key] }
  }
}
