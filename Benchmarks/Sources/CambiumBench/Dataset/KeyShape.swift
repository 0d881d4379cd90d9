import ArgumentParser

/// The shape of keys. In each shape they sort as their bytes do.
enum KeyShape: String, CaseIterable, ExpressibleByArgument, Codable {
  /// 16 random bytes, like a UUID.
  case random16
  /// A row's number, big-endian: ascending with gaps, as deletions leave them.
  case integer8
  /// 24 bytes of text, of which the first 11 are the same in all.
  case string24

  static let stringPrefix = Array("account/eu/".utf8)

  var length: Int {
    switch self {
    case .random16: 16
    case .integer8: 8
    case .string24: 24
    }
  }

  /// Distinct keys, in no order. Each takes a number of `random` that no other takes.
  func keys(_ count: Int, from random: inout SplitMix64) -> ByteList {
    list(count, from: &random) { index, random in UInt64(16 * index) + random % 8 }
  }

  /// Keys that are none of the first `total` that `keys` makes from the same generator, and that
  /// spread over the same range.
  func absentKeys(
    _ count: Int, besides total: Int, from random: inout SplitMix64
  ) -> ByteList {
    list(count, from: &random) { _, random in
      16 * ((random >> 8) % UInt64(total)) + 8 + random % 8
    }
  }

  private func list(
    _ count: Int, from random: inout SplitMix64, number: (Int, UInt64) -> UInt64
  ) -> ByteList {
    var list = ByteList(length: length, capacity: count)
    for index in 0..<count {
      switch self {
      case .random16: list.append { random.next() }
      case .integer8: list.append { number(index, random.next()) }
      case .string24: list.append(Self.stringPrefix + text(random.next()))
      }
    }
    return list
  }

  /// 13 characters of five bits each.
  private func text(_ word: UInt64) -> [UInt8] {
    let alphabet = Array("0123456789abcdefghijklmnopqrstuv".utf8)
    return stride(from: 60, through: 0, by: -5).map { alphabet[Int(word >> UInt64($0) & 31)] }
  }
}
