/// Where the bytes of a blob are, and what they must be: all that the files do not say themselves.
///
/// Collection moves a blob, and changes its place alone.
struct BlobPlace: Hashable, Sendable {
  /// The size of an encoded place in bytes.
  static let size = 32

  /// The number of the segment, as in its file's name.
  var segment: UInt32
  /// The first byte of the blob in the file.
  var offset: UInt64
  /// How many bytes the blob takes there, with its tail.
  let size: UInt64
  /// How long its content is.
  let length: UInt64
  /// That of its tail.
  let checksum: Checksum

  init(segment: UInt32, offset: UInt64, size: UInt64, length: UInt64, checksum: Checksum) {
    self.segment = segment
    self.offset = offset
    self.size = size
    self.length = length
    self.checksum = checksum
  }

  /// Reads what `encode` wrote. Whether there can be such a place is found when it is opened.
  init(decoding reader: inout ByteReader) throws(StoreError) {
    segment = try reader.integer(UInt32.self)
    offset = try reader.integer(UInt64.self)
    size = try reader.integer(UInt64.self)
    length = try reader.integer(UInt64.self)
    checksum = Checksum(rawValue: try reader.integer(UInt32.self))
  }

  func encode(to bytes: inout [UInt8]) {
    bytes.append(integer: segment)
    bytes.append(integer: offset)
    bytes.append(integer: size)
    bytes.append(integer: length)
    bytes.append(integer: checksum.rawValue)
  }
}
