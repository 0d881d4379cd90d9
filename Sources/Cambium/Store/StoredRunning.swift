/// A query of running values by the stored names of fields.
package struct StoredRunning<Subject: Record, Value>: Sendable {
  /// The query of the records.
  package let query: StoredQuery
  /// The expressions of which each value has totals and ranks of its own.
  package let keys: [FieldExpression]
  package let step: FieldRunningStep
  private let running: RunningQuery<Subject, Value>
  private let type: RecordType<Subject>

  fileprivate init(
    _ running: RunningQuery<Subject, Value>, _ query: StoredQuery, of type: RecordType<Subject>,
    _ entities: Entities
  ) throws(StoreError) {
    try FieldQuery(limit: running.limit, offset: running.offset).checkWindow(of: type.record)
    self.running = running
    self.query = query
    self.type = type
    var keys: [FieldExpression] = []
    for key in running.keys { keys.append(try key.fields(in: type, entities)) }
    self.keys = keys
    step = try running.step.fields(in: type, entities)
  }

  /// The highest number of records that the query needs; nil if its conditions decide it.
  package var foundCount: Int? {
    guard running.conditions.isEmpty, let limit = running.limit else { return nil }
    return running.offset.addingReportingOverflow(limit).overflow ? nil : running.offset + limit
  }

  /// Returns the records whose values meet the conditions of the query, within its limit.
  ///
  /// - Parameters:
  ///   - count: The number of records that were found.
  ///   - value: Returns the value of a record, by its place in the order.
  ///   - record: Returns a record.
  package func records(
    _ count: Int, value: (Int) throws -> FieldValue, record: (Int) throws -> Subject
  ) throws -> [(record: Subject, value: Value)] {
    var records: [(record: Subject, value: Value)] = []
    var offset = running.offset
    for place in 0..<count {
      if let limit = running.limit, records.count >= limit { break }
      let value = try running.value(try value(place), type)
      guard running.conditions.allSatisfy({ $0(value) }) else { continue }
      if offset > 0 {
        offset -= 1
        continue
      }
      records.append((try record(place), value))
    }
    return records
  }
}

extension RecordMapping {
  /// Returns a query of running values by the stored names of its fields.
  ///
  /// - Throws: as `stored(_:)` of a query.
  package func stored<Subject: Record, Value>(
    _ query: RunningQuery<Subject, Value>
  ) throws(StoreError) -> StoredRunning<Subject, Value> {
    try StoredRunning(
      query, try stored(query.query), of: try entities.type(Subject.self), entities)
  }
}
