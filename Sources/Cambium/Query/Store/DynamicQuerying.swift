// Queries without Swift types: conditions on stored names, such as text becomes.

extension RecordReading where Self: ~Copyable {
  /// Returns the records of the type stored as `name` that meet a condition, as their fields' values.
  ///
  /// - Parameters:
  ///   - condition: On fields by their stored names; nil for all records.
  ///   - order: The fields by which they are sorted; records that agree in them are sorted by primary key.
  ///   - key: The primary key of the record after which the query begins, as the next page does after the last record of
  ///     a page. The record must exist, unless records are sorted by primary key.
  ///   - fields: The stored names of the fields to return; nil for all.
  /// - Throws: `StoreError.unknownRecord`, `.invalidQuery` if the query does not fit the record, `.noSuchRecord` if the
  ///   record to begin after does not exist, `.sortTooLarge`, `.corrupt`, `.io`, `.closed`.
  public func fetch(
    record name: String, where condition: FieldCondition? = nil, sortedBy order: [FieldOrder] = [],
    limit: Int? = nil, offset: Int = 0, after key: [FieldValue]? = nil, fields: [String]? = nil
  ) throws(StoreError) -> [DynamicRecord] {
    let query = FieldQuery(
      condition: condition, order: order, limit: limit, offset: offset,
      after: key.map { .key($0) })
    let found = try FoundDynamicRecords(query, of: name, fields, in: try recordReader())
    var records: [DynamicRecord] = []
    while try found.next() { records.append(try found.record()) }
    return records
  }

  /// Calls `body` with each record of the type stored as `name` that meets a condition, in constant memory unless the
  /// records have to be sorted.
  ///
  /// - Parameter stringsAsBlobs: True if a string that lies outside its row, as those of external fields do above their
  ///   threshold, comes as a blob with the bytes of its UTF-8, so that it can be read in pieces.
  /// - Throws: as `fetch(record:where:sortedBy:limit:offset:after:fields:)`, and errors of `body`, which ends it.
  public func forEach(
    record name: String, where condition: FieldCondition? = nil, sortedBy order: [FieldOrder] = [],
    limit: Int? = nil, offset: Int = 0, after key: [FieldValue]? = nil, fields: [String]? = nil,
    stringsAsBlobs: Bool = false, _ body: (DynamicRecord) throws -> Void
  ) throws {
    let query = FieldQuery(
      condition: condition, order: order, limit: limit, offset: offset,
      after: key.map { .key($0) })
    let found = try FoundDynamicRecords(query, of: name, fields, in: try recordReader())
    while try found.next() { try body(try found.record(stringsAsBlobs: stringsAsBlobs)) }
  }

  /// Returns the number of records of the type stored as `name` that meet a condition; of all without one, in constant
  /// time.
  ///
  /// - Throws: as `fetch(record:where:sortedBy:limit:offset:after:fields:)`.
  public func count(
    record name: String, where condition: FieldCondition? = nil
  ) throws(StoreError) -> Int {
    try recordReader().runner(ofRecord: name).count(FieldQuery(condition: condition))
  }

  /// Groups the records of the type stored as `name` that meet a condition by values, and returns the groups; without values,
  /// one group of all records.
  ///
  /// - Parameters:
  ///   - columns: The values by which records are grouped, and the aggregates that are computed of each group.
  ///   - groupCondition: A condition on groups, as the columns have parsed it.
  ///   - order: The values by which groups are sorted, as the columns have parsed them. Groups that agree in all are sorted by
  ///     their keys.
  /// - Complexity: Linear in the records; memory for each group.
  /// - Throws: As `count(record:where:)`; `StoreError.invalidQuery` if values have no order or no sum, or a sum of integers
  ///   exceeds 64 bits.
  package func group(
    record name: String, where condition: FieldCondition? = nil, by columns: GroupColumns,
    having groupCondition: FieldCondition? = nil, sortedBy order: [FieldSubquery.Order] = [],
    limit: Int? = nil, offset: Int = 0
  ) throws(StoreError) -> [RecordGroup<[FieldValue], [FieldValue]>] {
    let reader = try recordReader()
    let runner = try reader.runner(ofRecord: name)
    try FieldQuery(limit: limit, offset: offset).checkWindow(of: runner.record.record)
    let grouping = try RecordGrouping(
      runner.record, by: columns.keys, columns.aggregates, in: reader)
    let table = try ComputedTable(
      groupsOf: name, columns, grouping, where: groupCondition, sortedBy: order, in: reader)
    let found = try runner.find(FieldQuery(condition: condition), for: .recordsInAnyOrder)
    let groups = try GroupTable(of: found, by: grouping)
    if groupCondition == nil, order.isEmpty {
      return groups.sorted.window(limit: limit, offset: offset).map { groups.group($0) }
    }
    let encoder = KeyEncoder()
    var keyed: [(key: [UInt8], place: Int)] = []
    for (place, group) in groups.sorted.enumerated() {
      let values = groups.values(group) + groups.results(group)
      if let key = try table.sortKey(values, encoder) {
        keyed.append((key: key, place: place))
      }
    }
    keyed.sort { one, other in
      let order = one.key.rawSpan.compare(other.key.rawSpan)
      return order == 0 ? one.place < other.place : order < 0
    }
    return keyed.window(limit: limit, offset: offset).map { groups.group(groups.sorted[$0.place]) }
  }

  /// Groups the records of the type stored as `name` that meet a condition by fields, and returns the groups sorted by them;
  /// without fields, one group of all records.
  ///
  /// ```swift
  /// for group in try store.group(record: "Sale", by: ["city"], summing: ["amount"]) {
  ///   print(group.key[0], group.count, group.value[0])
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - name: The stored name of the records.
  ///   - condition: On fields by their stored names; nil for all records.
  ///   - fields: The stored names of the fields whose values the records of a group have in common.
  ///   - sums: The fields whose values are added up in each group.
  /// - Complexity: Linear in the records; memory for each group.
  /// - Throws: As `count(record:where:)`; `StoreError.invalidQuery` if values have no order or no sum, or a sum of integers
  ///   exceeds 64 bits.
  package func group(
    record name: String, where condition: FieldCondition? = nil, by fields: [String],
    summing sums: [String] = []
  ) throws(StoreError) -> [RecordGroup<[FieldValue], [FieldValue]>] {
    try group(
      record: name, where: condition,
      by: GroupColumns(
        keys: fields.map { .field($0) },
        aggregates: sums.map { FieldAggregate(.sum, .field($0)) }))
  }

  /// Explains how a query of the type stored as `name` is run.
  ///
  /// - Throws: as `fetch(record:where:sortedBy:limit:offset:after:fields:)`.
  package func explain(
    record name: String, where condition: FieldCondition? = nil, sortedBy order: [FieldOrder] = [],
    limit: Int? = nil, offset: Int = 0, after key: [FieldValue]? = nil, running: Bool = false
  ) throws(StoreError) -> QueryExplanation {
    let query = FieldQuery(
      condition: condition, order: order, limit: limit, offset: offset,
      after: key.map { .key($0) })
    return try recordReader().runner(ofRecord: name).explain(query, running: running)
  }
}

extension ComputedTable {
  /// Creates the table of the groups of records.
  fileprivate init(
    groupsOf record: String, _ columns: GroupColumns, _ grouping: RecordGrouping,
    where condition: FieldCondition?, sortedBy order: [FieldSubquery.Order], in reader: RecordReader
  ) throws(StoreError) {
    let types = grouping.types
    let keys = zip(columns.keys, types.values).map { key, type in
      Column(name: GroupColumns.name(of: key), type: type)
    }
    let results = zip(columns.aggregates, types.results).map { aggregate, type in
      Column(name: "\(aggregate)", type: type)
    }
    try self.init(
      "groups of \(record)", keys + results, where: condition, sortedBy: order, in: reader)
  }
}
