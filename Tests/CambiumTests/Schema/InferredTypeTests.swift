import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Fields that state no type, which have that of their property.
@Suite struct InferredTypeTests {
  /// A record with a property of any type.
  private struct Held<Value: Codable & Sendable & Equatable>: Record, Equatable {
    var id: Int
    var value: Value

    static func recordDescription(for version: Int) -> RecordDescription {
      RecordName("Held")
      Field("id", primaryKey: true)
      Field("value")
    }
  }

  private struct Target: Record, Identifiable {
    var id: UUID

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
    }
  }

  private enum Color: String, RecordStringEnum { case red, green }
  private enum Level: Int, RecordIntegerEnum {
    case low = -1
    case high = 7
  }

  // MARK: The table

  /// A line of the table: a value, and the column that its property gets.
  private struct Line {
    let name: String
    let check: () throws -> Void

    init<Value: Codable & Sendable & Equatable>(
      _ value: Value, _ type: ColumnType, isOptional: Bool, leadsTo destination: String?
    ) {
      name = "\(Value.self)"
      check = {
        let model = StoreModel(records: [Held<Value>.self, Target.self])
        let record = try #require(try model.checked().schema.record(named: "Held"))
        let field = try #require(record.field(named: "value"))
        #expect(field.type == type, "\(Value.self)")
        #expect(field.isOptional == isOptional, "\(Value.self)")
        #expect(field.reference?.destination == destination, "\(Value.self)")
        let store = try PersistentStore(inMemory: model)
        try store.save(Target(id: InferredTypeTests.id))
        let held = Held(id: 1, value: value)
        try store.save(held)
        #expect(try store.fetch(Held<Value>.self) == [held])
        try store.close()
      }
    }
  }

  private static let id = UUID()

  /// The lines of a type of values: as it is, and as an optional with and without a value.
  private static func lines<Value: Codable & Sendable & Equatable>(
    _ value: Value, _ type: ColumnType, leadsTo destination: String? = nil
  ) -> [Line] {
    [
      Line(value, type, isOptional: false, leadsTo: destination),
      Line(Value?.some(value), type, isOptional: true, leadsTo: destination),
      Line(Value?.none, type, isOptional: true, leadsTo: destination),
    ]
  }

  /// The lines of a value, and of lists of such.
  private static func lines<Value: Codable & Sendable & Hashable>(
    alsoInLists value: Value, _ type: ScalarType, leadsTo destination: String? = nil
  ) -> [Line] {
    lines(value, .scalar(type), leadsTo: destination)
      + lines([value], .array(of: type), leadsTo: destination)
      + lines(Set([value]), .array(of: type), leadsTo: destination)
  }

  private static func lines(of type: ScalarType) throws -> [Line] {
    switch type {
    case .boolean: lines(alsoInLists: true, type)
    case .int8: lines(alsoInLists: Int8.min, type)
    case .int16: lines(alsoInLists: Int16.min, type)
    case .int32: lines(alsoInLists: Int32.min, type)
    case .int64:
      lines(alsoInLists: Int.min, type) + lines(alsoInLists: Int64.max, type)
        + lines(alsoInLists: Level.low, type)
    case .uint8: lines(alsoInLists: UInt8.max, type)
    case .uint16: lines(alsoInLists: UInt16.max, type)
    case .uint32: lines(alsoInLists: UInt32.max, type)
    case .uint64: lines(alsoInLists: UInt.max, type) + lines(alsoInLists: UInt64.max, type)
    case .float: lines(alsoInLists: Float(1.5), type)
    case .double: lines(alsoInLists: 2.5, type)
    case .date: lines(alsoInLists: Date(timeIntervalSinceReferenceDate: 12.25), type)
    case .uuid:
      lines(alsoInLists: id, type)
        + lines(alsoInLists: Reference<Target>(id), type, leadsTo: "Target")
    case .decimal: lines(alsoInLists: Decimal(125) / 10, type)
    case .string: lines(alsoInLists: "naïve", type) + lines(alsoInLists: Color.green, type)
    case .url: lines(alsoInLists: try #require(URL(string: "https://example.org/a")), type)
    case .binaryData: lines(alsoInLists: Data([1, 2, 3]), type)
    }
  }

  @Test(arguments: ScalarType.allCases)
  func `a property of each type has its column, optional or not, alone and in lists`(
    type: ScalarType
  ) throws {
    for line in try Self.lines(of: type) { try line.check() }
  }

  // MARK: Attributes, composites and kinds

  private struct Picture: Record {
    var name: String
    var pixels: Data
    var caption: String?
    var original: Blob?

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("name", primaryKey: true)
      Field("pixels", storage: .external())
      Field("caption", storage: .external())
      Field("original", storage: .external())
    }
  }

  @Test func `data, strings and blobs are stored externally`() throws {
    #expect(
      try Self.fields(StoreModel(records: [Picture.self])) == [
        "caption external string?", "name string", "original external binaryData?",
        "pixels external binaryData",
      ])
  }

  private struct Place: Codable, Equatable {
    var x: Double
    var tag: String?
    var inner: Inner

    struct Inner: Codable, Equatable {
      var code: UInt8
      var colors: [Color]
    }
  }

  private struct Visit: Record, Equatable {
    var id: UUID
    var place: Place
    var last: Place?
    var raw: Place
    var unsaved = 3

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      Field("place", type: .composite { parts })
      Field("last", type: .composite { parts }, optional: true)
      Field("raw", type: .transformable)
      Transient("unsaved", default: 3)
    }

    @RecordDescription.ResultBuilder private static var parts: RecordDescription {
      Field("x")
      Field("label", property: "tag")
      Field(
        "inner",
        type: .composite {
          Field("code")
          Field("colors")
        })
    }
  }

  @Test func `parts of a composite have the types of its struct's properties`() throws {
    let model = StoreModel(records: [Visit.self])
    let parts = [
      "composite", ".inner composite", ".inner.code uint8", ".inner.colors array(of: string)",
      ".label string?", ".x double",
    ]
    let expected =
      ["id uuid", "raw transformable(json)", "last composite?", "place composite"]
      + parts.dropFirst().flatMap { ["place" + $0, "last" + $0] }
    #expect(try Self.fields(model) == expected.sorted())
    let place = Place(x: 1, tag: nil, inner: .init(code: 2, colors: [.red, .green]))
    let visit = Visit(id: UUID(), place: place, last: nil, raw: place)
    let store = try PersistentStore(inMemory: model)
    try store.save(visit)
    #expect(try store.fetch(Visit.self) == [visit])
    try store.close()
  }

  private struct Trip: Record, Equatable {
    var id: Int
    var goal: String

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      Field("goal")
    }
  }

  private struct Cruise: Record, Equatable {
    var trip: Trip
    var ship: String?

    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(Trip.self, property: "trip")
      Field("ship")
    }
  }

  private struct Flight: Record, Equatable {
    var trip: Trip
    var gate: Int16

    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(Trip.self, property: "trip", storage: .copied)
      Field("gate")
    }
  }

  @Test func `each type of a hierarchy gives the types of its own properties`() throws {
    let model = StoreModel(records: [Trip.self, Cruise.self, Flight.self])
    let schema = try model.checked().schema
    #expect(
      try Self.fields(#require(schema.record(named: "Trip")))
        == ["Cruise composite?", "Cruise.ship string?", "goal string", "id int64"])
    #expect(
      try Self.fields(#require(schema.record(named: "Flight")))
        == ["gate int16", "goal string", "id int64"])
    let store = try PersistentStore(inMemory: model)
    let cruise = Cruise(trip: Trip(id: 1, goal: "Oslo"), ship: "Fram")
    let flight = Flight(trip: Trip(id: 1, goal: "Rome"), gate: 4)
    try store.save(cruise)
    try store.save(flight)
    #expect(try store.fetch(Cruise.self) == [cruise])
    #expect(try store.fetch(Flight.self) == [flight])
    try store.close()
  }

  private struct Shelf: Record, Identifiable {
    var id = 0
    var name: String
    var sortName = ""
    var count = 0
    static let books = Inverse("books", of: \Book.shelf, deleteRule: .cascade)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true, generated: .sequence)
      Field("name", default: "none", validation: [.length(1...)])
      Field("sortName", indexed: true, derived: .folded("name"))
      Field("count", derived: .count(of: "books"))
      books
    }
  }

  private struct Book: Record {
    var isbn: String
    var shelf: Reference<Shelf>
    var color = Color.red

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("isbn")
      Field("shelf")
      Field("color", default: Color.red)
      PrimaryKey("isbn")
    }
  }

  @Test func `numbers, derived fields and references have types as well`() throws {
    let store = try PersistentStore(inMemory: StoreModel(records: [Shelf.self, Book.self]))
    let shelf = try store.write { try $0.insertAndFetch(Shelf(name: "Ähren")) }
    try store.save(Book(isbn: "1", shelf: shelf.reference))
    let found = try #require(try store.fetch(Shelf.where { $0.sortName == "ahren" }).first)
    #expect(found.count == 1)
    try store.delete(shelf)
    #expect(try store.count(Book.self) == 0)
    try store.close()
  }

  private struct Coded: Record, Equatable {
    static var coding: RecordCoding { .codable }
    var id = 1
    var text: String?

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      Field("text")
    }
  }

  @Test func `so are records that code themselves`() throws {
    let store = try PersistentStore(inMemory: StoreModel(records: [Coded.self]))
    try store.save(Coded(text: "a"))
    #expect(try store.fetch(Coded.self) == [Coded(text: "a")])
    try store.close()
  }

  // MARK: Older versions

  /// A record of five versions, without types where the property says them.
  private struct Job: Record, Equatable {
    var id: Int
    var heading: String
    var count: Int
    var note: String
    var site: Site

    struct Site: Codable, Equatable {
      var postcode: String
    }

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      switch version {
      case 1: Field("name", indexed: true)
      case 2...3: Field("title", indexed: true, migrationInfo: .init(renamingID: "name"))
      default: Field("heading", indexed: true, migrationInfo: .init(renamingID: "title"))
      }
      if version < 3 {
        Field("count", type: .string)
        Field("remark", optional: true, property: "note")
        Field("gone", type: .double)
      } else {
        Field("count", migrationInfo: .init(default: 0))
        Field("note", migrationInfo: .init(default: "", renamingID: "remark"))
      }
      Field(
        version < 4 ? "place" : "site",
        type: .composite {
          if version < 5 {
            Field("zip")
          } else {
            Field("postcode", migrationInfo: .init(renamingID: "zip"))
          }
        }, migrationInfo: version < 4 ? nil : .init(renamingID: "place"))
    }
  }

  /// The same record with all types stated.
  private struct StatedJob: Record {
    static func recordDescription(for version: Int) -> RecordDescription {
      RecordName("Job")
      Field(primaryKey: true, name: "id", type: .integer)
      switch version {
      case 1: Field(name: "name", type: .string, indexed: true)
      case 2...3:
        Field(name: "title", type: .string, indexed: true, migrationInfo: .init(renamingID: "name"))
      default:
        Field(
          name: "heading", type: .string, indexed: true, migrationInfo: .init(renamingID: "title"))
      }
      if version < 3 {
        Field(name: "count", type: .string)
        Field(name: "remark", type: .string, optional: true)
        Field(name: "gone", type: .double)
      } else {
        Field(name: "count", type: .integer, migrationInfo: .init(default: 0))
        Field(
          name: "note", type: .string, migrationInfo: .init(default: "", renamingID: "remark"))
      }
      Field(
        name: version < 4 ? "place" : "site",
        type: .composite {
          if version < 5 {
            Field(name: "zip", type: .string)
          } else {
            Field(name: "postcode", type: .string, migrationInfo: .init(renamingID: "zip"))
          }
        }, migrationInfo: version < 4 ? nil : .init(renamingID: "place"))
    }
  }

  @Test func `older versions have the types that they would state`() throws {
    let inferred = try StoreModel(version: 6, records: [Job.self]).schemas()
    let stated = try StoreModel(version: 6, records: [StatedJob.self]).schemas()
    #expect(inferred.map(\.fingerprint) == stated.map(\.fingerprint))
    #expect(
      inferred.map { Self.fields($0.records[0]) } == stated.map { Self.fields($0.records[0]) })
  }

  /// A note in its second version.
  private struct Note: Record, Equatable {
    var id: Int
    var text: String
    var priority = 0

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      if version < 2 {
        Field("title", indexed: true)
      } else {
        Field("text", indexed: true, migrationInfo: .init(renamingID: "title"))
        Field("priority", migrationInfo: .init(default: 5))
      }
    }
  }

  /// The type of the first version's program.
  private struct FirstNote: Record {
    var id: Int
    var title: String

    static func recordDescription(for version: Int) -> RecordDescription {
      RecordName("Note")
      Field("id", primaryKey: true)
      Field("title", indexed: true)
    }
  }

  @Test func `a store of the first version is migrated`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    let first = try PersistentStore(at: path, model: StoreModel(records: [FirstNote.self]))
    try first.save(FirstNote(id: 1, title: "Buy milk"))
    try first.close()
    let store = try PersistentStore(at: path, model: StoreModel(version: 2, records: [Note.self]))
    #expect(try store.fetch(Note.self) == [Note(id: 1, text: "Buy milk", priority: 5)])
    try store.expectSound()
    try store.close()
  }

  private enum Old {
    struct Card: Record {
      var id: Int
      var front: String

      static func recordDescription(for version: Int) -> RecordDescription {
        Field("id", primaryKey: true)
        Field("front")
      }
    }
  }

  private enum New {
    struct Card: Record {
      var id: Int
      var question: String?

      static func recordDescription(for version: Int) -> RecordDescription {
        Field("id", primaryKey: true)
        Field("question")
      }
    }
  }

  @Test func `types of versions of their own each give their properties' types`() throws {
    let schemas = try StoreModel([
      ModelVersion(1, records: [Old.Card.self]),
      ModelVersion(
        2, records: [New.Card.self],
        describing: [
          "Card": description { Field("question", migrationInfo: .init(renamingID: "front")) }
        ]),
    ]).schemas()
    #expect(
      schemas.map { Self.fields($0.records[0]) }
        == [["front string", "id int64"], ["id int64", "question string?"]])
    #expect(
      schemas[0].records[0].numbers["front"] == schemas[1].records[0].numbers["question"])
  }

  // MARK: Refusals

  /// The field and the reason with which a model is refused.
  private static func refusal(
    _ model: StoreModel
  ) -> (record: String, field: String?, version: Int, reason: String)? {
    guard
      case .invalidDescription(let record, let field, let version, let reason)? =
        storeError({ try model.schemas() })
    else { return nil }
    return (record, field, version, reason)
  }

  private enum Plain: String, Codable { case one }
  private enum Payload: Codable, Equatable { case one(Int) }

  private static func expectNoColumn<Value: Codable & Sendable & Equatable>(
    _ type: Value.Type, says words: String, butNot others: String = "no such word"
  ) {
    let found = refusal(StoreModel(records: [Held<Value>.self]))
    #expect(found?.record == RecordDescription.name(of: Held<Value>.self))
    #expect(found?.field == "value")
    #expect(found?.version == 1)
    #expect(found?.reason.contains(words) == true, "\(type): \(found?.reason ?? "none")")
    #expect(found?.reason.contains(others) == false, "\(type): \(found?.reason ?? "none")")
  }

  @Test func `a property without a column is refused, and the program told what to state`() {
    Self.expectNoColumn(Place.self, says: "type: .composite { … }")
    Self.expectNoColumn(Place?.self, says: "type: .composite { … }")
    Self.expectNoColumn(Plain.self, says: "RecordStringEnum")
    Self.expectNoColumn([Plain].self, says: "type: .transformable", butNot: "composite")
    Self.expectNoColumn(Payload.self, says: "type: .transformable", butNot: "composite")
    Self.expectNoColumn([Place].self, says: "type: .transformable", butNot: "composite")
    Self.expectNoColumn([Int?].self, says: "type: .transformable", butNot: "composite")
    Self.expectNoColumn([[Int]].self, says: "type: .transformable", butNot: "composite")
    Self.expectNoColumn([String: Int].self, says: "type: .transformable", butNot: "composite")
    Self.expectNoColumn(Int??.self, says: "only one kind of nil")
  }

  /// A record whose description a test says.
  private struct Described: Record {
    static let statements = PerThread<RecordDescription>(RecordDescription())
    var id: Int
    var place: Place

    static func recordDescription(for version: Int) -> RecordDescription {
      if version < 3 { statements.value }
    }
  }

  private static func refusal(
    @RecordDescription.ResultBuilder of statements: () -> RecordDescription
  ) -> (record: String, field: String?, version: Int, reason: String)? {
    Described.statements.withValue(statements()) {
      refusal(StoreModel(records: [Described.self]))
    }
  }

  @Test func `a field without a property is refused, with its place`() {
    let refusals = [
      ("titel", "titel", Self.refusal { Field("titel") }),
      ("place.y", "y", Self.refusal { Field("place", type: .composite { Field("y") }) }),
      ("where", "where", Self.refusal { Field("where", type: .composite { Field("x") }) }),
      (
        "place.x", "z",
        Self.refusal { Field("place", type: .composite { Field("x", property: "z") }) }
      ),
    ]
    for (field, property, refusal) in refusals {
      #expect(refusal?.record == "Described")
      #expect(refusal?.field == field)
      #expect(refusal?.version == 1)
      for words in [
        "has no stored property “\(property)”", "Correct the name", "`property:`", "`type:`",
      ] {
        #expect(refusal?.reason.contains(words) == true, "\(field): \(words)")
      }
    }
    #expect(Self.refusal { Field("id", primaryKey: true) } == nil)
  }

  private struct Lost: Record {
    var id: Int
    var title: String

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      if version < 3 { Field("name") } else { Field("title") }
    }
  }

  @Test func `a former field that no later version renames states its type`() {
    let found = Self.refusal(StoreModel(version: 3, records: [Lost.self]))
    #expect(found?.field == "name")
    #expect(found?.version == 1)
    #expect(found?.reason.contains("has no stored property “name”") == true)
  }

  @propertyWrapper private struct Wrapper<Value: Codable & Sendable>: Codable, Sendable {
    var wrappedValue: Value
  }

  private struct Wrapped: Record {
    static var coding: RecordCoding { .codable }
    var id: Int
    @Wrapper var text: String

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      Field("text")
    }
  }

  private final class Shared: Record {
    static var coding: RecordCoding { .codable }
    let id: Int

    init(id: Int) { self.id = id }

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
    }
  }

  @Test func `wrapped properties and those of classes state their types`() {
    let wrapped = Self.refusal(StoreModel(records: [Wrapped.self]))
    #expect(wrapped?.field == "text")
    #expect(wrapped?.reason.contains("wrapped or lazy") == true)
    #expect(wrapped?.reason.contains("`type:`") == true)
    let shared = Self.refusal(StoreModel(records: [Shared.self]))
    #expect(shared?.field == "id")
    #expect(shared?.reason.contains("Shared shows no stored properties") == true)
    #expect(shared?.reason.contains("`type:`") == true)
  }

  @Test func `so do the fields of records without a Swift type`() {
    let removed = RemovedRecord("Gone") { version in
      if version < 2 { Field("id", primaryKey: true) }
    }
    let model = StoreModel(version: 2, records: [Target.self], removed: [removed])
    let found = Self.refusal(model)
    #expect(found?.record == "Gone")
    #expect(found?.field == "id")
    #expect(found?.version == 1)
    #expect(found?.reason.contains("no Swift type") == true)
    #expect(found?.reason.contains("`type:`") == true)
  }

  @Test func `unless they take the typed description of one`() throws {
    func model(_ description: RecordDescription) -> StoreModel {
      StoreModel([ModelVersion(1, describing: ["Card": description])])
    }
    #expect(Self.refusal(model(Old.Card.recordDescription(for: 1)))?.field == "id")
    let schema = try #require(try model(Old.Card.typedDescription(for: 1)).schemas().first)
    #expect(Self.fields(schema.records[0]) == ["front string", "id int64"])
    let misspelt = Self.refusal(model(Star.typedDescription(for: 1)))
    #expect(misspelt?.reason.contains("Star has no stored property “key”") == true)
  }

  private struct Fan: Record {
    var id: Int
    var star: Reference<Star>

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      Field("star")
    }
  }

  private struct Star: Record, Identifiable {
    var id: Int

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("key", primaryKey: true)
    }
  }

  @Test func `a reference to a record whose key has no type is refused for that`() {
    let found = Self.refusal(StoreModel(records: [Fan.self, Star.self]))
    #expect(found?.record == "Fan")
    #expect(found?.field == "star")
    #expect(found?.reason.contains("Star has no stored property “key”") == true)
  }

  // MARK: Fields as text

  /// The only record's fields, sorted: “price decimal?”.
  private static func fields(_ model: StoreModel) throws -> [String] {
    fields(try model.checked().schema.records[0])
  }

  private static func fields(_ record: RecordSchema) -> [String] {
    record.fields.map { field in
      var type = "\(field.type)"
      if case .external(let scalar, _) = field.type { type = "external \(scalar)" }
      return "\(field.name) \(type)\(field.isOptional ? "?" : "")"
    }.sorted()
  }
}
