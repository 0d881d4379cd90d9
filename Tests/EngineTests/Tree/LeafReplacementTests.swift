import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Leaves that get nothing but other values of the old lengths, which are copied whole.
@Suite struct LeafReplacementTests {
  private typealias World = TreeWorld

  /// What the entries of a tree look like.
  enum Shape: CaseIterable {
    case fixed, varyingValues, varyingKeys, everythingVaries, shortKeys, longPrefix, noValues

    func key(_ number: Int) -> Bytes {
      let digits = Bytes(String(1_000 + number).utf8)
      switch self {
      case .fixed, .varyingValues, .noValues: return digits
      case .varyingKeys, .everythingVaries: return digits + Bytes(repeating: 7, count: number % 13)
      case .shortKeys: return number % 2 == 0 ? digits : digits + [1]
      case .longPrefix: return Bytes(repeating: 0x70, count: 30) + digits
      }
    }

    func value(_ number: Int, _ byte: UInt8 = 1) -> Bytes {
      switch self {
      case .fixed, .varyingKeys, .longPrefix: Bytes(repeating: byte, count: 11)
      case .varyingValues, .everythingVaries, .shortKeys:
        Bytes(repeating: byte, count: number * 5 % 17)
      case .noValues: []
      }
    }
  }

  private static func world(
    _ shape: Shape, _ count: Int, sizes: NodeSizes = tinyNodes
  ) throws -> World {
    var world = World(on: InMemoryFileSystem(), sizes: sizes)
    var changes: [Bytes: Bytes?] = [:]
    for number in 0..<count { changes[shape.key(number)] = shape.value(number) }
    try world.merge(changes)
    return world
  }

  private static func changes(_ shape: Shape, _ numbers: some Sequence<Int>) -> [Bytes: Bytes?] {
    var changes: [Bytes: Bytes?] = [:]
    for number in numbers { changes[shape.key(number)] = shape.value(number, 2) }
    return changes
  }

  @Test(arguments: Shape.allCases)
  func `values on any slots are replaced and the layout stays`(shape: Shape) throws {
    for count in [1, 2, 9, 70] {
      for step in [1, 2, 3, 7, 70] {
        for start in Set([0, 1, count / 2, count - 1]) where start < count {
          var world = try Self.world(shape, count)
          let before = TreeCheck.run(try world.tree(), sizes: tinyNodes)
          try world.merge(Self.changes(shape, stride(from: start, to: count, by: step)))
          let after = TreeCheck.run(try world.tree(), sizes: tinyNodes)
          #expect(after.leafCount == before.leafCount)
          #expect(after.leafBytesUsed == before.leafBytesUsed)
          try world.verify(every: 5)
        }
      }
    }
  }

  @Test(arguments: Shape.allCases)
  func `leaves of the standard size are replaced as they are`(shape: Shape) throws {
    let count = 1_500
    var world = try Self.world(shape, count, sizes: .standard)
    for round in 0..<6 {
      let before = TreeCheck.run(try world.tree())
      try world.merge(Self.changes(shape, stride(from: round, to: count, by: 1 << (2 * round))))
      #expect(TreeCheck.run(try world.tree()).leafBytesUsed == before.leafBytesUsed)
      try world.verify(every: 50)
    }
  }

  @Test(arguments: Shape.allCases)
  func `another operation among replacements is carried out`(shape: Shape) throws {
    let count = 40
    for number in stride(from: 0, to: count, by: scaled(1, debug: 7)) {
      let others: [(Bytes, Bytes?)] = [
        (shape.key(number), nil), (shape.key(number), Bytes(repeating: 9, count: 60)),
        (shape.key(number) + [0], [5]), (shape.key(number) + [0], nil), ([0], [6]), ([255], [7]),
        (shape.key(number), Bytes(repeating: 8, count: 9_000)),
      ]
      for other in others {
        var world = try Self.world(shape, count)
        var changes = Self.changes(shape, max(0, number - 4)..<min(count, number + 4))
        changes[other.0] = .some(other.1)
        try world.merge(changes)
        try world.verify(every: 11)
      }
    }
  }

  @Test func `a replaced leaf is divided anew with thin neighbours`() throws {
    let count = 45
    for start in stride(from: 0, to: count, by: scaled(1, debug: 5)) {
      for end in stride(from: start + 1, through: count, by: scaled(1, debug: 4)) {
        var world = try Self.world(.fixed, count)
        // What is around the removed entries gets other values.
        var changes = Self.changes(.fixed, 0..<count)
        for number in start..<end { changes[Shape.fixed.key(number)] = .some(nil) }
        try world.merge(changes)
        try world.verifyPages(of: world.tree(), SortedModel(world.model))
        changes = Self.changes(.fixed, 0..<start)
        for number in end..<count where number % 9 != 0 {
          changes[Shape.fixed.key(number)] = .some(nil)
        }
        try world.merge(changes)
        try world.verify(every: 13)
      }
    }
  }

  @Test func `thin leaves of a version are joined when those between them are gone`() throws {
    for removed in 1...3 {
      for replaced in 0..<16 {
        var world = World(on: InMemoryFileSystem(), sizes: tinyNodes)
        for group in 0..<5 {
          let numbers = group * 10..<group * 10 + 2
          var changes: [Bytes: Bytes?] = [:]
          for number in numbers { changes[Shape.fixed.key(number)] = Shape.fixed.value(number) }
          try world.merge(changes, version: UInt32(1 + group % 2))
        }
        var operations: [ListInput.Operation] = []
        for group in 0..<5 {
          let isRemoved = group == 1 && removed & 1 != 0 || group == 3 && removed & 2 != 0
          guard isRemoved || replaced >> group & 1 != 0 else { continue }
          for number in group * 10..<group * 10 + 2 {
            operations.append(
              .init(
                key: Shape.fixed.key(number),
                value: isRemoved ? nil : Shape.fixed.value(number, 3),
                version: UInt32(1 + group % 2)))
          }
        }
        try world.merge(ListInput(operations))
        var model = world.model
        for operation in operations { model[operation.key] = operation.value }
        world.setModel(model)
        try world.verify()
      }
    }
  }

  @Test func `values too heavy for a leaf of today are moved to pages of their own`() throws {
    let heavy = Bytes(repeating: 1, count: 900)
    var world = World(on: InMemoryFileSystem(), sizes: .standard)
    try world.merge([[1]: heavy, [2]: [1]])
    let appender = PageAppender(
      to: world.medium, of: World.identity, from: world.nextSegment, output: .buffered)
    let root = try TreeMerge.run(
      ListInput([[1]: .some(Bytes(repeating: 2, count: 900))]), into: world.root,
      of: world.file?.pages, sizes: tinyNodes, appendingTo: appender)
    try world.publish(root, from: appender)
    world.setModel([[1]: Bytes(repeating: 2, count: 900), [2]: [1]])
    try world.verifyPages(of: world.tree(), SortedModel(world.model))
    #expect(try world.tree().liveBytes == 2 * Layout.blockSize)
  }

  @Test(arguments: TreeHistory.Keys.allCases)
  func `random lives with many replacements stay right and full`(keys: TreeHistory.Keys) {
    replaying(0..<UInt64(scaled(150, debug: 12))) { seed in
      var history = TreeHistory(keys: keys, keySpace: 300, mergeCount: 14, operationsMax: 80)
      history.valueLengthMin = history.valueLengthMax
      history.removals = [2, 20, 40][Int(seed % 3)]
      if seed % 4 == 0 { history.versions = 1...2 }
      if seed % 5 == 0 { history.adoptsAll = false }
      if seed % 2 == 0 { history.goesOn = true }
      try history.run(seed: seed)
    }
  }
}
