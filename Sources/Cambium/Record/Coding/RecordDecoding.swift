#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The values that a record decodes itself from, one for each column.
///
/// Decoders and containers refer to it, and a type could keep one; they refuse when the record is there.
final class RecordDecoding {
  private let layout: RowLayout
  private var values: [FieldValue]

  init(_ layout: RowLayout, _ values: [FieldValue]) {
    self.layout = layout
    self.values = values
  }

  /// - Throws: `.invalidValue`, naming the field, where the type asks for something else than what is described, or has no
  ///   such value.
  func decode<Subject: Record>(
    _ type: Subject.Type, _ root: CodingNode
  ) throws(StoreError) -> Subject {
    defer { values = [] }
    do {
      return try Subject(from: FieldDecoder(self, .fields(root)))
    } catch let error as StoreError {
      throw error
    } catch {
      throw refusal(nil, "its type does not decode it: \(error)")
    }
  }

  fileprivate func value(of field: CodingField) throws(StoreError) -> FieldValue {
    guard values.indices.contains(field.column) else {
      throw refusal(nil, "its decoder was used after it was decoded")
    }
    return values[field.column]
  }

  fileprivate func isNull(_ field: CodingField) throws(StoreError) -> Bool {
    switch field.kind {
    case .transient(let value):
      if case Optional<Any>.none = value as Any { return true }
      return false
    case .parent: return false
    default: break
    }
    if case .null = try value(of: field) { return true }
    return false
  }

  /// Returns the value of a field that is not null.
  fileprivate func present(_ field: CodingField) throws(StoreError) -> FieldValue {
    let value = try value(of: field)
    if case .null = value { throw refusal(field.path, "it is nil") }
    return value
  }

  /// Decodes a field: as it is, by its codec, or by its own decoding.
  fileprivate func decode<Value: Decodable>(
    _ type: Value.Type, from field: CodingField
  ) throws -> Value {
    switch field.kind {
    case .transient(let value):
      guard let value = value as? Value else {
        throw refusal(field.path, "its default is no \(type)")
      }
      return value
    case .parent(let node): return try Value(from: FieldDecoder(self, .fields(node)))
    case _ where _isOptional(type): return try Value(from: FieldDecoder(self, .field(field)))
    case .coded(let codec):
      guard case .data(let data) = try present(field) else { break }
      do {
        return try codec.decode(type, from: [UInt8](data))
      } catch {
        throw refusal(field.path, "the codec \(codec.identifier) cannot decode it: \(error)")
      }
    case .composite(let node):
      _ = try present(field)
      return try Value(from: FieldDecoder(self, .fields(node)))
    case .scalar, .array:
      if let value = try present(field).decoded(as: type, of: field, self) { return value }
    }
    return try Value(from: FieldDecoder(self, .field(field)))
  }

  fileprivate func decode<Value: Decodable>(
    _ type: Value.Type, from element: FieldValue, of field: CodingField
  ) throws -> Value {
    if let value = try element.decoded(as: type, of: field, self) { return value }
    return try Value(from: FieldDecoder(self, .element(element, of: field)))
  }

  fileprivate func refusal(_ field: String?, _ reason: String) -> StoreError {
    .invalidValue(record: layout.record.name, field: field, reason: reason)
  }
}

/// The decoder of a record, a field or an element, and its container of a single value.
private struct FieldDecoder: Decoder, SingleValueDecodingContainer {
  enum Source {
    /// The fields of a record or a composite.
    case fields(CodingNode)
    case field(CodingField)
    case element(FieldValue, of: CodingField)
  }

  private let decoding: RecordDecoding
  private let source: Source

  init(_ decoding: RecordDecoding, _ source: Source) {
    self.decoding = decoding
    self.source = source
  }

  private var path: String? {
    switch source {
    case .fields(let node): node.path
    case .field(let field), .element(_, let field): field.path
    }
  }

  var codingPath: [any CodingKey] { FieldKey.path(path) }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(KeyedFields(decoding, try node()))
  }

  private func node() throws(StoreError) -> CodingNode {
    switch source {
    case .fields(let node): return node
    case .field(let field):
      guard case .composite(let node) = field.kind else { break }
      _ = try decoding.present(field)
      return node
    case .element: break
    }
    throw decoding.refusal(path, "it is decoded with keys, but is no composite")
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    if case .field(let field) = source, case .array = field.kind,
      case .array(let elements) = try decoding.present(field)
    {
      return ElementDecoder(decoding, field, elements)
    }
    throw decoding.refusal(path, "it is decoded without keys, but is no array")
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    if case .fields = source {
      throw decoding.refusal(path, "it is decoded as a single value")
    }
    return self
  }

  func decodeNil() -> Bool {
    if case .field(let field) = source { (try? decoding.isNull(field)) == true } else { false }
  }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    switch source {
    case .element(let element, let field):
      return try decoding.decode(type, from: element, of: field)
    case .field(let field) where !_isOptional(type):
      return try decoding.decode(type, from: field)
    default: throw decoding.refusal(path, "an optional of an optional has two kinds of nil")
    }
  }
}

/// Gives the elements of an array column.
private struct ElementDecoder: UnkeyedDecodingContainer {
  private let decoding: RecordDecoding
  private let field: CodingField
  private let elements: [FieldValue]
  private(set) var currentIndex = 0

  init(_ decoding: RecordDecoding, _ field: CodingField, _ elements: [FieldValue]) {
    self.decoding = decoding
    self.field = field
    self.elements = elements
  }

  var codingPath: [any CodingKey] { FieldKey.path(field.path) }
  var count: Int? { elements.count }
  var isAtEnd: Bool { currentIndex >= elements.count }

  private mutating func next() throws(StoreError) -> FieldDecoder {
    guard !isAtEnd else {
      throw decoding.refusal(field.path, "the array has no more elements")
    }
    defer { currentIndex += 1 }
    return FieldDecoder(decoding, .element(elements[currentIndex], of: field))
  }

  func decodeNil() throws -> Bool { false }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try next().decode(type)
  }

  mutating func nestedContainer<Key: CodingKey>(
    keyedBy type: Key.Type
  ) throws -> KeyedDecodingContainer<Key> { try next().container(keyedBy: type) }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try next().unkeyedContainer()
  }

  mutating func superDecoder() throws -> any Decoder { try next() }
}

/// Gives the fields of a record or composite by their names.
private final class KeyedFields<Key: CodingKey>: KeyedDecodingContainerProtocol {
  private let decoding: RecordDecoding
  private let node: CodingNode
  // A container is used on one thread at a time.
  @exclusivity(unchecked) private var last = 0

  init(_ decoding: RecordDecoding, _ node: CodingNode) {
    self.decoding = decoding
    self.node = node
  }

  var codingPath: [any CodingKey] { FieldKey.path(node.path) }

  var allKeys: [Key] {
    node.fields.compactMap { field in
      guard field.column >= 0, (try? decoding.isNull(field)) == false else { return nil }
      return Key(stringValue: field.property) ?? Key(stringValue: field.name)
    }
  }

  private func field(_ key: String) throws(StoreError) -> CodingField {
    guard let field = unsafe node.field(key, after: &last) else {
      throw decoding.refusal(node.path(of: key), "there is no such field")
    }
    return field
  }

  func contains(_ key: Key) -> Bool {
    (try? field(key.stringValue)).flatMap { try? decoding.isNull($0) } == false
  }

  func decodeNil(forKey key: Key) throws -> Bool {
    try decoding.isNull(try field(key.stringValue))
  }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try decoding.decode(type, from: try field(key.stringValue))
  }

  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    let decoder = FieldDecoder(decoding, .field(try field(key.stringValue)))
    return !_isOptional(type) && decoder.decodeNil() ? nil : try decoder.decode(type)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try superDecoder(forKey: key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try superDecoder(forKey: key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder {
    FieldDecoder(decoding, .field(try field("super")))
  }

  func superDecoder(forKey key: Key) throws -> any Decoder {
    FieldDecoder(decoding, .field(try field(key.stringValue)))
  }
}

extension FieldValue {
  /// Returns the value as a type that columns hold as it is, or as an enum; nil for other types.
  ///
  /// - Throws: `.invalidValue` where it is no such value; `.corrupt`, `.io` where a blob has to be read.
  fileprivate func decoded<Value>(
    as type: Value.Type, of field: CodingField, _ decoding: RecordDecoding
  ) throws(StoreError) -> Value? {
    func read<Known: FieldValueConvertible>(_ known: Known.Type) throws(StoreError) -> Value? {
      if let value = Known(fieldValue: self) { return SameType.cast(value, to: type) }
      throw decoding.refusal(field.path, "its value is \(kind), which is not \(type)")
    }
    if case .blob(let blob) = self, type == Data.self {
      return SameType.cast(try blob.data(), to: type)
    }
    if let scalar = ScalarType.swiftType(type) { return try read(scalar) }
    if type == Blob.self { return try read(Blob.self) }
    if let type = type as? any RecordIntegerEnum.Type { return try read(type) }
    if let type = type as? any RecordStringEnum.Type { return try read(type) }
    return nil
  }
}

/// Takes values of generic types as their concrete types.
///
/// In generic code a type is compared with a few others much faster than a value is cast to them.
enum SameType {
  /// The value, whose type is known to be `Known` by another name.
  @inline(__always)
  static func cast<Value, Known>(_ value: Value, to type: Known.Type) -> Known {
    precondition(Value.self == Known.self, "the types are not the same")
    return unsafe withUnsafePointer(to: value) {
      unsafe UnsafeRawPointer($0).assumingMemoryBound(to: Known.self).pointee
    }
  }
}
