import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Commits that do something with whole trees.
@Suite struct TreeWorkTests {
  /// Puts a mark before every value, and leaves some keys out.
  private struct Marking: EntryTransform {
    var schemaVersion: UInt32 = 2
    var dropped: UInt8?

    func transform(
      key: RawSpan, value: RawSpan, schemaVersion: UInt32, to newValue: inout [UInt8]
    ) throws(StoreError) -> TransformResult {
      if key.load(0, as: UInt8.self) == dropped { return .drop }
      newValue.append(UInt8(schemaVersion))
      newValue.append(value)
      return .replace
    }
  }

  private struct Failing: EntryTransform {
    let schemaVersion: UInt32 = 2
    func transform(
      key: RawSpan, value: RawSpan, schemaVersion: UInt32, to newValue: inout [UInt8]
    ) throws(StoreError) -> TransformResult {
      throw .limitExceeded(.valueLength, found: 1)
    }
  }

  private static let count = 200

  private func key(_ number: Int) -> Bytes { [UInt8(number), 1] }
  private func value(_ number: Int) -> Bytes { Bytes(repeating: UInt8(number), count: 20) }

  /// An engine whose tree `t` has entries, some of them in pages, some not yet.
  private func filled(_ medium: SimulatedFileSystem) throws -> SimulatedEngine {
    let engine = try SimulatedEngine.open(medium)
    for number in 0..<Self.count { try engine.put(key(number), value(number)) }
    return engine
  }

  private func entries(
    of tree: String, in engine: SimulatedEngine
  ) throws -> [(key: Bytes, value: Bytes)] {
    var cursor = LayeredCursor(try engine.snapshot().tree(engine.names.slot(of: tree)))
    var entries: [(Bytes, Bytes)] = []
    var isOn = try cursor.first()
    while isOn {
      var value: Bytes = []
      try cursor.appendValue(to: &value)
      entries.append((cursor.key.array(), value))
      isOn = try cursor.next()
    }
    return entries
  }

  @Test func `a tree that is copied goes its own way, one that is moved leaves nothing`() throws {
    let medium = SimulatedFileSystem()
    let engine = try filled(medium)
    let (t, copy, moved) = try (
      engine.names.slot(of: "t"), engine.names.slot(of: "copy"), engine.names.slot(of: "moved")
    )
    let before = try entries(of: "t", in: engine)
    let snapshot = try engine.snapshot()
    try engine.write(.durable) { transaction in
      try transaction.put(Bytes([250]).rawSpan, Bytes([1]).rawSpan, schemaVersion: 1, in: t)
      transaction.treeWork.operations = [.copy(t, to: copy)]
    }
    #expect(try entries(of: "copy", in: engine).count == Self.count + 1)
    try engine.put([7, 1], [9], in: "copy")
    #expect(try engine.value([7, 1]) == value(7))
    #expect(try engine.value([7, 1], in: "copy") == [9])
    try engine.write(.durable) { $0.treeWork.operations = [.move(copy, to: moved)] }
    #expect(try entries(of: "copy", in: engine).isEmpty)
    #expect(try engine.value([7, 1], in: "moved") == [9])
    try engine.write(.durable) { $0.treeWork.operations = [.move(moved, to: t)] }
    try engine.close()
    let again = try SimulatedEngine.open(medium.crashed(.none), creating: false)
    #expect(try again.value([7, 1]) == [9])
    #expect(try entries(of: "t", in: again).count == Self.count + 1)
    #expect(try entries(of: "moved", in: again).isEmpty)
    #expect(snapshot.tree(t).count == before.count)
    #expect(try !snapshot.tree(t).contains(Bytes([250]).rawSpan))
  }

  @Test(arguments: [1, 7, 50, 1_000])
  func `a transform in slices changes each old entry once, and what is written meanwhile too`(
    slice: Int
  ) throws {
    let medium = SimulatedFileSystem()
    let engine = try filled(medium)
    let t = try engine.names.slot(of: "t")
    var slices = 0
    while true {
      try engine.write(.durable) { transaction in
        transaction.treeWork.transforms[t] = TreeTransform(Marking(dropped: 13), .first(slice))
      }
      slices += 1
      // By a program of the old version, and of the new one.
      if slices == 2 { try engine.put(key(190), [5]) }
      if slices == 3 {
        try engine.write(.durable) {
          try $0.put(Bytes([191, 1]).rawSpan, Bytes([6]).rawSpan, schemaVersion: 2, in: t)
        }
      }
      let root = try engine.snapshot().state.base.tree(t).root
      if let root, root.reference.lowestVersion >= 2, slices > 3 { break }
      try #require(slices < 500)
    }
    for (key, value) in try entries(of: "t", in: engine) {
      switch key[0] {
      case 13: Issue.record("it was to be left out")
      case 190 where value.count <= 2: #expect(value == [1, 5])
      case 191 where value.count <= 2: #expect(value == [6] || value == [1, 6])
      default: #expect(value == [1] + self.value(Int(key[0])), "\(key)")
      }
    }
    #expect(try engine.snapshot().tree(t).count == Self.count - 1)
  }

  @Test func `a transform that throws leaves all as it was, and the engine in use`() throws {
    let medium = SimulatedFileSystem()
    let engine = try filled(medium)
    let t = try engine.names.slot(of: "t")
    let before = try entries(of: "t", in: engine).map(\.value)
    #expect(throws: StoreError.limitExceeded(.valueLength, found: 1)) {
      try engine.write(.durable) { transaction in
        try transaction.put(Bytes([250]).rawSpan, Bytes([1]).rawSpan, schemaVersion: 1, in: t)
        transaction.treeWork.transforms[t] = TreeTransform(Failing(), .everything)
      }
    }
    #expect(try entries(of: "t", in: engine).map(\.value) == before)
    try engine.put([251], [1])
    #expect(try engine.value([251]) == [1])
    #expect(try engine.value([250]) == nil)
  }

  @Test func `a kept state stays whole, whatever becomes of the store, until it is dropped`() throws
  {
    let medium = SimulatedFileSystem()
    var engine = try filled(medium)
    let t = try engine.names.slot(of: "t")
    try engine.foldEverything()
    let before = try entries(of: "t", in: engine).map(\.value)
    try engine.write(.durable) { $0.treeWork.keeping = [.keep(version: 1, label: "one")] }
    for round in 0..<3 {
      try engine.write(.durable) { $0.removeAll(in: t) }
      // So much that segments come and go.
      for number in 0..<Self.count {
        try engine.put(key(number), Bytes(repeating: UInt8(round), count: 4000))
      }
      try engine.close()
      engine = try SimulatedEngine.open(medium, seed: UInt64(round + 2), creating: false)
    }
    let kept = try #require(engine.snapshot().state.base.file.footer.keptStates.first)
    #expect(kept.version == 1 && kept.label == "one")
    let file = try PageFile(
      opening: kept.footer, of: engine.log.identity, in: medium,
      reading: .buffered(cacheSize: 1 << 16))
    let base = try Base(file, names: engine.names)
    var cursor = Cursor(base.tree(t))
    var found: [Bytes] = []
    var isOn = try cursor.first()
    while isOn {
      found.append(cursor.storedValue.array())
      isOn = try cursor.next()
    }
    #expect(found == before)
    let segments = medium.names.count
    try engine.write(.durable) { $0.treeWork.keeping = [.drop(version: 1)] }
    let footer = try engine.snapshot().state.base.file.footer
    #expect(footer.keptStates.isEmpty)
    #expect(medium.names.count < segments, "what only it needed is gone")
    #expect(try engine.value(key(3)) == Bytes(repeating: 2, count: 4000))
  }

  /// Filled, kept as of version 1 without a fold before, and changed since: entries above 99 are gone, the others
  /// are other.
  private func kept(_ medium: SimulatedFileSystem) throws -> SimulatedEngine {
    let engine = try filled(medium)
    let t = try engine.names.slot(of: "t")
    try engine.foldEverything()
    // In no tree yet.
    try engine.put([201], [1])
    try engine.write(.durable) { transaction in
      transaction.removeAll(in: t)
      transaction.treeWork.keeping = [.keep(version: 1, label: "one")]
    }
    for number in 0..<100 { try engine.put(key(number), [9]) }
    return engine
  }

  @Test func `going back finds all that was committed before the state was kept, and goes on`()
    throws
  {
    let medium = SimulatedFileSystem()
    let engine = try kept(medium)
    let (t, s) = try (engine.names.slot(of: "t"), engine.names.slot(of: "s"))
    let sequence = try engine.snapshot().state.sequence
    let snapshot = try engine.snapshot()
    try engine.restore(1) { transaction in
      #expect(try transaction.tree(t).contains(Bytes([201]).rawSpan))
      try transaction.put(Bytes([1]).rawSpan, Bytes([2]).rawSpan, schemaVersion: 0, in: s)
      try transaction.put(Bytes([202]).rawSpan, Bytes([3]).rawSpan, schemaVersion: 1, in: t)
    }
    #expect(try engine.snapshot().state.sequence == sequence + 1)
    #expect(try engine.snapshot().state.base.file.footer.keptStates.isEmpty)
    func verify(_ engine: SimulatedEngine) throws {
      #expect(try entries(of: "t", in: engine).count == Self.count + 2)
      #expect(try engine.snapshot().tree(engine.names.slot(of: "t")).count == Self.count + 2)
      for number in 0..<Self.count { #expect(try engine.value(key(number)) == value(number)) }
      #expect(try engine.value([201]) == [1])
      #expect(try engine.value([202]) == [3])
      #expect(try engine.value([1], in: "s") == [2])
      #expect(engine.working.base.file.check(sizes: EngineOptions.small().nodeSizes).isEmpty)
    }
    try verify(engine)
    #expect(snapshot.tree(t).count == 100, "who reads the old state reads it still")
    try engine.put([203], [4])
    try engine.close()
    let again = try SimulatedEngine.open(medium, seed: 7, creating: false)
    #expect(try again.value([203]) == [4])
    try again.write(.durable) {
      _ = try $0.remove(Bytes([203]).rawSpan, in: again.names.slot(of: "t"))
    }
    try verify(again)
  }

  @Test func `going back to what is not kept, or with a body that throws, changes nothing`() throws
  {
    let engine = try kept(SimulatedFileSystem())
    #expect(throws: StoreError.notKept(version: 2, kept: [1])) { try engine.restore(2) { _ in } }
    #expect(throws: StoreError.limitExceeded(.keyLength, found: 2)) {
      try engine.restore(1) { _ in throw StoreError.limitExceeded(.keyLength, found: 2) }
    }
    #expect(try entries(of: "t", in: engine).count == 100)
    try engine.put([201], [7])
    #expect(try engine.value([201]) == [7])
    try engine.restore(1) { _ in }
    #expect(try engine.value([201]) == [1])
  }
}
