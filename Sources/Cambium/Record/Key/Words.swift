/// Takes the words of a text, one after the other and without regard to case, as indexes of words have them.
///
/// A word is a longest run of letters, marks and numbers; of Chinese characters and Japanese syllables, which are written
/// without spaces, each is a word. Every scalar is folded as in case-insensitive keys, and nothing is
/// normalised: marks stay where they are. Of a longer word only as many scalars count as fit into 64 bytes.
/// Bytes that are no UTF-8 are between words.
///
/// Entries on disk depend on every part of this; `FORMAT.md`, “Words”, says it exactly.
struct WordReader: ~Escapable {
  /// The highest number of bytes of a word.
  static var lengthMax: Int { 64 }

  private let text: RawSpan
  /// The offset after the word.
  private var offset = 0
  private var bytes: [64 of UInt8] = .init(repeating: 0)
  private var count = 0

  @_lifetime(copy text)
  init(_ text: RawSpan) {
    self.text = text
  }

  /// The word, until the next.
  var word: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get { unsafe bytes.span.bytes.part(0, count) }
  }

  /// Returns true if a `*` follows the word directly.
  var isBeforeAsterisk: Bool {
    offset < text.byteCount && text.load(offset, as: UInt8.self) == UInt8(ascii: "*")
  }

  /// Moves to the next word. False after the last.
  mutating func next() -> Bool {
    count = 0
    var isCut = false
    while offset < text.byteCount {
      let byte = text.load(offset, as: UInt8.self)
      let lowercase = byte | 0x20
      if lowercase &- 0x61 < 26 || byte &- 0x30 < 10 {
        // Digits have the bit of small letters.
        append(lowercase, &isCut)
        offset &+= 1
      } else if byte < 0x80 {
        if count > 0 { return true }
        offset &+= 1
      } else if nextBeyondASCII(&isCut) {
        return true
      }
    }
    return count > 0
  }

  /// Moves over a scalar. True at the end of a word.
  @inline(never)
  private mutating func nextBeyondASCII(_ isCut: inout Bool) -> Bool {
    guard let (scalar, length) = text.scalar(at: offset), WordTable.contains(scalar) else {
      if count > 0 { return true }
      offset &+= text.scalar(at: offset)?.length ?? 1
      return false
    }
    let isWord = WordTable.isWord(scalar)
    if isWord, count > 0 { return true }
    append(CaseFolding.mapping(of: scalar), &isCut)
    offset &+= length
    return isWord
  }

  @inline(__always)
  private mutating func append(_ byte: UInt8, _ isCut: inout Bool) {
    if count == Self.lengthMax { isCut = true }
    if isCut { return }
    bytes[count] = byte
    count &+= 1
  }

  private mutating func append(_ scalar: Unicode.Scalar, _ isCut: inout Bool) {
    let encoded = UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
    if count + encoded.count > Self.lengthMax { isCut = true }
    if isCut { return }
    for byte in encoded { append(byte, &isCut) }
  }
}

extension RawSpan {
  /// The scalar whose UTF-8 begins at `offset`, and its number of bytes; nil if none does.
  fileprivate func scalar(at offset: Int) -> (scalar: Unicode.Scalar, length: Int)? {
    let first = UInt32(load(offset, as: UInt8.self))
    if first < 0x80 { return (Unicode.Scalar(UInt8(first)), 1) }
    let length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
    guard first >= 0xc2, first < 0xf5, offset + length <= byteCount else { return nil }
    var value = first & (0x7f >> UInt32(length))
    for place in offset + 1..<offset + length {
      let byte = UInt32(load(place, as: UInt8.self))
      guard byte & 0xc0 == 0x80 else { return nil }
      value = value << 6 | byte & 0x3f
    }
    // In more bytes than it takes, it is another sequence of bytes for the same scalar.
    guard let scalar = Unicode.Scalar(value), UTF8.width(scalar) == length else { return nil }
    return (scalar, length)
  }
}

/// The scalars that words consist of.
///
/// It is part of the format and never changes, as `LowercaseTable`.
enum WordTable {
  /// Returns true if a scalar is a letter, a mark or a number.
  ///
  /// - Complexity: O(log of the table's runs).
  static func contains(_ scalar: Unicode.Scalar) -> Bool {
    var low = 0
    var high = ends.count
    while low < high {
      let middle = (low + high) / 2
      if ends[middle] <= scalar.value { low = middle + 1 } else { high = middle }
    }
    return low % 2 == 1
  }

  /// Returns true if a scalar that is a letter, a mark or a number is a word by itself: Chinese characters and
  /// Japanese syllables.
  static func isWord(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x3005...0x3007, 0x3040...0x30ff, 0x31f0...0x31ff, 0x3400...0x4dbf, 0x4e00...0x9fff,
      0xf900...0xfaff, 0xff66...0xff9f, 0x1aff0...0x1b16f, 0x20000...0x3ffff:
      true
    default: false
    }
  }

  /// The scalar after each run.
  private static let ends: [UInt32] = {
    var end: UInt32 = 0
    return lengths.map { length in
      end += length
      return end
    }
  }()

  /// The lengths of runs of scalars from U+0000 on: by turns of those that are in no word, and of those whose general
  /// category in Unicode 17.0 begins with L, M or N. Scalars after the last run are in no word.
  private static let lengths: [UInt32] = [
    48, 10, 7, 26, 6, 26, 47, 1, 7, 2, 1, 1, 3, 2, 1, 3, 1, 23, 1, 31, 1, 458, 4, 12, 14, 5, 7, 1,
    1, 1, 17, 117, 1, 2, 2, 4, 1, 1, 6, 1, 1, 3, 1, 1, 1, 20, 1, 83, 1, 139, 1, 173, 1, 38, 2, 1, 6,
    41, 8, 45, 1, 1, 1, 2, 1, 2, 1, 1, 8, 27, 4, 4, 29, 11, 5, 74, 4, 102, 1, 8, 2, 10, 1, 19, 2, 1,
    16, 59, 2, 101, 14, 54, 4, 1, 2, 1, 2, 46, 18, 28, 4, 11, 5, 24, 1, 7, 7, 75, 1, 129, 2, 10, 1,
    19, 1, 8, 2, 2, 2, 22, 1, 7, 1, 1, 3, 4, 2, 9, 2, 2, 2, 4, 8, 1, 4, 2, 1, 5, 2, 12, 2, 6, 2, 1,
    1, 1, 2, 3, 1, 6, 4, 2, 2, 22, 1, 7, 1, 2, 1, 2, 1, 2, 2, 1, 1, 5, 4, 2, 2, 3, 3, 1, 7, 4, 1, 1,
    7, 16, 11, 3, 1, 9, 1, 3, 1, 22, 1, 7, 1, 2, 1, 5, 2, 10, 1, 3, 1, 3, 2, 1, 15, 4, 2, 10, 9, 7,
    1, 3, 1, 8, 2, 2, 2, 22, 1, 7, 1, 2, 1, 5, 2, 9, 2, 2, 2, 3, 7, 3, 4, 2, 1, 5, 2, 10, 1, 7, 10,
    2, 1, 6, 3, 3, 1, 4, 3, 2, 1, 1, 1, 2, 3, 2, 3, 3, 3, 12, 4, 5, 3, 3, 1, 4, 2, 1, 6, 1, 14, 13,
    13, 13, 1, 3, 1, 23, 1, 16, 2, 9, 1, 3, 1, 4, 7, 2, 1, 3, 1, 2, 2, 4, 2, 10, 8, 7, 1, 4, 1, 8,
    1, 3, 1, 23, 1, 10, 1, 5, 2, 9, 1, 3, 1, 4, 7, 2, 5, 3, 1, 4, 2, 10, 1, 3, 12, 13, 1, 3, 1, 51,
    1, 3, 1, 5, 5, 16, 2, 19, 1, 6, 1, 3, 1, 18, 3, 24, 1, 9, 1, 1, 2, 7, 3, 1, 4, 6, 1, 1, 1, 8, 6,
    10, 2, 2, 13, 58, 5, 15, 1, 10, 39, 2, 1, 1, 1, 5, 1, 24, 1, 1, 1, 23, 2, 5, 1, 1, 1, 7, 1, 10,
    2, 4, 32, 1, 23, 2, 6, 20, 1, 1, 1, 1, 1, 1, 4, 10, 1, 36, 4, 20, 1, 18, 1, 36, 9, 1, 57, 74, 6,
    78, 2, 38, 1, 1, 5, 1, 2, 43, 1, 333, 1, 4, 2, 7, 1, 1, 1, 4, 2, 41, 1, 4, 2, 33, 1, 4, 2, 7, 1,
    1, 1, 4, 2, 15, 1, 57, 1, 4, 2, 67, 2, 3, 9, 20, 3, 16, 16, 86, 2, 6, 3, 620, 2, 17, 1, 26, 5,
    75, 3, 11, 7, 22, 9, 22, 11, 20, 12, 13, 1, 3, 1, 2, 12, 84, 3, 1, 4, 2, 2, 10, 6, 10, 17, 3, 1,
    11, 6, 89, 7, 43, 5, 70, 10, 31, 1, 12, 4, 12, 10, 40, 2, 5, 11, 44, 4, 26, 6, 11, 37, 28, 4,
    63, 1, 29, 2, 11, 6, 10, 13, 1, 8, 46, 2, 12, 20, 77, 3, 10, 17, 9, 12, 116, 12, 56, 8, 10, 3,
    49, 2, 11, 5, 43, 2, 3, 16, 3, 1, 39, 5, 534, 2, 6, 2, 38, 2, 6, 2, 8, 1, 1, 1, 1, 1, 1, 1, 31,
    2, 53, 1, 7, 1, 1, 3, 3, 1, 7, 3, 4, 2, 6, 4, 13, 5, 3, 1, 7, 115, 2, 2, 6, 5, 11, 6, 13, 51,
    33, 17, 1, 4, 1, 2, 10, 1, 1, 3, 5, 6, 1, 1, 1, 1, 1, 1, 4, 1, 11, 2, 4, 5, 5, 4, 1, 1, 58, 726,
    60, 78, 22, 630, 30, 1132, 229, 6, 9, 9, 1, 2, 38, 1, 1, 5, 1, 2, 56, 7, 1, 15, 24, 9, 7, 1, 7,
    1, 7, 1, 7, 1, 7, 1, 7, 1, 7, 1, 7, 1, 32, 47, 1, 469, 3, 25, 15, 1, 5, 2, 5, 4, 86, 2, 2, 2, 3,
    1, 90, 1, 4, 5, 43, 1, 94, 3, 4, 10, 32, 48, 16, 32, 10, 30, 8, 1, 15, 32, 10, 39, 15, 320,
    6592, 64, 22157, 67, 46, 2, 269, 3, 28, 20, 51, 1, 10, 1, 115, 37, 9, 2, 103, 2, 82, 20, 55, 4,
    1, 3, 6, 10, 52, 12, 70, 10, 10, 6, 24, 3, 1, 1, 49, 2, 36, 12, 29, 3, 65, 14, 11, 6, 31, 1, 55,
    9, 14, 2, 10, 6, 23, 3, 73, 24, 3, 2, 16, 2, 5, 10, 6, 2, 6, 2, 6, 9, 7, 1, 7, 1, 43, 1, 14, 6,
    123, 1, 2, 2, 10, 6, 11172, 12, 23, 4, 49, 8452, 366, 2, 106, 38, 7, 12, 5, 5, 12, 1, 13, 1, 5,
    1, 1, 1, 2, 1, 2, 1, 108, 33, 363, 18, 64, 2, 54, 40, 12, 4, 16, 16, 16, 64, 5, 1, 135, 19, 10,
    7, 26, 6, 26, 11, 89, 3, 6, 2, 6, 2, 6, 2, 3, 35, 12, 1, 26, 1, 19, 1, 2, 1, 15, 2, 14, 34, 123,
    12, 45, 12, 57, 17, 2, 113, 1, 130, 29, 3, 49, 15, 28, 4, 36, 9, 30, 5, 43, 5, 30, 2, 36, 4, 8,
    1, 5, 42, 158, 2, 10, 6, 36, 4, 36, 4, 40, 8, 52, 12, 11, 1, 15, 1, 7, 1, 2, 1, 11, 1, 15, 1, 7,
    1, 2, 3, 52, 12, 311, 9, 22, 10, 8, 24, 6, 1, 42, 1, 9, 69, 6, 2, 1, 1, 44, 1, 2, 3, 1, 2, 23,
    2, 31, 2, 38, 8, 9, 48, 19, 1, 2, 5, 33, 4, 26, 6, 26, 38, 56, 4, 20, 2, 50, 1, 2, 5, 8, 1, 3,
    1, 29, 2, 3, 4, 10, 23, 31, 1, 32, 32, 8, 1, 30, 4, 5, 16, 54, 10, 22, 2, 27, 5, 26, 23, 7, 80,
    73, 55, 51, 13, 51, 7, 46, 8, 10, 6, 38, 3, 5, 1, 23, 218, 31, 1, 42, 1, 2, 3, 2, 16, 6, 50, 46,
    8, 37, 27, 22, 42, 28, 20, 23, 9, 71, 11, 36, 9, 60, 7, 1, 13, 25, 7, 10, 6, 53, 1, 10, 4, 4, 8,
    36, 2, 1, 9, 69, 4, 4, 1, 13, 1, 1, 4, 20, 11, 18, 1, 37, 6, 4, 62, 7, 1, 1, 1, 4, 1, 15, 1, 10,
    7, 59, 5, 10, 6, 4, 1, 8, 2, 2, 2, 22, 1, 7, 1, 2, 1, 5, 1, 10, 2, 2, 2, 3, 2, 1, 6, 1, 5, 7, 2,
    7, 3, 5, 11, 10, 1, 1, 2, 1, 1, 38, 1, 10, 1, 1, 2, 1, 1, 4, 1, 8, 13, 2, 29, 75, 5, 10, 4, 4,
    30, 70, 1, 1, 8, 10, 166, 54, 2, 9, 23, 6, 34, 65, 3, 1, 11, 10, 38, 57, 7, 10, 6, 20, 28, 27,
    2, 15, 4, 12, 4, 7, 185, 59, 101, 83, 12, 8, 2, 1, 2, 8, 1, 2, 1, 30, 1, 2, 2, 9, 12, 10, 70, 8,
    2, 46, 2, 8, 1, 2, 27, 63, 8, 1, 8, 74, 3, 1, 18, 73, 103, 8, 88, 33, 15, 10, 6, 9, 1, 45, 1, 9,
    15, 29, 5, 30, 2, 22, 1, 14, 73, 7, 1, 2, 1, 44, 3, 1, 1, 2, 1, 9, 8, 10, 6, 6, 1, 2, 1, 37, 1,
    2, 1, 6, 7, 10, 6, 44, 4, 10, 246, 23, 9, 17, 1, 41, 3, 5, 13, 11, 85, 1, 15, 21, 43, 922, 102,
    111, 17, 196, 2636, 97, 15, 1072, 16, 22, 10, 3995, 5, 583, 6841, 58, 1734, 569, 7, 31, 1, 10,
    6, 79, 1, 10, 6, 30, 2, 5, 11, 55, 9, 4, 12, 10, 1, 7, 1, 21, 5, 19, 432, 45, 3, 10, 198, 87, 9,
    25, 2, 25, 44, 75, 4, 57, 7, 17, 64, 2, 1, 2, 11, 7, 9, 7382, 41, 32, 97, 115, 8701, 4, 1, 7, 1,
    2, 1, 291, 15, 1, 29, 3, 2, 1, 14, 4, 8, 396, 2308, 107, 5, 13, 3, 9, 7, 10, 3, 2, 4177, 10,
    518, 46, 2, 23, 542, 5, 3, 6, 8, 8, 2, 7, 30, 4, 148, 3, 123, 20, 12, 20, 108, 25, 135, 85, 1,
    71, 1, 2, 2, 1, 2, 2, 2, 4, 1, 12, 1, 1, 1, 7, 1, 65, 1, 4, 2, 8, 1, 7, 1, 28, 1, 4, 1, 5, 1, 1,
    3, 7, 1, 340, 2, 25, 1, 25, 1, 31, 1, 25, 1, 31, 1, 25, 1, 31, 1, 25, 1, 31, 1, 25, 1, 8, 2, 50,
    512, 55, 4, 50, 8, 1, 14, 1, 22, 5, 1, 15, 1104, 31, 6, 6, 213, 7, 1, 17, 2, 7, 1, 2, 1, 5, 5,
    62, 33, 1, 112, 45, 3, 14, 2, 10, 4, 1, 321, 31, 17, 58, 470, 42, 214, 43, 197, 31, 1, 22, 8, 2,
    224, 7, 1, 4, 1, 2, 1, 15, 1, 197, 2, 16, 41, 76, 4, 10, 791, 59, 1, 3, 1, 4, 76, 45, 1, 15,
    194, 4, 1, 27, 1, 2, 1, 1, 2, 1, 1, 10, 1, 4, 1, 1, 1, 1, 6, 1, 4, 1, 1, 1, 1, 1, 1, 3, 1, 2, 1,
    1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 1, 1, 2, 4, 1, 7, 1, 4, 1, 4, 1, 1, 1, 10, 1, 17, 5, 3,
    1, 5, 1, 17, 580, 13, 2787, 10, 1030, 42720, 32, 4382, 2, 5774, 2, 7473, 15, 622, 2466, 542,
    1506, 4939, 5, 8490, 707718, 240,
  ]
}
