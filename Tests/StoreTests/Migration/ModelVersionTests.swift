import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium

private enum V1 {
  struct Laundry: Record, Equatable {
    var id: Int
    var item: String

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "item", type: .string)
    }
  }

  struct Note: Record, Equatable {
    var id: Int

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
    }
  }
}

private enum V2 {
  struct Laundry: Record, Identifiable, Equatable {
    var id: Int
    var items: [String]
    static let pieces = Inverse("pieces", of: \Piece.laundry, deleteRule: .deny)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "items", type: .array(of: .string))
      pieces
    }
  }

  struct Piece: Record, Equatable {
    var id: Int
    var laundry: Reference<Laundry>

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "laundry", type: .reference(to: Laundry.self))
    }
  }
}

private enum V3 {
  struct Laundry: Record, Identifiable, Equatable {
    var id: Int
    var pieces: [String]
    static let parts = Inverse("parts", of: \Piece.owner, deleteRule: .cascade)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(
        name: "pieces", type: .array(of: .string), migrationInfo: .init(renamingID: "items"))
      parts
    }
  }

  struct Piece: Record, Equatable {
    var id: Int
    var owner: Reference<Laundry>

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(
        name: "laundry", type: .reference(to: Laundry.self), property: "owner")
    }
  }
}

/// Models whose versions have types of their own.
@Suite struct ModelVersionTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }

  init() throws {
    directory = try TemporaryDirectory()
  }

  private static let versions = [
    ModelVersion(1, label: "one", records: [V1.Laundry.self, V1.Note.self]),
    ModelVersion(2, label: "two", records: [V2.Laundry.self, V2.Piece.self]),
    ModelVersion(3, label: "three", records: [V3.Laundry.self, V3.Piece.self]),
  ]

  private static let steps = [
    MigrationStep(to: 2) {
      TransformRecords(V1.Laundry.self, into: V2.Laundry.self, V2.Piece.self) { old, emit in
        try emit(V2.Laundry(id: old.id, items: [old.item]))
        try emit(V2.Piece(id: old.id * 10, laundry: Reference(old.id)))
      }
    }
  ]

  private func model(_ version: Int) -> StoreModel { StoreModel(Array(Self.versions[..<version])) }

  @Test func `the types of each version open and migrate the stores of it`() throws {
    let first = try PersistentStore(at: path, model: model(1))
    try first.save(contentsOf: [V1.Laundry(id: 1, item: "sock"), V1.Laundry(id: 2, item: "shirt")])
    try first.save(V1.Note(id: 7))
    try first.close()
    let second = try PersistentStore(at: path, model: model(2), steps: Self.steps)
    #expect(
      try second.fetch(V2.Laundry.self) == [
        V2.Laundry(id: 1, items: ["sock"]), V2.Laundry(id: 2, items: ["shirt"]),
      ])
    #expect(throws: StoreError.self) { try second.delete(V2.Laundry.self, key: 1) }
    try second.close()
    let third = try PersistentStore(at: path, model: model(3), steps: Self.steps)
    #expect(try third.fetch(V3.Laundry.self, key: 2) == V3.Laundry(id: 2, pieces: ["shirt"]))
    try third.delete(V3.Laundry.self, key: 1)
    #expect(try third.fetch(V3.Piece.self) == [V3.Piece(id: 20, owner: Reference(2))])
    #expect(try third.schemas().map(\.label) == ["one", "two", "three"])
    #expect(
      try third.schemas().map { $0.records.map(\.name).sorted() } == [
        ["Laundry", "Note"], ["Laundry", "Piece"], ["Laundry", "Piece"],
      ])
    try third.close()
  }

  @Test func `versions over several steps end with the same records`() throws {
    let first = try PersistentStore(at: path, model: model(1))
    try first.save(V1.Laundry(id: 1, item: "sock"))
    try first.close()
    let third = try PersistentStore(at: path, model: model(3), steps: Self.steps)
    #expect(try third.fetch(V3.Laundry.self) == [V3.Laundry(id: 1, pieces: ["sock"])])
    #expect(try third.fetch(V3.Piece.self) == [V3.Piece(id: 10, owner: Reference(1))])
    try third.close()
  }

  @Test func `a model of versions describes what one set of types describes`() throws {
    struct Item: Record {
      var id: Int
      static func recordDescription(for version: Int) -> RecordDescription {
        Field(primaryKey: true, name: "id", type: .integer)
        if version > 1 { Field(name: "note", type: .string, optional: true, property: "id2") }
      }
    }
    func describing(_ version: Int) -> ModelVersion {
      ModelVersion(version, describing: ["Item": Item.recordDescription(for: version)])
    }
    let one = StoreModel(
      version: 2, records: [],
      removed: [
        RemovedRecord("Item") { version in
          if version == 1 { Item.recordDescription(for: version) }
        }
      ])
    let versions = StoreModel([describing(1), describing(2)])
    #expect(try one.schemas()[0].fingerprint == versions.schemas()[0].fingerprint)
    #expect(try versions.schemas().map { $0.record(named: "Item")?.fields.count } == [1, 2])
    let store = try PersistentStore(inMemory: versions)
    try store.write { transaction in
      try transaction.save(DynamicRecord("Item", ["id": 1, "note": "read"]))
    }
    #expect(try store.fetch(record: "Item", key: 1)?["note"] == "read")
  }

  @Test
  func `a lock of versions is that of their descriptions, and without types they are the same`()
    throws
  {
    let model = model(3)
    let lock = try SchemaLock(model)
    #expect(lock.versions.map(\.number) == [1, 2, 3])
    #expect(try StoreModel(lock).schemas().map(\.fingerprint) == model.schemas().map(\.fingerprint))
    for version in 1...3 {
      let untyped = model.untyped(version: version)
      #expect(untyped.label == Self.versions[version - 1].label)
      #expect(
        try untyped.schemas().map(\.fingerprint)
          == model.schemas().prefix(version).map(\.fingerprint))
    }
  }

  @Test func `steps are named by the fingerprint of the version that they lead from`() throws {
    let fingerprints = try model(3).schemas().map(\.fingerprint)
    #expect(try fingerprints.map { try model(3).version(of: $0) } == [1, 2, 3])
    #expect(try fingerprints.map { try model(1).version(of: $0) } == [1, nil, nil])
    let text = "\(fingerprints[0])"
    let read = try #require(Fingerprint(text))
    #expect(read == fingerprints[0])
    for wrong in [
      "", "0", text + "0", text.uppercased() == text ? "x" : text.uppercased(),
      "+" + text.dropFirst(),
    ] {
      #expect(Fingerprint(wrong) == nil)
    }
    let first = try PersistentStore(at: path, model: model(1))
    try first.save(V1.Laundry(id: 1, item: "sock"))
    try first.close()
    let step = MigrationStep(from: read, to: 3) {
      TransformRecords(V1.Laundry.self, into: V3.Laundry.self) { old, emit in
        try emit(V3.Laundry(id: old.id, pieces: ["straight", old.item]))
      }
    }
    let unknown = MigrationStep(
      from: try #require(Fingerprint(String(repeating: "a", count: 32))), to: 3)
    #expect(throws: StoreError.self) {
      try PersistentStore(at: path, model: model(3), steps: [unknown])
    }
    let third = try PersistentStore(at: path, model: model(3), steps: [step] + Self.steps)
    #expect(try third.fetch(V3.Laundry.self) == [V3.Laundry(id: 1, pieces: ["straight", "sock"])])
    try third.close()
  }

  @Test func `steps are checked from every version, without a store, I11`() throws {
    try model(3).check(Self.steps)
    try model(1).check([])
    let wrong: [([MigrationStep], Int, String)] = [
      (
        [MigrationStep(to: 2) { UpdateRecord("Laundry") { UpdateField("nothing", path: "item") } }],
        1, "nothing"
      ),
      ([MigrationStep(to: 2), MigrationStep(to: 2)], 1, "twice"),
      ([MigrationStep(squashing: 2...3, to: 3)], 1, "circle"),
      ([MigrationStep(to: 4)], 1, "beyond"),
      (
        Self.steps + [MigrationStep(to: 3) { RunBefore(V1.Laundry.self) { _ in } }], 1,
        "describes it differently"
      ),
    ]
    for (steps, from, reason) in wrong {
      do throws(StoreError) {
        try model(3).check(steps)
        Issue.record("\(reason): taken")
      } catch {
        guard case .cannotMigrate(from, 3, let reasons) = error else { throw error }
        #expect(reasons.contains { $0.contains(reason) }, "\(reasons)")
      }
    }
  }

  @Test func `stores, models and records say what they are, S3`() throws {
    let store = try PersistentStore(inMemory: model(2))
    try store.save(V2.Laundry(id: 1, items: ["sock"]))
    #expect("\(store)".hasSuffix("version 2 “two”: Laundry, Piece"))
    #expect("\(try store.snapshot())".hasSuffix("\(store.schema)"))
    #expect("\(model(2))" == "version 2 “two”: Laundry, Piece")
    let record = try #require(store.schema.record(named: "Laundry"))
    #expect("\(record)" == "Laundry(id: int64, items: array(of: string))", "\(record)")
    let value = try #require(try store.fetch(record: "Laundry", key: 1))
    #expect("\(value)" == #"Laundry(id: 1, items: ["sock"])"#)
    #expect("\(MigrationStep(to: 2, label: "split"))" == "step 1 → 2 “split”")
    #expect("\(store.report)".hasPrefix("a new store"))
    let pending = PendingMigration(
      from: 1, to: 2, records: ["Note": 50, "Tag": 2], indexes: ["name"])
    #expect("\(pending)" == "version 1 → 2, pending: 50 of Note, 2 of Tag, index name")
  }

  @Test(arguments: [[], [2], [1, 3], [2, 1], [1, 1], [0, 1]])
  func `versions that are not in order from 1 on are refused`(numbers: [Int]) {
    let versions = numbers.map { ModelVersion($0, records: [V1.Note.self]) }
    expectInvalid(StoreModel(versions))
  }

  @Test func `what is wrong within a version is refused with its number`() throws {
    expectInvalid(StoreModel([ModelVersion(1, records: [V1.Note.self, V1.Note.self])]))
    expectInvalid(
      StoreModel([
        ModelVersion(1, records: [V1.Note.self], configurations: ["c": [V1.Laundry.self]])
      ]))
    do {
      _ = try StoreModel([
        ModelVersion(1, records: [V1.Note.self]),
        ModelVersion(2, records: [V2.Laundry.self]),
        ModelVersion(3, records: [V3.Laundry.self, V3.Piece.self]),
      ]).checked()
      Issue.record("an inverse of a record that is not there was taken")
    } catch {
      guard case .invalidDescription("Laundry", "pieces", 2, _) = error else {
        throw error
      }
    }
  }

  private func expectInvalid(_ model: StoreModel) {
    do throws(StoreError) {
      _ = try model.checked()
      Issue.record("the model was taken")
    } catch {
      guard case .invalidDescription("StoreModel", nil, _, _) = error else {
        Issue.record("\(error)")
        return
      }
    }
  }
}
