internal import FoundationEssentials

extension FieldType {
  /// The column's type, and the codec that it takes.
  func column() throws(DescriptionFault) -> (ColumnType, (any FieldCodec)?) {
    switch kind {
    case .scalar(let type): return (.scalar(type), nil)
    case .transformable(let codec): return (.transformable(codec: codec.identifier), codec)
    case .composite: return (.composite, nil)
    case .tooDeep:
      throw DescriptionFault("composites are nested more than \(Self.depthMax) deep")
    case .array(let element):
      guard case .scalar(let type) = element.kind else {
        throw DescriptionFault("an array has no arrays, composites or transformables in it")
      }
      return (.array(of: type), nil)
    }
  }
}

extension Field {
  /// The column's type, as it is stored, and the codec that it takes.
  func column() throws(DescriptionFault) -> (ColumnType, (any FieldCodec)?) {
    let (type, codec) = try type.column()
    guard let options = storage.options else { return (type, codec) }
    guard let scalar = type.scalar, scalar == .binaryData || scalar == .string else {
      throw DescriptionFault("only binary data and strings are stored externally, not \(type)")
    }
    return (.external(of: scalar, options), nil)
  }
}

extension FieldDefault {
  /// The value as the column holds it; nil for none.
  func value(
    of field: Field, _ type: ColumnType, _ codec: (any FieldCodec)?,
    _ rules: [CheckedRule]
  ) throws(DescriptionFault) -> FieldValue? {
    if type == .composite { throw DescriptionFault("a composite has no default; its parts have") }
    if value == .null {
      guard field.isOptional else {
        throw DescriptionFault("its default is nil though it is not optional")
      }
      return nil
    }
    let value = try codec.map { codec throws(DescriptionFault) in try encoded(by: codec) }
    guard let value = value ?? self.value?.converted(to: type) else {
      throw DescriptionFault("its default, \(text), is not exactly a value of \(type)")
    }
    for rule in rules where !rule.holds(for: value) {
      throw DescriptionFault(
        "its default, \(text), is not valid: it has to hold that it \(rule.text)")
    }
    return value
  }

  private func encoded(by codec: any FieldCodec) throws(DescriptionFault) -> FieldValue {
    guard let encodable else {
      throw DescriptionFault("its default has to be a value that its codec encodes")
    }
    do {
      return .data(Data(try codec.encode(encodable)))
    } catch {
      throw DescriptionFault("its codec cannot encode its default: \(error)")
    }
  }

  private var text: String {
    if let value { "\(value)" } else if let encodable { "\(encodable)" } else { "nil" }
  }
}

extension FieldValue: CustomStringConvertible {
  /// The value, without its type.
  public var description: String {
    switch self {
    case .null: "nil"
    case .boolean(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .unsigned(let value): "\(value)"
    case .float(let value): "\(value)"
    case .double(let value): "\(value)"
    case .decimal(let value): "\(value)"
    case .string(let value): "\"\(value)\""
    case .date(let value):
      // A date too far away for the calendar has no description, and asking for one ends the process.
      abs(value.timeIntervalSinceReferenceDate) < 1e12
        ? "\(value)" : "\(value.timeIntervalSinceReferenceDate) seconds from 2001"
    case .data(let value): "\(value.count) bytes"
    case .blob(let value): "\(value.count) bytes"
    case .uuid(let value): "\(value)"
    case .url(let value): value.absoluteString
    case .array(let values): "\(values)"
    case .composite(let parts):
      "["
        + parts.sortedRarely { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        .joined(separator: ", ") + "]"
    }
  }
}
