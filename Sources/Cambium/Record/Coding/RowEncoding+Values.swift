internal import FoundationEssentials

/// The target of a value that is encoded.
struct EncodingTarget: BitwiseCopyable {
  let slot: CodingSlot
  /// True if it is appended to the array that the field is.
  let isElement: Bool

  init(_ slot: CodingSlot, isElement: Bool = false) {
    self.slot = slot
    self.isElement = isElement
  }

  /// The type that a scalar has to be of; nil if none can be.
  var scalar: ScalarType? {
    isElement ? slot.element : slot.scalar
  }
}

extension RowEncoding {
  /// Takes a scalar of the column's type.
  @inline(__always)
  private func take<Value: ScalarValue>(
    _ value: Value, _ target: EncodingTarget
  ) throws(StoreError) {
    if target.isElement {
      append(value, to: target.slot)
    } else {
      try put(value, in: target.slot)
    }
  }

  /// - Throws: `.invalidValue` where the field is of another type; so do all of these.
  func encode<Value: ScalarValue & Encodable>(
    _ value: Value, as scalar: ScalarType, to target: EncodingTarget
  ) throws(StoreError) {
    if target.scalar == scalar { return try take(value, target) }
    try encodeOtherwise(value, to: target)
  }

  func encodeInteger<Value: FixedWidthInteger & Encodable>(
    _ value: Value, to target: EncodingTarget
  ) throws(StoreError) {
    guard target.scalar?.integer != nil else { return try encodeOtherwise(value, to: target) }
    try encode(integer: Int128(clamping: value), to: target)
  }

  /// The width that the value had has no part in this, so that it is compiled once.
  @inline(never)
  private func encode(integer value: Int128, to target: EncodingTarget) throws(StoreError) {
    switch target.scalar {
    case .int8: try take(try exactly(value, target, as: Int8.self), target)
    case .int16: try take(try exactly(value, target, as: Int16.self), target)
    case .int32: try take(try exactly(value, target, as: Int32.self), target)
    case .uint8: try take(try exactly(value, target, as: UInt8.self), target)
    case .uint16: try take(try exactly(value, target, as: UInt16.self), target)
    case .uint32: try take(try exactly(value, target, as: UInt32.self), target)
    case .uint64: try take(try exactly(value, target, as: UInt64.self), target)
    default: try take(try exactly(value, target, as: Int64.self), target)
    }
  }

  private func exactly<Stored: FixedWidthInteger>(
    _ value: Int128, _ target: EncodingTarget, as type: Stored.Type
  ) throws(StoreError) -> Stored {
    guard let stored = Stored(exactly: value) else {
      throw refusal(target.slot, "\(value) does not fit into the field")
    }
    return stored
  }

  /// A value whose type no scalar column holds: of a codec, or of the wrong type.
  @inline(never)
  @_semantics("optimize.sil.specialize.generic.never")
  private func encodeOtherwise<Value: Encodable>(
    _ value: Value, to target: EncodingTarget
  ) throws(StoreError) {
    switch tree.entries[target.slot.number].kind {
    case .coded(let codec):
      do {
        put(try codec.encode(value), in: target.slot)
      } catch {
        throw refusal(target.slot, "the codec \(codec.identifier) cannot encode it: \(error)")
      }
    case .external(let stored):
      guard let blob = blob(of: value, stored) else {
        throw refusal(target.slot, "\(Value.self) does not fit the field")
      }
      put(blob, in: target.slot)
    case .transient: return
    default:
      throw refusal(target.slot, "\(Value.self) does not fit the field")
    }
  }

  private func blob<Value>(of value: Value, _ stored: ColumnType) -> Blob? {
    switch stored {
    case .binaryData where Value.self == Blob.self: SameType.cast(value, to: Blob.self)
    case .binaryData where Value.self == Data.self: Blob(SameType.cast(value, to: Data.self))
    case .string where Value.self == String.self:
      Blob(Data(SameType.cast(value, to: String.self).utf8))
    default: nil
    }
  }

  /// Takes a value of any type: as it is, by its codec, or by what it encodes itself as.
  func encode<Value: Encodable>(_ value: Value, to target: EncodingTarget) throws {
    let type: any Any.Type = Value.self
    switch target.scalar {
    case .uuid where type == UUID.self:
      return try take(SameType.cast(value, to: UUID.self), target)
    case .date where type == Date.self:
      return try take(SameType.cast(value, to: Date.self), target)
    case .string where type == String.self:
      return try take(SameType.cast(value, to: String.self), target)
    case .url where type == URL.self:
      return try take(SameType.cast(value, to: URL.self), target)
    case .binaryData where type == Data.self:
      return try take(SameType.cast(value, to: Data.self), target)
    case .decimal where type == Decimal.self:
      return try take(SameType.cast(value, to: Decimal.self), target)
    case nil: try encodeWhole(value, to: target)
    default: try encodeSingle(value, to: target)
    }
  }

  /// Encodes a value that is not a scalar.
  private func encodeWhole<Value: Encodable>(_ value: Value, to target: EncodingTarget) throws {
    switch tree.entries[target.slot.number].kind {
    case .transient: return
    case .coded where !_isOptional(Value.self), .external where !_isOptional(Value.self):
      try encodeOtherwise(value, to: target)
    case .composite(let node) where !_isOptional(Value.self):
      beginComposite(target.slot)
      try value.encode(to: RecordEncoder(self, node))
    default: try value.encode(to: FieldEncoder(self, target))
    }
  }

  /// Encodes a value that becomes a scalar: an enum, or a type that encodes itself as one.
  private func encodeSingle<Value: Encodable>(_ value: Value, to target: EncodingTarget) throws {
    if target.scalar?.integer != nil, let value = value as? any RecordIntegerEnum {
      try encodeInteger(value.intRawValue, to: target)
    } else if target.scalar == .string, let value = value as? any RecordStringEnum {
      try take(value.stringRawValue, target)
    } else {
      try value.encode(to: FieldEncoder(self, target))
    }
  }
}
