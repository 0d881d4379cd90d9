/// A record without a Swift type: the values of its fields, by their stored names.
public struct DynamicRecord: Hashable, Sendable {
  /// The stored name of its type.
  public let name: String
  /// The values by field name. Parts of a composite are within the composite's value, by their own names.
  public var fields: RecordFields

  /// Creates a record of a literal, of the fields of another, or of those of a dictionary.
  ///
  /// ```swift
  /// let person = DynamicRecord("Person", ["id": 1, "name": "Ada"])
  /// ```
  public init(_ name: String, _ fields: RecordFields) {
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
  package func value(at path: String) -> FieldValue? {
    fields[path] ?? Self.value(at: path) { fields[$0] }
  }

  /// The value of a part, whose composite is among the fields.
  private static func value(
    at path: String, in fields: (String) -> FieldValue?
  ) -> FieldValue? {
    for dot in path.indices where path[dot] == "." {
      switch fields(String(path[..<dot])) {
      case .composite(let parts)?:
        let inner = String(path[path.index(after: dot)...])
        if let value = parts[inner] ?? value(at: inner, in: { parts[$0] }) { return value }
      case .null?: return .null
      default: continue
      }
    }
    return nil
  }

  private func present(_ field: String) throws(FieldMismatch) -> FieldValue {
    guard let value = value(at: field) else {
      throw .noField(field, of: name, but: fields.map(\.key))
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
    var values: [FieldValue?] = []
    values.reserveCapacity(layout.outermostColumns.count)
    for column in layout.outermostColumns {
      values.append(try record.value(of: column, stringsAsBlobs: stringsAsBlobs))
    }
    self.init(layout.name, RecordFields(layout.outermostNames, values))
  }

  /// Puts key and row together. A field that the record does not name has its default.
  ///
  /// - Parameter defaults: Of fields and of parts of composites, by their places among the columns.
  /// - Throws: `.invalidValue` for a value of another type than its field's, a field that there is not,
  ///   null where it cannot be, a key that is too long or not a number, or a row that is too long.
  func encode(
    to row: RowWriter, key: KeyEncoder, layout: RowLayout, defaults: [Int: FieldValue] = [:]
  ) throws(StoreError) {
    let values = ColumnValues(layout)
    try encode(to: row, key: key, values, defaults: defaults)
  }

  /// The same, with values that are used again for the next record.
  func encode(
    to row: RowWriter, key: KeyEncoder, _ values: ColumnValues, defaults: [Int: FieldValue] = [:]
  ) throws(StoreError) {
    let layout = values.layout
    guard name == layout.name else { throw .unknownRecord(name: name) }
    try values.take(fields, defaults: defaults)
    try layout.encode(values.all, to: row, key: key)
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
      let columns = layout.columns
      for index in 0..<columns.count
      where !layout.hasComposites || !layout.isWithinNull(columns[index], values) {
        try row.set(values[index], of: columns[index], in: layout)
      }
    } catch {
      throw row.naming(error, key.key, layout)
    }
    row.finish()
  }
}

/// One value for each column of a layout, used again for one record after the other.
final class ColumnValues {
  let layout: RowLayout
  // One owner uses them, so accesses cannot overlap.
  @exclusivity(unchecked) private var values: [FieldValue]
  /// The names of the last record's fields.
  @exclusivity(unchecked) private var names: FieldNameList?
  /// The places among those of the fields that are in no composite; nil for those that it does not have.
  @exclusivity(unchecked) private var places: [Int?] = []

  init(_ layout: RowLayout) {
    self.layout = layout
    unsafe values = [FieldValue](repeating: .null, count: layout.columns.count)
  }

  /// The values of the last record.
  var all: [FieldValue] { unsafe values }

  /// - Parameter defaults: By the places of their columns.
  /// - Throws: `.invalidValue` for a field that does not exist.
  func take(_ fields: RecordFields, defaults: [Int: FieldValue]) throws(StoreError) {
    find(fields.names)
    var knownCount = 0
    for index in 0..<layout.outermost.count {
      let column = layout.outermost[index]
      let given = unsafe places[index].flatMap { fields[$0] }
      if given != nil { knownCount += 1 }
      let value = given ?? defaults[column] ?? .null
      unsafe values[column] = value
      guard case .composite(let parts) = value else { continue }
      try unsafe layout.spread(
        parts, over: layout.columns[column], defaults: defaults, into: &values)
    }
    if knownCount < fields.count {
      throw layout.unknownField(
        among: fields.map(\.key), but: layout.outermostNames.all, within: nil)
    }
  }

  /// Finds the fields of the layout among names, unless the last record had the same.
  private func find(_ names: FieldNameList) {
    if unsafe names === self.names { return }
    unsafe self.names = names
    unsafe places.removeAll(keepingCapacity: true)
    for name in layout.outermostNames.all { unsafe places.append(names.place(of: name)) }
  }
}

extension RowLayout {
  /// Gives the parts of a composite their values, and theirs.
  ///
  /// - Throws: `.invalidValue` for a part that there is not.
  func spread(
    _ parts: [String: FieldValue], over composite: Column, defaults: [Int: FieldValue] = [:],
    into values: inout [FieldValue]
  ) throws(StoreError) {
    guard composite.field.type == .composite else { return }
    var knownCount = 0
    for place in composite.parts {
      let column = columns[place]
      let given = parts[column.shortName(in: composite)]
      if given != nil { knownCount += 1 }
      let value = given ?? defaults[place] ?? .null
      values[place] = value
      guard case .composite(let inner) = value else { continue }
      try spread(inner, over: column, defaults: defaults, into: &values)
    }
    if knownCount < parts.count {
      throw unknownField(
        among: Array(parts.keys),
        but: composite.parts.map { columns[$0].shortName(in: composite) }, within: composite)
    }
  }

  fileprivate func unknownField(
    among names: [String], but known: [String], within composite: Column?
  ) -> StoreError {
    let unknown = names.sortedRarely().first { !known.contains($0) } ?? ""
    return .invalidValue(
      record: record.name, field: composite.map { "\($0.field.name).\(unknown)" } ?? unknown,
      reason: "there is no such field, but \(known.sortedRarely().joined(separator: ", "))")
  }

  /// Returns true if a column is a part of a null composite.
  fileprivate func isWithinNull(_ column: Column, _ values: [FieldValue]) -> Bool {
    guard let outer = column.field.composite.flatMap({ index(number: $0) }) else { return false }
    return values[outer] == .null || isWithinNull(columns[outer], values)
  }
}
