internal import FoundationEssentials

/// A Swift type whose values are stored as they are, in columns, arrays and keys.
protocol ScalarValue: ElementValue, FieldValueConvertible {
  /// Appends the bytes that a variable column has of it; nothing for types of fixed width.
  func append(to bytes: inout PendingBytes)
}

extension ScalarValue where Self: BitwiseCopyable {
  @inline(__always)
  func append(to bytes: inout PendingBytes) {}
}

extension Bool: ScalarValue {}
extension Int: ScalarValue {}
extension Int8: ScalarValue {}
extension Int16: ScalarValue {}
extension Int32: ScalarValue {}
extension Int64: ScalarValue {}
extension UInt: ScalarValue {}
extension UInt8: ScalarValue {}
extension UInt16: ScalarValue {}
extension UInt32: ScalarValue {}
extension UInt64: ScalarValue {}
extension Float: ScalarValue {}
extension Double: ScalarValue {}

extension Date: ScalarValue {
  func append(to bytes: inout PendingBytes) {}
}

extension UUID: ScalarValue {
  func append(to bytes: inout PendingBytes) {}
}

extension String: ScalarValue {
  @inline(__always)
  func append(to bytes: inout PendingBytes) { unsafe bytes.append(utf8Span.span.bytes) }
}

extension URL: ScalarValue {
  func append(to bytes: inout PendingBytes) { absoluteString.append(to: &bytes) }
}

extension Data: ScalarValue {
  func append(to bytes: inout PendingBytes) { bytes.append(self.bytes) }
}

extension Decimal: ScalarValue {
  func append(to bytes: inout PendingBytes) {
    var made: [UInt8] = []
    DecimalParts(self).encode(to: &made)
    bytes.append(made.rawSpan)
  }
}

/// Bytes of variable columns that wait until all before them are there.
struct PendingBytes: ~Copyable {
  private var memory = ScratchBytes()
  private(set) var count = 0

  @inline(__always)
  mutating func append(_ bytes: RawSpan) {
    memory.reserve(count &+ bytes.byteCount, keeping: count)
    var target = unsafe memory.mutableBytes()
    target.copy(bytes, to: count)
    count &+= bytes.byteCount
  }

  /// Puts some of the bytes into a column.
  @inline(__always)
  func put(_ range: Range<Int>, in row: RowWriter, at column: Int) throws(StoreError) {
    try row.append(memory.bytes(count).extracting(range), to: column)
  }

  mutating func removeAll() { count = 0 }
}

/// Takes values of generic types as what they are.
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
