/// A record as its fields' values by their stored names, for whoever has no Swift type for it.
public struct DynamicRecord: Hashable, Sendable {
  /// The stored name of its type.
  public let name: String
  /// Parts of composites are within the composite, by their own names.
  public var fields: [String: FieldValue]

  public init(name: String, fields: [String: FieldValue]) {
    self.name = name
    self.fields = fields
  }

  /// The value of a field; null where there is none.
  public subscript(field: String) -> FieldValue {
    get { fields[field] ?? .null }
    set { fields[field] = newValue }
  }

  /// The value of a field as a Swift value; nil where there is none, or it is of another type.
  public subscript<Value: FieldValueReadable>(field: String, as type: Value.Type) -> Value? {
    self[field].as(type)
  }
}

extension DynamicRecord {
  /// A stored record, with all of its fields.
  ///
  /// - Throws: `.corrupt` where it breaks a rule of keys or rows.
  init(_ record: RowReader) throws(StoreError) {
    let layout = record.layout
    fields = [:]
    fields.reserveCapacity(layout.outermost.count)
    name = layout.record.name
    for index in layout.outermost {
      fields[layout.columns[index].field.name] = try record.value(index)
    }
  }

  /// Puts key and row together. A field that the record does not name has its default.
  ///
  /// - Parameter defaults: Of fields and of parts of composites, by their places among the columns.
  /// - Throws: `.invalidValue` for a value of another type than its field's, a field that there is not,
  ///   null where it cannot be, or a key that is too long or not a number; `.limitExceeded`.
  func encode(
    to row: RowWriter, key: KeyEncoder, layout: RowLayout, defaults: [Int: FieldValue] = [:]
  ) throws(StoreError) {
    guard name == layout.record.name else { throw .unknownRecord(name: name) }
    var values = [FieldValue](repeating: .null, count: layout.columns.count)
    try layout.spread(
      fields, over: layout.outermost, within: nil, defaults: defaults, into: &values)
    try layout.encode(values, to: row, key: key)
  }
}

extension RowLayout {
  /// Puts key and row together of one value for each column; those of composites only say whether they are
  /// null.
  ///
  /// - Throws: as `DynamicRecord.encode`.
  func encode(
    _ values: [FieldValue], to row: RowWriter, key: KeyEncoder
  ) throws(StoreError) {
    let layout = self
    key.begin()
    for column in layout.key.columns {
      try key.append(values[Int(column.column)], column, of: layout)
    }
    try key.finishPrimaryKey(of: layout)
    row.begin(layout)
    for (index, column) in layout.columns.enumerated()
    where !layout.isWithinNull(column, values) {
      try row.set(values[index], of: column, in: layout)
    }
    row.finish()
  }

  /// Gives the parts of a composite their values.
  ///
  /// - Throws: `.invalidValue` for a part that there is not.
  func spread(
    _ parts: [String: FieldValue], over composite: Column, into values: inout [FieldValue]
  ) throws(StoreError) {
    try spread(
      parts, over: composite.parts, within: composite, defaults: [:], into: &values)
  }
}

extension RowLayout {
  /// Gives the fields at `places` their values of `fields`, and the parts of composites theirs.
  fileprivate func spread(
    _ fields: [String: FieldValue], over places: [Int], within composite: Column?,
    defaults: [Int: FieldValue], into values: inout [FieldValue]
  ) throws(StoreError) {
    var knownCount = 0
    for place in places {
      let column = columns[place]
      let name = composite.map { column.shortName(in: $0) } ?? column.field.name
      guard let value = fields[name] else {
        values[place] = defaults[place] ?? .null
        continue
      }
      knownCount += 1
      values[place] = value
      if case .composite(let parts) = value, column.field.type == .composite {
        try spread(
          parts, over: column.parts, within: column, defaults: defaults, into: &values)
      }
    }
    if knownCount == fields.count { return }
    let known = Set(
      places.map { place in
        composite.map { columns[place].shortName(in: $0) } ?? columns[place].field.name
      })
    guard let unknown = fields.keys.sorted().first(where: { !known.contains($0) }) else { return }
    throw .invalidValue(
      record: record.name, field: composite.map { "\($0.field.name).\(unknown)" } ?? unknown,
      reason: "there is no such field, but \(known.sorted().joined(separator: ", "))")
  }

  /// Whether a column is a part of what is null.
  fileprivate func isWithinNull(_ column: Column, _ values: [FieldValue]) -> Bool {
    guard let outer = column.field.composite.flatMap({ index(number: $0) }) else { return false }
    return values[outer] == .null || isWithinNull(columns[outer], values)
  }
}
