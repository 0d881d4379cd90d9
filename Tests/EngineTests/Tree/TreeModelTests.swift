import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Nodes so small that a few entries split them.
let tinyNodes = NodeSizes(leaf: 256, branch: 320)

@Suite struct TreeModelTests {
  @Test func `a tree of every small size holds its entries`() throws {
    for count in [0, 1, 2, 3, 4, 5, 7, 9, 16, 17, 40, 100, 300, 1_000, 3_000] {
      var world = TreeWorld(on: InMemoryFileSystem(), sizes: tinyNodes)
      var changes: [Bytes: Bytes?] = [:]
      var random = SplitMix64(seed: UInt64(count))
      while changes.count < count {
        changes[key(random.next(), length: 8)] = key(random.next(), length: 5)
      }
      try world.merge(changes)
      try world.compare()
    }
  }
}

func key(_ number: UInt64, length: Int) -> Bytes {
  (0..<length).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0 % 8))) &+ UInt8($0 / 8) }
}

extension TreeWorld {
  /// Compares everything that can be asked of the tree with the model, and checks every page.
  func compare(sourceLocation: SourceLocation = #_sourceLocation) throws {
    let tree = try tree()
    let sorted = model.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    #expect(tree.count == sorted.count, sourceLocation: sourceLocation)
    let report = TreeCheck.run(tree, sizes: sizes)
    #expect(report.faults.isEmpty, sourceLocation: sourceLocation)
    #expect(report.entryCount == sorted.count, sourceLocation: sourceLocation)
    #expect(report.pageBytes == tree.liveBytes, sourceLocation: sourceLocation)

    var cursor = Cursor(tree)
    var value: Bytes = []
    var index = 0
    var isOn = try cursor.first()
    while isOn {
      try #require(index < sorted.count, sourceLocation: sourceLocation)
      #expect(cursor.key.array() == sorted[index].key, sourceLocation: sourceLocation)
      value.removeAll()
      try tree.append(cursor.entry, to: &value)
      #expect(value == sorted[index].value, sourceLocation: sourceLocation)
      index += 1
      isOn = try cursor.next()
    }
    #expect(index == sorted.count, sourceLocation: sourceLocation)
    isOn = try cursor.last()
    while isOn {
      index -= 1
      try #require(index >= 0, sourceLocation: sourceLocation)
      #expect(cursor.key.array() == sorted[index].key, sourceLocation: sourceLocation)
      isOn = try cursor.previous()
    }
    #expect(index == 0, sourceLocation: sourceLocation)

    for (offset, entry) in sorted.enumerated() {
      #expect(
        try tree.copyValue(for: entry.key.rawSpan, to: &value), sourceLocation: sourceLocation)
      #expect(value == entry.value, sourceLocation: sourceLocation)
      #expect(try tree.rank(of: entry.key.rawSpan) == offset, sourceLocation: sourceLocation)
      #expect(try cursor.seek(toOffset: offset), sourceLocation: sourceLocation)
      #expect(cursor.key.array() == entry.key, sourceLocation: sourceLocation)
    }
  }
}
