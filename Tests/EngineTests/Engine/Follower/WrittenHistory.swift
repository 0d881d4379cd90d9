import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// A writer whose every state is remembered, by its sequence, and which a seed drives.
final class WrittenHistory {
  typealias Content = [String: [Bytes: Bytes]]

  let medium: any FileSystem
  private(set) var engine: Engine?
  private(set) var contents: [UInt64: Content] = [0: [:]]
  private var generator: SplitMix64
  private var options = EngineOptions.small()

  static var trees: [String] { ["a", "b"] }
  static var keys: [Bytes] { (0..<24 as Range<UInt8>).map { [$0, 7] } }

  init(_ medium: any FileSystem, seed: UInt64) throws {
    self.medium = medium
    generator = SplitMix64(seed: seed)
    // The log goes on in a third file and a fourth, after what no tree holds.
    if seed % 2 == 1 { options.carriedMax = 0 }
    try open()
  }

  var lastSequence: UInt64 { engine?.commits.lastSequence ?? 0 }

  func open() throws {
    let salts = generator.next()
    engine = nil
    engine = try Engine.open(medium, options: options, seed: salts)
  }

  /// Ends without closing, as a killed process does.
  func drop() { engine = nil }

  func close() throws {
    try engine?.close()
    engine = nil
  }

  func seal() throws { try engine?.seal() }

  /// Does something that a writer does.
  func step() throws {
    guard let engine else { return try open() }
    switch generator.next() % 32 {
    case 0..<12: try write(.durable, count: 1, length: 30)
    case 12..<20: try write(.relaxed, count: 3, length: 60)
    case 20..<22: try write(.durable, count: 8, length: 400)
    case 22: try write(.durable, count: 1, length: 70_000)
    case 23: try write(.durable, count: 2, length: 9_000)
    case 24..<29: _ = try engine.step()
    case 29: try engine.flush()
    case 30: try engine.seal()
    default: try engine.foldEverything()
    }
  }

  private func write(_ durability: Durability, count: Int, length: Int) throws {
    guard let engine else { return }
    try engine.write(durability) { transaction in
      var content = contents[transaction.base.sequence] ?? [:]
      for _ in 0..<count {
        let tree = Self.trees[Int(generator.next() % 2)]
        let key = Self.keys[Int(generator.next() % UInt64(Self.keys.count))]
        let slot = try engine.names.slot(of: tree)
        if generator.next() % 5 == 0 {
          _ = try transaction.remove(key.rawSpan, in: slot)
          content[tree]?[key] = nil
        } else {
          let value = Bytes(repeating: UInt8(truncatingIfNeeded: generator.next()), count: length)
          try transaction.put(key.rawSpan, value.rawSpan, schemaVersion: 1, in: slot)
          content[tree, default: [:]][key] = value
        }
      }
      // Seen as soon as it is on its way.
      if !transaction.isEmpty { contents[transaction.base.sequence + 1] = content }
    }
  }
}

extension WrittenHistory {
  /// Throws unless `snapshot` is what was committed up to its sequence.
  func verify(_ snapshot: Snapshot, _ names: TreeNames) throws {
    let sequence = snapshot.state.sequence
    guard let content = contents[sequence] else {
      throw Disagreement(description: "there is no commit \(sequence)")
    }
    for name in Self.trees {
      let tree = snapshot.tree(try names.slot(of: name))
      let entries = content[name] ?? [:]
      try agree(tree.count == entries.count, "\(tree.count) of \(entries.count) at \(sequence)")
      var value: Bytes = []
      for key in Self.keys {
        let found = try tree.copyValue(for: key.rawSpan, to: &value) ? value : nil
        try agree(found == entries[key], "\(key) in \(name) at \(sequence) is another's")
      }
    }
  }

  static func slots(_ names: TreeNames) throws -> [TreeSlot] {
    try trees.map { try names.slot(of: $0) }.sorted()
  }

  /// Throws unless all keys are in `notes` that are not the same in two states.
  func verify(
    _ notes: KeyNotes, from old: Snapshot, to new: Snapshot, _ names: TreeNames
  ) throws {
    for name in Self.trees {
      let keys = notes.keys(of: try names.slot(of: name))
      guard keys.isComplete else { continue }
      let noted = Set((0..<keys.count).map { keys.key($0).array() })
      let before = contents[old.state.sequence]?[name] ?? [:]
      let after = contents[new.state.sequence]?[name] ?? [:]
      for key in Self.keys where before[key] != after[key] {
        try agree(
          noted.contains(key),
          "\(key) in \(name) changed from \(old.state.sequence) to \(new.state.sequence) unnoted")
      }
    }
  }
}
