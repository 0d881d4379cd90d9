import CCambium
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite struct `A checksum of 64 bits` {
  /// That of every catalog of CRCs, and those of the NVM Express command set for 4,096 bytes.
  private static let published: [(name: String, bytes: [UInt8], checksum: UInt64)] = [
    ("123456789", Array("123456789".utf8), 0xAE8B_1486_0A79_9888),
    ("4,096 zeros", Array(repeating: 0, count: 4096), 0x6482_D367_EB22_B64E),
    ("4,096 ones", Array(repeating: 0xFF, count: 4096), 0xC0DD_BA73_02EC_A3AC),
    ("0 to 255, repeated", (0..<4096).map { UInt8($0 & 0xFF) }, 0x3E72_9F5F_6750_449C),
    ("255 to 0, repeated", (0..<4096).map { UInt8(255 - $0 & 0xFF) }, 0x9A2D_F64B_8E9E_517E),
  ]

  @Test func `has the published values`() {
    for vector in Self.published {
      #expect(checksum(of: vector.bytes).rawValue == vector.checksum, "\(vector.name)")
      #expect(portableChecksum(of: vector.bytes) == vector.checksum, "\(vector.name)")
    }
  }

  @Test func `of no bytes is zero, and no bytes change none`() {
    for start in [PageChecksum(), PageChecksum(rawValue: 0x1234_5678_9ABC_DEF0)] {
      var updated = start
      updated.update([])
      #expect(updated == start)
    }
    #expect(PageChecksum().rawValue == 0)
  }

  @Test func `is written as sixteen digits`() {
    #expect("\(PageChecksum(rawValue: 0xc0ffee))" == "0000000000c0ffee")
    #expect("\(PageChecksum(rawValue: 0xfedc_ba98_7654_3210))" == "fedcba9876543210")
  }

  @Test func `of a word is that of its bytes, lowest first`() {
    var updated = PageChecksum()
    updated.update(0x0706_0504_0302_0100)
    #expect(updated == checksum(of: Array(0..<8)))
  }

  @Test func `by instructions is that by tables, for every small length at every alignment`() {
    let bytes = randomBytes(count: 1025 + 16, seed: 1)
    for alignment in 0..<16 {
      for count in 0...1025 {
        let (accelerated, portable) = bothChecksums(of: bytes, alignment..<alignment + count)
        guard accelerated != portable else { continue }
        Issue.record("differs for \(count) bytes at \(alignment)")
        return
      }
    }
  }

  @Test(arguments: [4096, 8192, 16384, 65536, 64 * 4096])
  func `by instructions is that by tables, around the sizes of pages`(count: Int) {
    let bytes = randomBytes(count: count + 64, seed: 2)
    for change in -32...32 {
      for alignment in [0, 1, 8] {
        let range = alignment..<alignment + count + change
        let (accelerated, portable) = bothChecksums(of: bytes, range)
        #expect(accelerated == portable, "\(range)")
      }
    }
  }

  @Test func `of a whole is that of its parts, wherever it is split`() {
    let bytes = randomBytes(count: 1000, seed: 3)
    let whole = checksum(of: bytes)
    for split in 0...bytes.count {
      var updated = PageChecksum()
      updated.update(Array(bytes[..<split]))
      updated.update(Array(bytes[split...]))
      #expect(updated == whole, "split at \(split)")
    }
  }

  #if arch(x86_64) || arch(arm64)
    @Test func `is computed by the processor's instructions, on those that all have today`() {
      #expect(cambium_crc64_is_accelerated())
    }
  #endif
}

@Suite struct `A page's checksum` {
  let store = StoreIdentity(low: 0x0706_0504_0302_0100, high: 0x0F0E_0D0C_0B0A_0908)
  let position = PagePosition(segment: 0x1312_1110, block: 0x1716_1514)
  let page = randomBytes(count: 8192, seed: 4)

  @Test func `covers the identity, the position, and all but the page's first eight bytes`() {
    let covered = Array(0..<24) + page.dropFirst(8)
    #expect(
      checksumOfPage(page, at: position, in: store) == checksum(of: covered))
  }

  @Test func `differs at another position and in another store`() {
    let checksum = checksumOfPage(page, at: position, in: store)
    for elsewhere in [
      PagePosition(segment: position.segment + 1, block: position.block),
      PagePosition(segment: position.segment, block: position.block + 1),
      PagePosition(segment: position.block, block: position.segment),
    ] {
      #expect(checksumOfPage(page, at: elsewhere, in: store) != checksum)
    }
    for other in [
      StoreIdentity(low: store.low ^ 1, high: store.high),
      StoreIdentity(low: store.low, high: store.high ^ 1),
      StoreIdentity(low: store.high, high: store.low),
    ] {
      #expect(checksumOfPage(page, at: position, in: other) != checksum)
    }
  }

  @Test func `does not depend on the field that holds it`() {
    var other = page
    for index in 0..<PageChecksum.size { other[index] ^= 0xFF }
    #expect(
      checksumOfPage(page, at: position, in: store)
        == checksumOfPage(other, at: position, in: store))
  }
}

@Test func `an identity is made of two numbers of its generator`() {
  var generator = SplitMix64(seed: 5)
  var sameGenerator = SplitMix64(seed: 5)
  let identity = StoreIdentity(using: &generator)
  #expect(identity.low == sameGenerator.next())
  #expect(identity.high == sameGenerator.next())
  #expect(identity == StoreIdentity(low: identity.low, high: identity.high))
  #expect(identity != StoreIdentity(using: &generator))
}

extension PageChecksum {
  fileprivate mutating func update(_ bytes: [UInt8]) {
    unsafe update(bytes.span.bytes)
  }
}

private func checksumOfPage(
  _ page: [UInt8], at position: PagePosition, in store: StoreIdentity
) -> PageChecksum {
  unsafe PageChecksum.of(page.span.bytes, at: position, in: store)
}

private func checksum(of bytes: [UInt8]) -> PageChecksum {
  var checksum = PageChecksum()
  checksum.update(bytes)
  return checksum
}

private func portableChecksum(of bytes: [UInt8]) -> UInt64 {
  unsafe cambium_crc64_portable(0, bytes, bytes.count)
}

/// The checksums of a part of `bytes`, by instructions where the processor has them and by tables.
private func bothChecksums(
  of bytes: [UInt8], _ range: Range<Int>
) -> (accelerated: UInt64, portable: UInt64) {
  unsafe bytes[range].withUnsafeBytes {
    unsafe (
      cambium_crc64(0, $0.baseAddress, $0.count),
      cambium_crc64_portable(0, $0.baseAddress, $0.count)
    )
  }
}

private func randomBytes(count: Int, seed: UInt64) -> [UInt8] {
  var generator = SplitMix64(seed: seed)
  return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
}
