#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The values that a record has encoded of itself so far, one for each column.
final class RecordEncoding {
  private let layout: RowLayout
  // A record is encoded on one thread, so accesses cannot overlap.
  /// Null where nothing came. Those of composites only say whether they are null.
  @exclusivity(unchecked) fileprivate var values: [FieldValue]
  /// The first error of a call that cannot throw.
  private var failure: StoreError?

  init(_ layout: RowLayout) {
    self.layout = layout
    unsafe values = Array(repeating: .null, count: layout.columns.count)
  }

  /// Returns the values of a record. This is done once.
  ///
  /// - Throws: `.invalidValue`, naming the field, for values that do not fit the description.
  func encode<Subject: Record>(
    _ record: Subject, _ root: CodingNode
  ) throws(StoreError) -> [FieldValue] {
    var thrown: (any Error)?
    do { try record.encode(to: FieldEncoder(self, .fields(root))) } catch { thrown = error }
    if let error = failure ?? thrown as? StoreError { throw error }
    if let thrown { throw refusal(nil, "its type does not encode it: \(thrown)") }
    return unsafe values
  }

  /// Takes the value of a field: as it is, by its codec, or by its own encoding.
  fileprivate func put<Value: Encodable>(_ value: Value, in field: CodingField) throws {
    switch field.kind {
    case .transient: return
    case .parent(let node): return try value.encode(to: FieldEncoder(self, .fields(node)))
    case _ where _isOptional(Value.self): break
    case .coded(let codec):
      do {
        unsafe values[field.column] = .data(Data(try codec.encode(value)))
        return
      } catch {
        throw refusal(
          field.path, "the codec \(codec.identifier) cannot encode it: \(error)")
      }
    case .composite(let node):
      unsafe values[field.column] = .composite([:])
      return try value.encode(to: FieldEncoder(self, .fields(node)))
    case .array:
      guard let list = value as? any FieldList else { break }
      unsafe values[field.column] = list.fieldValue
      return
    case .scalar:
      guard let stored = FieldValue(stored: value) else { break }
      unsafe values[field.column] = stored
      return
    }
    try value.encode(to: FieldEncoder(self, .field(field)))
  }

  fileprivate func append<Value: Encodable>(_ value: Value, to field: CodingField) throws {
    guard let element = FieldValue(stored: value) else {
      return try value.encode(to: FieldEncoder(self, .element(of: field)))
    }
    var elements = elements(of: field)
    // So that the array is not copied.
    unsafe values[field.column] = .null
    elements.append(element)
    unsafe values[field.column] = .array(elements)
  }

  fileprivate func elements(of field: CodingField) -> [FieldValue] {
    guard case .array(let elements) = unsafe values[field.column] else { return [] }
    return elements
  }

  fileprivate func refusal(_ field: String?, _ reason: String) -> StoreError {
    .invalidValue(record: layout.record.name, field: field, reason: reason)
  }

  /// Notes a refusal where it cannot be thrown.
  fileprivate func refuse(_ field: String?, _ reason: String) {
    if failure == nil { failure = refusal(field, reason) }
  }
}

/// The encoder of a record, a field or an element, and its containers without keys.
private struct FieldEncoder: Encoder, SingleValueEncodingContainer, UnkeyedEncodingContainer {
  enum Target {
    /// The fields of a record or a composite.
    case fields(CodingNode)
    case field(CodingField)
    /// The next element of an array.
    case element(of: CodingField)
  }

  private let encoding: RecordEncoding
  private let target: Target

  init(_ encoding: RecordEncoding, _ target: Target) {
    self.encoding = encoding
    self.target = target
  }

  private var path: String? {
    switch target {
    case .fields(let node): node.path
    case .field(let field), .element(let field): field.path
    }
  }

  var codingPath: [any CodingKey] { FieldKey.path(path) }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(KeyedFields(encoding, node))
  }

  private var node: CodingNode {
    switch target {
    case .fields(let node): return node
    case .field(let field):
      guard case .composite(let node) = field.kind else { break }
      unsafe encoding.values[field.column] = .composite([:])
      return node
    case .element: break
    }
    encoding.refuse(path, "it is encoded with keys, but is no composite")
    return .empty
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    switch target {
    case .fields: encoding.refuse(path, "it is encoded without keys")
    case .field(let field):
      guard case .array = field.kind else { fallthrough }
      unsafe encoding.values[field.column] = .array([])
      return FieldEncoder(encoding, .element(of: field))
    case .element: encoding.refuse(path, "it is encoded as an array, but is none")
    }
    return FieldEncoder(encoding, .fields(.empty))
  }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    if case .fields = target { encoding.refuse(path, "it is encoded as a single value") }
    return self
  }

  // MARK: Values

  func encodeNil() throws {
    switch target {
    case .fields: throw encoding.refusal(path, "it is encoded as a single value")
    case .field(let field): if field.column >= 0 { unsafe encoding.values[field.column] = .null }
    case .element: throw encoding.refusal(path, "an element is nil")
    }
  }

  func encode<Value: Encodable>(_ value: Value) throws {
    switch target {
    case .fields: throw encoding.refusal(path, "it is encoded as a single value")
    case .field(let field):
      guard !_isOptional(Value.self) else {
        throw encoding.refusal(path, "an optional of an optional has two kinds of nil")
      }
      try encoding.put(value, in: field)
    case .element(let field): try encoding.append(value, to: field)
    }
  }

  // MARK: Elements

  var count: Int {
    if case .element(let field) = target { encoding.elements(of: field).count } else { 0 }
  }

  func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { unkeyedContainer() }

  func superEncoder() -> any Encoder { self }
}

/// Takes the fields of a record or composite by their names.
private struct KeyedFields<Key: CodingKey>: KeyedEncodingContainerProtocol {
  private let encoding: RecordEncoding
  private let node: CodingNode
  private var last = 0

  init(_ encoding: RecordEncoding, _ node: CodingNode) {
    self.encoding = encoding
    self.node = node
  }

  var codingPath: [any CodingKey] { FieldKey.path(node.path) }

  private mutating func field(_ key: Key) throws(StoreError) -> CodingField {
    guard let field = node.field(key.stringValue, after: &last) else {
      throw encoding.refusal(node.path(of: key.stringValue), "there is no such field")
    }
    return field
  }

  mutating func encodeNil(forKey key: Key) throws {
    try FieldEncoder(encoding, .field(field(key))).encodeNil()
  }

  mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    try encoding.put(value, in: field(key))
  }

  mutating func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
    guard let value else { return try encodeNil(forKey: key) }
    try FieldEncoder(encoding, .field(field(key))).encode(value)
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> { encoder(key.stringValue).container(keyedBy: type) }

  mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    encoder(key.stringValue).unkeyedContainer()
  }

  mutating func superEncoder() -> any Encoder { encoder("super") }

  mutating func superEncoder(forKey key: Key) -> any Encoder { encoder(key.stringValue) }

  private mutating func encoder(_ key: String) -> FieldEncoder {
    if let field = node.field(key, after: &last) { return FieldEncoder(encoding, .field(field)) }
    encoding.refuse(node.path(of: key), "there is no such field")
    return FieldEncoder(encoding, .fields(.empty))
  }
}

extension FieldValue {
  /// Creates the value that a column holds of a value as it is, or of an enum's; nil of other types.
  fileprivate init?<Value>(stored value: Value) {
    if let scalar = ScalarType.swiftType(Value.self) {
      self = scalar.fieldValue(of: value)
    } else if let blob = value as? Blob {
      self = .blob(blob)
    } else if let value = value as? any RecordIntegerEnum {
      self = value.fieldValue
    } else if let value = value as? any RecordStringEnum {
      self = value.fieldValue
    } else {
      return nil
    }
  }
}

extension StoredScalar {
  /// The value of a field of a value whose type is known to be this by another name.
  fileprivate static func fieldValue<Value>(of value: Value) -> FieldValue {
    SameType.cast(value, to: Self.self).fieldValue
  }
}
