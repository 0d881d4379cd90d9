internal import FoundationEssentials

/// Puts the bytes of an array column together, element by element; `ArrayReader` says what they are.
struct ArrayWriter {
  private let type: ScalarType
  private var elements: [UInt8] = []
  private var ends: [Int] = []

  init(of type: ScalarType) {
    self.type = type
  }

  /// Appends an element of a fixed width, which is the type's.
  mutating func append<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value) {
    precondition(type.fixedWidth == MemoryLayout<Value>.size, "elements are of another width")
    elements.append(integer: value)
  }

  /// Appends the bytes of an element whose width varies.
  mutating func append(_ bytes: RawSpan) {
    precondition(type.fixedWidth == nil, "elements are of one width")
    elements.append(bytes)
    ends.append(elements.count)
  }

  /// The array; the next begins.
  mutating func finish() -> [UInt8] {
    defer {
      elements = []
      ends = []
    }
    guard !ends.isEmpty else { return elements }
    let highest = max(ends.count, elements.count)
    var bytes: [UInt8] = [highest <= 0xff ? 0 : highest <= 0xffff ? 1 : 2]
    for number in [ends.count] + ends {
      switch bytes[0] {
      case 0: bytes.append(UInt8(number))
      case 1: bytes.append(integer: UInt16(number))
      // What is longer than 4 GiB is refused where it is put into a row.
      default: bytes.append(integer: UInt32(truncatingIfNeeded: number))
      }
    }
    bytes.append(contentsOf: elements)
    return bytes
  }
}
