// What conditions read of a record.

extension RowReader {
  /// A number that sorts as the value of a fixed column does; nil for what is not a number.
  func word(_ type: ScalarType, at offset: Int) throws(StoreError) -> UInt64? {
    switch type {
    case .boolean: return try boolean(offset) ? 1 : 0
    case .float:
      let value = float(offset)
      return value.isNaN ? nil : UInt64(value.keyBits)
    case .double, .date:
      let value = double(offset)
      return value.isNaN ? nil : value.keyBits
    default: return row.integer(type, at: offset).map { UInt64(truncatingIfNeeded: $0) }
    }
  }

  /// Returns the offset of a part of the key.
  func keyOffset(of part: Int, _ parts: [KeySkip]) throws(StoreError) -> Int {
    var offset = 0
    for index in 0..<part {
      guard let count = parts[index].length(in: key, from: offset) else { throw keyEnds }
      offset += count
    }
    return offset
  }

  var keyEnds: StoreError { fault(.keyParts, "it ends within a part") }
  var notADecimal: StoreError { fault(.rowValues, "a decimal is none, or not reduced") }
}

/// The way in which a part of a key that is not the last is skipped.
enum KeySkip: BitwiseCopyable, Sendable {
  case fixed(Int)
  /// Bytes behind which an end is marked, each turned by a mask.
  case run(UInt8)
  case decimal(UInt8)

  init(_ column: KeyColumn) {
    let mask: UInt8 = column.form.contains(.isDescending) ? 0xff : 0
    if let width = column.type.fixedWidth {
      self = .fixed(width)
    } else {
      self = column.type == .decimal ? .decimal(mask) : .run(mask)
    }
  }

  /// Returns the number of bytes that the part takes from `start` on; nil if it does not end.
  func length(in key: RawSpan, from start: Int) -> Int? {
    switch self {
    case .fixed(let width): return start + width <= key.byteCount ? width : nil
    case .decimal(let mask): return DecimalParts.keyLength(in: key, from: start, mask: mask)
    case .run(let mask):
      var offset = start
      while offset + 1 < key.byteCount {
        if key.load(offset, as: UInt8.self) == mask {
          if key.load(offset + 1, as: UInt8.self) == mask { return offset + 2 - start }
          offset += 1
        }
        offset += 1
      }
      return nil
    }
  }
}
