import CambiumTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Steps whose closures and paths read the whole version before.
@Suite struct OldVersionTests {
  private typealias Rows = [DynamicRecord]

  private static let country = RemovedRecord("Country") { _ in
    Field(primaryKey: true, name: "id", type: .string)
    Field(name: "name", type: .string)
  }

  private static let author = RemovedRecord("Author") { version in
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "name", type: .string)
    Field(name: "country", type: .reference(to: "Country"), optional: true)
    if version > 1 { Field(name: "bookCount", type: .integer, migrationInfo: .init(default: -1)) }
  }

  private static let rows: Rows = [
    DynamicRecord("Country", ["id": "fr", "name": "France"]),
    .of("Author", 1, ["name": "Verne", "country": "fr"]), .of("Author", 2, ["name": "Homer"]),
    .of("Book", 0, ["author": 1]), .of("Book", 1, ["author": 2]), .of("Book", 2),
    .of("Book", 3, ["author": 1]),
  ]

  /// Books that say in version 2 who wrote them.
  private static func store(
    isChecked: Bool = true, country: FieldValue? = nil, holding more: Rows = []
  ) throws -> VersionedStore {
    try VersionedStore(
      Self.country, author,
      RemovedRecord("Book") { version in
        Field(primaryKey: true, name: "id", type: .integer)
        if version == 1 {
          Field(
            name: "author", type: .reference(to: "Author", checked: isChecked), optional: true)
        } else {
          Field(name: "authorName", type: .string, optional: true)
          Field(
            name: "country", type: .string, optional: country == nil,
            migrationInfo: country.map { .init(default: $0) })
        }
      }, holding: rows + more)
  }

  private static let paths = MigrationStep(to: 2) {
    UpdateRecord("Book") {
      UpdateField("authorName", path: "author.name")
      UpdateField("country", path: "author.country.name")
    }
  }

  // MARK: Paths

  @Test(arguments: [true, false])
  func `K10: a path follows the relations of the old version`(isChecked: Bool) throws {
    let missing = isChecked ? [] : [DynamicRecord.of("Book", 9, ["author": 77])]
    let store = try Self.store(isChecked: isChecked, holding: missing)
    let plan = try store.plan([Self.paths])
    #expect(plan.canRun && !plan.isInferred)
    let sentences = plan.steps.flatMap { $0.changes.map(\.description) }
    #expect(sentences.contains("Book.authorName is author.name of the old record"), "\(sentences)")
    #expect(plan.steps.map(\.isDeferrable) == [false])
    let migrated = try store.migrated([Self.paths])
    let expected: Rows = [
      .of("Book", 0, ["authorName": "Verne", "country": "France"]),
      .of("Book", 1, ["authorName": "Homer", "country": nil]),
      .of("Book", 2, ["authorName": nil, "country": nil]),
      .of("Book", 3, ["authorName": "Verne", "country": "France"]),
    ]
    let lost = DynamicRecord.of("Book", 9, ["authorName": nil, "country": nil])
    #expect(
      try migrated.fetch(record: "Book", where: nil) == expected + (isChecked ? [] : [lost]))
    try migrated.close()
  }

  @Test func `where a record on the way is missing, a field has its default`() throws {
    let migrated = try Self.store(country: "nowhere").migrated([Self.paths])
    #expect(
      try migrated.fetch(record: "Book", where: nil).map { $0["country"] }
        == ["France", "nowhere", "nowhere", "France"])
    try migrated.close()
  }

  @Test func `a path that leads nowhere, over a list or to another type is refused by name`() throws
  {
    for (path, reason) in [
      ("author.age", "which the version before does not have"),
      ("writer.name", "which the version before does not have"),
      ("author.id", "which is int64 and not string"),
      ("author.name.x", "which the version before does not have"),
    ] {
      let step = MigrationStep(to: 2) {
        UpdateRecord("Book") { UpdateField("authorName", path: path) }
      }
      let faults = try Self.store().faults([step])
      #expect(faults.count == 1 && faults[0].hasSuffix(reason), "\(path): \(faults)")
    }
    let lists = try VersionedStore(
      Self.country,
      RemovedRecord("Book") { version in
        Field(primaryKey: true, name: "id", type: .integer)
        Field(name: "countries", type: .references(to: "Country"))
        if version > 1 { Field(name: "name", type: .string, optional: true) }
      }, holding: [])
    let step = MigrationStep(to: 2) {
      UpdateRecord("Book") { UpdateField("name", path: "countries.name") }
    }
    let faults = try lists.faults([step])
    #expect(faults.count == 1 && faults[0].contains("which leads to several records"), "\(faults)")
  }

  @Test func `a path to records of the same type reads their old values`() throws {
    let store = try VersionedStore(
      RemovedRecord("Person") { version in
        Field(primaryKey: true, name: "id", type: .integer)
        Field(name: "name", type: .string)
        Field(name: "manager", type: .reference(to: "Person"), optional: true)
        if version > 1 { Field(name: "top", type: .string, optional: true) }
      },
      holding: [
        .of("Person", 1, ["name": "a"]), .of("Person", 2, ["name": "b", "manager": 1]),
        .of("Person", 3, ["name": "c", "manager": 2]),
      ])
    let step = MigrationStep(to: 2) {
      UpdateRecord("Person") {
        UpdateField("name", by: { old in try old.as(String.self)?.uppercased() })
        UpdateField("top", path: "manager.manager.name")
      }
    }
    let migrated = try store.migrated([step])
    let people = try migrated.fetch(record: "Person", where: nil)
    #expect(people.map { $0["name"] } == ["A", "B", "C"])
    #expect(people.map { $0["top"] } == [nil, nil, "a"])
    try migrated.close()
  }

  // MARK: Closures

  private static let counting = UpdateRecord("Author") {
    UpdateField(
      "bookCount",
      from: { old, before in
        try before.count(
          record: "Book", where: .comparison(field: "author", .equal, try old["id"]))
      })
  }

  @Test func `a closure for a field reads other records of the version before`() throws {
    let migrated = try Self.store().migrated([MigrationStep(to: 2) { Self.counting }])
    #expect(
      try migrated.fetch(record: "Author", where: nil).map { $0["bookCount"] } == [2, 1])
    try migrated.close()
  }

  @Test func `a transform reads the version before, as a hook has left it`() throws {
    let step = MigrationStep(to: 2) {
      RunBefore { transaction in _ = try transaction.delete(record: "Author", key: 2) }
      Self.counting
      TransformRecords("Book") { old, before, emit in
        guard old.name == "Book", before.schema.version == 1 else { return }
        var name = FieldValue.null
        if try old["author"] != .null {
          name = try before.fetch(record: "Author", key: try old["author"])?["name"] ?? .null
        }
        try emit(.of("Book", try old["id", as: Int64.self], ["authorName": name]))
      }
    }
    let migrated = try Self.store().migrated([step])
    #expect(
      try migrated.fetch(record: "Book", where: nil).map { $0["authorName"] }
        == ["Verne", nil, nil, "Verne"])
    #expect(try migrated.fetch(record: "Author", where: nil).map { $0["bookCount"] } == [2])
    try migrated.close()
  }

  @Test func `a closure reads the version before with types that are kept for it`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    let old = try PersistentStore(
      at: path, model: StoreModel(records: [V1.Painter.self, V1.Picture.self]))
    try old.save(contentsOf: [V1.Painter(id: 1, name: "Klee"), V1.Painter(id: 2, name: "Marc")])
    try old.save(contentsOf: [V1.Picture(id: 5, painter: Reference(2)), V1.Picture(id: 6)])
    try old.close()
    let step = MigrationStep(to: 2) {
      TransformRecords(V1.Picture.self, into: V2.Picture.self, reading: V1.Painter.self) {
        old, before, emit in
        let painter = try before.fetch(old.painter)
        let count = try before.count(V1.Painter.self)
        try emit(V2.Picture(id: old.id, by: "\(painter?.name ?? "nobody") of \(count)"))
      }
    }
    let model = StoreModel(
      version: 2, records: [V2.Picture.self],
      removed: [
        RemovedRecord("Painter") { version in
          if version == 1 { V1.Painter.recordDescription(for: 1) }
        }
      ])
    let new = try PersistentStore(at: path, model: model, steps: [step])
    #expect(
      try new.fetch(V2.Picture.self)
        == [V2.Picture(id: 5, by: "Marc of 2"), V2.Picture(id: 6, by: "nobody of 2")])
    try new.expectSound()
    try new.close()
  }

  // MARK: All of the old version, whatever else the step does

  /// Three versions: in the second all types change their rows, in the third too, while closures read all of the second.
  private static let chain = StoreModel(
    version: 3,
    untyped: [
      RemovedRecord("A") { version in
        Field(primaryKey: true, name: "id", type: .integer)
        Field(name: "size", type: version < 2 ? .int16 : version < 3 ? .int32 : .int64)
        if version > 2 { Field(name: "text", type: .string, optional: true) }
      },
      RemovedRecord("B") { version in
        Field(primaryKey: true, name: "id", type: .integer)
        Field(name: "a", type: .reference(to: "A"), optional: true)
        Field(name: "note", type: .string, optional: true)
        if version > 1 { Field(name: "weight", type: .float, migrationInfo: .init(default: 1)) }
        if version > 2 { Field(name: "sizes", type: .string, optional: true) }
      },
      // Nothing is said of it: its rows are converted in their places, and records are added to it.
      RemovedRecord("D") { version in
        Field(primaryKey: true, name: "id", type: .integer)
        Field(name: "size", type: version < 2 ? .int16 : version < 3 ? .int32 : .int64)
      },
      RemovedRecord("C") { version in
        if version > 2 {
          Field(primaryKey: true, name: "id", type: .uuid)
          Field(name: "b", type: .reference(to: "B"))
          Field(name: "others", type: .references(to: "C"))
        }
      },
    ])

  private static let chainSteps = [
    MigrationStep(to: 2) {
      UpdateRecord("B") {
        UpdateField("note", by: { old in try old.as(String.self).map { $0 + "!" } })
      }
    },
    MigrationStep(to: 3) {
      UpdateRecord("A") {
        UpdateField(
          "text",
          from: { old, before in
            let count = try before.count(
              record: "B", where: .comparison(field: "a", .equal, try old["id"]))
            return
              "\(count) of \(try before.count(record: "B")), \(try old["size", as: Int32.self])"
          })
      }
      // It adds to a record that is also converted, and reads both as they were.
      TransformRecords("B", into: "B", "C", "D") { old, before, emit in
        var b = old.record
        var sizes: [Int32] = []
        for name in ["A", "D"] {
          for record in try before.fetch(record: name, where: nil).prefix(3) {
            sizes.append(try record["size", as: Int32.self])
          }
        }
        b["sizes"] = .string("\(sizes) of \(try before.count(record: "D"))")
        try emit.upsert(DynamicRecord("D", ["id": try old["id"], "size": 1]))
        try emit(b)
        let id = UUID(of: try old["id"], in: "C")
        try emit(
          DynamicRecord(
            "C", ["id": .uuid(id), "b": try old["id"], "others": [.uuid(id)]]))
      }
    },
  ]

  @Test func `every path ends with the same records, L3 L7`() throws {
    for seed in 1...UInt64(scaled(40, debug: 3)) {
      var check = MigrationCheck(Self.chain, steps: Self.chainSteps, seed: seed)
      check.count = 30
      let fingerprint = try check.everyPath(from: 1)
      #expect(fingerprint.counts["C"] == fingerprint.counts["B"])
    }
  }

  @Test func `steps that read the old version survive power cuts and failures, T3`() throws {
    var check = MigrationCheck(Self.chain, steps: Self.chainSteps, seed: 5)
    check.count = 8
    let cut = try check.everyPowerCut(from: 1, stride: scaled(1, debug: 13))
    let failed = try check.everyFailure(from: 1, stride: scaled(1, debug: 29))
    #expect(cut.violations.isEmpty && failed.violations.isEmpty)
    for violation in (cut.violations + failed.violations).prefix(3) { Issue.record("\(violation)") }
    #expect(cut.count > 0 && failed.count > 0)
    print("old versions: \(cut.count.grouped) crash images, \(failed.count.grouped) failed calls")
  }

  // MARK: Keys that are made

  @Test func `the key of a record that is made is the same for ever`() {
    func key(_ value: FieldValue, _ name: String = "FlightData") -> String {
      UUID(of: value, in: name).uuidString
    }
    let texts = [
      key(7), key("7"), key(nil), key(.unsigned(.max)), key([1, "a"]), key(7, "Aircraft"),
    ]
    #expect(texts == Self.keys)
    #expect(key(.unsigned(7)) == key(7) && key(.float(0.5)) == key(0.5))
    for text in texts {
      let characters = Array(text)
      #expect(characters[14] == "8" && "89AB".contains(characters[19]), "\(text)")
    }
    var all: Set<UUID> = []
    for number in Int64(0)..<10_000 { all.insert(UUID(of: .integer(number), in: "R")) }
    #expect(all.count == 10_000)
  }

  /// Computed by another implementation, from the bytes that the documentation says.
  private static let keys = [
    "59674228-8967-8F0A-852D-F346ABF3F03F", "F69681D0-7535-8082-A792-1F36DD170A24",
    "797671BF-2788-8953-BF24-73FB6FCBEAD7", "CAFCA3B4-5BCD-8EB2-9C1D-2C66449E8B54",
    "B1916440-5424-81D4-9103-18358DF4E17D", "83C4478E-F068-8AC0-86C4-4BBC09F196C8",
  ]
}

private enum V1 {
  struct Painter: Record, Identifiable, Equatable {
    var id: Int
    var name: String

    static func recordDescription(for version: Int) -> RecordDescription {
      RecordName("Painter")
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
    }
  }

  struct Picture: Record, Identifiable, Equatable {
    var id: Int
    var painter: Reference<Painter>?

    static func recordDescription(for version: Int) -> RecordDescription {
      RecordName("Picture")
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "painter", type: .reference(to: "Painter"), optional: true)
    }
  }
}

private enum V2 {
  struct Picture: Record, Identifiable, Equatable {
    var id: Int
    var by: String

    static func recordDescription(for version: Int) -> RecordDescription {
      RecordName("Picture")
      Field(primaryKey: true, name: "id", type: .integer)
      if version == 1 {
        Field(name: "painter", type: .reference(to: "Painter"), optional: true)
      } else {
        Field(name: "by", type: .string)
      }
    }
  }
}
