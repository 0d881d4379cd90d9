import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite struct NodeTests {
  @Test func `a node of one key reads back, whatever the key's length`() throws {
    for length in 0...1024 {
      let key = Bytes((0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7) })
      let node = BuiltNode([.init(key: key, value: [1, 2, 3])])
      try node.verify()
      try node.verifyNeighbors()
    }
  }

  @Test func `keys of every length behind prefixes of every kind are found`() throws {
    let prefixes = [0, 1, 7, 8, 9, 15, 16, 63, 500, 1000]
    for prefixLength in prefixes {
      for suffixLength in [0, 1, 2, 6, 7, 8, 9, 10, 15, 16, 17, 24] {
        for count in [1, 2, 3, 7, 40] {
          let keys = Self.keys(
            count, prefix: Bytes(repeating: 0x61, count: prefixLength), suffixLength: suffixLength)
          let node = BuiltNode(keys.map { .init(key: $0, value: [UInt8($0.count & 0xff)]) })
          try node.verify()
          try node.verifyNeighbors()
        }
      }
    }
  }

  @Test func `keys that agree in their head are told apart by what follows`() throws {
    let head = Bytes("12345678".utf8)
    for tail in [0, 1, 2, 9] {
      for before in [[], [Bytes("1".utf8)], [Bytes([0])]] {
        var keys = before + strings(over: [0, 1, 255], upTo: tail > 2 ? 3 : tail).map { head + $0 }
        keys = keys.sorted(by: <) + [Bytes("2".utf8)]
        let node = BuiltNode(keys.map { .init(key: $0, value: []) })
        try node.verify()
        try node.verifyNeighbors()
      }
    }
  }

  @Test func `chains of keys each of which begins the next are told apart`() throws {
    for byte: UInt8 in [0, 1, 255] {
      for lengths in [0..<30, 5..<20, 1015..<1025] {
        let keys = lengths.map { Bytes(repeating: byte, count: $0) }
        let node = BuiltNode(keys.map { .init(key: $0, value: $0.prefix(3) + [9]) })
        try node.verify()
        try node.verifyNeighbors()
      }
    }
  }

  @Test(arguments: [[0], [5], [0, 1], [3, 0, 250, 7], [300, 0], [2_000]])
  func `values of fixed and of varying widths read back`(lengths: [Int]) throws {
    for suffixLength in [3, 8, 12] {
      for count in [1, 2, 9, 20] {
        let keys = Self.keys(count, prefix: [7, 7], suffixLength: suffixLength)
        for varies in [false, true] {
          let entries = keys.enumerated().map { index, key in
            BuiltNode.Entry(
              key: varies && index % 2 == 0 ? key + [1] : key,
              value: Bytes(repeating: UInt8(index), count: lengths[index % lengths.count]))
          }
          try BuiltNode(entries.sorted { $0.key < $1.key }).verify()
        }
      }
    }
  }

  @Test func `each mixture of inline and external values reads back`() throws {
    for count in 1...10 {
      for mask in 0..<(1 << min(count, 6)) {
        let entries = Self.keys(count, prefix: [], suffixLength: 8).enumerated().map { index, key in
          let isExternal = mask & (1 << (index % 6)) != 0
          return BuiltNode.Entry(
            key: key, value: isExternal ? BuiltNode.encodedReference() : [1, 2],
            isExternal: isExternal)
        }
        try BuiltNode(entries).verify()
      }
    }
  }

  @Test func `branches of every width lead to the right child`() throws {
    for count in 1...60 {
      for suffixLength in [1, 3, 8, 11] {
        let keys = Self.keys(count, prefix: Bytes("sep".utf8), suffixLength: suffixLength)
        let entries = keys.enumerated().map { index, key in
          BuiltNode.Entry(key: key, value: BuiltNode.encodedReference(UInt32(index + 1)))
        }
        let node = BuiltNode(entries, isBranch: true)
        try node.verify()
        try node.verifyNeighbors()
      }
    }
  }

  @Test func `random nodes read back`() throws {
    replaying(0..<UInt64(scaled(2_000, debug: 200))) { seed in
      var random = SplitMix64(seed: seed)
      let prefix = Bytes(repeating: 0x50, count: Int.random(in: 0...40, using: &random))
      let longest = Int.random(in: 0...30, using: &random)
      var keys: Set<Bytes> = []
      for _ in 0..<Int.random(in: 1...60, using: &random) {
        let length = Int.random(in: 0...longest, using: &random)
        keys.insert(
          prefix + (0..<length).map { _ in [0, 1, 2, 255].randomElement(using: &random) ?? 0 })
      }
      let width = Int.random(in: 0...20, using: &random)
      let entries = keys.sorted(by: <).map {
        BuiltNode.Entry(
          key: $0, value: Bytes(repeating: 3, count: Int.random(in: 0...width, using: &random)))
      }
      let node = BuiltNode(entries)
      try node.verify()
      try node.verifyNeighbors()
    }
  }

  /// Up to `count` keys in order, with zeros and ones at both ends of their suffixes.
  private static func keys(_ count: Int, prefix: Bytes, suffixLength: Int) -> [Bytes] {
    var keys: Set<Bytes> = []
    for index in 0..<count {
      var suffix = Bytes(repeating: 0, count: suffixLength)
      if suffixLength > 0 { suffix[index % suffixLength] = UInt8(index) }
      if suffixLength > 1 { suffix[suffixLength - 1] = index % 3 == 0 ? 0 : UInt8(255 - index) }
      keys.insert(prefix + suffix)
    }
    return keys.sorted(by: <)
  }
}
