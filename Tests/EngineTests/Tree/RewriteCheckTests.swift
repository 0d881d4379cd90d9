import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// What moves entries to other pages is looked at by somebody who does not know how it went.
@Suite struct RewriteCheckTests {
  private typealias World = TreeWorld

  /// A tree with values of all kinds, in one segment.
  private static func world(_ sizes: NodeSizes) throws -> World {
    var world = TreeWorld(on: InMemoryFileSystem(), sizes: sizes)
    var changes: [Bytes: Bytes?] = [:]
    for number in 0..<300 as Range<UInt64> {
      let length = [0, 5, 40, 5_000][Int(number % 4)]
      changes[key(number, length: 6)] = Bytes(repeating: UInt8(number % 251), count: length)
    }
    try world.merge(changes)
    return world
  }

  /// Moves all out of the first segment, with `changes` on the way, and compares.
  private static func move(
    _ world: inout World, _ changes: [Bytes: Bytes?] = [:], version: UInt32 = 1,
    within range: MergeRange? = nil
  ) throws {
    let old = try world.tree()
    let segment = world.nextSegment
    try world.merge(changes, version: version, adoption: .outside(segment: 1), within: range)
    let end = world.file?.footer.segments.first { $0.number == segment }?.end ?? 1
    let appended = AppendedBlocks(number: segment, blocks: 1..<UInt32(end))
    try RewriteCheck(from: old, to: world.tree(), by: [appended]).run(of: "t")
  }

  private static func isCaught(_ body: () throws -> Void) -> Bool { keyCaught(body) != nil }

  /// The key of the entry that is said not to be the same; nil if none is.
  private static func keyCaught(_ body: () throws -> Void) -> Bytes? {
    do {
      try body()
      return nil
    } catch {
      guard let error = error as? StoreError, case .corrupt(let place, let invariant, _) = error,
        invariant == .compactedEntries, case .entry(let tree, let key) = place, tree == "t"
      else { return nil }
      return key
    }
  }

  @Test(arguments: [tinyNodes, .standard])
  func `entries that were moved are found the same`(sizes: NodeSizes) throws {
    var world = try Self.world(sizes)
    try Self.move(&world)
    try world.verify(every: 7)
  }

  @Test(arguments: [tinyNodes, .standard])
  func `an entry that was lost, added, or changed is missed`(sizes: NodeSizes) throws {
    for number in [0, 1, 2, 3, 150, 299] as [UInt64] {
      let changed = key(number, length: 6)
      var changes: [Bytes?] = [nil, [77]]
      if let value = try Self.world(sizes).model[changed], !value.isEmpty {
        changes.append(value.dropLast() + [value[value.count - 1] ^ 1])
        changes.append(value + [0])
      }
      for change in changes {
        var world = try Self.world(sizes)
        #expect(Self.isCaught { try Self.move(&world, [changed: change]) }, "\(number)")
      }
      var world = try Self.world(sizes)
      #expect(Self.isCaught { try Self.move(&world, [changed + [0]: [1]]) })
    }
  }

  @Test func `an entry under another schema version is missed`() throws {
    var world = try Self.world(.standard)
    let first = key(1, length: 6)
    let same = try #require(world.model[first])
    #expect(Self.isCaught { try Self.move(&world, [first: same], version: 2) })
  }

  @Test func `two entries that exchanged their values are missed`() throws {
    var world = try Self.world(.standard)
    let keys = [key(2, length: 6), key(6, length: 6)]
    let values = try keys.map { try #require(world.model[$0]) }
    #expect(Self.isCaught { try Self.move(&world, [keys[0]: values[1], keys[1]: values[0]]) })
  }

  @Test(arguments: [tinyNodes, .standard])
  func `the first entry that is not the same is named`(sizes: NodeSizes) throws {
    let removed: [(removed: [UInt64], named: UInt64)] = [
      ([0], 0), ([1], 1), ([150], 150), ([299], 299), ([7, 8, 9], 7), ([298, 299], 298),
    ]
    for line in removed {
      var world = try Self.world(sizes)
      var changes: [Bytes: Bytes?] = [:]
      for number in line.removed { changes[key(number, length: 6)] = .some(nil) }
      let named = key(line.named, length: 6)
      let found = Self.keyCaught { try Self.move(&world, changes) }
      #expect(found == named, "\(line)")
    }
  }

  @Test func `entries are the same whichever leaves they are in`() throws {
    // Leaves of other sizes begin with other prefixes, and keep other values in pages of their own.
    for (before, after) in [(tinyNodes, NodeSizes.standard), (.standard, tinyNodes)] {
      var world = try Self.world(before)
      world.sizes = after
      try Self.move(&world)
      world = try Self.world(before)
      world.sizes = after
      #expect(Self.isCaught { try Self.move(&world, [key(150, length: 6): [1]]) })
    }
  }

  // MARK: Ranges

  @Test(arguments: [tinyNodes, .standard])
  func `ranges one behind the other empty a segment, each within its budget`(
    sizes: NodeSizes
  ) throws {
    for budget in [1, 3, 20] {
      var world = try Self.world(sizes)
      var start: Bytes? = []
      var rounds = 0
      while let from = start {
        let range = MergeRange(from: from, bytes: budget * Layout.blockSize)
        try Self.move(&world, within: range)
        #expect(range.end.map { from.lexicographicallyPrecedes($0) } ?? true, "it goes on")
        start = range.end
        rounds += 1
      }
      #expect(rounds > 1)
      var live = LivePages()
      try world.tree().addPages(to: &live)
      #expect(live.bytes[1] == nil, "\(rounds) rounds of \(budget)")
      try world.verify(every: 11)
    }
  }

  @Test func `what lies before a range stays where it is`() throws {
    var world = try Self.world(.standard)
    let start = key(150, length: 6)
    try Self.move(&world, within: MergeRange(from: start, bytes: .max))
    var live = LivePages()
    try world.tree().addPages(to: &live)
    #expect((live.bytes[1] ?? 0) > 0)
    try world.verify(every: 11)
  }

  @Test func `a large value stays where it is when only its leaf is moved`() throws {
    var world = TreeWorld(on: InMemoryFileSystem())
    let large = key(5, length: 6)
    try world.merge([large: Bytes(repeating: 3, count: 300_000)])
    try world.merge([key(1, length: 6): [1]])
    let before = try world.tree().liveBytes
    // The value lies in segment 1, its leaf in segment 2.
    try world.merge([:], adoption: .outside(segment: 2))
    var live = LivePages()
    try world.tree().addPages(to: &live)
    #expect(live.bytes[2] == nil && (live.bytes[1] ?? 0) > 300_000)
    #expect(try world.tree().liveBytes == before)
  }
}
