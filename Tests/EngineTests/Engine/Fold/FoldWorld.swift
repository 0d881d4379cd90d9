import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A store with records of 100 bytes under numbers, and the dictionary it must agree with.
struct FoldWorld {
  let medium = SimulatedFileSystem()
  private(set) var engine: Engine
  private(set) var tree: TreeSlot
  private(set) var expected: [UInt64: UInt8] = [:]
  var random = SplitMix64(seed: 7)

  init(_ options: EngineOptions) throws {
    engine = try Engine.open(medium, options: options)
    tree = try engine.names.slot(of: "t")
  }

  /// Opens the store again, which was closed.
  mutating func open(_ options: EngineOptions) throws {
    engine = try Engine.open(medium, options: options)
    tree = try engine.names.slot(of: "t")
  }

  private static func bytes(_ key: UInt64) -> Bytes {
    (0..<8).map { UInt8(truncatingIfNeeded: key >> (56 - 8 * UInt64($0))) }
  }

  /// Puts records in one transaction.
  mutating func put(_ keys: some Sequence<UInt64>, _ byte: UInt8) throws {
    let (tree, value, keys) = (tree, Bytes(repeating: byte, count: 92), Array(keys))
    try engine.write(.durable) { transaction in
      for key in keys {
        try transaction.put(Self.bytes(key).rawSpan, value.rawSpan, schemaVersion: 1, in: tree)
      }
    }
    for key in keys { expected[key] = byte }
  }

  /// Removes records that are there, in one transaction.
  mutating func remove(_ keys: some Sequence<UInt64>) throws {
    let (tree, keys) = (tree, Array(keys))
    try engine.write(.durable) { transaction in
      for key in keys {
        let isDone = try transaction.remove(Self.bytes(key).rawSpan, in: tree)
        #expect(isDone)
      }
    }
    for key in keys { expected[key] = nil }
  }

  /// Compares what an engine has with the dictionary, by look-ups and by a scan.
  func check(_ engine: Engine) throws {
    let tree = try engine.snapshot().tree(engine.names.slot(of: "t"))
    #expect(tree.count == expected.count)
    var value: Bytes = []
    for (key, byte) in expected {
      #expect(try tree.copyValue(for: Self.bytes(key).rawSpan, to: &value))
      #expect(value == Bytes(repeating: byte, count: 92))
    }
    var cursor = LayeredCursor(tree)
    var (isOn, count) = (try cursor.first(), 0)
    while isOn { (isOn, count) = (try cursor.next(), count + 1) }
    #expect(count == expected.count)
    #expect(engine.working.base.file.check(sizes: engine.options.nodeSizes).isEmpty)
    try engine.checkLiveBytes()
  }
}
