/// A value that did not convert to its field's new type, as a store keeps it: with its whole old record.
///
/// Its key begins with version, record and field, and ends with a hash of the record's key, which may be long.
struct SetAsideEntry {
  let key: [UInt8]
  let value: [UInt8]

  static let treeName = Entities.asideName

  init(version: UInt32, record: UInt32, field: UInt32, key recordKey: RawSpan, row: RawSpan) {
    var key: [UInt8] = []
    for number in [version, record, field] { key.append(integer: number.byteSwapped) }
    let hash = SipHash128(of: recordKey)
    key.append(integer: hash.low)
    key.append(integer: hash.high)
    self.key = key
    var value: [UInt8] = []
    value.append(integer: UInt16(recordKey.byteCount))
    value.append(recordKey)
    value.append(row)
    self.value = value
  }
}

/// A value that did not convert to its field's new type when the store was migrated.
public struct SetAsideValue: Hashable, Sendable {
  /// The version from which it is.
  public let version: Int
  /// The name that the field has in that version.
  public let field: String
  /// The whole record as it was.
  public let record: DynamicRecord

  /// The value that did not convert.
  public var value: FieldValue { record[field] }
}

extension PersistentStore {
  /// Returns the values that migrations have set aside, by version, record and field.
  ///
  /// ```swift
  /// for old in try store.valuesSetAside() { print(old.field, old.value) }
  /// ```
  ///
  /// - Throws: `StoreError.corrupt`, `.io`, `.closed`, `.forked`.
  public func valuesSetAside() throws(StoreError) -> [SetAsideValue] {
    let trees = try backend.trees()
    let schemas = try StoredSchemas(backend).all()
    let cursor = try trees.cursor(in: try backend.names.slot(of: SetAsideEntry.treeName))
    var values: [SetAsideValue] = []
    var layouts: [[UInt32]: RowLayout] = [:]
    while try cursor.advance() {
      let key = cursor.key.array()
      var reader = ByteReader(
        cursor.key, at: .entry(tree: SetAsideEntry.treeName, key: key), invariant: .schemaContents)
      let version = try reader.integer(UInt32.self).byteSwapped
      let number = try reader.integer(UInt32.self).byteSwapped
      let field = try reader.integer(UInt32.self).byteSwapped
      var layout = layouts[[version, number]]
      if layout == nil, let schema = schemas.first(where: { $0.version == version }),
        let record = schema.record(number: number)
      {
        layout = try RowLayout(record, version: version)
        layouts[[version, number]] = layout
      }
      guard let layout, let column = layout.record.field(field) else {
        throw reader.fault("no schema of the store has its field")
      }
      values.append(
        SetAsideValue(
          version: Int(version), field: column.name,
          record: try SetAsideEntry.record(try cursor.value(), layout, key: key)))
    }
    return values
  }
}

extension SetAsideEntry {
  fileprivate static func record(
    _ value: RawSpan, _ layout: RowLayout, key: [UInt8]
  ) throws(StoreError) -> DynamicRecord {
    var reader = ByteReader(
      value, at: .entry(tree: treeName, key: key), invariant: .schemaContents)
    let length = Int(try reader.integer(UInt16.self))
    let recordKey = try reader.run(length)
    let row = try reader.run(reader.remaining)
    return try DynamicRecord(try RowReader(key: recordKey, row: row, layout: layout))
  }
}
