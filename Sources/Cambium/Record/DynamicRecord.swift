/// A record without a Swift type: the values of its fields, by their stored names.
public struct DynamicRecord: Hashable, Sendable {
  /// The stored name of its type.
  public let name: String
  /// The values by field name. Parts of a composite are within the composite's value, by their own names.
  public var fields: [String: FieldValue]

  public init(name: String, fields: [String: FieldValue]) {
    self.name = name
    self.fields = fields
  }

  /// The value of a field; null if it is not named.
  public subscript(field: String) -> FieldValue {
    get { fields[field] ?? .null }
    set { fields[field] = newValue }
  }

  /// The value of a field as a Swift value. `address.city` names a part of a composite.
  ///
  /// - Throws: `FieldMismatch` if the record has no such field, or if its value is null or of another type.
  public subscript<Value: FieldValueConvertible>(field: String, as type: Value.Type) -> Value {
    get throws(FieldMismatch) { try present(field).read(type, field, of: name) }
  }

  /// The value of a field as a Swift value; nil if it is null. `address.city` names a part of a composite.
  ///
  /// - Throws: `FieldMismatch` if the record has no such field, or if its value is of another type.
  public subscript<Value: FieldValueConvertible>(field: String, as type: Value?.Type) -> Value? {
    get throws(FieldMismatch) { try present(field).readIfPresent(Value.self, field, of: name) }
  }
}

extension DynamicRecord {
  /// The value of a field or of a part of a composite; nil if the record has none.
  func value(at path: String) -> FieldValue? { Self.value(at: path[...], in: fields) }

  private static func value(
    at path: Substring, in fields: [String: FieldValue]
  ) -> FieldValue? {
    if let value = fields[String(path)] { return value }
    for dot in path.indices where path[dot] == "." {
      switch fields[String(path[..<dot])] {
      case .composite(let parts)?:
        if let value = value(at: path[path.index(after: dot)...], in: parts) { return value }
      case .null?: return .null
      default: continue
      }
    }
    return nil
  }

  private func present(_ field: String) throws(FieldMismatch) -> FieldValue {
    guard let value = value(at: field) else {
      throw .noField(field, of: name, but: Array(fields.keys))
    }
    return value
  }
}

extension FieldValue {
  /// The value of a field that must not be null.
  func read<Value: FieldValueConvertible>(
    _ type: Value.Type, _ field: String, of record: String
  ) throws(FieldMismatch) -> Value {
    guard let value = try readIfPresent(type, field, of: record) else {
      throw FieldMismatch(
        record: record, field: field,
        reason: "it is null here; read it as \(type)? and say what to do then")
    }
    return value
  }

  /// The value of a field; nil if it is null.
  func readIfPresent<Value: FieldValueConvertible>(
    _ type: Value.Type, _ field: String, of record: String
  ) throws(FieldMismatch) -> Value? {
    do throws(FieldMismatch) {
      return try self.as(type)
    } catch {
      throw error.naming(field, of: record)
    }
  }
}

extension DynamicRecord {
  /// A stored record, with all of its fields.
  ///
  /// - Throws: `.corrupt` where it breaks a rule of keys or rows.
  init(_ record: RowReader, stringsAsBlobs: Bool = false) throws(StoreError) {
    let layout = record.layout
    fields = [:]
    fields.reserveCapacity(layout.outermost.count)
    name = layout.record.name
    for index in layout.outermost {
      fields[layout.columns[index].field.name] = try record.value(
        index, stringsAsBlobs: stringsAsBlobs)
    }
  }

  /// Puts key and row together. A field that the record does not name has its default.
  ///
  /// - Parameter defaults: Of fields and of parts of composites, by their places among the columns.
  /// - Throws: `.invalidValue` for a value of another type than its field's, a field that there is not,
  ///   null where it cannot be, a key that is too long or not a number, or a row that is too long.
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
    do throws(StoreError) {
      for (index, column) in layout.columns.enumerated()
      where !layout.isWithinNull(column, values) {
        try row.set(values[index], of: column, in: layout)
      }
    } catch {
      throw row.naming(error, key.key, layout)
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
    guard let unknown = fields.keys.sortedRarely().first(where: { !known.contains($0) }) else {
      return
    }
    throw .invalidValue(
      record: record.name, field: composite.map { "\($0.field.name).\(unknown)" } ?? unknown,
      reason: "there is no such field, but \(known.sortedRarely().joined(separator: ", "))")
  }

  /// Returns true if a column is a part of what is null.
  fileprivate func isWithinNull(_ column: Column, _ values: [FieldValue]) -> Bool {
    guard let outer = column.field.composite.flatMap({ index(number: $0) }) else { return false }
    return values[outer] == .null || isWithinNull(columns[outer], values)
  }
}
