import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Stores whose pages are whole, and whose entries say what cannot be: the deep check finds them.
@Suite struct DeepCheckTests {
  private struct Item: Record {
    var id: Int
    var name: String?
    var size: Int?
    var city = "Ulm"

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string, optional: true)
      Field(name: "size", type: .integer, optional: true)
      Field(name: "city", type: .string, indexed: true)
    }
  }

  private static let model = StoreModel(records: [Item.self])
  private let store: PersistentStore

  init() throws {
    store = try PersistentStore(inMemory: Self.model)
    for id in 0..<3 { try store.save(Item(id: id, name: "n\(id)", size: 7)) }
  }

  private func put(_ key: Bytes, _ value: Bytes?, in tree: TreeSlot) throws {
    try store.backend.commit { trees throws(StoreError) in
      if let value {
        try trees.put(key.rawSpan, value.rawSpan, schemaVersion: 1, in: tree)
      } else {
        _ = try trees.remove(key.rawSpan, in: tree)
      }
    }
  }

  private func first(in tree: TreeSlot) throws -> (key: Bytes, value: Bytes) {
    let cursor = try store.backend.trees().cursor(in: tree)
    #expect(try cursor.first())
    return (cursor.key.array(), try cursor.value().array())
  }

  @Test func `a null bit over a value is found`() throws {
    let rows = try store.entities.entity(named: "Item").rows
    let (key, row) = try first(in: rows)
    for bit in 0..<2 {
      var changed = row
      changed[RowLayout.nullsOffset] |= 1 << UInt8(bit)
      try put(key, changed, in: rows)
      #expect(try store.faults().map { $0.breaks(.rowNulls) } == [true], "bit \(bit)")
    }
    try put(key, row, in: rows)
    #expect(try store.faults() == [])
  }

  @Test func `a stale index entry is found though as many are counted as there are records`()
    throws
  {
    let item = try store.entities.entity(named: "Item")
    let index = item.indexes[0].slot
    let (key, value) = try first(in: index)
    var stale = key
    stale[0] ^= 1
    try put(key, nil, in: index)
    try put(stale, value, in: index)
    let trees = try store.backend.trees()
    #expect(try trees.count(in: index) == trees.count(in: item.rows))
    let faults = try RecordCheck.faults(of: [item], in: trees)
    // The record whose entry is gone, and the entry without a record.
    #expect(faults.map { $0.breaks(.indexEntries) } == [true, true])
  }

  @Test func `metadata that is not JSON, or under a name that is not UTF-8, is found`() throws {
    let metadata = store.entities.metadata
    let good = #"{"a":[1,2.5,"x",null,true],"b":{}}"#
    try put(Bytes("good".utf8), Bytes(good.utf8), in: metadata)
    #expect(try store.faults() == [])
    for bad in ["", "{", "[1 2]", "nul", "\"a", String(repeating: "[", count: 100_000)] {
      try put(Bytes("bad".utf8), Bytes(bad.utf8), in: metadata)
      #expect(try store.faults().map { $0.breaks(.metadata) } == [true], "\(bad.prefix(10))")
    }
    try put(Bytes("bad".utf8), nil, in: metadata)
    try put([0xff], Bytes("1".utf8), in: metadata)
    #expect(try store.faults().map { $0.breaks(.metadata) } == [true])
  }

  @Test func `records without a schema are found`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    let store = try PersistentStore(at: path, model: Self.model)
    try store.save(Item(id: 1))
    try store.backend.commit { trees throws(StoreError) in
      try trees.removeAll(in: store.entities.schemas)
    }
    try store.close()
    let check = try PersistentStore.check(at: path, .deep)
    #expect(check.faults.contains { $0.breaks(.schemaContents) })
  }

  @Test func `a place of a compaction that cannot be is found`() throws {
    let directory = try TemporaryDirectory()
    let medium = try PosixFileSystem(at: directory.path, creating: true, allowingNetwork: true)
    let engine = try Engine.open(medium)
    try engine.put([1], [2])
    try engine.foldEverything()
    try engine.plant(PendingWork(kind: CompactionPlace.kind, cursor: [9], trees: []))
    try engine.put([2], [2])
    try engine.close()
    let check = try PersistentStore.check(at: directory.path)
    #expect(check.faults.map { $0.breaks(.compactionCursor) } == [true])
  }

  @Test func `a boolean of a condition that is neither 0 nor 1 is damage`() throws {
    // An index of accounts has a condition.
    let schema = try PersistentStore(inMemory: .samples).entities.schema
    let bytes = schema.encoded()
    #expect(try Schema(decoding: bytes.rawSpan, version: 1, path: "") == schema)
    let reasons = bytes.indices.compactMap { place -> String? in
      var changed = bytes
      changed[place] = 2
      let error = storeError { try Schema(decoding: changed.rawSpan, version: 1, path: "") }
      guard case .corrupt(_, .schemaLayout, let reason) = error else { return nil }
      return reason
    }
    #expect(reasons.contains("a boolean is 2"))
  }
}
