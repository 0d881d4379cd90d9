import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Plans that are taken by the form of a condition, before others are compared.
@Suite struct FormPlanTests {
  private struct Parcel: Record, Equatable {
    var id: Int
    var city: String
    var size: Int
    var owner: String?
    var serial: Int

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "city", type: .string, indexed: true)
      Field(name: "size", type: .integer)
      Field(name: "owner", type: .string, optional: true, indexed: true)
      Field(name: "serial", type: .integer, unique: true)
      Index("size", "city", named: "sizeCity")
    }
  }

  /// With indexes that have some records only, or values in another form.
  private struct Tag: Record, Equatable {
    var id: Int
    var name: String
    var weight: Double
    var owner: String?
    var level: Int
    var words: [String]

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
      Field(name: "weight", type: .double)
      Field(name: "owner", type: .string, optional: true)
      Field(name: "level", type: .integer)
      Field(name: "words", type: .array(of: .string))
      Index(.caseInsensitive("name"), named: "anyCase")
      Index(.descending("weight"), named: "weight")
      Index("level", named: "low", where: .comparison(field: "level", .less, 3))
      Index(.elements("words"), named: "words")
      Unique("owner", "level", named: "ownerLevel")
    }
  }

  /// The parcel of the next version, with another index.
  private struct SizedParcel: Record, Equatable {
    var id: Int
    var city: String
    var size: Int
    var owner: String?
    var serial: Int

    static func recordDescription(for version: Int) -> RecordDescription {
      RecordName("Parcel")
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "city", type: .string, indexed: version == 1)
      Field(name: "size", type: .integer, indexed: version > 1)
      Field(name: "owner", type: .string, optional: true, indexed: true)
      Field(name: "serial", type: .integer, unique: true)
      Index("size", "city", named: "sizeCity")
    }
  }

  private static let count = 3_000
  private static let longCity = String(repeating: "long", count: 400)

  /// Most are in one city, and a few in each other.
  private static func parcels(_ count: Int = FormPlanTests.count) -> [Parcel] {
    (0..<count).map { id in
      let city =
        switch id % 20 {
        case 0: "rare \(id % 400)"
        case 1: longCity + "\(id % 3)"
        default: "common"
        }
      return Parcel(
        id: id, city: city, size: id % 7, owner: id % 50 == 0 ? "owner" : nil, serial: -id)
    }
  }

  private static func store(_ parcels: [Parcel]) throws -> PersistentStore {
    let store = try PersistentStore(inMemory: StoreModel(records: [Parcel.self]))
    try store.write { try $0.insert(contentsOf: parcels) }
    return store
  }

  @Test func `an index of all fields that have a value is taken without comparing plans`() throws {
    let store = try Self.store(Self.parcels())
    for (query, index) in [
      (Parcel.where { $0.city == "rare 20" }, "index city in one range"),
      (Parcel.where { $0.city == "rare 20" && $0.size == 6 }, "index sizeCity in one range"),
      (Parcel.where { $0.owner == "owner" }, "index owner in one range"),
      (Parcel.where { $0.serial == -7 }, "index serial in one range"),
      (Parcel.where { $0.city == "nowhere" }.limit(2).offset(1), "index city in one range"),
    ] as [(Query<Parcel>, String)] {
      let plan = try store.explain(query, running: true)
      #expect(plan.accessByForm == index, "\(plan)")
      #expect(plan.condition == nil, "\(plan)")
      #expect("\(plan)".contains("taken without comparing plans"), "\(plan)")
    }
    let rare = try store.explain(Parcel.where { $0.city == "rare 20" }, running: true)
    #expect(rare.actual?.entryCount == rare.actual?.resultCount)
  }

  @Test func `plans are compared before anything is read if the form does not decide`() throws {
    let store = try Self.store(Self.parcels())
    for query in [
      // A part of an index, a value that is null, another comparison, an order, and a value that an index cuts.
      Parcel.where { $0.size == 3 }, Parcel.where { $0.owner == nil },
      Parcel.where { $0.city > "rare" },
      Parcel.where { $0.city == "common" && $0.size > 3 }, Parcel.where { $0.id == 3 },
      Parcel.where { $0.city == "rare 20" }.sorted(by: .ascending(\.size)),
      Parcel.where { $0.city == Self.longCity + "1" },
    ] as [Query<Parcel>] {
      let plan = try store.explain(query)
      #expect(plan.accessByForm == nil, "\(plan)")
    }
    let few = try Self.store(Self.parcels(100))
    #expect(try few.explain(Parcel.where { $0.city == "rare 20" }).accessByForm == nil)
  }

  @Test func `a value that most records have is scanned for after the first records`() throws {
    let store = try Self.store(Self.parcels())
    let plan = try store.explain(Parcel.where { $0.city == "common" }, running: true)
    #expect(plan.access == "all rows")
    #expect(plan.accessByForm == "index city in one range")
    #expect("\(plan)".contains("but the first 64 records by index city in one range"), "\(plan)")
    let actual = try #require(plan.actual)
    #expect(actual.resultCount == 2_700)
    // The scan begins at the last of the first 64, of which each twenty records have eighteen.
    #expect(actual.entryCount == 64 + Self.count - 71, "\(plan)")
  }

  @Test func `an index with some of the records, or other values, is compared with others`() throws
  {
    let tags = (0..<1_500).map { id in
      Tag(
        id: id, name: id % 2 == 0 ? "Rome" : "rome", weight: id % 3 == 0 ? -0.0 : Double(id % 9),
        owner: id % 4 == 0 ? nil : "o\(id / 8)", level: id % 8, words: ["a\(id % 5)"])
    }
    let store = try PersistentStore(inMemory: StoreModel(records: [Tag.self]))
    try store.write { try $0.insert(contentsOf: tags) }
    func check(_ condition: Condition<Tag>, by index: String?, _ isMet: (Tag) -> Bool) throws {
      let query = Tag.where(condition)
      #expect(try store.explain(query).accessByForm == index, "\(condition)")
      #expect(try store.fetch(query) == tags.filter(isMet), "\(condition)")
    }
    try check(Condition { $0.name == "rome" }, by: nil) { $0.name == "rome" }
    try check(Condition { $0.level == 1 }, by: nil) { $0.level == 1 }
    try check(Condition(FieldCondition.contains(field: "words", .string("a1"))), by: nil) {
      $0.words == ["a1"]
    }
    try check(Condition { $0.owner == nil && $0.level == 0 }, by: nil) {
      $0.owner == nil && $0.level == 0
    }
    try check(Condition { $0.owner == "o3" && $0.level == 1 }, by: "index ownerLevel in one range")
    { $0.id == 25 }
    try check(Condition { $0.weight == 0 }, by: "index weight in one range") { $0.weight == 0 }
    try check(Condition { $0.weight == 7 }, by: "index weight in one range") { $0.weight == 7 }
    try check(Condition { $0.weight == Double.nan }, by: nil) { _ in false }
  }

  @Test func `a form asks the description of the version that is open`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    let parcels = Self.parcels(1_100)
    var store = try PersistentStore(at: path, model: StoreModel(records: [Parcel.self]))
    try store.write { try $0.insert(contentsOf: parcels) }
    let query = Parcel.where { $0.size == 3 }
    let expected = parcels.filter { $0.size == 3 }
    #expect(try store.explain(query).accessByForm == nil)
    #expect(try store.fetch(query) == expected)
    try store.close()
    store = try PersistentStore(
      at: path, model: StoreModel(version: 2, records: [SizedParcel.self]))
    let sized = try store.explain(SizedParcel.where { $0.size == 3 })
    #expect(sized.accessByForm == "index size in one range", "\(sized)")
    #expect(try store.fetch(SizedParcel.where { $0.size == 3 }).map(\.id) == expected.map(\.id))
    let city = try store.explain(SizedParcel.where { $0.city == "rare 20" })
    #expect(city.accessByForm == nil, "\(city)")
    try store.close()
  }

  @Test func `no record comes twice where an index lacks entries`() throws {
    let parcels = Self.parcels()
    let store = try Self.store(parcels)
    let record = try store.entities.entity(named: "Parcel")
    let city = try #require(record.indexes.first { $0.layout.schema.name == "city" })
    // Those of five of the first records in the city, and of two of the last.
    let lost: Set<Int> = [2, 3, 5, 8, 13, 2_990, 2_991]
    let layout = record.layout
    try store.write { transaction in
      let trees = transaction.writer.trees
      var entries: [Bytes] = []
      let cursor = try TreeAccess.transaction(trees).cursor(in: city.slot)
      while try cursor.advance() {
        let key = try city.layout.primaryKey(
          key: cursor.key, value: try cursor.value(), layout: layout)
        var reader = KeyReader(key, layout: layout)
        guard case .integer(let id) = try reader.value(layout.key.columns[0]),
          lost.contains(Int(id))
        else { continue }
        entries.append(cursor.key.array())
      }
      for key in entries { _ = try trees.remove(key.rawSpan, in: city.slot) }
    }
    let found = try store.fetch(Parcel.where { $0.city == "common" }).map(\.id)
    // After the first 64, rows are read, which have the last two.
    let first: Set<Int> = [2, 3, 5, 8, 13]
    #expect(found == parcels.filter { $0.city == "common" && !first.contains($0.id) }.map(\.id))
  }

  @Test func `results are those of arrays, before and after plans are compared`() throws {
    let parcels = Self.parcels()
    let store = try Self.store(parcels)
    func check(_ condition: Condition<Parcel>, _ isMet: (Parcel) -> Bool) throws {
      let expected = parcels.filter(isMet)
      let query = Parcel.where(condition)
      #expect(try store.fetch(query) == expected, "\(condition)")
      #expect(try store.count(query) == expected.count, "\(condition)")
      #expect(try store.sum(\.size, of: query) == expected.map(\.size).reduce(0, +))
      for (offset, limit) in [(0, 1), (0, 64), (0, 65), (3, 64), (60, 300), (64, 2), (2_690, 50)] {
        let page = try store.fetch(query.offset(offset).limit(limit))
        #expect(
          page == Array(expected.dropFirst(offset).prefix(limit)),
          "\(condition), \(limit) from \(offset)")
      }
      let rest = try store.fetch(query.offset(70))
      #expect(rest == Array(expected.dropFirst(70)), "\(condition)")
      try store.write { transaction in
        let found = try transaction.fetch(query)
        #expect(found == expected, "\(condition)")
      }
    }
    for city in ["common", "rare 20", "nowhere", "", Self.longCity + "1"] {
      try check(Condition { $0.city == city }) { $0.city == city }
      try check(Condition { $0.city == city && $0.size == 3 }) { $0.city == city && $0.size == 3 }
      try check(Condition { $0.size == 6 && $0.city == city }) { $0.city == city && $0.size == 6 }
    }
    try check(Condition { $0.owner == "owner" }) { $0.owner == "owner" }
    try check(Condition { $0.owner == nil }) { $0.owner == nil }
    try check(Condition { $0.serial == -2_999 }) { $0.serial == -2_999 }
  }
}
