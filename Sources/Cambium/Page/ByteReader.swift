/// Reads bytes that may hold anything, front to back.
///
/// Every length is compared with the remaining bytes before it is used, so nothing in a file decides how
/// much memory is taken or where reading goes.
struct ByteReader: ~Escapable {
  private let bytes: RawSpan
  private(set) var offset: Int
  private let place: StoreError.CorruptPlace
  private let invariant: Invariant

  @_lifetime(copy bytes)
  init(_ bytes: RawSpan, at place: StoreError.CorruptPlace, invariant: Invariant) {
    self.bytes = bytes
    offset = 0
    self.place = place
    self.invariant = invariant
  }

  var remaining: Int { bytes.byteCount - offset }

  func fault(_ reason: String) -> StoreError {
    .corrupt(place, invariant: invariant, reason: reason)
  }

  /// The next integer, stored little-endian.
  mutating func integer<Value: FixedWidthInteger & BitwiseCopyable>(
    _ type: Value.Type
  ) throws(StoreError) -> Value {
    let size = Value.bitWidth / 8
    try require(size)
    defer { offset += size }
    return bytes.load(offset, as: type)
  }

  /// The next `count` bytes.
  @_lifetime(copy self)
  mutating func run(_ count: Int) throws(StoreError) -> RawSpan {
    try require(count)
    defer { offset += count }
    return bytes.part(offset, count)
  }

  /// A string of up to 255 bytes after its length.
  mutating func shortString() throws(StoreError) -> String {
    let count = Int(try integer(UInt8.self))
    let text = String(validating: try run(count).array(), as: UTF8.self)
    guard let text else { throw fault("a name is not UTF-8") }
    return text
  }

  mutating func reference() throws(StoreError) -> PageReference {
    PageReference(decoding: try run(PageReference.size), at: 0)
  }

  private func require(_ count: Int) throws(StoreError) {
    guard count >= 0, count <= remaining else {
      throw fault("\(count) bytes are wanted where \(remaining) remain")
    }
  }
}

extension [UInt8] {
  /// Appends an integer, little-endian.
  mutating func append<Value: FixedWidthInteger & BitwiseCopyable>(integer value: Value) {
    unsafe Swift.withUnsafeBytes(of: value.littleEndian) { unsafe append(contentsOf: $0) }
  }

  /// Appends a string of up to 255 bytes after its length.
  mutating func append(shortString text: String) throws(StoreError) {
    let bytes = text.utf8
    guard bytes.count <= StoreError.Limit.nameLength.bound else {
      throw .limitExceeded(.nameLength, found: bytes.count)
    }
    append(UInt8(bytes.count))
    append(contentsOf: bytes)
  }
}
