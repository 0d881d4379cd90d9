import ArgumentParser

/// In which order keys of 16 bytes come.
enum CommitKeyOrder: String, CaseIterable, ExpressibleByArgument, Codable {
  /// A number that grows, big-endian, and eight random bytes, like a UUID of version 7.
  case ascending
  /// Random bytes, like a UUID of version 4.
  case random

  static let keyLength = 16

  /// Distinct keys in the order in which they come.
  func keys(_ count: Int, after start: Int, from random: inout SplitMix64) -> ByteList {
    var list = ByteList(length: Self.keyLength, capacity: count)
    for index in 0..<count {
      var isFirst = true
      list.append {
        defer { isFirst = false }
        let word = random.next()
        return isFirst && self == .ascending ? UInt64(start + index) : word
      }
    }
    return list
  }
}
