internal import FoundationEssentials

/// A primary key of one part that always has the same width: put together without memory of its own.
///
/// Most records are fetched by such keys, and making an encoder costs a tenth of the fetch.
struct ShortKey {
  private let bytes: [16 of UInt8]
  private let count: Int

  /// - Returns: nil for any other key, and for a value that the key cannot have.
  @inline(__always)
  init?(_ parts: [any FieldValueConvertible], of layout: KeyLayout) {
    guard parts.count == 1, layout.columns.count == 1 else { return nil }
    let column = layout.columns[0]
    guard column.form.subtracting(.isLast).isEmpty, let width = column.type.fixedWidth,
      let word = parts[0].fieldValue.bits(of: column.type)
    else { return nil }
    var bits: UInt128
    switch column.type {
    case .boolean, .uint8, .uint16, .uint32, .uint64: bits = word
    case .int8, .int16, .int32, .int64: bits = word ^ 1 &<< UInt128(width &* 8 &- 1)
    case .uuid: bits = word.byteSwapped
    case .float, .double, .date, .decimal, .string, .url, .binaryData: return nil
    }
    bits = (bits &<< UInt128((16 &- width) &* 8)).byteSwapped
    var bytes: [16 of UInt8] = .init(repeating: 0)
    for index in 0..<16 {
      bytes[index] = UInt8(truncatingIfNeeded: bits &>> UInt128(8 &* index))
    }
    self.bytes = bytes
    count = width
  }

  var key: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get { unsafe bytes.span.bytes.part(0, count) }
  }
}

extension FieldValue {
  /// The bits that a row has of it, lowest first; nil if it is not of the type, which is none of those without such bits.
  fileprivate func bits(of type: ScalarType) -> UInt128? {
    switch (type, self) {
    case (.boolean, .boolean(let value)): value ? 1 : 0
    case (.uuid, .uuid(let value)): UInt128(bytesOf: value)
    case (.int64, .integer(let value)): UInt128(UInt64(bitPattern: value))
    case (.int8, _): Int8(fieldValue: self).map { UInt128(UInt8(bitPattern: $0)) }
    case (.int16, _): Int16(fieldValue: self).map { UInt128(UInt16(bitPattern: $0)) }
    case (.int32, _): Int32(fieldValue: self).map { UInt128(UInt32(bitPattern: $0)) }
    case (.int64, _): Int64(fieldValue: self).map { UInt128(UInt64(bitPattern: $0)) }
    case (.uint8, _): UInt8(fieldValue: self).map { UInt128($0) }
    case (.uint16, _): UInt16(fieldValue: self).map { UInt128($0) }
    case (.uint32, _): UInt32(fieldValue: self).map { UInt128($0) }
    case (.uint64, _): UInt64(fieldValue: self).map { UInt128($0) }
    default: nil
    }
  }
}
