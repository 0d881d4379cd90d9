import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Trees that follow one another, to be merged into one.
private struct TreeSequence {
  /// Entries of one schema version, one after the other.
  struct Piece {
    let version: UInt32
    let count: Int
  }

  private(set) var world = TreeWorld(on: InMemoryFileSystem(), sizes: tinyNodes)
  private var roots: [FollowingTree] = []
  private var count = 0

  static func key(_ number: Int) -> Bytes { [UInt8(number >> 8), UInt8(number & 0xff)] }

  /// - Parameter trees: The pieces of each, which has one at least.
  init(_ trees: [[Piece]]) throws {
    let appender = PageAppender(
      to: world.medium, of: TreeWorld.identity, from: world.nextSegment, output: .buffered)
    for pieces in trees { try append(pieces, to: appender) }
    try world.publish(nil, from: appender)
  }

  private mutating func append(_ pieces: [Piece], to appender: PageAppender) throws {
    let separator = roots.isEmpty ? [] : Self.key(count)
    var (operations, model) = ([ListInput.Operation](), world.model)
    for piece in pieces {
      for number in count..<count + piece.count {
        let operation = ListInput.Operation(
          key: Self.key(number), value: [1, 2, 3], version: piece.version)
        operations.append(operation)
        model[operation.key] = operation.value
      }
      count += piece.count
    }
    world.setModel(model)
    let root = try TreeMerge.run(
      ListInput(operations), into: nil, of: nil, sizes: world.sizes, appendingTo: appender)
    roots.append(FollowingTree(root: try #require(root), separator: separator))
  }

  /// Merges `changes` into all trees as one, and checks that.
  ///
  /// - Parameter isBased: Whether the first tree is the base of the merge; all follow an empty one otherwise.
  mutating func merge(_ changes: [Bytes: Bytes?], version: UInt32, isBased: Bool) throws {
    let appender = PageAppender(
      to: world.medium, of: TreeWorld.identity, from: world.nextSegment, output: .buffered)
    let root = try TreeMerge.run(
      ListInput(changes, version: version), into: isBased ? roots.first?.root : nil,
      of: world.file?.pages, sizes: world.sizes,
      followedBy: Array(roots.dropFirst(isBased ? 1 : 0)), appendingTo: appender)
    try world.publish(root, from: appender)
    var model = world.model
    for (key, value) in changes { model[key] = value }
    world.setModel(model)
    try world.verify(every: 9)
  }
}

@Suite("A merge of trees that follow one another")
struct FollowingTreeTests {
  /// A leaf has one entry, and is the last of its tree or the first.
  @Test(arguments: [[1, 2, 2], [1, 2, 2, 1], [2, 1, 1, 2], [2, 2, 1]] as [[UInt32]])
  func `joins a leaf with little in it to the next of its version`(versions: [UInt32]) throws {
    for small in versions.indices where small == 1 || small == 2 {
      for isBased in [true, false] {
        var pieces = versions.map { TreeSequence.Piece(version: $0, count: 60) }
        pieces[small] = TreeSequence.Piece(version: versions[small], count: 1)
        var trees = try TreeSequence([Array(pieces[..<2]), Array(pieces[2...])])
        try trees.merge([:], version: 1, isBased: isBased)
      }
    }
  }

  @Test func `makes one of trees of every size and version, with any changes`() {
    replaying(0..<UInt64(scaled(600, debug: 60))) { seed in
      var random = SplitMix64(seed: seed)
      func below(_ bound: UInt64) -> Int { Int(random.next() % bound) }
      let trees = (0..<1 + below(4)).map { _ in
        (0..<1 + below(4)).map { _ in
          TreeSequence.Piece(
            version: 1 + UInt32(below(2)), count: 1 + (below(2) == 0 ? below(4) : below(200)))
        }
      }
      var sequence = try TreeSequence(trees)
      var changes: [Bytes: Bytes?] = [:]
      let count = sequence.world.model.count
      let start = below(UInt64(count))
      let width = below(3) == 0 ? count : 20
      for _ in 0..<(below(2) == 0 ? 0 : below(60)) {
        let value: Bytes? = below(3) > 0 ? nil : Bytes(repeating: 7, count: below(20))
        changes[TreeSequence.key((start + below(UInt64(width))) % (count + 2))] = .some(value)
      }
      try sequence.merge(changes, version: 1 + UInt32(below(2)), isBased: below(2) == 0)
    }
  }
}
