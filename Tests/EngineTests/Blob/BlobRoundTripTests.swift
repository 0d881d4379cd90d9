import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite struct BlobRoundTripTests {
  /// Around whatever changes something: the width of a frame header's length, blocks, frames.
  static let lengths: [Int] =
    [
      0, 1, 2, 9, 255, 256, 257, 4095, 4096, 65_535, 65_536, 65_791, 65_792, 65_793,
    ] + [128 << 10, 256 << 10, 512 << 10, 768 << 10].flatMap { [$0 - 1, $0, $0 + 1] }

  static let compressions: [BlobCompression] = [.none, .zstd(level: 1), .zstd(level: 5)]

  @Test(arguments: compressions)
  func `every length around a boundary reads as it was written`(
    compression: BlobCompression
  ) throws {
    let world = BlobWorld()
    for (index, length) in Self.lengths.enumerated() {
      for content in [Bytes.text(length), Bytes.noise(length)] {
        let written = try world.write(content, as: UInt64(index), compression)
        #expect(written.place.length == UInt64(length))
        #expect(try world.read(written) == content, "\(length) bytes")
        try world.files.reader(of: written.identity, at: written.place).check(deep: true)
      }
    }
  }

  @Test(arguments: [0, 1, 2, 5])
  func `content in pieces of any size reads the same with a crew of any size`(
    crewSize: Int
  ) throws {
    let world = BlobWorld(crewSize: crewSize)
    var generator = SplitMix64(seed: 7)
    for content in [Bytes.text(5_000_000), Bytes.noise(3_000_000)] {
      let stream = world.files.makeStream(.numbered(1), .standard)
      var rest = content[...]
      while !rest.isEmpty {
        let piece = rest.prefix(Int(generator.next() % 700_000))
        try stream.append(Bytes(piece).rawSpan)
        rest = rest.dropFirst(piece.count)
      }
      let written = try stream.finish()
      #expect(try world.read(written) == content)
      let whole = try world.write(content)
      #expect(try world.bytes(of: written.place) == world.bytes(of: whole.place))
    }
  }

  @Test(arguments: [0, 2])
  func `a range reads what is there of it`(crewSize: Int) throws {
    let world = BlobWorld(crewSize: crewSize)
    var generator = SplitMix64(seed: 3)
    for length in [0, 1, 1000, 256 << 10, 900_000] {
      let content = Bytes.text(length)
      for blob in [try world.blob(world.write(content)), Blob(Data(content))] {
        let edges = [0, 1, length - 1, length, length + 5, 256 << 10, 512 << 10, -3, .min, .max]
        let random = (0..<20).map { _ in Int(generator.next() % 1_000_000) }
        for (low, high) in zip(edges + random, random + edges) {
          let range = min(low, high)..<max(low, high)
          let expected = content[range.clamped(to: 0..<length)]
          #expect(try Bytes(blob.data(in: range)) == Bytes(expected), "\(range) of \(length)")
        }
      }
    }
  }

  @Test(arguments: [0, 2], [1000, 65_536, 256 << 10, 700_000])
  func `a reader hands out pieces of the size asked for`(crewSize: Int, size: Int) throws {
    let world = BlobWorld(crewSize: crewSize)
    let content = Bytes.text(2_100_000)
    for blob in [try world.blob(world.write(content)), Blob(Data(content))] {
      for start in [0, 300_000, content.count] {
        let reader = try blob.reader(from: start)
        var found = Bytes()
        while let piece = try reader.read(upTo: size) {
          #expect(piece.count == min(size, content.count - start - found.count))
          #expect(piece.startIndex == 0)
          found += piece
        }
        #expect(found == Bytes(content[start...]))
        #expect(reader.offset == content.count)
      }
    }
  }

  @Test func `chunks are the content, and end where the task is cancelled`() async throws {
    let world = BlobWorld(crewSize: 1)
    let content = Bytes.text(1_000_000)
    let blob = try world.blob(world.write(content))
    var found = Bytes()
    for try await piece in blob.chunks { found += piece }
    #expect(found == content)
    let task = Task {
      var count = 0
      for try await _ in blob.chunks {
        count += 1
        unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      }
      return count
    }
    #expect(try await task.value == 1)
  }

  @Test func `a blob is written to a file, and to a pipe that nobody reads with an error`() throws {
    let world = BlobWorld()
    let content = Bytes.text(600_000)
    let blob = try world.blob(world.write(content))
    let directory = try TemporaryDirectory()
    let path = directory.path + "/content"
    let descriptor = unsafe open(path, O_CREAT | O_RDWR, 0o600)
    try blob.write(to: descriptor)
    var found = Bytes(repeating: 0, count: content.count + 1)
    let count = unsafe pread(descriptor, &found, found.count, 0)
    #expect(count == content.count)
    #expect(Bytes(found.dropLast()) == content)
    close(descriptor)
    #expect(throws: StoreError.io(.badDescriptor, operation: "write a blob", path: "descriptor -1"))
    { try blob.write(to: -1) }
    var ends: [Int32] = [0, 0]
    let piped = unsafe pipe(&ends)
    #expect(piped == 0)
    close(ends[0])
    let error = storeError { () throws(StoreError) in try blob.write(to: ends[1]) }
    #expect(
      error
        == .io(
          SystemErrorCode(rawValue: EPIPE), operation: "write a blob", path: "descriptor \(ends[1])"
        )
    )
    close(ends[1])
  }

  @Test func `blobs are equal by content, wherever that is`() throws {
    let world = BlobWorld()
    let content = Bytes.text(300_000)
    var other = content
    other[299_999] ^= 1
    let stored = try world.blob(world.write(content, as: 1))
    let again = try world.blob(world.write(content, as: 2, .none))
    #expect(stored == again && stored == Blob(Data(content)) && Blob(Data(content)) == again)
    #expect(try stored != world.blob(world.write(other, as: 3)))
    #expect(stored != Blob(Data(other)) && stored != Blob() && stored != Blob(Data(content[1...])))
    #expect(Set([stored, again, Blob(Data(content))]).count == 1)
    let damaged = try world.blob(.numbered(9), at: world.write(content).place)
    #expect(damaged == damaged && damaged != stored)
  }

  @Test func `a blob is coded as its content`() throws {
    let world = BlobWorld()
    let content = Bytes.noise(1000)
    let stored = try world.blob(world.write(content))
    let coded = try JSONEncoder().encode([stored])
    #expect(try coded == JSONEncoder().encode([Data(content)]))
    #expect(try JSONDecoder().decode([Blob].self, from: coded) == [stored])
  }

  @Test func `content that hardly compresses is kept as it is`() throws {
    let world = BlobWorld()
    let noise = try world.write(.noise(1 << 20))
    #expect(noise.place.size < 1 << 20 + 200)
    let text = try world.write(.text(1 << 20))
    #expect(text.place.size < 1 << 20 / 4)
    // The first frame decides.
    let mixed = try world.write(.noise(256 << 10) + .text(256 << 10))
    #expect(mixed.place.size > 512 << 10)
  }

  @Test func `the hash is that of the content, however it came`() throws {
    let world = BlobWorld()
    let content = Bytes.text(300_001)
    let key = BlobWorld.seed.hashKey
    let stream = world.files.makeStream(.numbered(1), .standard, isHashed: true)
    var start = 0
    for length in [1, 3, 8, 11, 5, 100_000, 0, 7] {
      try stream.append(Bytes(content[start..<start + length]).rawSpan)
      start += length
    }
    try stream.append(Bytes(content[start...]).rawSpan)
    #expect(try stream.finish().hash == SipHash128(of: content.rawSpan, key: key))
    #expect(try world.write(content).hash == nil)
  }
}
