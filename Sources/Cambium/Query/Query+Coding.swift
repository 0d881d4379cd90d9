extension Query: CustomStringConvertible {
  /// The query as text, with the properties' names: `age >= 18 sorted by name descending limit 20`.
  public var description: String {
    var text = condition == .always ? "all" : "\(condition)"
    if !order.isEmpty { text += " sorted by " + order.map { "\($0)" }.joined(separator: ", ") }
    if let limit { text += " limit \(limit)" }
    if offset != 0 { text += " offset \(offset)" }
    if let after { text += " after \(after.map { "\($0)" }.joined(separator: ", "))" }
    return text
  }
}

extension Query: Codable {
  private enum CodingKeys: String, CodingKey {
    case condition, order, limit, offset, after
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let condition = try container.decodeIfPresent(Condition<Subject>.self, forKey: .condition)
    let order = try container.decodeIfPresent([Order<Subject>].self, forKey: .order)
    self.init(
      where: condition ?? .always, limit: try container.decodeIfPresent(Int.self, forKey: .limit),
      offset: try container.decodeIfPresent(Int.self, forKey: .offset) ?? 0,
      after: try container.decodeIfPresent([CodedValue].self, forKey: .after)?.map(\.value))
    self.order = order ?? []
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    if condition != .always { try container.encode(condition, forKey: .condition) }
    if !order.isEmpty { try container.encode(order, forKey: .order) }
    try container.encodeIfPresent(limit, forKey: .limit)
    if offset != 0 { try container.encode(offset, forKey: .offset) }
    try container.encodeIfPresent(after?.map(CodedValue.init), forKey: .after)
  }
}

extension Order: CustomStringConvertible {
  /// The order as text, with the property's name: `name descending`.
  public var description: String {
    let path = PropertyPaths.of(Subject.self).path(of: property) ?? "offset \(property.offset)"
    return path + (isDescending ? " descending" : "") + (isCaseInsensitive ? " [c]" : "")
  }
}

extension Order: Codable {
  private enum CodingKeys: String, CodingKey {
    case property, isDescending, isCaseInsensitive
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let path = try container.decode(String.self, forKey: .property)
    // A name that is no property's is noticed when the query is checked.
    self.init(
      PropertyPaths.of(Subject.self).reference(to: path) ?? PropertyReference(path: path),
      isDescending: try container.decodeIfPresent(Bool.self, forKey: .isDescending) ?? false,
      isCaseInsensitive:
        try container.decodeIfPresent(Bool.self, forKey: .isCaseInsensitive) ?? false)
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    guard let path = PropertyPaths.of(Subject.self).path(of: property) else {
      throw EncodingError.invalidValue(
        self, .init(codingPath: encoder.codingPath, debugDescription: "It has no name."))
    }
    try container.encode(path, forKey: .property)
    if isDescending { try container.encode(true, forKey: .isDescending) }
    if isCaseInsensitive { try container.encode(true, forKey: .isCaseInsensitive) }
  }
}

/// A value as conditions are written with it.
struct CodedValue: Codable {
  let value: FieldValue

  init(_ value: FieldValue) {
    self.value = value
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let condition = try? FieldCondition(parsing: "key == \(text)"),
      case .comparison(_, .equal, let value) = condition
    else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "\(text) is no value.")
    }
    self.value = value
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(value.literal)
  }
}
