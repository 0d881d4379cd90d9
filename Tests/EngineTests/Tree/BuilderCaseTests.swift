import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// The cases that a merge tells apart, one by one.
@Suite struct BuilderCaseTests {
  private typealias World = TreeWorld

  private static func world(
    _ count: Int, sizes: NodeSizes = tinyNodes, valueLength: Int = 5
  ) throws -> World {
    var world = World(on: InMemoryFileSystem(), sizes: sizes)
    var changes: [Bytes: Bytes?] = [:]
    for number in 0..<count { changes[Self.key(number)] = Bytes(repeating: 1, count: valueLength) }
    try world.merge(changes)
    return world
  }

  private static func key(_ number: Int) -> Bytes {
    [UInt8(number >> 16 & 0xff), UInt8(number >> 8 & 0xff), UInt8(number & 0xff)]
  }

  @Test(arguments: [0, 1, 2, 10, 30, 300])
  func `one operation on any place of a tree is carried out`(count: Int) throws {
    let places = Set([0, 1, count / 2, count - 1, count, count + 7].filter { $0 >= 0 })
    for place in places {
      for value in [nil, [], [2, 2, 2], Bytes(repeating: 3, count: 400)] as [Bytes?] {
        var world = try Self.world(count)
        try world.merge([Self.key(place): value])
        try world.verify(every: 5)
      }
    }
  }

  @Test(arguments: [1, 2, 10, 30, 300])
  func `removing any run of entries leaves the rest`(count: Int) throws {
    for start in stride(from: 0, to: count, by: max(1, count / 6)) {
      for length in [1, 2, 9, count / 2, count - start] where start + length <= count {
        var world = try Self.world(count)
        var changes: [Bytes: Bytes?] = [:]
        for number in start..<(start + length) { changes[Self.key(number)] = .some(nil) }
        try world.merge(changes)
        try world.verify(every: 9)
        #expect((world.root == nil) == (length == count))
      }
    }
  }

  @Test func `a tree emptied entry by entry from either end or the middle stays right`() throws {
    let count = scaled(90, debug: 40)
    for order in 0..<3 {
      var world = try Self.world(count)
      var numbers = Array(0..<count)
      if order == 1 { numbers.reverse() }
      if order == 2 { numbers.sort { abs($0 - count / 2) < abs($1 - count / 2) } }
      for number in numbers {
        try world.merge([Self.key(number): nil])
        try world.verify(every: 30)
      }
      #expect(world.root == nil)
      try world.merge([Self.key(1): [1]])
      try world.verify()
    }
  }

  @Test func `a tree grows entry by entry from either end or the middle`() throws {
    let count = scaled(90, debug: 40)
    for order in 0..<3 {
      var world = World(on: InMemoryFileSystem(), sizes: tinyNodes)
      for number in 0..<count {
        let key = order == 0 ? number : order == 1 ? count - number : (number * 37) % count
        try world.merge([Self.key(key): [1, 2, 3, 4]])
        try world.verify(every: 30)
      }
    }
  }

  @Test func `removing what is not there changes no entry`() throws {
    var world = try Self.world(200)
    let root = try #require(world.root)
    try world.merge([Self.key(1_000): nil, [5]: nil, []: nil])
    try world.verify(every: 5)
    #expect(world.root?.reference.count == root.reference.count)
    var empty = World(on: InMemoryFileSystem(), sizes: tinyNodes)
    try empty.merge([[1]: nil])
    #expect(empty.root == nil)
  }

  @Test(arguments: [0, 1, 20, 300])
  func `a merge of nothing adopts the root itself`(count: Int) throws {
    var world = try Self.world(count)
    let root = world.root
    try world.merge([:])
    #expect(world.root == root)
    let root2 = world.root
    try world.merge([:], adoption: .outside(segment: 99))
    #expect(world.root == root2)
  }

  @Test func `one entry into many writes a handful of pages`() throws {
    let count = scaled(1_000_000, debug: 15_000)
    let world = try Self.world(count, sizes: .standard)
    for (index, place) in [0, count / 3, count / 2 + 1, count - 1, count + 5].enumerated() {
      let appender = PageAppender(
        to: world.medium, of: World.identity, from: 900 + UInt32(index), output: .buffered)
      let input = ListInput([Self.key(place): [7, 7]])
      let root = try TreeMerge.run(
        input, into: world.root, of: try world.tree().pages,
        appendingTo: appender)
      let blocks = try #require(appender.extents.first).endBlock - 1
      // A leaf or two of two blocks, and a branch of up to four on each of at most two levels.
      #expect(blocks <= 16)
      #expect(root?.reference.count == UInt64(place < count ? count : count + 1))
    }
  }

  @Test func `a key of 1024 bytes is taken and one of 1025 refused`() throws {
    for sizes in [tinyNodes, .standard] {
      var world = World(on: InMemoryFileSystem(), sizes: sizes)
      var changes: [Bytes: Bytes?] = [:]
      for number in 0..<20 as Range<UInt8> {
        changes[Bytes(repeating: number, count: 1024)] = [number]
        changes[Bytes(repeating: 7, count: 1023) + [number]] = [number]
      }
      try world.merge(changes)
      let model = SortedModel(world.model)
      for key in model.keys { try world.verifyPlace(of: key, in: world.tree(), model) }
      #expect(throws: StoreError.limitExceeded(.keyLength, found: 1025)) {
        try world.merge([Bytes(repeating: 1, count: 1025): [1]])
      }
    }
  }
}
