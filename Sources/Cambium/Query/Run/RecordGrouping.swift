/// Puts records into groups that have the same values in some fields.
struct RecordGrouping {
  private let record: Entity
  private let columns: [KeyColumn]
  private let template: [FieldAggregate]
  private let encoder = KeyEncoder()
  /// By the bytes of the fields, the place of the group.
  private var places: [[UInt8]: Int] = [:]
  private var counts: [Int] = []
  private var aggregates: [[FieldAggregate]] = []
  private var key: [UInt8] = []

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
    self.key.assign(encoder.key)
    var place = counts.count
    let known = places[self.key]
    if let known { place = known }
    if known == nil {
      places[self.key] = place
      counts.append(0)
      aggregates.append(template)
    }
    counts[place] += 1
    for index in template.indices { try aggregates[place][index].add(reader, encoder) }
    return known == nil
  }

  /// The places of the groups, by their values.
  var sorted: [Int] {
    places.sorted { $0.key.rawSpan.compare($1.key.rawSpan) < 0 }.map(\.value)
  }

  func count(_ place: Int) -> Int { counts[place] }

  /// - Throws: `.invalidQuery` for a sum of integers beyond 64 bits.
  func values(_ place: Int) throws(StoreError) -> [FieldValue] {
    var values: [FieldValue] = []
    for aggregate in aggregates[place] { values.append(try aggregate.result(in: record)) }
    return values
  }
}
