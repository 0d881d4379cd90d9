import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Records in which features meet: kinds, relations, derived and external values, unique values, orders by collations, and
/// properties that are not stored.
enum Workshop {
  struct Shelf: Record, Identifiable, Hashable {
    var id: Int
    var name: String
    var folded = ""
    var goodCount = 0
    var plan = Data()
    var mark = 0

    static let goods = Inverse("goods", of: \Good.shelf, deleteRule: .cascade)
    static let tools = Inverse("tools", of: \Tool.bench)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
      Field(name: "folded", type: .string, unique: true, derived: .folded("name"))
      Field(name: "goodCount", type: .integer, derived: .count(of: "goods"))
      Field(name: "plan", type: .binaryData, storage: .external(threshold: 50))
      Transient("mark", default: 0, tracked: true)
      Index(.collated("folded", by: .german), named: "order")
      goods
      tools
    }
  }

  struct Good: Record, Identifiable, Hashable {
    var id: Int
    var label: String
    var code: String
    var size = 0
    var shelf: Reference<Shelf>
    var image = Data()
    var mark = 0
    var note: String?

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "label", type: .string)
      Field(name: "code", type: .string, unique: true)
      Field(name: "size", type: .integer, indexed: version > 1)
      Field(name: "shelf", type: .reference(to: Shelf.self))
      Field(name: "image", type: .binaryData, storage: .external(threshold: 50))
      Transient("mark", default: 0, tracked: true)
      if version > 1 {
        Field(name: "note", type: .string, optional: true)
      } else {
        Transient("note", default: String?.none)
      }
      Index(.collated("label", by: .german), named: "labels")
    }
  }

  /// A kind with orders, external values and a relation of its own.
  struct Tool: Record, Hashable {
    var good: Good
    var weight = 0
    var maker = ""
    var bench: Reference<Shelf>?
    var photo = Data()

    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(Good.self, property: "good")
      Field(name: "weight", type: .integer)
      Field(name: "maker", type: .string)
      Field(name: "bench", type: .reference(to: Shelf.self), optional: true)
      Field(name: "photo", type: .binaryData, storage: .external(threshold: 50))
      Index(.collated("maker", by: .german), named: "makers")
    }
  }

  /// Names of the same length are in each other's way.
  struct Card: Record, Identifiable, Hashable {
    var id: Int
    var name: String

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
      Unique(.collated("name", by: .length), named: "name")
    }
  }

  static func model(_ version: Int = 1) -> StoreModel {
    StoreModel(version: version, records: [Shelf.self, Good.self, Tool.self, Card.self])
  }

  static func content(_ seed: Int) -> Data { PhotoContent.bytes(3_000, seed: UInt64(seed)) }

  /// In the order of keys; as the store has them after `fill`.
  static let shelves = [
    Shelf(id: 1, name: "Zebra", folded: "zebra", goodCount: 3, plan: content(1)),
    Shelf(id: 2, name: "Ahorn", folded: "ahorn", goodCount: 1, plan: content(2)),
  ]
  static let tools = [
    Tool(
      good: Good(
        id: 3, label: "zange", code: "c3", size: 3, shelf: Reference(2), image: content(3)),
      weight: 10, maker: "Ä", bench: Reference(1), photo: content(4)),
    Tool(
      good: Good(id: 4, label: "Ahle", code: "c4", size: 4, shelf: Reference(1)), weight: 20,
      maker: "Z", bench: Reference(2)),
  ]
  static let goods =
    [
      Good(id: 1, label: "Öl", code: "c1", size: 1, shelf: Reference(1), image: content(5)),
      Good(id: 2, label: "Oase", code: "c2", size: 2, shelf: Reference(1)),
    ] + tools.map(\.good)

  static func fill(_ store: PersistentStore) throws {
    for shelf in shelves { try store.save(shelf) }
    for good in goods.prefix(2) { try store.save(good) }
    for tool in tools { try store.save(tool) }
  }
}

// MARK: - What has to be so

extension Workshop {
  /// Asks a store by every feature for what `fill` has written.
  static func expectFilled(_ store: PersistentStore) throws {
    #expect(try store.fetch(Shelf.self) == shelves)
    #expect(try store.fetch(Good.self) == goods)
    #expect(try store.fetch(Tool.self) == tools)
    // Orders by collations: of a record, of a kind by its parent's field and its own, of what is derived, over a relation.
    let labels = try store.fetch(Good.sorted(by: .ascending(\.label, collation: .german)))
    #expect(labels.map(\.id) == [4, 2, 1, 3])
    let byLabel = try store.fetch(Tool.sorted(by: .descending(\.good.label, collation: .german)))
    #expect(byLabel.map(\.good.id) == [3, 4])
    let makers = try store.fetch(Tool.sorted(by: .ascending(\.maker, collation: .german)))
    #expect(makers.map(\.good.id) == [3, 4])
    let folded = try store.fetch(Shelf.sorted(by: .ascending(\.folded, collation: .german)))
    #expect(folded.map(\.id) == [2, 1])
    let byShelf = try store.fetch(
      record: "Good",
      sortedBy: [FieldOrder(field: "shelf.name", collation: .german), FieldOrder(field: "id")])
    #expect(byShelf.map { $0["id"] } == [3, 1, 2, 4])
    // Conditions: on indexes, derived fields, through the inverse of a kind's reference.
    #expect(try store.fetch(Good.where { $0.code == "c2" }).map(\.id) == [2])
    #expect(try store.fetch(Good.where { $0.size > 2 }).map(\.id) == [3, 4])
    #expect(try store.fetch(Shelf.where { $0.goodCount == 3 }).map(\.id) == [1])
    #expect(try store.fetch(Shelf.where { $0.folded == "ahorn" }).map(\.id) == [2])
    let benches = try store.fetch(Shelf.where { $0.tools.any { $0.weight > 15 } })
    #expect(benches.map(\.id) == [2])
    #expect(try store.faults() == [])
  }

  /// Changes a store that is filled by every feature that changes records, and undoes all of it.
  static func changeAndUndo(_ store: PersistentStore) throws {
    func counts() throws -> [Int] { try store.fetch(Shelf.self).map(\.goodCount) }
    let place = try store.snapshot().historyCursor
    // Policies: a code goes to another record, and so does what is derived.
    try store.save(
      Good(id: 9, label: "Ähre", code: "c1", shelf: Reference(2)), onConflict: .replaceOther)
    #expect(try store.fetch(Good.self, key: 1) == nil)
    #expect(try counts() == [2, 2])
    try store.insert(Shelf(id: 5, name: "ZEBRA"), onConflict: .updateOther)
    #expect(
      try store.fetch(Shelf.self, key: 1)
        == Shelf(id: 1, name: "ZEBRA", folded: "zebra", goodCount: 2))
    // An import.
    let report = try store.importRecords(Tool.self, from: [3, 8, 10], id: \.self) { id, tool in
      var tool =
        tool ?? Tool(good: Good(id: id, label: "neu", code: "c\(id)", shelf: Reference(1)))
      tool.weight += 1
      return tool
    }
    #expect(report.updated == 1 && report.inserted == 2)
    #expect(try store.fetch(Tool.where { $0.weight == 11 }).map(\.photo) == [content(4)])
    #expect(try counts() == [4, 2])
    // Conditions, also with a policy, and a deletion that cascades and cuts.
    try store.update(Good.where { $0.size == 2 }, onConflict: .replaceOther) { good in
      good.label = "Übel"
      good.code = "c8"
    }
    try store.delete(Good.where { $0.code == "c4" })
    try store.delete(Shelf.self, key: 2)
    #expect(try store.fetch(Good.self).map(\.id) == [2, 10])
    let labels = try store.fetch(Good.sorted(by: .ascending(\.label, collation: .german)))
    #expect(labels.map(\.label) == ["neu", "Übel"])
    #expect(try store.faults() == [])
    try store.undo(since: place)
    try expectFilled(store)
  }

  /// Uses a store that is filled by every feature, and leaves it so.
  static func use(_ store: PersistentStore) async throws {
    try expectFilled(store)
    var changes = try store.changes(of: Tool.self).makeAsyncIterator()
    try changeAndUndo(store)
    var heavy = tools[0]
    heavy.weight = 99
    try await store.save(heavy)
    // What was undone is nobody's news.
    let change = try #require(try await changes.next())
    #expect(change.updated.map(\.new) == [heavy])
    #expect(change.inserted.isEmpty && change.deleted.isEmpty)
    // What is not stored.
    heavy.good.mark = 5
    try await store.save(heavy)
    #expect(try store.fetch(Tool.self, key: 3) == heavy)
    try await store.save(tools[0])
    try expectFilled(store)
  }
}
