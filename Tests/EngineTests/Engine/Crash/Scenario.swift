import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// What a test does with a store, as a value: run twice it makes the same calls, so it can be run up to one.
struct Scenario: Sendable {
  let name: String
  let seed: UInt64
  /// What its changes are changes of.
  var kind = Content.Kind.entries
  var options = EngineOptions.small()
  var steps: [Step] = []
  /// What the values of its commits have in them, so that those of two lives differ.
  var stamp = 0
  /// Whether its crashes begin with the store's creation, or when there is one.
  var isOfCreation = false
}

extension Scenario {
  init(name: String, seed: UInt64, kind: Content.Kind) {
    self.name = name
    self.seed = seed
    self.kind = kind
    if kind == .records { options.nodeSizes = .forLongKeys }
  }

  /// A thing done with an engine.
  enum Step: Hashable, Sendable {
    /// Opens the store, or makes it.
    case open
    case commit([Change], Durability)
    /// The changes `undone` are made between the others, and taken back to a savepoint.
    case savepoint([Change], undone: [Change], then: [Change], Durability)
    /// Changes, and then what is done with whole trees; `keeping` the state before, or dropping what is kept.
    case trees([Change], [TreeChange], keeping: Bool, Durability)
    /// A transaction that throws.
    case abort([Change], Durability)
    case flush
    case seal
    /// So many parts of the work in the background.
    case step(Int)
    /// All of the work in the background.
    case settle
    /// Freezes the fresh overlay, if none is frozen.
    case freeze
    /// So many slices of a compaction, each of a few pages.
    case compact(CompactionScope, slices: Int)
    /// The next write of pages fails: what is being folded goes to a segment of its own.
    case failPages
    case close
    /// The process ends; what it wrote is still in the page cache.
    case kill
  }
}

/// A change within a transaction. Trees and keys go by number.
enum Change: Hashable, Sendable {
  case put(tree: Int, key: Int, length: Int)
  case remove(tree: Int, key: Int)
  case clear(tree: Int)
}

/// A change of whole trees.
enum TreeChange: Hashable, Sendable {
  case copy(tree: Int, to: Int)
  case move(tree: Int, to: Int)
}

/// All that a store holds after some commit.
struct Content: Equatable, Sendable {
  enum Kind: String, Sendable {
    /// Of trees, under keys of the test's own.
    case entries
    /// Records, each tree those of one type, with indexes and constraints.
    case records
  }

  static let treeNames = ["a", "tree", "z"]

  var kind = Kind.entries
  var trees: [[Int: Bytes]] = Array(repeating: [:], count: treeNames.count)

  /// - Returns: whether the change is one: taking out what is not there is none.
  mutating func apply(_ change: Change, stamp: Int) -> Bool {
    switch kind {
    case .entries: applyToEntries(change, stamp: stamp)
    case .records: applyToRecords(change, stamp: stamp)
    }
  }

  mutating func applyToEntries(_ change: Change, stamp: Int) -> Bool {
    switch change {
    case .put(let tree, let key, let length):
      trees[tree][key] = Self.value(stamp: stamp, key: key, length: length)
      return true
    case .remove(let tree, let key): return trees[tree].removeValue(forKey: key) != nil
    case .clear(let tree):
      trees[tree] = [:]
      return true
    }
  }

  mutating func apply(_ change: TreeChange) {
    switch change {
    case .copy(let tree, let target): trees[target] = trees[tree]
    case .move(let tree, let target):
      trees[target] = trees[tree]
      trees[tree] = [:]
    }
  }

  /// Of different lengths, ascending as the numbers do.
  static func key(_ number: Int) -> Bytes {
    let number = UInt16(number)
    return [UInt8(number >> 8), UInt8(number & 255)]
      + Bytes(repeating: 7, count: Int(number % 5) * 3)
  }

  /// Tells by which commit it was put, and for which key.
  static func value(stamp: Int, key: Int, length: Int) -> Bytes {
    var value = Bytes(repeating: UInt8(truncatingIfNeeded: stamp &* 7 &+ key), count: length)
    let mark = [stamp >> 8, stamp, key >> 8, key].map { UInt8(truncatingIfNeeded: $0) }
    for (index, byte) in mark.enumerated() where index < length { value[index] = byte }
    return value
  }

  static func schemaVersion(stamp: Int) -> UInt32 { UInt32(1 + stamp / 8 % 2) }
}

/// The states that commits lead to, by their sequences, and which of them somebody was promised. Those that
/// no crash leads back to are forgotten.
struct History: Sendable {
  private var states: [Content]
  /// Everything up to this commit was acknowledged as durable, or shown by an open.
  private(set) var durable = 0

  init(of kind: Content.Kind = .entries) {
    states = [Content(kind: kind)]
  }

  var last: Int { durable + states.count - 1 }
  var newest: Content { states[states.count - 1] }

  /// What there is after commit `sequence`, which is none of those forgotten.
  subscript(sequence: Int) -> Content { states[sequence - durable] }

  /// Adds a commit that may be there after a crash.
  mutating func add(_ content: Content) { states.append(content) }

  /// The newest commit was refused: it is not there, and will not be.
  mutating func removeLast() { states.removeLast() }

  /// All commits so far were acknowledged.
  mutating func acknowledge() {
    let last = last
    states.removeFirst(states.count - 1)
    durable = last
  }

  /// What an open showed is what there is, and will be there.
  mutating func shown(_ sequence: Int) {
    states = [self[sequence]]
    durable = sequence
  }
}
