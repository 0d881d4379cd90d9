@testable import Cambium

/// One change of a store's files, of bytes that their checksums cover.
struct StoreMutation {
  /// The values at which numbers mostly end or overflow.
  private static let extremes: [UInt64] = [
    0, 1, 2, 7, 8, 0x7f, 0x80, 0xff, 0x100, 0xfff, 0x1000, 0x7fff, 0xfffe, 0xffff, 0x1_0000,
    0x7fff_ffff, 0xffff_ffff, 1 << 32, 1 << 47, 1 << 61, 1 << 62, 1 << 63 - 1, 1 << 63, .max,
  ]

  let piece: StoreMender.Piece
  private let change: (inout [UInt8]) -> Void

  /// - Returns: nil if there is nothing that could be changed.
  init?(of pieces: [StoreMender.Piece], using random: inout some RandomNumberGenerator) {
    guard let piece = pieces.randomPiece(using: &random) else { return nil }
    self.piece = piece
    let header = [16, 32, 64, 128, piece.bytes.count].randomElement(using: &random) ?? 32
    let offset = Int.random(in: 4..<max(5, min(header, piece.bytes.count)), using: &random)
    let value = Self.extremes.randomElement(using: &random) ?? 0
    let width = [1, 2, 4, 8].randomElement(using: &random) ?? 1
    let source = Int.random(in: 0..<piece.bytes.count, using: &random)
    let word = random.next()
    switch Int.random(in: 0..<6, using: &random) {
    case 0: change = { $0[offset] ^= 1 << UInt8(word % 8) }
    case 1: change = { $0[offset] = UInt8(truncatingIfNeeded: word) }
    case 2:
      change = { bytes in
        for index in 0..<min(8, bytes.count - offset) {
          bytes[offset + index] = UInt8(truncatingIfNeeded: word >> UInt64(8 * index))
        }
      }
    case 3:
      // Bytes elsewhere in it: references, lengths, keys.
      change = { bytes in
        let count = min(Int(word % 64), bytes.count - offset, bytes.count - source)
        let copied = Array(bytes[source..<source + count])
        bytes.replaceSubrange(offset..<offset + count, with: copied)
      }
    case 4:
      change = { bytes in
        let start = offset / width * width
        var number: UInt64 = 0
        for index in 0..<min(width, bytes.count - start) {
          number |= UInt64(bytes[start + index]) << UInt64(8 * index)
        }
        number = word % 2 == 0 ? number &+ 1 + word % 9 : number &- 1 &- word % 9
        for index in 0..<min(width, bytes.count - start) {
          bytes[start + index] = UInt8(truncatingIfNeeded: number >> UInt64(8 * index))
        }
      }
    default:
      change = { bytes in
        let start = offset / width * width
        for index in 0..<min(width, bytes.count - start) {
          bytes[start + index] = UInt8(truncatingIfNeeded: value >> UInt64(8 * index))
        }
      }
    }
  }

  func apply(to files: inout StoreFiles) {
    guard var bytes = files.contents[piece.file].map({ Array($0[piece.bytes]) }) else { return }
    change(&bytes)
    files.contents[piece.file]?.replaceSubrange(piece.bytes, with: bytes)
  }
}

extension [StoreMender.Piece] {
  /// A piece of a random kind: each kind is as likely, however many leaves there are.
  func randomPiece(using random: inout some RandomNumberGenerator) -> StoreMender.Piece? {
    let pieces = filter { $0.bytes.count >= 8 }
    let kinds = Set(pieces.map(\.kind)).sorted { "\($0)" < "\($1)" }
    let kind = kinds.randomElement(using: &random)
    return pieces.filter { $0.kind == kind }.randomElement(using: &random)
  }
}
