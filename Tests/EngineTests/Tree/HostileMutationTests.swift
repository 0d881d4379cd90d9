import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Pages of good trees, changed at random and sealed again: whatever they say then, reading and
/// merging them ends, with a `StoreError` if at all.
@Suite struct HostileMutationTests {
  @Test(arguments: TreeReadingTests.modes)
  func `a changed leaf neither traps nor hangs`(mode: ReadMode) {
    replaying(0..<UInt64(scaled(1_500, debug: 150))) { seed in
      var random = SplitMix64(seed: seed)
      let pages = CraftedPages()
      let entries = Self.entries(using: &random)
      var leaf = try pages.append(entries) { Self.damage(&$0, using: &random) }
      if random.next() % 2 == 0 { leaf.count = UInt64.random(in: 0...200, using: &random) }
      try exercise(try pages.tree(leaf, level: 0, reading: mode), entries)
    }
  }

  @Test(arguments: TreeReadingTests.modes)
  func `a changed branch neither traps nor hangs`(mode: ReadMode) {
    replaying(0..<UInt64(scaled(1_500, debug: 150))) { seed in
      var random = SplitMix64(seed: seed)
      let pages = CraftedPages()
      let entries = Self.entries(using: &random)
      var children: [(separator: Bytes, reference: PageReference)] = []
      let size = Int.random(in: 1...10, using: &random)
      for start in stride(from: 0, to: entries.count, by: size) {
        let part = Array(entries[start..<min(start + size, entries.count)])
        children.append((part[0].key, try pages.append(part)))
      }
      var branch = try pages.append(branch: children) { Self.damage(&$0, using: &random) }
      if random.next() % 2 == 0 {
        branch.count = UInt64(1) << UInt64.random(in: 0...63, using: &random)
        branch.liveBytes = random.next() >> UInt64.random(in: 0...63, using: &random)
      }
      try exercise(try pages.tree(branch, level: 1, reading: mode), entries)
    }
  }

  private func exercise(
    _ tree: Tree, _ entries: [BuiltNode.Entry]
  ) throws {
    let keys = [[], [255]] + entries.prefix(4).map(\.key) + entries.suffix(2).map { $0.key + [0] }
    _ = tree.exercise(keys, limit: 300)
    _ = tree.exerciseMerge(keys)
    _ = tree.exerciseMerge(keys, adoption: .nothing)
    // What a good leaf would get without being divided anew.
    var values: [Bytes: Bytes?] = [:]
    for entry in entries { values[entry.key] = entry.value }
    _ = tree.exerciseMerge(values)
    _ = tree.exerciseMerge(values.filter { $0.key.last != 1 })
  }

  /// Changes one to four bytes or fields, most of them where the layout is said.
  private static func damage(_ page: inout Bytes, using random: inout SplitMix64) {
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      let end = [48, 200, page.count].randomElement(using: &random) ?? page.count
      let offset = Int.random(in: 8..<end, using: &random)
      let extreme: UInt8 = [0, 1, 0x7f, 0x80, 0xfe, 0xff].randomElement(using: &random) ?? 0
      switch Int.random(in: 0..<3, using: &random) {
      case 0: page[offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      case 1: page[offset] = extreme
      default:
        for index in offset..<min(offset + 8, page.count) { page[index] = extreme }
      }
    }
  }

  private static func entries(using random: inout SplitMix64) -> [BuiltNode.Entry] {
    let prefix = Bytes(repeating: 7, count: Int.random(in: 0...12, using: &random))
    let longest = Int.random(in: 2...20, using: &random)
    var keys: Set<Bytes> = []
    for _ in 0..<Int.random(in: 1...60, using: &random) {
      let length = Int.random(in: 1...longest, using: &random)
      keys.insert(prefix + (0..<length).map { _ in UInt8.random(in: 0...3, using: &random) })
    }
    let width = Int.random(in: 0...30, using: &random)
    return keys.sorted(by: <).map {
      .init(key: $0, value: Bytes(repeating: 1, count: Int.random(in: 0...width, using: &random)))
    }
  }
}
