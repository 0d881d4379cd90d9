internal import FoundationEssentials

// Primary keys are compared as they are encoded.

extension RowTerm {
  /// A part of a fixed width, as a number that sorts as the key does.
  @inline(__always)
  func keyWord(of record: RowReader) throws(StoreError) -> UInt64 {
    let offset = Int(keyOffset)
    let width = type.keyWidth
    guard offset &+ width <= record.key.byteCount else { throw record.keyEnds }
    switch width {
    case 1: return UInt64(record.key.load(offset, as: UInt8.self))
    case 2: return UInt64(record.key.load(offset, as: UInt16.self).byteSwapped)
    case 4: return UInt64(record.key.load(offset, as: UInt32.self).byteSwapped)
    default: return record.key.load(offset, as: UInt64.self).byteSwapped
    }
  }

  /// The key from the part on.
  @_lifetime(copy record)
  func keyRest(of record: RowReader, _ operands: RowOperands) throws(StoreError) -> RawSpan {
    let offset =
      keyOffset == Self.varyingOffset
      ? try record.keyOffset(of: Int(place), operands.keyParts) : Int(keyOffset)
    guard offset <= record.key.byteCount else { throw record.keyEnds }
    return record.key.part(offset, record.key.byteCount - offset)
  }

  /// Encoded values are compared: no value's bytes begin with another's, so what follows the part does
  /// not matter.
  func orderOfKey(
    _ record: RowReader, _ operands: RowOperands
  ) throws(StoreError) -> Orders {
    let rest = try keyRest(of: record, operands)
    let other = operands.bytes.rawSpan.part(Int(operand >> 32), Int(operand & 0xffff_ffff))
    if isRaw { return Orders(sign: rest.compare(other)) }
    let common = min(rest.byteCount, other.byteCount)
    let sign = rest.part(0, common).compare(other.part(0, common))
    guard sign != 0 || common == other.byteCount else { throw record.keyEnds }
    return Orders(sign: sign)
  }

  func matchKey(
    _ record: RowReader, _ operands: RowOperands
  ) throws(StoreError) -> Orders {
    let matcher = operands.matchers[Int(operand)]
    if isRaw {
      return try matches(try keyRest(of: record, operands), matcher, record) ? .same : .none
    }
    let text: String
    switch try record.keyValue(Int(place)) {
    case .string(let value): text = value
    case .url(let value): text = value.absoluteString
    default: return .none
    }
    return try matches(Array(text.utf8).rawSpan, matcher, record) ? .same : .none
  }
}
