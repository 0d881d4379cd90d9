import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite struct IndexEntryTests {
  /// An index entry: its key and its value.
  private struct Entry: Hashable {
    var key: Bytes
    var value: Bytes
  }

  @Test func `every entry leads to its record`() throws {
    let sample = try AnyRecord()
    replaying(0..<UInt64(scaled(2000, debug: 100))) { seed in
      var random = SplitMix64(seed: seed)
      let record = sample.random(using: &random)
      let stored = try sample.encode(record)
      for index in sample.indexes {
        guard let entry = try entry(of: stored, in: index, sample) else { continue }
        let key = try primaryKey(of: entry, in: index, sample)
        try agree(key == stored.key, "\(index.schema.name): \(key) is not \(stored.key)")
      }
      let isTrue = record["boolean"] == .boolean(true)
      try agree(
        (try entry(of: stored, in: sample.indexes[0], sample) != nil) == isTrue, "the condition")
      let isThere = record["address"] != .null
      try agree(
        (try entry(of: stored, in: sample.indexes[3], sample) != nil) == isThere, "not null")
    }
  }

  @Test func `damaged entries are refused, or lead elsewhere`() throws {
    let sample = try AnyRecord()
    replaying(0..<UInt64(scaled(100, debug: 10))) { seed in
      var random = SplitMix64(seed: seed)
      let stored = try sample.encode(sample.random(using: &random))
      for index in sample.indexes {
        guard let entry = try entry(of: stored, in: index, sample) else { continue }
        for count in entry.key.indices {
          try survive(Entry(key: Bytes(entry.key.prefix(count)), value: entry.value), index, sample)
          var damaged = entry
          damaged.key[count] ^= 1 << UInt8.random(in: 0..<8, using: &random)
          try survive(damaged, index, sample)
          try survive(Entry(key: damaged.key, value: [1]), index, sample)
        }
      }
    }
  }

  private func survive(_ entry: Entry, _ index: IndexLayout, _ sample: AnyRecord) throws {
    do throws(StoreError) {
      _ = try primaryKey(of: entry, in: index, sample)
    } catch {
      guard case .corrupt(.entry, let invariant, _) = error else { throw error }
      try agree(invariant == .keyParts || invariant == .keyValue, "\(error)")
    }
  }

  private func entry(
    of stored: StoredRecord, in index: IndexLayout, _ sample: AnyRecord
  ) throws -> Entry? {
    let record = try RowReader(
      key: stored.key.rawSpan, row: stored.row.rawSpan, layout: sample.layout)
    let key = KeyEncoder()
    guard let value = try index.encode(record, to: key) else { return nil }
    return Entry(key: key.key.array(), value: value == .primaryKey ? stored.key : [])
  }

  private func primaryKey(
    of entry: Entry, in index: IndexLayout, _ sample: AnyRecord
  ) throws(StoreError) -> Bytes {
    try index.primaryKey(
      key: entry.key.rawSpan, value: entry.value.rawSpan, layout: sample.layout
    ).array()
  }
}

// MARK: Forms

@Suite struct IndexEntryFormTests {
  private let layout: RowLayout
  private let indexes: [IndexLayout]

  init() throws {
    func index(_ number: UInt32, isUnique: Bool) -> IndexSchema {
      IndexSchema(
        number: number, name: "text",
        parts: [
          KeyPart(field: 2, isDescending: false, isCaseInsensitive: false)
        ], isUnique: isUnique, condition: nil)
    }
    layout = try RowLayout(
      SampleRecord.schema(
        [("id", .string, false), ("text", .string, true)],
        indexes: [index(2, isUnique: false), index(3, isUnique: true)]), version: 1)
    indexes = try layout.indexLayouts()
  }

  private func entry(
    _ id: String, _ text: FieldValue, unique: Bool
  ) throws -> (key: Bytes, value: Bytes) {
    let (row, key, entry) = (RowWriter(), KeyEncoder(), KeyEncoder())
    try DynamicRecord("Item", ["id": .string(id), "text": text]).encode(
      to: row, key: key, layout: layout)
    let record = try RowReader(key: key.key, row: row.row, layout: layout)
    let value = try indexes[unique ? 1 : 0].encode(record, to: entry)
    return (entry.key.array(), value == .primaryKey ? key.key.array() : [])
  }

  @Test func `a plain entry ends with the primary key`() throws {
    let (key, value) = try entry("id", .string("a"), unique: false)
    #expect(key == [1, 0x61, 0, 0] + Bytes("id".utf8))
    #expect(value.isEmpty)
  }

  @Test func `a unique entry has the primary key as its value`() throws {
    let (key, value) = try entry("id", .string("a"), unique: true)
    #expect(key == [1, 0x61])
    #expect(value == Bytes("id".utf8))
  }

  @Test func `null is unique with nothing, so its entries are plain`() throws {
    let (key, value) = try entry("id", .null, unique: true)
    #expect(key == [0] + Bytes("id".utf8))
    #expect(value.isEmpty)
  }

  @Test(arguments: [false, true], [1000, 1015, 1018, 1019, 1020, 1021, 1022, 1023, 1024, 5000])
  func `keys that are too long are cut, and none of them looks like one that is not`(
    unique: Bool, count: Int
  ) throws {
    let text = String(repeating: "x", count: count)
    let (key, value) = try entry("id", .string(text), unique: unique)
    let whole = unique ? [1] + Bytes(text.utf8) : [1] + Bytes(text.utf8) + [0, 0, 0x69, 0x64]
    if whole.count < 1024 {
      #expect(key == whole)
      #expect(value == (unique ? Bytes("id".utf8) : []))
    } else {
      #expect(key.count == 1024)
      #expect(Bytes(key.prefix(1008)) == Bytes(whole.prefix(1008)))
      let hash = SipHash128(of: whole.rawSpan)
      #expect(key[1008..<1016].reversed().reduce(0) { $0 << 8 | UInt64($1) } == hash.low)
      #expect(key[1016...].reversed().reduce(0) { $0 << 8 | UInt64($1) } == hash.high)
      #expect(value == Bytes("id".utf8))
    }
    let found = try indexes[unique ? 1 : 0].primaryKey(
      key: key.rawSpan, value: value.rawSpan, layout: layout
    ).array()
    #expect(found == Bytes("id".utf8))
  }

  @Test func `an element is a part that is never null, and no element no entry`() throws {
    func index(_ number: UInt32, _ parts: [KeyPart], isUnique: Bool) -> IndexSchema {
      IndexSchema(
        number: number, name: "\(number)", parts: parts, isUnique: isUnique, condition: nil)
    }
    let elements = KeyPart(
      field: 2, isDescending: false, isCaseInsensitive: false, expansion: .elements)
    let count = KeyPart(field: 3, isDescending: false, isCaseInsensitive: false)
    let layout = try RowLayout(
      SampleRecord.schema(
        [("id", .string, false), ("list", .array(of: .string), true), ("count", .uint8, true)],
        indexes: [
          index(2, [elements, count], isUnique: false),
          index(3, [count, elements], isUnique: true),
        ]), version: 1)
    func entries(
      _ list: FieldValue, _ count: FieldValue, _ place: Int
    ) throws -> [[Bytes]] {
      let (row, key, entry) = (RowWriter(), KeyEncoder(), KeyEncoder())
      try DynamicRecord("Item", ["id": "i", "list": list, "count": count]).encode(
        to: row, key: key, layout: layout)
      let record = try RowReader(key: key.key, row: row.row, layout: layout)
      var entries: [[Bytes]] = []
      try layout.indexLayouts()[place].forEachEntry(of: record, in: entry) {
        key, value, isSole throws(StoreError) in
        entries.append([key.array(), value.array(), isSole ? [1] : [0]])
      }
      return entries
    }
    let seven = FieldValue.unsigned(7)
    let list = FieldValue.array(["b", "", "a", "b"])
    #expect(
      try entries(list, seven, 0) == [
        [[0, 0, 1, 7, 0x69], [], [0]], [[0x61, 0, 0, 1, 7, 0x69], [], [0]],
        [[0x62, 0, 0, 1, 7, 0x69], [], [0]],
      ])
    #expect(
      try entries(list, seven, 1) == [
        [[1, 7], [0x69], [1]], [[1, 7, 0x61], [0x69], [1]], [[1, 7, 0x62], [0x69], [1]],
      ])
    #expect(try entries(.array(["a"]), .null, 1) == [[[0, 0x61, 0, 0, 0x69], [], [0]]])
    for none in [.null, .array([])] as [FieldValue] {
      #expect(try entries(none, seven, 0) == [])
      #expect(try entries(none, seven, 1) == [])
    }
  }

  @Test func `an empty primary key is found too`() throws {
    for unique in [false, true] {
      for text in [.null, .string(""), .string(String(repeating: "x", count: 2000))] as [FieldValue]
      {
        let (key, value) = try entry("", text, unique: unique)
        let found = try indexes[unique ? 1 : 0].primaryKey(
          key: key.rawSpan, value: value.rawSpan, layout: layout
        ).array()
        #expect(found.isEmpty)
      }
    }
  }
}
