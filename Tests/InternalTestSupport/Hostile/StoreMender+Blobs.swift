@testable import Cambium

extension StoreMender {
  /// Mends the checksums of a blob's frames and of its tail, and that in its place.
  ///
  /// - Parameter place: Where the blob's place is in the map.
  mutating func mendBlob(at place: Place, _ entry: PlacedEntry) {
    guard let blobSeed, entry.value.count >= BlobPlace.size,
      let identity = BlobIdentity(key: entry.key.rawSpan)
    else { return }
    let segment = number(place.file, place.offset, as: UInt32.self)
    let file = "\(FileName.blobs(segment))"
    guard let offset = Int(exactly: number(place.file, place.offset + 4)),
      let size = Int(exactly: number(place.file, place.offset + 12)),
      let length = Int(exactly: number(place.file, place.offset + 20)),
      offset <= self.size(of: file), size <= self.size(of: file) - offset
    else { return }
    var blob = FoundBlob(
      bytes(file, offset..<offset + size), length: length, of: identity, blobSeed)
    guard let checksum = blob.mend() else { return }
    for frame in blob.frames {
      pieces.append(
        Piece(
          kind: .blobFrame, file: file,
          bytes: offset + frame.lowerBound..<offset + frame.upperBound))
    }
    pieces.append(
      Piece(kind: .blobTail, file: file, bytes: offset + blob.tailStart..<offset + size))
    replace(offset..<offset + size, of: file, by: blob.bytes)
    store(checksum.rawValue, place.file, place.offset + 28)
  }
}

/// A blob as it is in a file: frames, then the tail.
struct FoundBlob {
  private(set) var bytes: [UInt8]
  /// Where its frames are, as far as the tail tells.
  private(set) var frames: [Range<Int>] = []
  private(set) var tailStart = 0
  private let length: Int
  private let identity: BlobIdentity
  private let seed: BlobSeed

  init(_ bytes: [UInt8], length: Int, of identity: BlobIdentity, _ seed: BlobSeed) {
    self.bytes = bytes
    self.length = length
    self.identity = identity
    self.seed = seed
  }

  /// Makes the checksums of its frames right, and returns that of its tail; nil if it has no room for a tail.
  mutating func mend() -> Checksum? {
    guard length >= 0, length <= StoreError.Limit.blobLength.bound else { return nil }
    let count = BlobLayout.frameCount(length: length)
    tailStart = bytes.count - BlobLayout.tailSize(frames: count)
    guard tailStart >= 0 else { return nil }
    // Two skippable frames: the checksums, and the table of sizes and lengths.
    let sizes = tailStart + 8 + 4 * count + 8
    var start = 0
    for index in 0..<count {
      let size = Int(bytes.rawSpan.load(sizes + 8 * index, as: UInt32.self))
      guard size <= tailStart - start else { break }
      let frame = start..<start + size
      frames.append(frame)
      let checksum = Checksum.ofFrame(
        bytes.rawSpan.part(start, size), index: index, of: identity, seed: seed)
      var encoded: [UInt8] = []
      encoded.append(integer: checksum.rawValue)
      let offset = tailStart + 8 + 4 * index
      bytes.replaceSubrange(offset..<offset + 4, with: encoded)
      start += size
    }
    return Checksum.ofTail(
      bytes.rawSpan.extracting(droppingFirst: tailStart), of: identity, seed: seed)
  }
}
