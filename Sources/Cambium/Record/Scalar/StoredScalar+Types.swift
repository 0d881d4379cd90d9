#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

// MARK: Fixed width

extension Int: StoredInteger {}
extension Int8: StoredInteger {}
extension Int16: StoredInteger {}
extension Int32: StoredInteger {}
extension Int64: StoredInteger {}
extension UInt: StoredInteger {}
extension UInt8: StoredInteger {}
extension UInt16: StoredInteger {}
extension UInt32: StoredInteger {}
extension UInt64: StoredInteger {}

extension Bool: FixedScalar {
  @inline(__always)
  init?(rowBits: UInt8) {
    guard rowBits <= 1 else { return nil }
    self = rowBits == 1
  }

  @inline(__always)
  var rowBits: UInt8 { self ? 1 : 0 }

  @inline(__always)
  init?(sortedBits: UInt8) { self.init(rowBits: sortedBits) }

  @inline(__always)
  var sortedBits: UInt8? { rowBits }
}

extension Float: FixedScalar {
  @inline(__always)
  init?(rowBits: UInt32) { self.init(bitPattern: rowBits) }

  @inline(__always)
  var rowBits: UInt32 { bitPattern }

  @inline(__always)
  init?(sortedBits: UInt32) { self.init(keyBits: sortedBits) }

  @inline(__always)
  var sortedBits: UInt32? { isNaN ? nil : keyBits }
}

extension Double: FixedScalar {
  @inline(__always)
  init?(rowBits: UInt64) { self.init(bitPattern: rowBits) }

  @inline(__always)
  var rowBits: UInt64 { bitPattern }

  @inline(__always)
  init?(sortedBits: UInt64) { self.init(keyBits: sortedBits) }

  @inline(__always)
  var sortedBits: UInt64? { isNaN ? nil : keyBits }
}

extension Date: FixedScalar {
  @inline(__always)
  init?(rowBits: UInt64) {
    self.init(timeIntervalSinceReferenceDate: Double(bitPattern: rowBits))
  }

  @inline(__always)
  var rowBits: UInt64 { timeIntervalSinceReferenceDate.bitPattern }

  init?(sortedBits: UInt64) {
    guard let seconds = Double(keyBits: sortedBits) else { return nil }
    self.init(timeIntervalSinceReferenceDate: seconds)
  }

  @inline(__always)
  var sortedBits: UInt64? { timeIntervalSinceReferenceDate.sortedBits }
}

extension UUID: FixedScalar {
  @inline(__always)
  init?(rowBits: UInt128) { self.init(bytesOf: rowBits) }

  @inline(__always)
  var rowBits: UInt128 { UInt128(bytesOf: self) }

  @inline(__always)
  init?(sortedBits: UInt128) { self.init(bytesOf: sortedBits.byteSwapped) }

  @inline(__always)
  var sortedBits: UInt128? { rowBits.byteSwapped }
}

// MARK: Any width

extension String: StoredScalar {
  @inline(__always)
  init?(rowBytes: RawSpan) { self.init(utf8: rowBytes) }

  var rowBytes: [UInt8] { Array(utf8) }

  @inline(__always)
  func put(in row: RowWriter, at column: Int) throws(StoreError) {
    try row.append(self, to: column)
  }

  func append(to array: inout ArrayWriter) { unsafe array.append(utf8Span.span.bytes) }

  @inline(__always)
  func append(
    to key: KeyEncoder, as column: KeyColumn, of layout: RowLayout
  ) throws(StoreError) { key.append(self, column.form) }

  @inline(never)
  static func take(from key: inout KeyReader, as form: KeyForm) throws(StoreError) -> String {
    try key.string(form)
  }
}

extension URL: StoredScalar {
  init?(rowBytes: RawSpan) {
    guard let text = String(utf8: rowBytes) else { return nil }
    self.init(stored: text)
  }

  var rowBytes: [UInt8] { Array(absoluteString.utf8) }

  func put(in row: RowWriter, at column: Int) throws(StoreError) {
    guard isAbsolute else { throw row.refusal(ofColumn: column, "\(self) is no absolute URL") }
    try row.append(absoluteString, to: column)
  }

  func append(
    to key: KeyEncoder, as column: KeyColumn, of layout: RowLayout
  ) throws(StoreError) {
    guard isAbsolute else {
      throw layout.refusal(layout.columns[Int(column.column)], "\(self) is no absolute URL")
    }
    key.append(rowBytes.rawSpan, column.form)
  }

  var isStorable: Bool { isAbsolute }

  @inline(never)
  static func take(from key: inout KeyReader, as form: KeyForm) throws(StoreError) -> URL {
    try key.url(form)
  }
}

extension Data: StoredScalar {
  init?(rowBytes: RawSpan) { self.init(copying: rowBytes) }

  var rowBytes: [UInt8] { Array(self) }

  func put(in row: RowWriter, at column: Int) throws(StoreError) {
    try row.append(bytes, to: column)
  }

  func append(to array: inout ArrayWriter) { array.append(bytes) }

  @inline(never)
  static func take(from key: inout KeyReader, as form: KeyForm) throws(StoreError) -> Data {
    Data(try key.run(form))
  }
}

extension Decimal: StoredScalar {
  init?(rowBytes: RawSpan) {
    guard let parts = DecimalParts(decoding: rowBytes) else { return nil }
    self = parts.decimal
  }

  var rowBytes: [UInt8] {
    var bytes: [UInt8] = []
    DecimalParts(self).encode(to: &bytes)
    return bytes
  }

  @inline(__always)
  func append(
    to key: KeyEncoder, as column: KeyColumn, of layout: RowLayout
  ) throws(StoreError) { try key.append(self, column, of: layout) }

  @inline(never)
  static func take(from key: inout KeyReader, as form: KeyForm) throws(StoreError) -> Decimal {
    try key.decimal(form)
  }
}

// How values whose bytes the library does not lay out itself come out of memory, and back.

extension UInt128 {
  /// The sixteen bytes of a UUID as a little-endian number, so that storing it stores them in order.
  @inline(__always)
  init(bytesOf value: UUID) {
    self.init(littleEndian: unsafe unsafeBitCast(value.uuid, to: UInt128.self))
  }
}

extension UUID {
  @inline(__always)
  init(bytesOf value: UInt128) {
    self.init(uuid: unsafe unsafeBitCast(value.littleEndian, to: uuid_t.self))
  }
}

extension String {
  /// A copy of `bytes`; nil if they are not UTF-8.
  @inline(__always)
  init?(utf8 bytes: RawSpan) {
    let span = Span<UInt8>(_bytes: bytes)
    guard let valid = try? UTF8Span(validating: span) else { return nil }
    self.init(copying: valid)
  }
}

extension URL {
  /// - Returns: nil if the text is not that of a stored URL.
  init?(stored text: String) {
    self.init(string: text)
    guard absoluteString == text else { return nil }
  }
}
