extension RecordReading where Self: ~Copyable {
  /// Returns the records of a query, in its order, each with the value of those from the first up to it.
  ///
  /// ```swift
  /// let ranks = try store.fetch(Player.sorted(by: .descending(\.points)).ranked().limit(10))
  /// ```
  ///
  /// - Complexity: That of the query, with memory for each group; records that are left out are not decoded. With a limit, the
  ///   query ends there.
  /// - Throws: As `fetch(_:after:)` of a query of records; `StoreError.invalidQuery` if a computation of numbers has no result, a
  ///   sum of integers exceeds 64 bits, or a value is out of the range of its type.
  public func fetch<Subject: Record, Value>(
    _ query: RunningQuery<Subject, Value>
  ) throws -> [(record: Subject, value: Value)] {
    try recordReader().running(query)
  }
}

extension RecordReader {
  fileprivate func running<Subject: Record, Value>(
    _ query: RunningQuery<Subject, Value>
  ) throws -> [(record: Subject, value: Value)] {
    let type = try entities.type(Subject.self)
    try FieldQuery(limit: query.limit, offset: query.offset).checkWindow(of: type.record)
    var keys: [FieldExpression] = []
    for key in query.keys { keys.append(try key.fields(in: type, entities)) }
    let step = try query.step.fields(in: type, entities)
    let resolved = try query.query.resolved(in: type, entities)
    let found = try QueryRunner(type, in: self).find(resolved)
    var values = try RunningValues([step], within: keys, of: found, resolved, type, in: self)
    var records: [(record: Subject, value: Value)] = []
    var offset = query.offset
    while records.count < query.limit ?? .max, try found.next() {
      let value = try query.value(try values.add(found.key, try found.row())[0], type)
      guard query.conditions.allSatisfy({ $0(value) }) else { continue }
      if offset > 0 {
        offset -= 1
        continue
      }
      let record = try type.load(key: found.key, row: try found.row(), blobs: found.blobs)
      records.append((record, value))
    }
    return records
  }
}

extension RunningStep {
  func fields<Subject: Record>(
    in type: RecordType<Subject>, _ entities: Entities
  ) throws(StoreError) -> FieldRunningStep {
    switch self {
    case .aggregate(let aggregate):
      .aggregate(FieldAggregate(aggregate.kind, try aggregate.value.fields(in: type, entities)))
    case .rank: .rank
    case .denseRank: .denseRank
    case .number: .number
    }
  }
}
