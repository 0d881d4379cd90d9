/// Where the frames of one blob are and their sizes and checksums, as its tail says.
final class BlobFrames: Sendable {
  let identity: BlobIdentity
  let place: BlobPlace
  private let seed: BlobSeed
  private let tail: BlobTail
  /// Where each frame ends, from the blob's beginning.
  private let ends: [Int]

  /// Reads the tail of a blob.
  ///
  /// - Throws: `.corrupt`.
  init(
    decoding tail: RawSpan, of identity: BlobIdentity, at place: BlobPlace, seed: BlobSeed
  ) throws(StoreError) {
    self.tail = try BlobTail(decoding: tail, of: identity, at: place, seed: seed)
    self.identity = identity
    self.place = place
    self.seed = seed
    ends = self.tail.frames.reduce(into: []) { $0.append(($0.last ?? 0) + Int($1.size)) }
  }

  var count: Int { ends.count }

  /// The tail, as it was read.
  var encodedTail: [UInt8] { tail.encoded() }

  /// How much content is in a frame.
  func length(of index: Int) -> Int { BlobTail.length(of: index, in: tail.length) }

  /// The bytes of some frames, from the blob's beginning.
  func bytes(of frames: Range<Int>) -> Range<Int> {
    frames.isEmpty ? 0..<0 : start(of: frames.lowerBound)..<ends[frames.upperBound - 1]
  }

  private func start(of index: Int) -> Int { index == 0 ? 0 : ends[index - 1] }

  /// Frames from `first` on that are read at once: one, or as many as are no larger than `size` together, but
  /// none after `last`.
  func batch(from first: Int, through last: Int, size: Int) -> Range<Int> {
    var end = first + 1
    while end <= last, ends[end] - start(of: first) <= size { end += 1 }
    return first..<end
  }

  /// Throws unless these are the bytes of the frame.
  ///
  /// - Throws: `.corrupt`.
  func check(_ frame: RawSpan, _ index: Int) throws(StoreError) {
    let checksum = Checksum.ofFrame(frame, index: index, of: identity, seed: seed)
    guard checksum == tail.frames[index].checksum else {
      throw fault(index, .blobFrameChecksum, "the checksum is not that in the tail")
    }
  }

  /// Checks a frame, and fills `content` from it, which has just as much room as it holds.
  ///
  /// - Throws: `.corrupt`, `.io`.
  func decompress(
    _ frame: RawSpan, _ index: Int, to content: inout MutableRawSpan, by contexts: ZstdContexts
  ) throws(StoreError) {
    try check(frame, index)
    let length = ZstdFrame.contentLength(of: frame)
    guard length == UInt64(content.byteCount) else {
      let found = length.map { "\($0) bytes of content" } ?? "no length that it tells"
      throw fault(index, .blobFrame, "it has \(found), not \(content.byteCount) bytes")
    }
    guard try contexts.decompress(frame, to: &content) else {
      throw fault(index, .blobFrame, "it cannot be decompressed")
    }
  }

  private func fault(_ index: Int, _ invariant: Invariant, _ reason: String) -> StoreError {
    .corrupt(
      .blob(segment: place.segment, offset: place.offset + UInt64(start(of: index))),
      invariant: invariant, reason: "frame \(index) of the blob at \(place.offset): \(reason)")
  }
}
