import Cambium
import CambiumTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import InternalTestSupport

/// What programs test their migrations with, used as they use it.
@Suite struct TestingKitTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  private struct Person: Record, Equatable {
    var id: UUID
    var fullName: String
    var age: Int?
    var address: Address?
    var tags: [String]
    var rank: Double

    struct Address: Codable, Equatable {
      var street: String
      var zip: Int?
    }

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .uuid)
      Field(
        name: version < 2 ? "name" : "fullName", type: .string, property: "fullName", indexed: true,
        migrationInfo: version < 2 ? nil : .init(renamingID: "name"))
      Field(name: "age", type: version < 3 ? .int16 : .integer, optional: true)
      Field(
        name: "address",
        type: .composite {
          Field(name: "street", type: .string)
          Field(name: "zip", type: .integer, optional: true)
        }, optional: true)
      Field(name: "tags", type: .array(of: .string))
      if version > 1 { Field(name: "rank", type: .double, migrationInfo: .init(default: 1)) }
    }
  }

  private static let model = StoreModel(version: 3, label: "now", records: [Person.self])

  @Test func `every path from every version ends the same, T3`() throws {
    var check = MigrationCheck(Self.model, seed: 5)
    check.count = 20
    var fingerprints: [ContentFingerprint] = []
    for version in 1...3 { fingerprints.append(try check.everyPath(from: version)) }
    #expect(fingerprints.allSatisfy { $0.counts == ["Person": 20] })
    #expect(fingerprints == [1, 2, 3].map { try? check.everyPath(from: $0) })
    check.records.values["Person.tags"] = { _ in ["same"] }
    #expect(try check.everyPath(from: 1) != fingerprints[0])
  }

  private struct Shelf: Record, Identifiable {
    var id: Int

    static let volumes = Inverse("volumes", of: \Volume.shelf)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      volumes
    }
  }

  private struct Volume: Record, Identifiable {
    var id: Int
    var shelf: Reference<Shelf>?

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      if version > 1 { Field(name: "shelf", type: .reference(to: Shelf.self), optional: true) }
    }
  }

  @Test func `an older version lacks the inverses of references that it does not have`() throws {
    var check = MigrationCheck(StoreModel(version: 2, records: [Shelf.self, Volume.self]))
    check.count = 10
    #expect(try check.everyPath(from: 1).counts == ["Shelf": 10, "Volume": 10])
  }

  @Test func `checks are values that tasks share`() {
    func send(_ value: some Sendable) -> String { "\(type(of: value))" }
    let check = MigrationCheck(Self.model)
    #expect(send(check) == "MigrationCheck" && send(check.records) == "RandomRecords")
  }

  @Test func `a store of an older version is filled without the types of that version, T2`() throws
  {
    let path = directory.path + "/store"
    let old = try PersistentStore(at: path, model: Self.model.dynamic(version: 1))
    try old.write { transaction in
      try transaction.save(
        DynamicRecord(
          "Person",
          [
            "id": .uuid(UUID()), "name": "Ada", "age": 36, "tags": ["a"],
            "address": .composite(["street": "S", "zip": nil]),
          ]))
    }
    #expect(old.schema.version == 1)
    try old.close()
    let store = try PersistentStore(at: path, model: Self.model)
    let person = try #require(try store.fetch(Person.self).first)
    #expect(person.fullName == "Ada" && person.age == 36 && person.rank == 1)
    #expect(person.address == Person.Address(street: "S"))
    try store.close()
  }

  @Test func `fixtures are made once, copied, and migrated along every path, T4`() throws {
    let fixtures = StoreFixtures(at: directory.path + "/fixtures")
    var random = RandomRecords(seed: 3)
    var made = 0
    for _ in 0..<2 {
      for version in 1...2 {
        let isMade = try fixtures.makeIfMissing(version: version) { path in
          let store = try PersistentStore(at: path, model: Self.model.dynamic(version: version))
          try random.fill(store, count: 15)
          try store.close()
        }
        made += isMade ? 1 : 0
      }
    }
    #expect(made == 2 && fixtures.versions == [1, 2])
    #expect(throws: CancellationError.self) {
      try fixtures.makeIfMissing(version: 3) { _ in throw CancellationError() }
    }
    #expect(fixtures.versions == [1, 2])
    let check = MigrationCheck(Self.model)
    for version in fixtures.versions {
      let fingerprint = try check.everyPath(of: fixtures.path(version: version))
      let copy = directory.path + "/copy-\(version)"
      try fixtures.copy(version: version, to: copy)
      let store = try PersistentStore(at: copy, model: Self.model)
      #expect(try store.snapshot().contentFingerprint() == fingerprint)
      try store.close()
    }
    #expect(throws: StoreError.missing(path: fixtures.path(version: 9))) {
      try fixtures.copy(version: 9, to: directory.path + "/nine")
    }
  }

  @Test func `a content fingerprint is of the records and of nothing else, X15`() throws {
    let stores = try (0..<2).map { _ in try PersistentStore(inMemory: Self.model) }
    var people: [Person] = []
    for number in 0..<50 {
      people.append(
        Person(
          id: UUID(), fullName: "n\(number)", age: number, address: nil, tags: [],
          rank: Double(number)))
    }
    try stores[0].write { try $0.insert(contentsOf: people) }
    for person in people.shuffled() { try stores[1].save(person) }
    try stores[1].write { try $0.setMetadata(1, for: "m") }
    let (one, other) = (try stores[0].snapshot(), try stores[1].snapshot())
    #expect(try one.contentFingerprint() == other.contentFingerprint())
    #expect(try one.contentDifferences(to: other) == [])
    people[7].age = nil
    try stores[1].save(people[7])
    let changed = try stores[1].snapshot()
    #expect(try one.contentFingerprint() != changed.contentFingerprint())
    let differences = try one.contentDifferences(to: changed)
    #expect(differences.count == 2)
    #expect(
      differences.contains { $0.hasPrefix("only there: Person(") && $0.contains("age: null") })
  }

  @Test func `power cuts and failures are tried at every call of a migration, T3`() throws {
    var check = MigrationCheck(Self.model, seed: 9)
    check.count = 8
    let cuts = try check.everyPowerCut(from: 1, stride: 11, policies: 1)
    let failures = try check.everyFailure(from: 1, stride: 37)
    #expect(cuts.count > 0 && failures.count > 0)
    #expect(cuts.violations == [] && failures.violations == [])
  }

  private struct Word: Record {
    var id: Int
    var list: [String]
    var code: Int
    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      if version < 2 {
        Field(name: "one", type: .string)
      } else {
        Field(name: "list", type: .array(of: .string), migrationInfo: .init(renamingID: "one"))
      }
      Field(name: "code", type: .integer, unique: true)
      if version < 2 { Field(name: "size", type: .int32) }
    }
  }

  @Test func `as many records are made as are asked for, whatever keys are drawn, T3`() throws {
    let model = StoreModel(version: 2, records: [Word.self])
    var check = MigrationCheck(model, seed: 4)
    #expect(check.count >= 1_000)
    check.count = scaled(3_000, debug: 1_500)
    let fingerprint = try check.everyPath(from: 1)
    #expect(fingerprint.counts == ["Word": check.count])
  }

  /// A store with records of keys, unique values and destinations of which there are few.
  private static func few(_ isLinked: Bool = false) throws -> PersistentStore {
    let model = StoreModel(
      version: 1,
      untyped: [
        RemovedRecord("Byte") { _ in
          Field(primaryKey: true, name: "id", type: .int8)
          Field(name: "code", type: .uint8, unique: true)
        },
        RemovedRecord("Pair") { _ in
          Field(name: "a", type: .boolean)
          Field(name: "b", type: .integer)
          PrimaryKey("a", "b")
          // Each byte is of one pair.
          if isLinked { Field(name: "byte", type: .reference(to: "Byte"), unique: true) }
        },
      ])
    return try PersistentStore(inMemory: model)
  }

  @Test func `of small keys, unique values and destinations all are used, T3`() throws {
    for seed in 0..<UInt64(scaled(10, debug: 2)) {
      let store = try Self.few(true)
      var random = RandomRecords(seed: seed)
      try random.fill(store, count: 256)
      #expect(try store.count(record: "Byte") == 256 && store.count(record: "Pair") == 256)
      try store.close()
    }
  }

  @Test func `a record too many is an error that says what it comes up against, T3`() throws {
    let store = try Self.few()
    var random = RandomRecords(seed: 4)
    let keys = RecordShortage(record: "Byte", wanted: 257, made: 256, reason: .key(fields: ["id"]))
    #expect(throws: keys) { try random.fill(store, count: 257) }
    #expect(
      "\(keys)".hasPrefix(
        "Only 256 of 257 records Byte can be made: other records have all values of id"))
    // Nothing is written then, and the kit fails likewise.
    #expect(try store.count(record: "Byte") == 0)
    random.values["Byte.code"] = { _ in 7 }
    #expect(
      throws: RecordShortage(
        record: "Byte", wanted: 9, made: 1, reason: .uniqueValue(constraint: "code"))
    ) { try random.fill(store, count: 9) }
    try store.close()
  }

  /// A store of orders with lines, of which an order is the sum of `expression`.
  private static func orders(_ expression: String) throws -> PersistentStore {
    try PersistentStore(
      inMemory: StoreModel(
        version: 1,
        untyped: [
          RemovedRecord("Order") { _ in
            Field(primaryKey: true, name: "id", type: .integer)
            Field(name: "sum", type: .integer, derived: .sum(of: "lines", value: expression))
            inverse("lines", of: "order", in: "Line", .cascade)
          },
          RemovedRecord("Line") { _ in
            Field(primaryKey: true, name: "id", type: .integer)
            Field(name: "order", type: .reference(to: "Order"))
            Field(name: "a", type: .integer)
            Field(name: "b", type: .integer)
            Field(name: "product", type: .integer, derived: .value("a * b"))
          },
        ]))
  }

  @Test func `values of which a derived field cannot be computed are drawn again, T3`() throws {
    let store = try Self.orders("a / b - 1")
    var random = RandomRecords(seed: 9)
    try random.fill(store, count: 200)
    #expect(try store.count(record: "Line") == 200)
    try store.close()
    let never = try Self.orders("a / (b - b)")
    random.values = ["Line.a": { _ in 1 }, "Line.b": { _ in 2 }]
    do {
      try random.fill(never, count: 1)
      Issue.record("a line was made")
    } catch {
      let shortage = try #require(error as? RecordShortage)
      guard case .derivedValue("Order.sum", let reason) = shortage.reason else {
        Issue.record("\(shortage)")
        return
      }
      #expect(reason.contains("1 / 0 has no result") && "\(shortage)".contains("Order.sum"))
    }
    try never.close()
  }

  @Test func `relations that cannot be are an error that names them, T3`() throws {
    func shortage(_ team: FieldType, _ player: FieldType) -> RecordShortage.Reason? {
      var check = MigrationCheck(
        StoreModel(
          version: 1,
          untyped: [
            RemovedRecord("Team") { _ in
              Field(primaryKey: true, name: "id", type: .integer)
              Field(name: "players", type: team)
            },
            RemovedRecord("Player") { _ in
              Field(primaryKey: true, name: "id", type: .integer)
              Field(name: "team", type: player)
            },
          ]))
      check.count = 3
      do {
        try check.everyPath(from: 1)
        return nil
      } catch {
        return (error as? RecordShortage)?.reason
      }
    }
    let three = FieldType.references(to: "Player", count: 3...3)
    #expect(shortage(three, .integer) == nil)
    #expect(
      shortage(.references(to: "Player", count: 5...5), .integer)
        == .destination(reference: "Team.players", destination: "Player"))
    let ring = shortage(three, .reference(to: "Team"))
    guard case .ring? = ring else {
      Issue.record("\(String(describing: ring))")
      return
    }
  }

  @Test func `a store of an older version is made dense, and migrated in slices, T3`() throws {
    let model = StoreModel(version: 2, records: [Word.self])
    var check = MigrationCheck(model, seed: 4)
    check.count = scaled(1_000, debug: 400)
    let image = try check.filled(1)
    let store = try image.open(model.dynamic(version: 1))
    let prediction = try store.predictedGain()
    #expect(prediction.liveBytes * 2 > prediction.size, "\(prediction)")
    try store.close()
    let cuts = try check.everyPowerCut(from: 1, stride: scaled(5, debug: 11), policies: 1)
    #expect(cuts.violations == [] && cuts.count > 3, "\(cuts.violations.first ?? "")")
  }

  @Test func `random records are the same for the same seed`() throws {
    let schema = try #require(try Self.model.schemas().last?.records.first)
    var (one, other, third) = (
      RandomRecords(seed: 1), RandomRecords(seed: 1), RandomRecords(seed: 2)
    )
    let records = (0..<20).map { _ in one.record(of: schema) }
    #expect(records == (0..<20).map { _ in other.record(of: schema) })
    #expect(records != (0..<20).map { _ in third.record(of: schema) })
    #expect(records.contains { $0["age"] == .null } && records.contains { $0["age"] != .null })
  }
}
