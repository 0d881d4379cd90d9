import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Streams and the segments that they share.
@Suite struct BlobFilesTests {
  @Test func `streams at once write to segments of their own, and the next goes on in one of them`()
    throws
  {
    let world = BlobWorld(crewSize: 2)
    let contents = (1...3).map { Bytes.text(3_000_000, seed: $0) }
    let streams = (1...3).map { world.files.makeStream(.numbered($0), .none) }
    for start in stride(from: 0, to: 3_000_000, by: 100_000) {
      for (stream, content) in zip(streams, contents) {
        try stream.append(Bytes(content[start..<start + 100_000]).rawSpan)
      }
    }
    let blobs = try streams.map { try $0.finish() }
    #expect(Set(blobs.map(\.place.segment)) == [1, 2, 3])
    for (blob, content) in zip(blobs, contents) { #expect(try world.read(blob) == content) }
    let next = try world.write(.text(100))
    #expect([1, 2, 3].contains(next.place.segment))
    #expect(next.place.offset > 3_000_000)
  }

  @Test func `many open streams of small blobs need one segment`() throws {
    let world = BlobWorld()
    let streams = (1...50).map { world.files.makeStream(.numbered($0), .standard) }
    for (index, stream) in streams.enumerated() {
      try stream.append(Bytes.text(5000, seed: UInt64(index)).rawSpan)
    }
    let blobs = try streams.map { try $0.finish() }
    #expect(blobs.allSatisfy { $0.place.segment == 1 })
    for (one, next) in zip(blobs, blobs.dropFirst()) {
      #expect(next.place.offset == BlobLayout.blockEnd(of: one.place.end))
    }
    for (index, blob) in blobs.enumerated() {
      #expect(try world.read(blob) == .text(5000, seed: UInt64(index)))
    }
  }

  @Test func `a full segment is forgotten by writers when it is synced`() throws {
    let world = BlobWorld(InMemoryFileSystem(), segmentSize: 20_000)
    let blobs = try (1...6).map { try world.write(.noise(9000, seed: $0), as: $0) }
    #expect(world.files.appenders.count == 3)
    try world.files.sync(blobs.dropLast(2).map(\.place))
    #expect(world.files.appenders.keys.sorted() == [3])
    try world.files.sync(blobs.map(\.place))
    #expect(world.files.appenders.isEmpty)
    for (index, blob) in blobs.enumerated() {
      #expect(try world.read(blob) == .noise(9000, seed: UInt64(index + 1)))
    }
  }

  @Test func `a full segment is left for a new one`() throws {
    let world = BlobWorld(InMemoryFileSystem(), segmentSize: 20_000)
    let blobs = try (1...6).map { try world.write(.noise(9000, seed: $0), as: $0) }
    #expect(blobs.map(\.place.segment) == [1, 1, 2, 2, 3, 3])
    for (index, blob) in blobs.enumerated() {
      #expect(try world.read(blob) == .noise(9000, seed: UInt64(index + 1)))
    }
  }

  @Test func `small blobs of a batch share blocks, and no block is written again after a sync`()
    throws
  {
    let world = BlobWorld(SimulatedFileSystem(), bufferSize: 8192)
    func write(_ content: Bytes, _ number: UInt64, in batch: BlobBatch?) throws -> BlobPlace {
      let stream = world.files.makeStream(.numbered(number), .none, in: batch)
      try stream.append(content.rawSpan)
      return try stream.finish().place
    }
    let (first, second) = (BlobBatch(), BlobBatch())
    let one = try write(.noise(100, seed: 1), 1, in: first)
    let other = try write(.noise(5000, seed: 2), 2, in: first)
    #expect(other.offset == one.end)
    let large = try write(.noise(300_000, seed: 3), 3, in: first)
    #expect(large.offset == other.end)
    let behind = try write(.noise(100, seed: 4), 4, in: first)
    #expect(behind.offset == large.end)
    let next = try write(.noise(100, seed: 5), 5, in: second)
    #expect(next.offset == BlobLayout.blockEnd(of: behind.end))
    let alone = try write(.noise(100, seed: 6), 6, in: nil)
    #expect(alone.offset == BlobLayout.blockEnd(of: next.end))
    let last = try write(.noise(100, seed: 7), 7, in: nil)
    #expect(last.offset == BlobLayout.blockEnd(of: alone.end))
  }

  /// With a small buffer, so that there are many of them, and a rest.
  @Test func `large blobs behind small ones are written in blocks`() throws {
    let medium = SimulatedFileSystem()
    let world = BlobWorld(medium, bufferSize: 8192)
    var blobs: [(BlobContent, Bytes)] = []
    for (index, length) in [100, 50_000, 8192, 4096, 300_000, 12_288, 1].enumerated() {
      let content = Bytes.noise(length, seed: UInt64(index))
      blobs.append((try world.write(content, as: UInt64(index)), content))
    }
    #expect(Set(blobs.map(\.0.place.segment)) == [1])
    for (blob, content) in blobs { #expect(try world.read(blob) == content) }
  }

  @Test func `an abandoned stream gives back the room it took, and its segment`() throws {
    let medium = SimulatedFileSystem()
    let world = BlobWorld(medium, bufferSize: 8192)
    let before = try world.write(.text(1000), as: 1)
    let usage = medium.diskUsage
    do {
      let stream = world.files.makeStream(.numbered(2), .none)
      try stream.append(Bytes.noise(300_000).rawSpan)
      #expect(medium.diskUsage > usage + 200_000)
      #expect(world.files.pinnedSegments == [1])
    }
    #expect(medium.diskUsage == usage)
    let after = try world.write(.text(2000), as: 3)
    #expect(after.place.offset == BlobLayout.blockEnd(of: before.place.end))
    #expect(try world.read(before) == .text(1000))
    #expect(try world.read(after) == .text(2000))
  }

  @Test func `a stream holds no more than 16 MiB, whatever the crew and the length`() throws {
    let content = Bytes.noise(1 << 20)
    for crewSize in [0, 2, 64] {
      let world = BlobWorld(crewSize: crewSize)
      let stream = world.files.makeStream(.numbered(1), .standard, isHashed: crewSize == 2)
      var most = 0
      for _ in 0..<64 {
        try stream.append(content.rawSpan)
        most = max(most, stream.memory)
      }
      #expect(most > 1 << 20 && most <= 16 << 20, "\(most) bytes with \(crewSize)")
      let written = try stream.finish()
      #expect(stream.memory == 0)
      #expect(written.place.length == 64 << 20)
      // And so does who reads it from front to back.
      let reader = try world.files.reader(of: written.identity, at: written.place)
      let frames = FramesAhead(reader, from: 0)
      var mostRead = 0
      for start in stride(from: 0, to: 64 << 20, by: 100_000) {
        let range = start..<min(64 << 20, start + 100_000)
        #expect(try frames.content(in: range).count == range.count)
        mostRead = max(mostRead, frames.memory)
      }
      #expect(mostRead > 1 << 18 && mostRead <= 16 << 20, "\(mostRead) bytes with \(crewSize)")
    }
  }

  @Test func `a pin lasts as long as the content is kept`() throws {
    let world = BlobWorld()
    do {
      let blob = try world.write(.text(100))
      #expect(world.files.pinnedSegments == [1])
      #expect(!world.files.retire(1))
      _ = blob
    }
    #expect(world.files.pinnedSegments == [])
    #expect(world.files.retire(1))
    #expect(try world.write(.text(100)).place.segment == 2)
  }

  @Test func `what is removed stays readable for who has it open`() throws {
    let medium = SimulatedFileSystem()
    let world = BlobWorld(medium)
    let place = try world.write(.text(50_000)).place
    let blob = try world.blob(.numbered(1), at: place)
    let held = Held(segments: world.files.openSegments)
    #expect(world.files.retire(1))
    try world.files.remove(1)
    try world.files.remove(1)
    #expect(medium.names == [])
    #expect(try Bytes(blob.data()) == .text(50_000))
    #expect(try Bytes(world.blob(.numbered(1), at: place).data()) == .text(50_000))
    #expect(world.files.openSegments.isEmpty)
    held.segments = []
    #expect(try Bytes(blob.data()) == .text(50_000))
  }

  /// What a snapshot does.
  private final class Held {
    var segments: [BlobSegment]

    init(segments: [BlobSegment]) {
      self.segments = segments
    }
  }

  @Test func `what nobody has open is gone when it is removed`() throws {
    let medium = SimulatedFileSystem()
    let world = BlobWorld(medium)
    let place = try world.write(.text(50_000)).place
    #expect(world.files.retire(1))
    try world.files.remove(1)
    #expect(medium.openFileCount == 0)
    let error = storeError { () throws(StoreError) in _ = try world.blob(.numbered(1), at: place) }
    #expect(error?.breaks(.blobSegmentHeader) == true)
  }

  @Test func `a reader of files that another wrote opens them, and lets go of removed ones`() throws
  {
    let medium = SimulatedFileSystem()
    let writer = BlobWorld(medium, segmentSize: 1)
    let places = try (1...3).map { try writer.write(.text(1000, seed: $0), as: $0).place }
    let count = medium.openFileCount
    let reader = BlobWorld(medium, from: 9)
    try reader.files.open([3, 1, 2])
    #expect(reader.files.openSegments.map(\.number) == [1, 2, 3])
    #expect(medium.openFileCount == count + 3)
    reader.files.release(but: [2])
    #expect(medium.openFileCount == count + 1)
    #expect(try Bytes(reader.blob(.numbered(2), at: places[1]).data()) == .text(1000, seed: 2))
    #expect(try Bytes(reader.blob(.numbered(1), at: places[0]).data()) == .text(1000, seed: 1))
  }

  @Test func `streams go on in a segment that ends where it should, and in no other`() throws {
    let medium = SimulatedFileSystem()
    let first = try BlobWorld(medium).write(.text(1000))
    let second = BlobWorld(medium, from: 2)
    try second.files.goOn(in: 1, end: first.place.end)
    let next = try second.write(.text(2000), as: 2)
    #expect(next.place.segment == 1)
    #expect(next.place.offset == BlobLayout.blockEnd(of: first.place.end))
    let third = BlobWorld(medium, from: 2)
    try third.files.goOn(in: 1, end: first.place.end)
    #expect(try third.write(.text(3000), as: 3).place.segment == 2)
    #expect(try third.read(first) == .text(1000))
    #expect(try third.read(next) == .text(2000))
  }

  @Test func `a copy is the same bytes in another place`() throws {
    let world = BlobWorld(InMemoryFileSystem(), bufferSize: 8192)
    for content in [Bytes(), .text(100), .noise(5000), .noise(900_000), .text(900_000)] {
      let blob = try world.write(content)
      let copy = try world.files.copy(blob.identity, from: blob.place)
      #expect(copy.place.offset >= blob.place.end)
      #expect(try world.bytes(of: copy.place) == world.bytes(of: blob.place))
      #expect(try world.read(copy) == content)
    }
  }

  @Test func `a sync is made once for all that was written, segment by segment`() throws {
    let medium = SimulatedFileSystem()
    let world = BlobWorld(medium)
    let blobs = try (1...4).map { try world.write(.text(100), as: $0) }
    let before = medium.callCount(at: .blobSync)
    try world.files.sync([blobs[2].place, blobs[1].place])
    #expect(medium.callCount(at: .blobSync) == before + 1)
    try world.files.sync(blobs.map(\.place))
    #expect(medium.callCount(at: .blobSync) == before + 1)
    let next = try world.write(.text(100), as: 5)
    try world.files.sync([next.place])
    #expect(medium.callCount(at: .blobSync) == before + 2)
  }

  @Test func `numbers of segments end`() throws {
    let world = BlobWorld(InMemoryFileSystem(), from: .max, segmentSize: 1)
    #expect(try world.write(.text(100)).place.segment == .max)
    #expect(throws: StoreError.limitExceeded(.segmentNumber, found: 1 << 32)) {
      try world.write(.text(100))
    }
  }

  @Test func `an identity is encoded as it is decoded, and so is a place`() throws {
    let identity = BlobIdentity(low: 0x0807_0605_0403_0201, high: 0x100f_0e0d_0c0b_0a09)
    let place = BlobPlace(
      segment: 1, offset: 2 << 33, size: 3 << 34, length: 4 << 35, checksum: Checksum(rawValue: 5))
    var bytes = Bytes()
    identity.encode(to: &bytes)
    place.encode(to: &bytes)
    #expect(bytes.count == BlobIdentity.size + BlobPlace.size)
    var reader = ByteReader(bytes.rawSpan, at: .blobSegment(0), invariant: .blobTail)
    #expect(try BlobIdentity(decoding: &reader) == identity)
    #expect(try BlobPlace(decoding: &reader) == place)
  }
}
