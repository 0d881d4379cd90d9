import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Blobs that somebody made with care: every checksum is right, and what it covers is not.
@Suite struct BlobHostileTests {
  private let world = BlobWorld()
  private let content = Bytes.text(5000)

  /// Puts frames, and a tail of the right checksum, behind what is in segment 1.
  private func craft(
    _ frames: [Bytes], length: Int, _ change: (inout Bytes) -> Void = { _ in }
  ) throws -> BlobPlace {
    _ = try world.write(Bytes([1]))
    let identity = BlobIdentity.numbered(1)
    let seed = BlobWorld.seed
    var tail = BlobTail()
    for (index, frame) in frames.enumerated() {
      let checksum = Checksum.ofFrame(frame.rawSpan, index: index, of: identity, seed: seed)
      tail.append(
        .init(size: UInt32(frame.count), checksum: checksum),
        length: BlobTail.length(of: index, in: length))
    }
    var bytes = tail.encoded()
    change(&bytes)
    let checksum = Checksum.ofTail(bytes.rawSpan, of: identity, seed: seed)
    let file = try world.medium.open(.blobs(1), .readWrite, at: .test)
    let end = try file.size(at: .test)
    let all = frames.flatMap { $0 } + bytes
    try file.write(all, from: end)
    return BlobPlace(
      segment: 1, offset: UInt64(end), size: UInt64(all.count), length: UInt64(length),
      checksum: checksum)
  }

  private func invariant(of place: BlobPlace) -> Invariant? {
    let world = BlobWorld(world.medium, from: 2)
    let errors = [
      storeError { () throws(StoreError) in
        _ = try world.blob(.numbered(1), at: place).data(in: 0..<1)
      },
      storeError { () throws(StoreError) in _ = try world.blob(.numbered(1), at: place).data() },
      storeError { () throws(StoreError) in
        _ = try world.blob(.numbered(1), at: place).reader().read(upTo: .max)
      },
    ]
    #expect(Set(errors).count == 1)
    return errors[0]?.invariant
  }

  private func frame(_ content: Bytes) throws -> Bytes {
    let blob = try world.write(content)
    return Bytes(try world.bytes(of: blob.place).dropLast(blob.place.tailSize))
  }

  /// A frame that says it has `length` bytes, in blocks each of one byte repeated.
  private func bomb(length: Int, said: UInt64? = nil) -> Bytes {
    var bytes = Bytes()
    bytes.append(integer: ZstdFrame.magic)
    bytes.append(0b1110_0000)
    bytes.append(integer: said ?? UInt64(length))
    let blocks = length / ZstdFrame.blockLengthMax
    for block in 0..<blocks {
      let header = UInt32(ZstdFrame.blockLengthMax << 3 | 1 << 1 | (block == blocks - 1 ? 1 : 0))
      bytes += little(UInt64(header), 3) + [0]
    }
    return bytes
  }

  @Test func `what is crafted without a lie is read`() throws {
    #expect(try invariant(of: craft([frame(content)], length: content.count)) == nil)
    #expect(try invariant(of: craft([bomb(length: 256 << 10)], length: 256 << 10)) == nil)
  }

  @Test func `a bomb of a GiB is refused unread`() throws {
    let bomb = bomb(length: 1 << 30)
    #expect(bomb.count < 33_000)
    #expect(try invariant(of: craft([bomb], length: 256 << 10)) == .blobFrame)
  }

  @Test func `a bomb that says it is none ends where its content should`() throws {
    let bomb = bomb(length: 1 << 30, said: 256 << 10)
    #expect(try invariant(of: craft([bomb], length: 256 << 10)) == .blobFrame)
  }

  @Test func `a frame with more or less content than its place has is refused`() throws {
    for length in [4999, 5001, 256 << 10] {
      #expect(try invariant(of: craft([frame(content)], length: length)) == .blobFrame)
    }
  }

  @Test func `a frame that ends early, goes on, or is followed by others is refused`() throws {
    let whole = try frame(content)
    for count in 1..<whole.count {
      let cut = Bytes(whole.prefix(count))
      #expect(try invariant(of: craft([cut], length: content.count)) == .blobFrame, "\(count)")
    }
    let half = try frame(Bytes(content.prefix(2500)))
    let empty: Bytes = [0x28, 0xb5, 0x2f, 0xfd, 0x20, 0, 1, 0, 0]
    let skippable = little(0x184d_2a50, 4) + little(3, 4) + [1, 2, 3]
    for frame in [whole + [0], half + half, whole + empty, whole + skippable, skippable + whole] {
      #expect(try invariant(of: craft([frame], length: content.count)) == .blobFrame)
    }
  }

  @Test func `windows, dictionaries, checksums of zstd's own and what is reserved are refused`()
    throws
  {
    let whole = try frame(content)
    for bit in 0..<6 {
      var changed = whole
      changed[4] ^= 1 << bit
      #expect(try invariant(of: craft([changed], length: content.count)) == .blobFrame, "\(bit)")
    }
    let window = Bytes([0x28, 0xb5, 0x2f, 0xfd, 0b1000_0000, 0xff]) + little(5000, 4) + whole[7...]
    #expect(try invariant(of: craft([window], length: content.count)) == .blobFrame)
    let dictionary =
      Bytes([0x28, 0xb5, 0x2f, 0xfd, 0b1010_0011]) + little(77, 4) + little(5000, 4) + whole[7...]
    #expect(try invariant(of: craft([dictionary], length: content.count)) == .blobFrame)
  }

  @Test func `every bit of a tail that lies is found`() throws {
    for length in [5000, 300_000] {
      let all = Bytes.text(length)
      let frames = try stride(from: 0, to: length, by: 262_144).map {
        try frame(Bytes(all[$0..<min($0 + 262_144, length)]))
      }
      // But for checksums of frames, which are found with the frame.
      for bit in 0..<8 * BlobLayout.tailSize(frames: frames.count) {
        let place = try craft(frames, length: length) { $0[bit / 8] ^= 1 << (bit % 8) }
        let isChecksum = (8..<8 + 4 * frames.count).contains(bit / 8)
        let reader = try world.files.reader(of: .numbered(1), at: place)
        let error = storeError { () throws(StoreError) in try reader.check(deep: true) }
        #expect(error?.invariant == (isChecksum ? .blobFrameChecksum : .blobTail), "bit \(bit)")
      }
    }
  }

  @Test func `a frame larger than its content can become is refused by the tail`() throws {
    let padded = try frame(content) + Bytes(repeating: 0, count: 6000)
    #expect(try invariant(of: craft([padded], length: content.count)) == .blobTail)
  }

  @Test(arguments: [UInt64(1) << 36 + 1, 1 << 40, 1 << 62, .max - 262_143, .max])
  func `a length, size or offset beyond all bounds takes no memory`(number: UInt64) throws {
    let place = try craft([frame(content)], length: content.count)
    let lies = [
      BlobPlace(
        segment: 1, offset: place.offset, size: place.size, length: number,
        checksum: place.checksum),
      BlobPlace(
        segment: 1, offset: place.offset, size: number, length: place.length,
        checksum: place.checksum),
      BlobPlace(
        segment: 1, offset: number, size: place.size, length: place.length,
        checksum: place.checksum),
    ]
    for place in lies { #expect(invariant(of: place) == .blobExists) }
  }

  @Test func `a whole header of another version is told from a damaged one`() throws {
    _ = try world.write(content)
    let file = try world.medium.open(.blobs(1), .readWrite, at: .test)
    for (version, isNewer) in [(0, false), (2, true)] as [(UInt32, Bool)] {
      var header = try file.read(0..<Layout.blockSize)
      header.replaceSubrange(8..<12, with: little(UInt64(version), 4))
      let checksum = Checksum.ofBlock(header.rawSpan, but: 24)
      header.replaceSubrange(24..<28, with: little(UInt64(checksum.rawValue), 4))
      try file.write(header, from: 0)
      let error = storeError { () throws(StoreError) in
        try BlobWorld(world.medium, from: 2).files.open([1])
      }
      if case .newerFormat = error { #expect(isNewer) } else { #expect(!isNewer) }
    }
  }
}
