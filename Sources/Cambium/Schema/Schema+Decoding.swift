extension Schema {
  /// Reads what `encoded()` wrote, from bytes that may hold anything.
  ///
  /// - Parameter path: The store's, for errors.
  /// - Throws: `.corrupt` with D1 or D2; `.newerFormat` for what this version does not know and must not pass
  ///   over.
  init(decoding bytes: RawSpan, version: UInt32, path: String) throws(StoreError) {
    let place = StoreError.CorruptPlace.entry(tree: Schema.treeName, key: Schema.key(of: version))
    let decoder = SchemaDecoder(place: place, path: path)
    var reader = decoder.reader(bytes)
    let hash = SipHash128(
      low: try reader.integer(UInt64.self), high: try reader.integer(UInt64.self))
    self = try decoder.schema(from: &reader, version: version)
    do throws(SchemaFault) {
      try validate()
    } catch {
      let field = error.field.map { "." + $0 } ?? ""
      throw .corrupt(
        place, invariant: .schemaContents, reason: "of \(error.record)\(field): \(error.reason)")
    }
    guard fingerprint.hash == hash else {
      throw .corrupt(
        place, invariant: .schemaContents, reason: "its fingerprint is that of another schema")
    }
  }
}

/// Reads the elements of a schema.
struct SchemaDecoder {
  let place: StoreError.CorruptPlace
  let path: String

  @_lifetime(copy bytes)
  func reader(_ bytes: RawSpan) -> ByteReader {
    ByteReader(bytes, at: place, invariant: .schemaLayout)
  }

  func schema(from reader: inout ByteReader, version: UInt32) throws(StoreError) -> Schema {
    var label: String?
    var nextNumber: UInt32?
    var records: [RecordSchema] = []
    while let kind = try element(from: &reader) {
      var payload = self.reader(try payload(of: &reader))
      switch kind {
      case .label: try payload.setOnce(&label, try payload.rest())
      case .nextNumber: try payload.setOnce(&nextNumber, try payload.integer(UInt32.self))
      case .record: records.append(try record(from: &payload))
      default: throw payload.misplaced(kind)
      }
      try payload.end()
    }
    guard let nextNumber else { throw reader.fault("it has no next number") }
    return Schema(version: version, label: label, records: records, nextNumber: nextNumber)
  }

  private func record(from reader: inout ByteReader) throws(StoreError) -> RecordSchema {
    let number = try reader.integer(UInt32.self)
    let nextField = try reader.integer(UInt32.self)
    let name = try reader.text()
    var modifier: String?
    var primaryKey: [KeyPart]?
    var fields: [FieldSchema] = []
    var indexes: [IndexSchema] = []
    while let kind = try element(from: &reader) {
      var payload = self.reader(try payload(of: &reader))
      switch kind {
      case .modifier: try payload.setOnce(&modifier, try payload.rest())
      case .field: fields.append(try field(from: &payload))
      case .primaryKey: try payload.setOnce(&primaryKey, try payload.parts())
      case .index: indexes.append(try index(from: &payload, of: fields))
      default: throw payload.misplaced(kind)
      }
      try payload.end()
    }
    return RecordSchema(
      number: number, name: name, fields: fields, primaryKey: primaryKey ?? [], indexes: indexes,
      modifier: modifier, nextField: nextField)
  }

  private func field(from reader: inout ByteReader) throws(StoreError) -> FieldSchema {
    let number = try reader.integer(UInt32.self)
    let composite = try reader.integer(UInt32.self)
    let flags = try reader.integer(UInt8.self)
    let type = try type(from: &reader)
    let name = try reader.text()
    var modifier: String?
    while let kind = try element(from: &reader) {
      var payload = self.reader(try payload(of: &reader))
      guard kind == .modifier else { throw payload.misplaced(kind) }
      try payload.setOnce(&modifier, try payload.rest())
    }
    return FieldSchema(
      number: number, name: name, type: type, isOptional: flags & 1 != 0,
      composite: composite == 0 ? nil : composite, modifier: modifier)
  }

  private func index(
    from reader: inout ByteReader, of fields: [FieldSchema]
  ) throws(StoreError) -> IndexSchema {
    let number = try reader.integer(UInt32.self)
    let flags = try reader.integer(UInt8.self)
    let name = try reader.text()
    let parts = try reader.parts()
    var condition: FieldCondition?
    while let kind = try element(from: &reader) {
      var payload = self.reader(try payload(of: &reader))
      guard kind == .condition else { throw payload.misplaced(kind) }
      try payload.setOnce(
        &condition,
        try self.condition(from: &payload, of: fields, depth: FieldCondition.depthMax))
      try payload.end()
    }
    return IndexSchema(
      number: number, name: name, parts: parts, isUnique: flags & 1 != 0, condition: condition)
  }

  /// The kind of the next element that is not to be passed over; nil at the end.
  private func element(from reader: inout ByteReader) throws(StoreError) -> SchemaElement? {
    while reader.remaining > 0 {
      let kind = try reader.integer(UInt16.self)
      let flags = try reader.integer(UInt16.self)
      if let known = SchemaElement(rawValue: kind) { return known }
      guard flags & SchemaElement.mustUnderstand == 0 else {
        throw newer("an element of kind \(kind)")
      }
      _ = try payload(of: &reader)
    }
    return nil
  }

  @_lifetime(copy reader)
  private func payload(of reader: inout ByteReader) throws(StoreError) -> RawSpan {
    try reader.run(Int(try reader.integer(UInt32.self)))
  }

  func newer(_ what: String) -> StoreError {
    .newerFormat(path: path, reason: "a schema in it has \(what)")
  }
}

extension ByteReader {
  /// A string behind its length, a `u32`.
  mutating func text() throws(StoreError) -> String {
    try string(Int(try integer(UInt32.self)))
  }

  /// Reads the rest as a string.
  fileprivate mutating func rest() throws(StoreError) -> String {
    try string(remaining)
  }

  private mutating func string(_ count: Int) throws(StoreError) -> String {
    let text = String(validating: try run(count).array(), as: UTF8.self)
    guard let text else { throw fault("a text is not UTF-8") }
    return text
  }

  fileprivate mutating func parts() throws(StoreError) -> [KeyPart] {
    var parts: [KeyPart] = []
    for _ in 0..<(try integer(UInt32.self)) {
      let field = try integer(UInt32.self)
      let flags = try integer(UInt8.self)
      parts.append(
        KeyPart(field: field, isDescending: flags & 1 != 0, isCaseInsensitive: flags & 2 != 0))
    }
    return parts
  }

  fileprivate func setOnce<Value>(
    _ place: inout Value?, _ value: Value
  ) throws(StoreError) {
    guard place == nil else { throw fault("an element is there twice") }
    place = value
  }

  fileprivate func misplaced(_ kind: SchemaElement) -> StoreError {
    fault("the element \(kind) is in another that cannot have it")
  }

  fileprivate func end() throws(StoreError) {
    guard remaining == 0 else { throw fault("an element is longer than it says") }
  }
}
