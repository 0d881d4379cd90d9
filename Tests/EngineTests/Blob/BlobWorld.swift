import FoundationEssentials
import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// Blobs on a medium, written and read without a store.
struct BlobWorld {
  static var seed: BlobSeed { BlobSeed(rawValue: 0x5eed_5eed_1234) }

  let medium: any FileSystem
  let files: BlobFiles

  /// - Parameter crewSize: 0 for a world in which only the caller does something.
  init(
    _ medium: any FileSystem, from number: UInt32 = 1, segmentSize: Int = BlobLayout.segmentSize,
    bufferSize: Int = 1 << 20, crewSize: Int = 0
  ) {
    self.medium = medium
    files = BlobFiles(
      in: medium, seed: Self.seed, from: number, segmentSize: segmentSize, bufferSize: bufferSize,
      crew: BlobCrew(size: crewSize))
  }

  func write(
    _ content: Bytes, as number: UInt64 = 1, _ compression: BlobCompression = .standard,
    isHashed: Bool = false
  ) throws(StoreError) -> BlobContent {
    let stream = files.makeStream(.numbered(number), compression, isHashed: isHashed)
    try stream.append(content.rawSpan)
    return try stream.finish()
  }

  func blob(_ content: BlobContent) throws(StoreError) -> Blob {
    try blob(content.identity, at: content.place)
  }

  func blob(_ identity: BlobIdentity, at place: BlobPlace) throws(StoreError) -> Blob {
    Blob(try files.reader(of: identity, at: place))
  }

  func read(_ content: BlobContent) throws(StoreError) -> Bytes {
    Bytes(try blob(content).data())
  }
}

extension BlobWorld {
  init(crewSize: Int = 0) {
    self.init(InMemoryFileSystem(), crewSize: crewSize)
  }

  /// The bytes of a blob, cut out of its segment.
  func bytes(of place: BlobPlace) throws -> Bytes {
    let file = try medium.contents(of: .blobs(place.segment))
    return Bytes(file[Int(place.offset)..<Int(place.end)])
  }
}

extension BlobIdentity {
  static func numbered(_ number: UInt64) -> BlobIdentity {
    BlobIdentity(low: number, high: 0x1d00_0000_0000_0000 | number)
  }
}

extension Bytes {
  /// Lines of text as programs write them, which compress well.
  static func text(_ count: Int, seed: UInt64 = 1) -> Bytes {
    var generator = SplitMix64(seed: seed)
    let lines = (0..<64).map { line in
      Bytes(#"{"id":\#(line),"name":"item \#(generator.next() % 1000)","isDone":false},"#.utf8)
    }
    var bytes = Bytes()
    bytes.reserveCapacity(count + 100)
    while bytes.count < count { bytes += lines[Int(generator.next() % 64)] }
    bytes.removeLast(bytes.count - count)
    return bytes
  }

  /// Bytes that nothing compresses.
  static func noise(_ count: Int, seed: UInt64 = 1) -> Bytes {
    var generator = SplitMix64(seed: seed)
    var bytes = Bytes()
    bytes.reserveCapacity(count + 8)
    while bytes.count < count { bytes.append(integer: generator.next()) }
    bytes.removeLast(bytes.count - count)
    return bytes
  }
}
