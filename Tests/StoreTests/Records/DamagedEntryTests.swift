import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Every bit of every row, key and index entry is flipped where the pages' checksums would not tell: as
/// somebody would do who computes them anew.
@Suite("Damaged entries of records")
struct DamagedEntryTests {
  private struct Undo: Error {}

  /// One store whose entries are damaged one by one, and mended.
  private struct World {
    let writer: RecordWriter
    let type: RecordType<Building>
    var count = 0
    var unfound = 0

    private var access: TreeAccess { .transaction(writer.trees) }

    /// Reads everything. Whatever the bytes are, there is no trap, and errors say what they are.
    private func read() throws {
      let cursor = RecordCursor(type, try access.cursor(in: type.rows), nil)
      while true {
        do {
          guard try cursor.next() != nil else { return }
        } catch let error as StoreError {
          switch error {
          case .corrupt(.entry, _, _), .newerFormat, .unreadableRecord: continue
          default: throw error
          }
        }
      }
    }

    /// - Returns: whether the check of records finds something, which has to be an entry.
    private func isFound() throws -> Bool {
      let faults = try RecordCheck.faults(of: [type], in: access)
      for fault in faults {
        switch fault {
        case .corrupt(.entry, _, _), .newerFormat: continue
        default: throw Disagreement(description: "the check finds \(fault)")
        }
      }
      return !faults.isEmpty
    }

    mutating func damage(
      _ entry: (key: Bytes, value: Bytes), to key: Bytes, _ value: Bytes, in tree: TreeSlot,
      mustBeFound: Bool
    ) throws {
      count += 1
      do {
        try writer.savepoint {
          _ = try writer.trees.remove(entry.key.rawSpan, in: tree)
          try writer.trees.put(key.rawSpan, value.rawSpan, schemaVersion: 1, in: tree)
          try read()
          let isFound = try isFound()
          if !isFound { unfound += 1 }
          try agree(isFound || !mustBeFound, "nobody finds \(entry) as \(key), \(value)")
          throw Undo()
        }
      } catch is Undo {
        // Mended.
      }
    }

    func entries(of tree: TreeSlot) throws -> [(key: Bytes, value: Bytes)] {
      let cursor = try access.cursor(in: tree)
      var entries: [(key: Bytes, value: Bytes)] = []
      var isOn = try cursor.first()
      while isOn {
        entries.append((cursor.key.array(), try cursor.value().array()))
        isOn = try cursor.next()
      }
      return entries
    }
  }

  @Test func `whatever entries hold, nothing traps, and the check finds what indexes contradict`()
    throws
  {
    let store = try PersistentStore(inMemory: StoreModel(records: [Building.self]))
    let buildings = Building.some(scaled(8, debug: 3))
    try store.write { transaction in try transaction.insert(contentsOf: buildings) }
    let type = try store.entities.type(Building.self)
    var counts = (0, 0)
    #expect(throws: Undo.self) {
      try store.write { transaction in
        var world = World(writer: transaction.recordWriter, type: type)
        let indexes = type.indexes.map(\.slot)
        for tree in [type.rows] + indexes {
          for entry in try world.entries(of: tree) {
            for bit in stride(from: 0, to: entry.key.count * 8, by: scaled(1, debug: 3)) {
              var key = entry.key
              key[bit / 8] ^= 1 << UInt8(bit % 8)
              try world.damage(entry, to: key, entry.value, in: tree, mustBeFound: true)
            }
            for bit in stride(from: 0, to: entry.value.count * 8, by: scaled(1, debug: 7)) {
              var value = entry.value
              value[bit / 8] ^= 1 << UInt8(bit % 8)
              // What no index has can be another value.
              let isOfIndex = tree != type.rows
              try world.damage(entry, to: entry.key, value, in: tree, mustBeFound: isOfIndex)
            }
            for length in stride(from: 0, to: entry.value.count, by: scaled(1, debug: 7)) {
              let value = Array(entry.value.prefix(length))
              try world.damage(entry, to: entry.key, value, in: tree, mustBeFound: true)
            }
          }
        }
        counts = (world.count, world.unfound)
        throw Undo()
      }
    }
    #expect(counts.0 > 1_000)
    print(
      "damaged entries of records: \(counts.0.grouped), of which \(counts.1.grouped) are other values"
    )
    #expect(try store.fetch(Building.self) == buildings)
    try store.expectSound()
  }
}

extension WriteTransaction {
  fileprivate var recordWriter: RecordWriter { writer }
}
