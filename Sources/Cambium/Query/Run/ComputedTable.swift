/// A table of rows of computed values, such as groups. Conditions on its rows, and their order, are those of a record's rows.
struct ComputedTable {
  private let layout: RowLayout
  /// The places of the layout's columns among all.
  private let places: [Int]
  private let condition: RowCondition?
  private let order: [Part]
  private let terms: ComputedTerms
  private let writer = RowWriter()

  /// A value by which rows are sorted.
  private struct Part {
    let step: UInt32
    let isDescending: Bool
    let isCaseInsensitive: Bool
  }

  /// A column of a table. Those after the first of a name are left out.
  struct Column {
    let name: String
    let type: ScalarType
  }

  /// - Parameter name: The name of the table, for errors.
  /// - Throws: `.invalidQuery` if the condition or the order does not fit the columns; as running the queries in them.
  init(
    _ name: String, _ columns: [Column], where condition: FieldCondition?,
    sortedBy order: [FieldSubquery.Order], in reader: RecordReader
  ) throws(StoreError) {
    var fields: [FieldSchema] = []
    var places: [Int] = []
    for (place, column) in columns.enumerated()
    where !fields.contains(where: { $0.name == column.name }) {
      fields.append(
        FieldSchema(
          number: UInt32(fields.count + 1), name: column.name, type: .scalar(column.type),
          isOptional: true, composite: nil, modifier: nil))
      places.append(place)
    }
    let layout = try RowLayout(
      RecordSchema(
        number: 0, name: name, fields: fields, primaryKey: [], indexes: [], modifier: nil),
      version: 0)
    var values = QueriedValues(reader)
    var bound: RowCondition?
    if var condition {
      if condition.mayHaveQuery() {
        condition = try values.evaluated(condition, on: layout)
      }
      bound = try RowCondition(condition, in: layout)
    }
    var terms = ComputedTerms(isStrict: true)
    var parts: [Part] = []
    for part in order {
      guard part.collation == nil else {
        throw .invalidQuery(
          record: name, field: part.value.firstField, reason: "it is not sorted by a collation")
      }
      let value = part.value.mayHaveQuery() ? try values.evaluated(part.value) : part.value
      let (step, kind) = try terms.add(value, in: layout, nil)
      guard !part.isCaseInsensitive || kind == .string else {
        throw .invalidQuery(
          record: name, field: part.value.firstField, reason: "only strings are sorted without case"
        )
      }
      parts.append(
        Part(
          step: step, isDescending: part.isDescending, isCaseInsensitive: part.isCaseInsensitive))
    }
    self.layout = layout
    self.places = places
    self.condition = bound
    self.order = parts
    self.terms = terms
  }

  /// Returns the bytes that a row is sorted by; nil if it does not meet the condition.
  ///
  /// - Parameter values: Those of the columns.
  /// - Throws: `.invalidQuery` if a value is out of range, or a computation has no result.
  func sortKey(_ values: [FieldValue], _ encoder: KeyEncoder) throws(StoreError) -> [UInt8]? {
    writer.begin(layout)
    for (column, place) in zip(layout.columns, places) {
      let value = values[place]
      guard value == .null || value.converted(to: column.field.type) != nil else {
        throw layout.queryRefusal(column, value)
      }
      try writer.set(value.converted(to: column.field.type) ?? .null, of: column, in: layout)
    }
    writer.finish()
    let (key, row) = ([UInt8](), writer.row.array())
    let record = try RowReader(key: key.rawSpan, row: row.rawSpan, layout: layout)
    if let condition, try !condition.holds(for: record) { return nil }
    encoder.begin()
    for part in order {
      var value = try terms.value(part.step, record)
      if part.isCaseInsensitive, case .bytes(let bytes) = value {
        value = .bytes(CaseFolding.bytes(of: bytes.rawSpan))
      }
      encoder.append(value, isDescending: part.isDescending)
    }
    return encoder.key.array()
  }
}

extension ComputedKind {
  /// The type of a column of such values.
  var columnType: ScalarType {
    switch self {
    case .boolean: .boolean
    case .null, .integer: .int64
    case .double: .double
    case .decimal: .decimal
    case .date: .date
    case .string: .string
    case .url: .url
    case .data: .binaryData
    case .uuid: .uuid
    }
  }
}
