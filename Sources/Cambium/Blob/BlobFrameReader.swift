/// Reads one stored blob, frame by frame.
///
/// Making one reads nothing; the blob's tail is read with the first frame, and kept. May be used by many threads
/// at once.
final class BlobFrameReader: BlobSource, @unchecked Sendable {
  let identity: BlobIdentity
  let place: BlobPlace
  /// The threads that decompress.
  let crew: BlobCrew
  private let segment: BlobSegment
  private let medium: any FileSystem
  private let seed: BlobSeed
  private let lock = ThreadLock()
  /// Under `lock`; nil until the tail was read.
  private var frames: BlobFrames?

  /// Up to this size a blob is read at once.
  private static var wholeSizeMax: Int {
    BlobLayout.frameSizeMax(length: BlobLayout.frameLength) + BlobLayout.tailSize(frames: 1)
  }

  /// Compressed frames are read so many bytes at a time.
  private static var batchSize: Int { 1 << 20 }

  init(
    _ identity: BlobIdentity, at place: BlobPlace, in segment: BlobSegment,
    of medium: any FileSystem, seed: BlobSeed, crew: BlobCrew
  ) {
    self.identity = identity
    self.place = place
    self.segment = segment
    self.medium = medium
    self.seed = seed
    self.crew = crew
  }

  var count: Int { Int(clamping: place.length) }

  func reading() -> BlobFrameReader { self }

  /// Reads some frames at once, of which the first is `first`, and none is after `last`.
  ///
  /// - Precondition: There are such frames.
  /// - Throws: `.corrupt`, `.io`, `.forked`.
  func fetch(from first: Int, through last: Int) throws(StoreError) -> FetchedFrames {
    if crew.isForked { throw .forked(path: medium.path) }
    let known = knownFrames
    if known == nil, place.size <= Self.wholeSizeMax {
      return try fetchWhole(from: first, through: last)
    }
    let frames = if let known { known } else { try readFrames() }
    let last = min(last, frames.count - 1)
    let indices = frames.batch(from: first, through: last, size: Self.batchSize)
    let range = frames.bytes(of: indices)
    let memory = try read(range)
    adviseNext(indices.upperBound, last, of: frames)
    return FetchedFrames(indices, of: frames, in: memory, from: range.lowerBound)
  }

  /// Reads the tail and checks it, and with `deep` every frame.
  ///
  /// - Throws: `.corrupt` for the first fault; `.missing`, `.io`.
  func check(deep: Bool) throws(StoreError) {
    let frames = try readFrames()
    guard deep, frames.count > 0 else { return }
    let scratch = try BlobMemory(count: BlobLayout.frameLength)
    var index = 0
    while index < frames.count {
      let fetched = try fetch(from: index, through: frames.count - 1)
      for index in fetched.indices {
        var content = scratch.mutableBytes(0..<fetched.length(of: index))
        try fetched.decompress(index, to: &content, by: crew.contexts)
      }
      index = fetched.indices.upperBound
    }
  }
}

extension BlobFrameReader {
  private var knownFrames: BlobFrames? {
    lock.lock()
    defer { lock.unlock() }
    return frames
  }

  private func note(_ frames: BlobFrames) {
    lock.lock()
    defer { lock.unlock() }
    self.frames = frames
  }

  /// Reads the tail alone.
  ///
  /// - Throws: `.corrupt`, `.io`.
  func readFrames() throws(StoreError) -> BlobFrames {
    try checkPlace()
    let size = Int(place.size)
    let tail = try read(size - place.tailSize..<size)
    return try decode(tail.bytes(0..<tail.count))
  }

  /// Reads a small blob at once.
  private func fetchWhole(
    from first: Int, through last: Int
  ) throws(StoreError) -> FetchedFrames {
    try checkPlace()
    let size = Int(place.size)
    let memory = try read(0..<size)
    let frames = try decode(memory.bytes(size - place.tailSize..<size))
    return FetchedFrames(
      first..<min(last + 1, frames.count), of: frames, in: memory, from: 0)
  }

  private func decode(_ tail: RawSpan) throws(StoreError) -> BlobFrames {
    let frames = try BlobFrames(decoding: tail, of: identity, at: place, seed: seed)
    note(frames)
    return frames
  }

  private func checkPlace() throws(StoreError) {
    try place.check(fileSize: UInt64(segment.file.size(at: .blobRead)))
  }

  /// Copies all bytes of the blob, of which all checksums are checked.
  ///
  /// - Throws: `.corrupt`, `.io`, `.full`.
  func copy(to output: BlobOutput) throws(StoreError) {
    let frames = try readFrames()
    var index = 0
    while index < frames.count {
      let fetched = try fetch(from: index, through: frames.count - 1)
      try fetched.check()
      try output.append(fetched.bytes)
      index = fetched.indices.upperBound
    }
    let tail = frames.encodedTail
    try output.append(tail.rawSpan)
  }

  /// Has the disk fetch the bytes that are read next, while these are being decompressed.
  private func adviseNext(_ first: Int, _ last: Int, of frames: BlobFrames) {
    guard first <= last else { return }
    let indices = frames.batch(from: first, through: last, size: Self.batchSize)
    let range = frames.bytes(of: indices)
    let start = Int(place.offset)
    segment.file.willNeed(
      start + range.lowerBound..<start + range.upperBound, at: .blobAdvise)
  }

  /// Reads bytes from the blob's beginning on.
  ///
  /// - Precondition: The place was checked.
  private func read(_ range: Range<Int>) throws(StoreError) -> BlobMemory {
    let memory = try BlobMemory(count: range.count)
    var bytes = memory.mutableBytes(0..<range.count)
    let count = try segment.file.read(
      into: &bytes, from: Int(place.offset) + range.lowerBound, at: .blobRead)
    guard count == range.count else {
      throw .corrupt(
        place.corruptPlace, invariant: .blobExists, reason: "its file ends within it")
    }
    return memory
  }
}
