/// The 16 bytes that tell one blob of a store from every other.
///
/// They are part of the checksum of each of its frames, and stay when it is moved.
struct BlobIdentity: Hashable, Sendable {
  /// The size of an identity in bytes.
  static let size = 16

  /// The first eight bytes, lowest first.
  let low: UInt64
  /// The last eight bytes, lowest first.
  let high: UInt64

  init(low: UInt64, high: UInt64) {
    self.low = low
    self.high = high
  }

  /// Makes an identity that no other blob has, as far as `generator` is random.
  init(using generator: inout some RandomNumberGenerator) {
    let low = generator.next()
    self.init(low: low, high: generator.next())
  }

  init(decoding reader: inout ByteReader) throws(StoreError) {
    let low = try reader.integer(UInt64.self)
    self.init(low: low, high: try reader.integer(UInt64.self))
  }

  func encode(to bytes: inout [UInt8]) {
    bytes.append(integer: low)
    bytes.append(integer: high)
  }
}

/// The eight random bytes with which the checksums of all blobs of a store begin.
///
/// The store keeps them. A copy of blob files copies them too: then no byte has to change.
struct BlobSeed: Hashable, Sendable {
  let rawValue: UInt64
}
