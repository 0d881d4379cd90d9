internal import FoundationEssentials

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

extension Data {
  init(copying bytes: RawSpan) {
    self = unsafe bytes.withUnsafeBytes { unsafe Data($0) }
  }
}

extension URL {
  /// - Returns: nil if the text is not what a URL is stored as.
  init?(stored text: String) {
    self.init(string: text)
    guard absoluteString == text else { return nil }
  }
}
