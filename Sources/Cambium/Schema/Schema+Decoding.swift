#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension Schema {
  /// Reads an encoded schema, from bytes that may hold anything.
  ///
  /// - Parameter path: The store's, for errors.
  /// - Throws: `.corrupt` with D1 or D2; `.newerFormat` for parts that this version does not know and must not pass
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
    var schema = Schema(
      version: version, label: label, records: records, nextNumber: nextNumber)
    schema.nameRelations()
    return schema
  }

  private func record(from reader: inout ByteReader) throws(StoreError) -> RecordSchema {
    let number = try reader.integer(UInt32.self)
    let nextField = try reader.integer(UInt32.self)
    let name = try reader.text()
    var modifier: String?
    var primaryKey: [KeyPart]?
    // In the order of declaration; then in that of their numbers, by which conditions name them.
    var fields: [FieldSchema] = []
    var order: [UInt32] = []
    var indexes: [IndexSchema] = []
    var inverses: [InverseSchema] = []
    var kinds: (isAbstract: Bool, kinds: [KindSchema])?
    var userInfo: [String: String]?
    var expiry: ExpirySchema?
    while let kind = try element(from: &reader) {
      var payload = self.reader(try payload(of: &reader))
      switch kind {
      case .modifier: try payload.setOnce(&modifier, try payload.rest())
      case .field:
        fields.append(try field(from: &payload))
        order.append(fields[fields.count - 1].number)
      case .primaryKey: try payload.setOnce(&primaryKey, try parts(from: &payload))
      case .index:
        if indexes.isEmpty { fields = fields.inOrderOfNumbers }
        indexes.append(try index(from: &payload, of: fields))
      case .inverse: inverses.append(try inverse(from: &payload))
      case .kinds: try payload.setOnce(&kinds, try self.kinds(from: &payload))
      case .userInfo: try payload.setOnce(&userInfo, try self.userInfo(from: &payload))
      case .expiry:
        try payload.setOnce(
          &expiry,
          ExpirySchema(
            field: try payload.integer(UInt32.self), milliseconds: try payload.integer(Int64.self)))
      default: throw payload.misplaced(kind)
      }
      try payload.end()
    }
    var record = RecordSchema(
      number: number, name: name, fields: fields.inOrderOfNumbers, order: order,
      primaryKey: primaryKey ?? [], indexes: indexes, modifier: modifier, nextField: nextField)
    record.inverses = inverses
    record.userInfo = userInfo ?? [:]
    record.expiry = expiry
    if let kinds { (record.isAbstract, record.kinds) = kinds }
    return record
  }

  private func userInfo(
    from reader: inout ByteReader
  ) throws(StoreError) -> [String: String] {
    var userInfo: [String: String] = [:]
    var last: String?
    for _ in 0..<(try reader.integer(UInt32.self)) {
      let name = try reader.text()
      if let last, !last.precedes(name) { throw reader.fault("its annotations are out of order") }
      userInfo[name] = try reader.text()
      last = name
    }
    return userInfo
  }

  private func kinds(
    from reader: inout ByteReader
  ) throws(StoreError) -> (isAbstract: Bool, kinds: [KindSchema]) {
    func isAbstract(_ flags: UInt8) throws(StoreError) -> Bool {
      guard flags <= 1 else { throw newer("a kind with the flags \(flags)") }
      return flags == 1
    }
    let isWholeAbstract = try isAbstract(try reader.integer(UInt8.self))
    var kinds: [KindSchema] = []
    for _ in 0..<(try reader.integer(UInt32.self)) {
      let composite = try reader.integer(UInt32.self)
      kinds.append(
        KindSchema(
          composite: composite, isAbstract: try isAbstract(try reader.integer(UInt8.self))))
    }
    return (isWholeAbstract, kinds)
  }

  private func inverse(from reader: inout ByteReader) throws(StoreError) -> InverseSchema {
    let number = try reader.integer(UInt32.self)
    let record = try reader.integer(UInt32.self)
    let field = try reader.integer(UInt32.self)
    let rule = try deleteRule(from: &reader)
    let bounds = try bounds(from: &reader)
    return InverseSchema(
      number: number, name: try reader.text(), record: record, field: field, related: "",
      reference: "", deleteRule: rule, bounds: bounds)
  }

  private func reference(from reader: inout ByteReader) throws(StoreError) -> ReferenceSchema {
    let record = try reader.integer(UInt32.self)
    let flags = try reader.integer(UInt8.self)
    guard flags <= 1 else { throw newer("a reference with the flags \(flags)") }
    return ReferenceSchema(
      record: record, destination: "", isChecked: flags == 1,
      deleteRule: try deleteRule(from: &reader), bounds: try bounds(from: &reader))
  }

  private func deleteRule(from reader: inout ByteReader) throws(StoreError) -> DeleteRule {
    let code = try reader.integer(UInt8.self)
    guard let rule = DeleteRule(code: code) else { throw newer("a delete rule of kind \(code)") }
    return rule
  }

  private func bounds(from reader: inout ByteReader) throws(StoreError) -> RelationBounds? {
    let least = Int(try reader.integer(UInt32.self))
    let most = Int(try reader.integer(UInt32.self))
    return least == 0 && most == 0
      ? nil : RelationBounds(least: least, most: most == 0 ? nil : most)
  }

  private func field(from reader: inout ByteReader) throws(StoreError) -> FieldSchema {
    let number = try reader.integer(UInt32.self)
    let composite = try reader.integer(UInt32.self)
    let flags = try reader.integer(UInt8.self)
    let type = try type(from: &reader)
    let name = try reader.text()
    var modifier: String?
    var reference: ReferenceSchema?
    var referenceKind: UInt32?
    var userInfo: [String: String]?
    var derivation: DerivationSchema?
    var expression: ExpressionTree<UInt32>?
    var defaultValue: FieldValue?
    while let kind = try element(from: &reader) {
      var payload = self.reader(try payload(of: &reader))
      switch kind {
      case .modifier: try payload.setOnce(&modifier, try payload.rest())
      case .reference: try payload.setOnce(&reference, try self.reference(from: &payload))
      case .referenceKind:
        try payload.setOnce(&referenceKind, try payload.integer(UInt32.self))
      case .userInfo: try payload.setOnce(&userInfo, try self.userInfo(from: &payload))
      case .derivation: try payload.setOnce(&derivation, try self.derivation(from: &payload))
      case .expression: try payload.setOnce(&expression, try self.expression(from: &payload))
      case .defaultValue: try payload.setOnce(&defaultValue, try value(from: &payload))
      default: throw payload.misplaced(kind)
      }
      try payload.end()
    }
    if referenceKind != nil, reference == nil { throw reader.misplaced(.referenceKind) }
    if expression != nil, derivation == nil { throw reader.misplaced(.expression) }
    reference?.composite = referenceKind
    derivation?.numberedExpression = expression
    return FieldSchema(
      number: number, name: name, type: type, isOptional: flags & 1 != 0,
      composite: composite == 0 ? nil : composite, modifier: modifier, reference: reference,
      derivation: derivation, userInfo: userInfo ?? [:], defaultValue: defaultValue)
  }

  private func derivation(from reader: inout ByteReader) throws(StoreError) -> DerivationSchema {
    let code = try reader.integer(UInt8.self)
    guard let kind = DerivationSchema.Kind(rawValue: code) else {
      throw newer("a derivation of kind \(code)")
    }
    var derivation = DerivationSchema(kind)
    derivation.relatedNumber = try reader.integer(UInt32.self)
    derivation.referenceNumber = try reader.integer(UInt32.self)
    derivation.sourceNumber = try reader.integer(UInt32.self)
    if kind == .sequence { derivation.sequence = try sequence(from: &reader) }
    return derivation
  }

  private func sequence(from reader: inout ByteReader) throws(StoreError) -> SequenceSchema {
    let first = try reader.integer(Int64.self)
    let step = try reader.integer(Int64.self)
    let flags = try reader.integer(UInt8.self)
    guard flags <= 1 else { throw newer("a sequence with the flags \(flags)") }
    return SequenceSchema(first: first, step: step, hasNoGaps: flags == 1)
  }

  private func index(
    from reader: inout ByteReader, of fields: [FieldSchema]
  ) throws(StoreError) -> IndexSchema {
    let number = try reader.integer(UInt32.self)
    let flags = try reader.integer(UInt8.self)
    let name = try reader.text()
    let parts = try parts(from: &reader)
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

  private func parts(from reader: inout ByteReader) throws(StoreError) -> [KeyPart] {
    var parts: [KeyPart] = []
    for _ in 0..<(try reader.integer(UInt32.self)) {
      let field = try reader.integer(UInt32.self)
      let flags = try reader.integer(UInt8.self)
      guard flags < 64 else { throw newer("a part of a key with the flags \(flags)") }
      guard flags & 12 != 12 else { throw reader.fault("a part of a key is of elements and words") }
      parts.append(
        KeyPart(
          field: field, isDescending: flags & 1 != 0, isCaseInsensitive: flags & 2 != 0,
          expansion: flags & 4 != 0 ? .elements : flags & 8 != 0 ? .words : .none,
          flipsNullByte: flags & 32 != 0,
          collation: flags & 16 != 0
            ? Collation(named: try reader.text(), version: try reader.text()) : nil))
    }
    return parts
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
  /// A string after its length, a `u32`.
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

extension SchemaDecoder {
  func type(from reader: inout ByteReader) throws(StoreError) -> ColumnType {
    let code = try reader.integer(UInt8.self)
    switch code {
    case 18: return .transformable(codec: try reader.text())
    case 19: return .array(of: try inner(from: &reader))
    case 20: return .composite
    case 21:
      let type = try inner(from: &reader)
      return .external(of: type, try options(from: &reader))
    default:
      guard let type = ScalarType(rawValue: code) else { throw newer("a field of type \(code)") }
      return .scalar(type)
    }
  }

  /// The type of an array's elements, or of a value outside of rows.
  private func inner(from reader: inout ByteReader) throws(StoreError) -> ScalarType {
    let code = try reader.integer(UInt8.self)
    if let type = ScalarType(rawValue: code) { return type }
    if code <= 21 { throw reader.fault("a type \(code) within another") }
    throw newer("a field of type \(code)")
  }

  private func options(from reader: inout ByteReader) throws(StoreError) -> BlobOptions {
    let threshold = Int(try reader.integer(UInt32.self))
    let level = try reader.integer(Int16.self)
    let flags = try reader.integer(UInt8.self)
    guard flags <= 1 else { throw newer("an external field with the flags \(flags)") }
    return BlobOptions(
      threshold: threshold, compression: level == .min ? .none : .zstd(level: Int(level)),
      deduplicated: flags == 1)
  }

  /// - Parameter depth: How deep the condition may be nested.
  func condition(
    from reader: inout ByteReader, of fields: [FieldSchema], depth: Int
  ) throws(StoreError) -> FieldCondition {
    guard depth > 0 else { throw reader.fault("a condition is nested too deep") }
    let code = try reader.integer(UInt8.self)
    switch code {
    case 1: return try comparison(from: &reader, of: fields)
    case 2, 3:
      var operands: [FieldCondition] = []
      for _ in 0..<(try reader.integer(UInt32.self)) {
        operands.append(try condition(from: &reader, of: fields, depth: depth - 1))
      }
      return code == 2 ? .and(operands) : .or(operands)
    case 4: return .not(try condition(from: &reader, of: fields, depth: depth - 1))
    default: throw newer("a condition of kind \(code)")
    }
  }

  private func comparison(
    from reader: inout ByteReader, of fields: [FieldSchema]
  ) throws(StoreError) -> FieldCondition {
    let number = try reader.integer(UInt32.self)
    guard let field = fields.field(number) else {
      throw reader.fault("a condition is of field \(number), which is not there")
    }
    let code = try reader.integer(UInt8.self)
    guard let comparison = FieldComparison.allCases.first(where: { $0.code == code })
    else { throw newer("a comparison of kind \(code)") }
    return .comparison(field: field.name, comparison, try value(from: &reader))
  }

  /// Reads a value; a value that its field cannot have is refused when the schema is validated.
  func value(
    from reader: inout ByteReader, isElement: Bool = false
  ) throws(StoreError) -> FieldValue {
    let code = try reader.integer(UInt8.self)
    switch code {
    case 0: return .null
    case 1:
      let byte = try reader.integer(UInt8.self)
      guard byte <= 1 else { throw reader.fault("a boolean is \(byte)") }
      return .boolean(byte == 1)
    case 2: return .integer(try reader.integer(Int64.self))
    case 3: return .unsigned(try reader.integer(UInt64.self))
    case 4: return .float(Float(bitPattern: try reader.integer(UInt32.self)))
    case 5: return .double(Double(bitPattern: try reader.integer(UInt64.self)))
    case 6: return .decimal(try decimal(from: &reader))
    case 7: return .string(try reader.text())
    case 8:
      let seconds = Double(bitPattern: try reader.integer(UInt64.self))
      return .date(Date(timeIntervalSinceReferenceDate: seconds))
    case 9:
      let count = Int(try reader.integer(UInt32.self))
      return .data(Data(try reader.run(count).array()))
    case 10: return .uuid(try uuid(from: &reader))
    case 11:
      let text = try reader.text()
      guard let url = URL(absolute: text) else {
        throw reader.fault("an absolute URL is none")
      }
      return .url(url)
    case 12 where !isElement:
      var values: [FieldValue] = []
      for _ in 0..<(try reader.integer(UInt32.self)) {
        values.append(try value(from: &reader, isElement: true))
      }
      return .array(values)
    default: throw newer("a value of type \(code)")
    }
  }

  private func decimal(from reader: inout ByteReader) throws(StoreError) -> Decimal {
    let text = try reader.text()
    // The whole text, and in the one form that it is written in.
    guard let value = Decimal(string: text), value.reducedText == text else {
      throw reader.fault("a decimal is none")
    }
    return value
  }

  private func uuid(from reader: inout ByteReader) throws(StoreError) -> UUID {
    let b = try reader.run(16).array()
    return UUID(
      uuid: (
        b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13],
        b[14], b[15]
      ))
  }
}
