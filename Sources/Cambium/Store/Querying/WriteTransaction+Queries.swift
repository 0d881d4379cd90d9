extension WriteTransaction {
  /// Deletes the records of a query.
  ///
  /// - Returns: The number of records.
  /// - Complexity: that of finding them, and of a deletion for each; their keys are in memory.
  /// - Throws: As `fetch(_:after:)` and `delete(_:)`. The records before the one that cannot be deleted are deleted.
  @discardableResult
  public mutating func delete<Subject: Record>(_ query: Query<Subject>) throws -> Int {
    let type = try entities.type(Subject.self)
    let keys = try foundKeys(query, type)
    for place in 0..<keys.count {
      buffers.key.begin()
      buffers.key.appendRaw(keys.key(place))
      _ = try delete(type)
    }
    return keys.count
  }

  /// Deletes the records that meet a condition.
  ///
  /// - Throws: as `delete(_:)` of a query.
  @discardableResult
  public mutating func delete<Subject: Record>(
    _ type: Subject.Type, where condition: Condition<Subject>
  ) throws -> Int {
    try delete(Query(where: condition))
  }

  /// Deletes the records that meet a condition made by a closure.
  ///
  /// - Throws: as `delete(_:)` of a query.
  @discardableResult
  public mutating func delete<Subject: Record>(
    _ type: Subject.Type, matching condition: (Fields<Subject>) -> Condition<Subject>
  ) throws -> Int {
    try delete(Query(where: Condition(matching: condition)))
  }

  /// Changes the records of a query. The records are determined before the first one is changed.
  ///
  /// - Parameter change: Changes a record, but not its primary key.
  /// - Returns: The number of records.
  /// - Complexity: that of finding them, and of an update for each; their keys are in memory.
  /// - Throws: As `fetch(_:after:)` and `update(_:onConflict:)`; what `change` throws; `StoreError.invalidValue` if it
  ///   changes a primary key. The records before the one that cannot be changed are changed.
  @discardableResult
  public mutating func update<Subject: Record>(
    _ query: Query<Subject>, onConflict policy: ConflictPolicy = .refuse,
    set change: (inout Subject) throws -> Void
  ) throws -> Int {
    let type = try entities.type(Subject.self)
    let keys = try foundKeys(query, type)
    var row: [UInt8] = []
    var count = 0
    for place in 0..<keys.count {
      let key = keys.key(place).array()
      // An update before may have replaced it.
      guard try writer.trees.copyValue(of: key.rawSpan, in: type.rows, to: &row) else {
        continue
      }
      var record = try type.load(
        key: key.rawSpan, row: row.rawSpan, blobs: writer.blobFinder(of: type))
      try change(&record)
      let buffer = buffers.key
      try type.encodeKey(record, to: buffer, row: buffers.row)
      guard buffer.key.equals(key.rawSpan) else { throw type.changedKey(key) }
      try write(record, of: type, .isThere, policy)
      count += 1
    }
    return count
  }

  /// Changes the records that meet a condition.
  ///
  /// - Throws: as `update(_:onConflict:set:)`.
  @discardableResult
  public mutating func update<Subject: Record>(
    _ type: Subject.Type, where condition: Condition<Subject>,
    onConflict policy: ConflictPolicy = .refuse, set change: (inout Subject) throws -> Void
  ) throws -> Int {
    try update(Query(where: condition), onConflict: policy, set: change)
  }

  /// Gives a property of the records that meet a condition a value.
  ///
  /// - Throws: as `update(_:onConflict:set:)`.
  @discardableResult
  public mutating func update<Subject: Record, Value>(
    _ type: Subject.Type, where condition: Condition<Subject>,
    set field: WritableKeyPath<Subject, Value>, to value: Value,
    onConflict policy: ConflictPolicy = .refuse
  ) throws -> Int {
    try update(Query(where: condition), onConflict: policy) { $0[keyPath: field] = value }
  }

  /// The primary keys of a query's records, before anything changes.
  private func foundKeys<Subject: Record>(
    _ query: Query<Subject>, _ type: RecordType<Subject>
  ) throws(StoreError) -> SortedKeys {
    let found = try recordReader().find(query, of: type, for: .keysInAnyOrder)
    var keys = SortedKeys(of: type.record.name)
    while try found.next() { try keys.add(found.key, keyLength: found.key.byteCount) }
    return keys
  }
}

extension RecordType {
  fileprivate func changedKey(_ key: [UInt8]) -> StoreError {
    .invalidValue(
      record: record.name, field: nil,
      reason: "an update has changed the primary key of \(text(ofKey: key.rawSpan))")
  }
}
