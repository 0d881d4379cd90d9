import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Damage of every kind to small blobs: found, and never read as something else.
@Suite struct BlobCorruptionTests {
  private let world = BlobWorld()
  private let contents: [Bytes] = [
    .text(1500), .noise(300), Bytes(repeating: 7, count: 300_000), Bytes(),
  ]

  private func error(of blob: BlobContent, in world: BlobWorld) -> StoreError? {
    storeError { () throws(StoreError) in
      // Streams check as well as whole reads.
      let reader = try world.files.reader(of: blob.identity, at: blob.place)
      try reader.check(deep: true)
    }
  }

  private func readError(
    of blob: BlobContent, in world: BlobWorld
  ) -> StoreError? {
    storeError { () throws(StoreError) in _ = try world.read(blob) }
  }

  @Test func `every flipped bit of frames and tail is found`() throws {
    var count = 0
    for content in contents {
      let blob = try world.write(content)
      let file = try world.medium.open(.blobs(1), .readWrite, at: .test)
      let bytes = try world.bytes(of: blob.place)
      let tailStart = bytes.count - blob.place.tailSize
      for bit in 0..<8 * bytes.count {
        let offset = Int(blob.place.offset) + bit / 8
        try file.write([bytes[bit / 8] ^ 1 << (bit % 8)], from: offset)
        let expected: Invariant = bit / 8 < tailStart ? .blobFrameChecksum : .blobTail
        #expect(error(of: blob, in: world)?.invariant == expected, "bit \(bit)")
        if !content.isEmpty {
          #expect(readError(of: blob, in: world)?.invariant == expected, "bit \(bit)")
        }
        try file.write([bytes[bit / 8]], from: offset)
        count += 1
      }
      #expect(try world.read(blob) == content)
    }
    print("Blobs: \(count) flipped bits")
  }

  @Test func `every flipped bit of the header is found when the segment is opened`() throws {
    let blob = try world.write(contents[0])
    let file = try world.medium.open(.blobs(1), .readWrite, at: .test)
    let header = try file.read(0..<Layout.blockSize)
    for bit in 0..<8 * Layout.blockSize {
      try file.write([header[bit / 8] ^ 1 << (bit % 8)], from: bit / 8)
      let error = readError(of: blob, in: BlobWorld(world.medium, from: 2))
      #expect(error?.invariant == .blobSegmentHeader, "bit \(bit)")
      try file.write([header[bit / 8]], from: bit / 8)
    }
    #expect(readError(of: blob, in: BlobWorld(world.medium, from: 2)) == nil)
  }

  @Test func `every flipped bit of a place is found`() throws {
    for content in contents {
      let blob = try world.write(content)
      var encoded = Bytes()
      blob.place.encode(to: &encoded)
      for bit in 0..<8 * BlobPlace.size {
        var bytes = encoded
        bytes[bit / 8] ^= 1 << (bit % 8)
        var reader = ByteReader(bytes.rawSpan, at: .blobSegment(0), invariant: .blobTail)
        let place = try BlobPlace(decoding: &reader)
        let damaged = BlobContent(
          identity: blob.identity, place: place, hash: nil, pin: blob.pin)
        #expect(error(of: damaged, in: world) != nil, "bit \(bit)")
        if place.length > 0 {
          #expect(readError(of: damaged, in: world) != nil, "bit \(bit)")
        }
      }
    }
  }

  @Test func `a file of every shorter length is found to be too short`() throws {
    for content in contents {
      let world = BlobWorld()
      let blob = try world.write(content)
      let file = try world.medium.open(.blobs(1), .readWrite, at: .test)
      for size in (Layout.blockSize..<Int(blob.place.end)).reversed() {
        try file.truncate(to: size, at: .test)
        #expect(error(of: blob, in: world)?.invariant == .blobExists, "\(size)")
      }
    }
  }

  @Test func `a blob is not read as another, nor with another seed`() throws {
    let one = try world.write(contents[0], as: 1)
    let two = try world.write(contents[0], as: 2)
    let asTwo = BlobContent(
      identity: two.identity, place: one.place, hash: nil, pin: one.pin)
    #expect(readError(of: asTwo, in: world)?.invariant == .blobTail)
    let stranger = BlobFiles(in: world.medium, seed: BlobSeed(rawValue: 1), from: 2)
    let error = storeError { () throws(StoreError) in
      _ = try stranger.reader(of: one.identity, at: one.place)
    }
    #expect(error?.invariant == .blobSegmentHeader)
  }

  /// Frames of one size in each other's places, and blobs in each other's.
  @Test func `frames that changed places are found`() throws {
    let content = Bytes.noise(512 << 10)
    let blob = try world.write(content)
    let bytes = try world.bytes(of: blob.place)
    let size = (bytes.count - blob.place.tailSize) / 2
    let file = try world.medium.open(.blobs(1), .readWrite, at: .test)
    let start = Int(blob.place.offset)
    try file.write(Bytes(bytes[size..<2 * size] + bytes[..<size]), from: start)
    #expect(readError(of: blob, in: world)?.invariant == .blobFrameChecksum)
    try file.write(Bytes(bytes[..<size] + bytes[..<size]), from: start)
    #expect(try world.blob(blob).data(in: 0..<1000) == Data(content[..<1000]))
    #expect(readError(of: blob, in: world)?.invariant == .blobFrameChecksum)
  }

  @Test func `a damaged frame leaves the others readable`() throws {
    let content = Bytes.text(900_000)
    let blob = try world.write(content)
    let file = try world.medium.open(.blobs(1), .readWrite, at: .test)
    try file.write([0xff, 0xff], from: Int(blob.place.offset) + 100)
    let damaged = try world.blob(blob)
    #expect(throws: StoreError.self) { try damaged.data(in: 0..<1) }
    #expect(throws: StoreError.self) { try damaged.data() }
    let range = 262_144..<900_000
    #expect(try Bytes(damaged.data(in: range)) == Bytes(content[range]))
  }
}
