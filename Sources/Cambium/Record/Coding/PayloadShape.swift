extension JSONCodec {
  /// Creates a codec for values of one type, whose shape is part of the field's type, and so of the fingerprint: if a property
  /// comes, goes, or is of another type, a model of the same version is refused, and the step to the next says what becomes
  /// of the values.
  ///
  /// ```swift
  /// Field(name: "address", type: .transformable(using: JSONCodec(shapeOf: Address.self)))
  /// ```
  ///
  /// The shape is the names and types of stored properties, whatever their order, and theirs; of an enum that is
  /// `CaseIterable` the cases. Optionals, arrays, sets and dictionaries have that of their elements. Names that a
  /// type's coding keys give to properties are not seen.
  ///
  /// - Complexity: A few microseconds for each property.
  public init<Value: Codable>(shapeOf type: Value.Type) {
    var shape = PayloadShape()
    let text = Array(shape.text(of: type).utf8)
    let hash = SipHash128(of: text.rawSpan).description.prefix(16)
    self.init(identifier: "json/\(String(describing: type).prefix(64))-\(hash)")
  }
}

/// The stored properties of a type that is encoded, as text: `{city:String,phones:[{number:String}]}`. A type that is there
/// before is a number: `#0` is the first.
struct PayloadShape {
  private var known: [ObjectIdentifier: Int] = [:]

  mutating func text(of type: any Any.Type) -> String {
    if let wrapped = Reflection.wrapped(type) { return text(of: wrapped) + "?" }
    if let type = type as? any CaseIterable.Type { return Self.cases(of: type) }
    if let type = type as? any CollectedPayload.Type {
      return "[\(type.contents.map { text(of: $0) }.joined(separator: ":"))]"
    }
    if type is any FieldValueConvertible.Type { return String(describing: type) }
    let id = ObjectIdentifier(type)
    if let number = known[id] { return "#\(number)" }
    let properties = Reflection.storedProperties(of: type)
    if properties.isEmpty { return String(describing: type) }
    known[id] = known.count
    var texts: [String] = []
    for property in properties.sortedRarely(by: { $0.name < $1.name }) {
      texts.append("\(property.name):\(text(of: property.type))")
    }
    return "{\(texts.joined(separator: ","))}"
  }

  private static func cases<Value: CaseIterable>(of type: Value.Type) -> String {
    "<" + type.allCases.map { "\($0)" }.sortedRarely().joined(separator: "|") + ">"
  }
}

/// An array, a set or a dictionary, whatever is in it.
private protocol CollectedPayload {
  /// The type of its elements, or those of its keys and values.
  static var contents: [any Any.Type] { get }
}

extension Array: CollectedPayload {
  fileprivate static var contents: [any Any.Type] { [Element.self] }
}

extension Set: CollectedPayload {
  fileprivate static var contents: [any Any.Type] { [Element.self] }
}

extension Dictionary: CollectedPayload {
  fileprivate static var contents: [any Any.Type] { [Key.self, Value.self] }
}
