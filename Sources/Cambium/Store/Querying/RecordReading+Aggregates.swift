// Sums and the like of a query's records. Null is left out.

extension RecordReading where Self: ~Copyable {
  /// Returns the sum of a property; 0 for no records. Integers add up to an `Int`, `Float` and `Double` to a `Double`,
  /// decimals to a `Decimal`.
  ///
  /// - Complexity: Linear in the records; no record is decoded.
  /// - Throws: as `count(_:)`; `StoreError.invalidQuery` for a sum of integers that is beyond an `Int`.
  public func sum<Subject: Record, Value: FieldNumber>(
    _ field: KeyPath<Subject, Value>, of query: Query<Subject> = Query()
  ) throws(StoreError) -> Value.Total {
    let reader = try recordReader()
    let sum = try reader.sum(PropertyReference(field), of: query)
    guard let total = sum.total.flatMap({ Value.Total(fieldValue: $0) }) else {
      throw try reader.entities.type(Subject.self).sumTooLarge
    }
    return total
  }

  /// Returns the average of a property; nil for no records.
  ///
  /// - Throws: as `count(_:)`.
  public func average<Subject: Record, Value: FieldNumber>(
    _ field: KeyPath<Subject, Value>, of query: Query<Subject> = Query()
  ) throws(StoreError) -> Value.Average? {
    let sum = try recordReader().sum(PropertyReference(field), of: query)
    return sum.average.flatMap { Value.Average(fieldValue: $0) }
  }

  /// Returns the lowest value of a property, in the order of sorting; nil if there is none.
  ///
  /// - Complexity: O(log records) if an index has them in that order; otherwise linear.
  /// - Throws: As `fetch(_:after:)`; `StoreError.invalidQuery` if values have no order.
  public func min<Subject: Record, Value: FieldValueConvertible>(
    _ field: KeyPath<Subject, Value>, of query: Query<Subject> = Query()
  ) throws -> Value? {
    try recordReader().extreme(.ascending(field), of: query)?[keyPath: field]
  }

  /// Returns the lowest value of an optional property that is not nil, in the order of sorting; nil if there is none.
  ///
  /// - Throws: as `min(_:of:)`.
  public func min<Subject: Record, Value: FieldValueConvertible>(
    _ field: KeyPath<Subject, Value?>, of query: Query<Subject> = Query()
  ) throws -> Value? {
    try recordReader().extreme(.ascending(field), of: query)?[keyPath: field]
  }

  /// Returns the highest value of a property, in the order of sorting; nil if there is none.
  ///
  /// - Throws: as `min(_:of:)`.
  public func max<Subject: Record, Value: FieldValueConvertible>(
    _ field: KeyPath<Subject, Value>, of query: Query<Subject> = Query()
  ) throws -> Value? {
    try recordReader().extreme(.descending(field), of: query)?[keyPath: field]
  }

  /// Returns the highest value of an optional property that is not nil; nil if there is none.
  ///
  /// - Throws: as `min(_:of:)`.
  /// Returns the highest value of an optional property that is not nil, in the order of sorting; nil if there is none.
  ///
  /// - Throws: as `max(_:of:)`.
  public func max<Subject: Record, Value: FieldValueConvertible>(
    _ field: KeyPath<Subject, Value?>, of query: Query<Subject> = Query()
  ) throws -> Value? {
    try recordReader().extreme(.descending(field), of: query)?[keyPath: field]
  }
}

extension RecordReader {
  fileprivate func sum<Subject: Record>(
    _ property: PropertyReference, of query: Query<Subject>
  ) throws(StoreError) -> FieldSum {
    let type = try entities.type(Subject.self)
    let found = try find(query, of: type, for: .recordsInAnyOrder)
    return try found.sum(of: try type.field(of: property))
  }

  /// The record that comes first by one property among those that have it.
  fileprivate func extreme<Subject: Record>(
    _ order: Order<Subject>, of query: Query<Subject>
  ) throws -> Subject? {
    let type = try entities.type(Subject.self)
    var resolved = try query.resolved(in: type)
    let order = try order.resolved(in: type)
    let isThere = FieldCondition.comparison(field: order.field, .notEqual, .null)
    let runner = QueryRunner(record: type, trees: trees)
    if resolved.limit == nil, resolved.offset == 0, query.after == nil {
      resolved.condition = .and([resolved.condition, isThere].compactMap { $0 })
      resolved.order = [order]
      resolved.limit = 1
    }
    let found = try runner.find(resolved)
    guard let place = try found.first(by: order, among: isThere) else { return nil }
    return try type.load(
      key: place.key.rawSpan, row: place.row.rawSpan, blobs: blobs(of: type))
  }
}
