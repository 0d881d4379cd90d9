/// Puts records into groups that have the same values in some fields.
struct RecordGrouping {
  private let record: Entity
  private let columns: [KeyColumn]
  private let template: [FieldAggregate]
  private let encoder = KeyEncoder()
  /// The places of the groups, by the bytes of their fields.
  private var places: [GroupKey: Int] = [:]
  private var counts: [Int] = []
  /// Those of one group follow those of the group before.
  private var aggregates: [FieldAggregate] = []
  /// The group of the present record.
  private var key = GroupKey()

  /// - Throws: `.invalidQuery` where values have no order, or no sum.
  init(
    _ record: Entity, by fields: [String],
    _ aggregates: [(kind: AggregateKind, field: String)]
  ) throws(StoreError) {
    self.record = record
    var columns: [KeyColumn] = []
    for field in fields {
      columns.append(try BoundOrder.column(of: FieldOrder(field: field), in: record.layout))
    }
    self.columns = columns
    var template: [FieldAggregate] = []
    for (kind, field) in aggregates {
      template.append(try FieldAggregate(kind, field, in: record.layout))
    }
    self.template = template
  }

  /// Adds a record to its group. True where that is new.
  ///
  /// - Throws: `.corrupt`.
  mutating func add(_ key: RawSpan, _ row: RawSpan) throws(StoreError) -> Bool {
    let (layout, encoder) = (record.layout, encoder)
    let reader = try RowReader(key: key, row: row, layout: layout)
    encoder.begin()
    for column in columns { try encoder.appendSorted(column, from: reader) }
    self.key.bytes.assign(encoder.key)
    let known = places[self.key]
    let place = known ?? counts.count
    if known == nil {
      places[self.key] = place
      counts.append(0)
      aggregates += template
    }
    counts[place] &+= 1
    let first = place * template.count
    for index in first..<first + template.count { try aggregates[index].add(reader, encoder) }
    return known == nil
  }

  /// The places of the groups, by their values.
  var sorted: [Int] {
    places.sorted { $0.key.bytes.rawSpan.compare($1.key.bytes.rawSpan) < 0 }.map(\.value)
  }

  func count(_ place: Int) -> Int { counts[place] }

  /// - Throws: `.invalidQuery` for a sum of integers beyond 64 bits.
  func values(_ place: Int) throws(StoreError) -> [FieldValue] {
    var values: [FieldValue] = []
    let first = place * template.count
    for aggregate in aggregates[first..<first + template.count] {
      values.append(try aggregate.result(in: record))
    }
    return values
  }
}

/// The bytes of a group's fields, hashed all at once, where an array would hash them one by one.
private struct GroupKey: Hashable {
  var bytes: [UInt8] = []

  func hash(into hasher: inout Hasher) {
    unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
  }
}
