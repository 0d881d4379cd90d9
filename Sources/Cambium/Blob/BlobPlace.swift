/// Where the bytes of a blob are, and their length and checksums: all that the files do not say themselves.
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

  /// Reads the encoding. Opening the place finds whether it is possible.
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

extension BlobPlace {
  /// For errors.
  var corruptPlace: StoreError.CorruptPlace { .blob(segment: segment, offset: offset) }

  /// Where the blob ends in the file.
  var end: UInt64 {
    let (end, overflows) = offset.addingReportingOverflow(size)
    return overflows ? .max : end
  }

  /// The size of the blob's tail.
  ///
  /// - Precondition: The place was checked.
  var tailSize: Int {
    BlobLayout.tailSize(frames: BlobLayout.frameCount(length: Int(clamping: length)))
  }

  /// Throws unless there can be such a blob, in a file of `fileSize` bytes.
  ///
  /// Nothing is read or allocated before: afterwards sums of a place's numbers do not overflow.
  ///
  /// - Throws: `.corrupt`.
  func check(fileSize: UInt64) throws(StoreError) {
    func fault(_ reason: String) -> StoreError {
      .corrupt(corruptPlace, invariant: .blobExists, reason: reason)
    }
    guard length <= StoreError.Limit.blobLength.bound else {
      throw fault("no blob is \(length) bytes long")
    }
    guard size >= tailSize else { throw fault("\(size) bytes are no room for its tail") }
    guard offset >= BlobLayout.firstOffset, offset <= fileSize, size <= fileSize - offset else {
      throw fault("\(size) bytes do not lie within the file of \(fileSize)")
    }
  }
}
