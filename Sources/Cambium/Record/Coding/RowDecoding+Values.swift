internal import FoundationEssentials

/// The source of a value that is decoded.
struct DecodingSource {
  let slot: CodingSlot
  /// The element of an array, if it is not the whole array.
  let element: FieldValue?

  init(_ slot: CodingSlot, element: FieldValue? = nil) {
    self.slot = slot
    self.element = element
  }

  /// The type of scalar that is there; nil if it is none.
  var scalar: ScalarType? {
    element == nil ? slot.scalar : slot.element
  }
}

extension RowDecoding {
  /// A scalar of the type that is there.
  @inline(__always)
  private func take<Value: ScalarValue>(
    _ type: Value.Type, _ source: DecodingSource
  ) throws(StoreError) -> Value {
    if let element = source.element {
      guard let value = element.known(as: type) else {
        throw refusal(source.slot, "an element is no \(type)")
      }
      return value
    }
    if try isNull(source.slot) { throw refusal(source.slot, "it is nil") }
    return try value(type, of: source.slot)
  }

  /// - Throws: `.invalidValue` where the field is of another type; so do all of these.
  func decode<Value: ScalarValue & Decodable>(
    _ type: Value.Type, as scalar: ScalarType, from source: DecodingSource
  ) throws(StoreError) -> Value {
    if source.scalar == scalar { return try take(type, source) }
    return try decodeOtherwise(type, from: source)
  }

  func decodeInteger<Value: FixedWidthInteger & Decodable>(
    _ type: Value.Type, from source: DecodingSource
  ) throws(StoreError) -> Value {
    guard let stored = try integer(from: source) else {
      return try decodeOtherwise(type, from: source)
    }
    guard let value = Value(exactly: stored) else {
      throw refusal(source.slot, "\(stored) does not fit into a \(Value.self)")
    }
    return value
  }

  /// An integer of any width; nil where there is none. The width that is asked for has no part in it, so that it is
  /// compiled once.
  @inline(never)
  private func integer(from source: DecodingSource) throws(StoreError) -> Int128? {
    if let element = source.element, source.scalar?.integer != nil {
      if case .integer(let value) = element { return Int128(value) }
      if case .unsigned(let value) = element { return Int128(value) }
    }
    return switch source.scalar {
    case .int64: Int128(try take(Int64.self, source))
    case .int8: Int128(try take(Int8.self, source))
    case .int16: Int128(try take(Int16.self, source))
    case .int32: Int128(try take(Int32.self, source))
    case .uint8: Int128(try take(UInt8.self, source))
    case .uint16: Int128(try take(UInt16.self, source))
    case .uint32: Int128(try take(UInt32.self, source))
    case .uint64: Int128(try take(UInt64.self, source))
    default: nil
    }
  }

  /// A value whose type no scalar column holds: of a codec, a transient, or the wrong type.
  @inline(never)
  @_semantics("optimize.sil.specialize.generic.never")
  private func decodeOtherwise<Value: Decodable>(
    _ type: Value.Type, from source: DecodingSource
  ) throws(StoreError) -> Value {
    switch kind(source.slot) {
    case .coded(let codec):
      do {
        return try codec.decode(type, from: try bytes(of: source.slot))
      } catch {
        throw refusal(source.slot, "the codec \(codec.identifier) cannot decode it: \(error)")
      }
    case .external(let stored):
      let blob = try external(of: source.slot)
      if type == Blob.self { return SameType.cast(blob, to: type) }
      if stored == .binaryData, type == Data.self {
        return SameType.cast(try blob.data(), to: type)
      }
      if stored == .string, type == String.self {
        guard let text = String(validating: try blob.data(), as: UTF8.self) else {
          throw refusal(source.slot, "a string is not UTF-8")
        }
        return SameType.cast(text, to: type)
      }
      throw refusal(source.slot, "the field does not hold a \(type)")
    case .transient(let value):
      if let value = value as? Value { return value }
      throw refusal(source.slot, "its default is no \(type)")
    default:
      throw refusal(source.slot, "the field does not hold a \(type)")
    }
  }

  /// A value of any type: as it is, by its codec, or from what it decodes itself.
  func decode<Value: Decodable>(_ type: Value.Type, from source: DecodingSource) throws -> Value {
    let wanted: any Any.Type = type
    switch source.scalar {
    case .uuid where wanted == UUID.self:
      return SameType.cast(try take(UUID.self, source), to: type)
    case .date where wanted == Date.self:
      return SameType.cast(try take(Date.self, source), to: type)
    case .string where wanted == String.self:
      return SameType.cast(try take(String.self, source), to: type)
    case .url where wanted == URL.self:
      return SameType.cast(try take(URL.self, source), to: type)
    case .binaryData where wanted == Data.self:
      return SameType.cast(try take(Data.self, source), to: type)
    case .decimal where wanted == Decimal.self:
      return SameType.cast(try take(Decimal.self, source), to: type)
    case nil: return try decodeWhole(type, from: source)
    default: return try decodeSingle(type, from: source)
    }
  }

  /// Decodes a value that is not a scalar.
  private func decodeWhole<Value: Decodable>(
    _ type: Value.Type, from source: DecodingSource
  ) throws -> Value {
    switch kind(source.slot) {
    case .coded where !_isOptional(type), .external where !_isOptional(type), .transient:
      if try isNull(source.slot) { throw refusal(source.slot, "it is nil") }
      return try decodeOtherwise(type, from: source)
    case .composite(let node) where !_isOptional(type):
      if try isNull(source.slot) { throw refusal(source.slot, "it is nil") }
      return try Value(from: RecordDecoder(self, node))
    default:
      return try Value(from: FieldDecoder(self, source))
    }
  }

  /// Decodes a value that is made of a scalar: an enum, or a type that decodes itself from one.
  private func decodeSingle<Value: Decodable>(
    _ type: Value.Type, from source: DecodingSource
  ) throws -> Value {
    if let type = type as? any RecordIntegerEnum.Type, source.scalar?.integer != nil {
      let stored = try decodeInteger(Int.self, from: source)
      if let value = type.init(intRawValue: stored) as? Value { return value }
      throw refusal(source.slot, "\(stored) is no case of \(type)")
    }
    if let type = type as? any RecordStringEnum.Type, source.scalar == .string {
      let stored = try take(String.self, source)
      if let value = type.init(stringRawValue: stored) as? Value { return value }
      throw refusal(source.slot, "“\(stored)” is no case of \(type)")
    }
    return try Value(from: FieldDecoder(self, source))
  }
}

extension FieldValue {
  /// The value where it is of this type; not for integers.
  fileprivate func known<Value>(as type: Value.Type) -> Value? {
    switch self {
    case .boolean(let value): same(value, type)
    case .float(let value): same(value, type)
    case .double(let value): same(value, type)
    case .decimal(let value): same(value, type)
    case .string(let value): same(value, type)
    case .date(let value): same(value, type)
    case .data(let value): same(value, type)
    case .uuid(let value): same(value, type)
    case .url(let value): same(value, type)
    case .null, .integer, .unsigned, .array, .composite, .blob: nil
    }
  }

  private func same<Known, Value>(_ value: Known, _ type: Value.Type) -> Value? {
    Known.self == Value.self ? SameType.cast(value, to: type) : nil
  }
}
