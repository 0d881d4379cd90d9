import CCambium
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite struct `A checksum` {
  @Test(arguments: publishedVectors)
  func `has the published values`(vector: Vector) {
    #expect(checksum(of: vector.bytes) == vector.checksum)
    #expect(portableChecksum(of: vector.bytes) == vector.checksum)
  }

  @Test func `of no bytes is zero, and no bytes change none`() {
    for start in [Checksum(), Checksum(rawValue: 0x1234_5678)] {
      var updated = start
      updated.update([])
      #expect(updated == start)
    }
    #expect(Checksum().rawValue == 0)
  }

  @Test func `is written as eight digits`() {
    #expect("\(Checksum(rawValue: 0xc0ffee))" == "00c0ffee")
    #expect("\(Checksum(rawValue: 0xfedc_ba98))" == "fedcba98")
  }

  @Test func `of a word is that of its bytes, lowest first`() {
    var updated = Checksum()
    updated.update(0x0706_0504_0302_0100)
    #expect(updated == checksum(of: Array(0..<8)))
  }

  @Test func `by instructions is that by tables, for every small length at every alignment`() {
    let bytes = randomBytes(count: 1100 + 8, seed: 1)
    for alignment in 0..<8 {
      for count in 0..<1100 {
        let (accelerated, portable) = bothChecksums(of: bytes, alignment..<alignment + count)
        guard accelerated != portable else { continue }
        Issue.record("differs for \(count) bytes at \(alignment)")
        return
      }
    }
  }

  @Test(arguments: [1, 2, 3].map { $0 * longestRun } + [4096, 8192, 16384, 65536, 64 * 4096])
  func `by instructions is that by tables, around the lengths where streams join`(count: Int) {
    let bytes = randomBytes(count: count + 64, seed: 2)
    for change in -32...32 {
      for alignment in [0, 1, 4] {
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
      var updated = Checksum()
      updated.update(Array(bytes[..<split]))
      updated.update(Array(bytes[split...]))
      #expect(updated == whole, "split at \(split)")
    }
  }
}

/// The bytes that one join of three streams takes in at most.
private let longestRun = 3 * 341 * 8

/// Bytes and what their checksum must be.
struct Vector: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let bytes: [UInt8]
  let checksum: Checksum

  init(_ description: String, _ bytes: [UInt8], _ rawValue: UInt32) {
    testDescription = description
    self.bytes = bytes
    checksum = Checksum(rawValue: rawValue)
  }
}

/// RFC 3720, B.4, and the check value of every catalog of CRCs.
private let publishedVectors = [
  Vector("32 zeros", Array(repeating: 0, count: 32), 0x8A91_36AA),
  Vector("32 ones", Array(repeating: 0xFF, count: 32), 0x62A8_AB43),
  Vector("32 incrementing bytes", Array(0..<32), 0x46DD_794E),
  Vector("32 decrementing bytes", Array((0..<32).reversed()), 0x113F_DB5C),
  Vector("an iSCSI read command", readCommand, 0xD996_3A56),
  Vector("123456789", Array("123456789".utf8), 0xE306_9283),
]

private let readCommand: [UInt8] = [
  0x01, 0xC0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
  0x14, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00, 0x00, 0x14, 0x00, 0x00, 0x00, 0x18,
  0x28, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
]

extension Checksum {
  fileprivate mutating func update(_ bytes: [UInt8]) {
    unsafe update(bytes.span.bytes)
  }
}

private func checksum(of bytes: [UInt8]) -> Checksum {
  var checksum = Checksum()
  checksum.update(bytes)
  return checksum
}

private func portableChecksum(of bytes: [UInt8]) -> Checksum {
  Checksum(rawValue: unsafe cambium_crc32c_portable(0, bytes, bytes.count))
}

/// The checksums of a part of `bytes`, by instructions where the processor has them and by tables.
private func bothChecksums(
  of bytes: [UInt8], _ range: Range<Int>
) -> (accelerated: UInt32, portable: UInt32) {
  unsafe bytes[range].withUnsafeBytes {
    unsafe (
      cambium_crc32c(0, $0.baseAddress, $0.count),
      cambium_crc32c_portable(0, $0.baseAddress, $0.count)
    )
  }
}

private func randomBytes(count: Int, seed: UInt64) -> [UInt8] {
  var generator = SplitMix64(seed: seed)
  return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
}
