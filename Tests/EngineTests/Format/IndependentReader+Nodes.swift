// As the other part: from FORMAT.md alone.

// MARK: Nodes

extension IndependentReader {
  struct Node {
    var prefix: [UInt8] = []
    var heads: [UInt64] = []
    var headLengths: [Int] = []
    var tails: [[UInt8]] = []
    var values: [[UInt8]] = []
    var externals: [Bool] = []
    var children: [PageReference] = []
    var version = 0
  }

  private func node(_ reference: PageReference, level: Int) throws -> Node {
    let page = try page(reference, kind: level > 0 ? 2 : 1, level: level)
    let count = page.u16(24)
    let (prefixLength, tailWidth, valueWidth) = (page.u16(26), page.u16(28), page.u16(30))
    let (tailVaries, valueVaries) = (tailWidth == 65535, valueWidth == 65535)
    var node = Node()
    node.version = page.u32(36)
    node.prefix = Array(page[48..<48 + prefixLength])
    var offset = 48 + (prefixLength + 7) / 8 * 8
    node.heads = (0..<count).map { UInt64(page.u64(bits: offset + 8 * $0)) }
    offset += 8 * count
    if level > 0 {
      node.children = (0...count).map { self.reference(page, offset + 32 * $0) }
      offset += 32 * (count + 1)
    }
    var ends = (0..<count).map { ($0 + 1) * (tailWidth + valueWidth) }
    if tailVaries || valueVaries {
      ends = (0..<count).map { page.u16(offset + 2 * $0) }
      offset += 2 * count
    }
    var tailLengths = (0..<count).map { slot in
      tailVaries ? ends[slot] - (slot == 0 ? 0 : ends[slot - 1]) - valueWidth : tailWidth
    }
    if tailVaries, valueVaries {
      tailLengths = (0..<count).map { page.u16(offset + 2 * $0) }
      offset += 2 * count
    }
    node.headLengths = Array(repeating: Int(page[32]), count: count)
    if page[32] == 255 {
      node.headLengths = (0..<count).map { Int(page[offset + $0]) }
      offset += count
    }
    node.externals = Array(repeating: false, count: count)
    if page[11] & 1 == 1 {
      node.externals = (0..<count).map { page[offset + $0 / 8] >> UInt8($0 % 8) & 1 == 1 }
      offset += (count + 7) / 8
    }
    try refuse(page.u16(34) != offset, "the cells begin elsewhere")
    for slot in 0..<count {
      let start = offset + (slot == 0 ? 0 : ends[slot - 1])
      let middle = start + tailLengths[slot]
      node.tails.append(Array(page[start..<middle]))
      node.values.append(Array(page[middle..<offset + ends[slot]]))
    }
    try refuse(page.u32(40) != offset + (ends.last ?? 0), "the cells end elsewhere")
    return node
  }

  /// The place of a key, and whether it is there.
  private func place(of key: [UInt8], in node: Node) -> (slot: Int, isFound: Bool) {
    let prefix = node.prefix
    guard key.starts(with: prefix) else {
      return (key.lexicographicallyPrecedes(prefix) ? 0 : node.heads.count, false)
    }
    let rest = key.dropFirst(prefix.count)
    let head = (0..<8).reduce(UInt64(0)) { head, index in
      head << 8 | UInt64(index < rest.count ? rest[rest.startIndex + index] : 0)
    }
    let (length, tail) = (min(8, rest.count), Array(rest.dropFirst(8)))
    for slot in node.heads.indices {
      if node.heads[slot] != head {
        if node.heads[slot] > head { return (slot, false) }
      } else if node.headLengths[slot] != length {
        if node.headLengths[slot] > length { return (slot, false) }
      } else if node.tails[slot] == tail {
        return (slot, true)
      } else if tail.lexicographicallyPrecedes(node.tails[slot]) {
        return (slot, false)
      }
    }
    return (node.heads.count, false)
  }
}

// MARK: Trees

extension IndependentReader {
  /// The value of a key; nil if the tree does not have it.
  func value(of key: [UInt8], in tree: String) throws -> [UInt8]? {
    var isInParts = true
    for (part, root) in layers[tree] ?? [] {
      if part == 4 {
        isInParts = try value(of: [], below: root).map { Self.knows(key, $0) } ?? true
        continue
      }
      if part > 0 && !isInParts { continue }
      // The third part has what was removed.
      if let value = try value(of: key, below: root) { return part == 3 ? nil : value }
    }
    return nil
  }

  private func value(of key: [UInt8], below root: Root) throws -> [UInt8]? {
    var (reference, level) = (root.reference, root.level)
    while level > 0 {
      let node = try node(reference, level: level)
      let place = place(of: key, in: node)
      let child = node.children[place.isFound ? place.slot + 1 : place.slot]
      try refuse(!isBefore(child, reference), "a child behind its parent")
      reference = child
      level -= 1
    }
    let leaf = try node(reference, level: 0)
    let place = place(of: key, in: leaf)
    return place.isFound ? try value(place.slot, of: leaf) : nil
  }

  /// All entries of a tree in its order, each with its schema version.
  func entries(of tree: String) throws -> [(key: [UInt8], value: [UInt8], version: Int)] {
    var found: [[UInt8]: (key: [UInt8], value: [UInt8], version: Int)?] = [:]
    for (part, root) in layers[tree] ?? [] where part != 4 {
      for entry in try entries(below: root.reference, root.level) where found[entry.key] == nil {
        found[entry.key] = part == 3 ? .some(nil) : entry
      }
    }
    return found.values.compactMap(\.self).sorted { $0.key.lexicographicallyPrecedes($1.key) }
  }

  /// Whether a filter, of which these are the words, knows a key.
  static func knows(_ key: [UInt8], _ words: [UInt8]) -> Bool {
    func word(_ bytes: some Collection<UInt8>) -> UInt64 {
      bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
    func mix(_ one: UInt64, _ other: UInt64) -> UInt64 {
      let product = one.multipliedFullWidth(by: other)
      return product.high ^ product.low
    }
    var hash = mix(0x9e37_79b9_7f4a_7c15, UInt64(key.count) ^ 0xa076_1d64_78bd_642f)
    if key.count < 8 {
      let padded = key + [UInt8](repeating: 0, count: 8 - key.count)
      hash = mix(hash ^ word(padded.reversed()), 0xe703_7ed1_a0b4_28db)
    } else {
      for start in stride(from: 0, to: key.count - 8, by: 8) {
        hash = mix(hash ^ word(key[start..<start + 8]), 0xe703_7ed1_a0b4_28db)
      }
      hash = mix(hash ^ word(key.suffix(8)), 0x8ebc_6af0_9c88_c6e3)
    }
    let start = 8 * Int(hash % UInt64(words.count / 8))
    let bits = word(words[start..<start + 8])
    return [58, 52, 46, 40].allSatisfy { bits >> (hash >> $0 & 63) & 1 == 1 }
  }

  private func entries(
    below reference: PageReference, _ level: Int
  ) throws -> [(key: [UInt8], value: [UInt8], version: Int)] {
    let node = try node(reference, level: level)
    if level > 0 { return try node.children.flatMap { try entries(below: $0, level - 1) } }
    return try node.heads.indices.map { slot in
      let head = (0..<8).map {
        UInt8(truncatingIfNeeded: node.heads[slot] >> (56 - 8 * UInt64($0)))
      }
      let key = node.prefix + head.prefix(node.headLengths[slot]) + node.tails[slot]
      return (key, try value(slot, of: node), node.version)
    }
  }

  private func value(_ slot: Int, of leaf: Node) throws -> [UInt8] {
    guard leaf.externals[slot] else { return leaf.values[slot] }
    let first = reference(leaf.values[slot], 0)
    if first.liveBlocks == first.blocks { return try valuePart(first) }
    let list = try page(first, kind: 4, level: 0)
    let value = try (0..<list.u32(32)).flatMap { try valuePart(reference(list, 40 + 32 * $0)) }
    try refuse(value.count != list.u64(24), "the value has another length")
    return value
  }

  private func valuePart(_ reference: PageReference) throws -> [UInt8] {
    let page = try page(reference, kind: 3, level: 0)
    return Array(page[32..<32 + page.u32(24)])
  }

  private func isBefore(_ one: PageReference, _ other: PageReference) -> Bool {
    (one.segment, one.block) < (other.segment, other.block)
  }
}
