import Cambium
import CambiumCrush
import CambiumTesting
import FoundationEssentials
import TestSupport
import Testing

/// The verbs of Crush's migrations, on data: a chain makes the versions, and its last one is that of the types below.
@Suite struct CrushVerbTests {
  private let directory: TemporaryDirectory
  private var file: Storage { .file(directory.path + "/store") }

  init() throws {
    directory = try TemporaryDirectory()
  }

  private struct Writer: Record, Identifiable, Equatable {
    var id: Int
    var name: String
    static let works = Inverse("works", of: \Work.writer)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string, unique: true)
      works
    }
  }

  private struct Work: Record, Identifiable, Equatable {
    var id: Int
    var title: String
    var pages: Double
    var length: Int
    var note: String?
    var language: String
    var writer: Reference<Writer>?
    var writerName: String?
    var labels: [Reference<Label>] = []

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "title", type: .string)
      Field(name: "pages", type: .double, modifier: "counted again")
      Field(name: "length", type: .integer)
      Field(name: "note", type: .string, optional: true)
      Field(name: "language", type: .string)
      Field(name: "writer", type: .reference(to: Writer.self), optional: true)
      Field(name: "writerName", type: .string, optional: true)
      Field(name: "labels", type: .references(to: Label.self))
    }
  }

  private struct Label: Record, Identifiable, Equatable {
    var id: String
    static let works = Inverse("works", of: \Work.labels)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .string)
      works
    }
  }

  private static let dataModel = DataModel("V3", [Writer.self, Work.self, Label.self])

  private static let chain = MigrationChain {
    ModelMigration("V1") {
      AddEntity("Author", uniquenessConstraints: [["id"], ["name"]]) {
        AddAttribute("id", type: .integer)
        AddAttribute("name", type: .string)
        AddRelationship("books", toMany: "Book", inverse: "author")
      }
      AddEntity("Book", uniquenessConstraints: [["id"]]) {
        AddAttribute("id", type: .integer)
        AddAttribute("title", type: .string)
        AddAttribute("pages", type: .int32)
        AddAttribute("note", type: .string)
        AddAttribute("obsolete", type: .boolean)
        AddRelationship("author", toOne: "Author", inverse: "books")
        AddRelationship("label", toOne: "Label")
        AddFetchedProperty("long", where: .comparison(field: "pages", .greater, 300))
        AddFetchedProperty("all")
      }
      AddEntity("Label", uniquenessConstraints: [["id"]]) { AddAttribute("id", type: .string) }
      AddEntity("Draft", uniquenessConstraints: [["id"]]) { AddAttribute("id", type: .integer) }
    }
    ModelMigration("V2") {
      UpdateEntity("Author", name: "Writer") { UpdateRelationship("books", name: "works") }
      UpdateEntity("Book", name: "Work") {
        UpdateAttribute("pages", type: .double)
        UpdateAttribute("note", isOptional: true)
        RemoveAttribute("obsolete")
        UpdateRelationship("author", name: "writer")
        UpdateRelationship("label", name: "labels", toMany: "Label", isOrdered: true)
        UpdateFetchedProperty(
          "long", name: "thick", where: .comparison(field: "pages", .greater, 400.0),
          sortedBy: [FieldOrder(field: "pages", isDescending: true)], limit: 10)
        RemoveFetchedProperty("all")
      }
      CopyEntity("Label")
      RemoveEntity("Draft")
    }
    ModelMigration("V3") {
      UpdateEntity("Work") {
        AddAttribute("language", type: .string).default("en")
        AddAttribute("length", type: .integer).valueForExistingObject { source in
          try source["title", as: String.self].count
        }
        UpdateAttribute("title", transform: { old in try old.as(String.self)?.uppercased() })
        UpdateAttribute(
          "pages",
          objectTransform: { old in
            try old["pages", as: Double.self] + Double(try old["id", as: Int.self])
          }
        ).versionHashModifier("counted again")
        UpdateAttribute("writer.name", name: "writerName", type: .string, isOptional: true)
      }
      UpdateEntity("Label") { AddRelationship("works", toMany: "Work", inverse: "labels") }
      UpdateEntity("Work") { UpdateRelationship("labels", inverse: "works") }
    }
  }

  /// The records of the first version.
  private static let rows = [
    DynamicRecord("Author", ["id": 1, "name": "Le Guin"]),
    DynamicRecord("Label", ["id": "sf"]),
    DynamicRecord("Draft", ["id": 9]),
    DynamicRecord(
      "Book",
      [
        "id": 5, "title": "The Dispossessed", "pages": 387, "note": "n", "obsolete": true,
        "author": 1, "label": "sf",
      ]),
    DynamicRecord(
      "Book",
      ["id": 6, "title": "Always", "pages": 523, "note": "", "obsolete": false]),
  ]

  private static let works = [
    Work(
      id: 5, title: "THE DISPOSSESSED", pages: 392, length: 16, note: "n", language: "en",
      writer: Reference(1), writerName: "Le Guin", labels: [Reference("sf")]),
    Work(id: 6, title: "ALWAYS", pages: 529, length: 6, note: "", language: "en"),
  ]

  @Test func `L2: a chain of changes from nothing is all versions of a model`() throws {
    let model = try Self.chain.storeModel(for: Self.dataModel)
    #expect(model.version == 3 && model.label == "V3")
    #expect(
      try model.schemas().map { $0.records.map(\.name) } == [
        ["Author", "Book", "Draft", "Label"], ["Writer", "Work", "Label"],
        ["Writer", "Work", "Label"],
      ])
    // The last version is that of the types, with what the chain says of the versions before.
    #expect(
      try model.changes(from: 1, to: 3).map(\.description).contains {
        $0.contains("Author") && $0.contains("Writer")
      })
    try model.check(try Self.chain.steps())
  }

  @Test func `Crush, the verbs change entities, attributes, relationships and fetched properties`()
    throws
  {
    let model = try Self.chain.storeModel(for: Self.dataModel)
    let path = directory.path + "/store"
    let old = try PersistentStore(at: path, model: model.dynamic(version: 1))
    try old.write { transaction in
      for row in Self.rows { try transaction.save(row) }
      try transaction.setQuery(
        record: "Book", where: .comparison(field: "pages", .greater, 300), named: "long")
      try transaction.setQuery(record: "Book", named: "all")
    }
    try old.close()
    let container = try DataContainer.load(
      file, dataModel: Self.dataModel, migrationPolicy: .incremental(Self.chain))
    let store = container.store
    #expect(container.reports[0].from == "V1" && store.schema.version == 3)
    #expect(try store.fetch(Writer.self) == [Writer(id: 1, name: "Le Guin")])
    #expect(try store.fetch(Work.self) == Self.works)
    #expect(try store.fetch(Writer.works(of: Reference(1))) == [Self.works[0]])
    #expect(try store.fetch(Label.works(of: Reference("sf"))) == [Self.works[0]])
    #expect(try store.queryNames(Work.self) == ["thick"])
    let query = try #require(try store.query(Work.self, named: "thick"))
    #expect(try store.fetch(query).map(\.id) == [6])
    #expect(query.limit == 10)
    try container.close()
    #expect(try PersistentStore.check(at: path, .deep).faults == [])
  }

  @Test func `K5: fetched properties are kept queries, which a new store has, too`() throws {
    let container = try DataContainer.load(
      file, dataModel: Self.dataModel, migrationPolicy: .incremental(Self.chain))
    try container.store.save(contentsOf: [Writer(id: 1, name: "Le Guin")])
    try container.store.save(Label(id: "sf"))
    try container.store.save(contentsOf: Self.works)
    let query = try #require(try container.store.query(Work.self, named: "thick"))
    #expect(try container.store.fetch(query).map(\.id) == [6])
    try container.close()
  }

  @Test func `Crush, every path through a chain ends the same`() throws {
    var check = MigrationCheck(
      try Self.chain.storeModel(for: Self.dataModel), steps: try Self.chain.steps(), seed: 11)
    check.count = 20
    try check.everyPath(from: 2)
  }
}
