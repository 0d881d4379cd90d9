internal import FoundationEssentials

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

  /// The type of an array's elements, or of what lies outside.
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

  private func value(from reader: inout ByteReader) throws(StoreError) -> FieldValue {
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
      guard let url = URL(string: text), url.scheme != nil, url.absoluteString == text else {
        throw reader.fault("an absolute URL is none")
      }
      return .url(url)
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
