@testable import Cambium

/// The length of a blob, its frames and its tail. Its checksums are mended first.
///
///     input   ┌ length ┬ frames ┬ tail ┐
///             │ 8      │        │      │
///             └────────┴────────┴──────┘
enum BlobTarget: FuzzTarget {
  private static let identity = BlobIdentity(low: 1, high: 2)
  private static let seed = BlobSeed(rawValue: 3)
  private static let contexts = ZstdContexts(capacity: 1)

  static func seeds(of store: StoreFiles) -> [[UInt8]] {
    var mender = StoreMender(store)
    mender.mend()
    var seeds: [[UInt8]] = []
    for leaf in mender.pieces where leaf.kind == .leaf {
      for entry in mender.entries(leaf.file, leaf.bytes) where entry.key.count == BlobIdentity.size
      {
        let value = mender.bytes(leaf.file, entry.value)
        guard let entry = try? BlobEntry(decoding: value.rawSpan, of: entry.key) else { continue }
        let (place, start) = (entry.place, Int(entry.place.offset))
        var seed: [UInt8] = []
        seed.append(integer: place.length)
        let file = "\(FileName.blobs(place.segment))"
        seeds.append(seed + mender.bytes(file, start..<start + Int(place.size)))
      }
    }
    return seeds
  }

  static func run(_ input: [UInt8]) throws {
    guard input.count >= 8, let length = Int(exactly: input.rawSpan.load(0, as: UInt64.self))
    else { return }
    var blob = FoundBlob(Array(input[8...]), length: length, of: identity, seed)
    guard let checksum = blob.mend() else { return }
    let bytes = blob.bytes
    let place = BlobPlace(
      segment: 1, offset: UInt64(BlobLayout.firstOffset), size: UInt64(bytes.count),
      length: UInt64(length), checksum: checksum)
    try place.check(fileSize: place.end)
    let tail = bytes.rawSpan.extracting(droppingFirst: blob.tailStart)
    let frames = try BlobFrames(decoding: tail, of: identity, at: place, seed: seed)
    guard frames.encodedTail.rawSpan.compare(tail) == 0 else {
      throw WrongUse(description: "a tail is written otherwise than it was read")
    }
    var rest = 64
    for index in 0..<frames.count where rest > 0 {
      rest -= 1
      let range = frames.bytes(of: index..<index + 1)
      var content = [UInt8](repeating: 0, count: frames.length(of: index))
      var span = content.mutableSpan
      var room = unsafe span.mutableBytes
      try frames.decompress(
        bytes.rawSpan.part(range.lowerBound, range.count), index, to: &room, by: contexts)
    }
  }
}
