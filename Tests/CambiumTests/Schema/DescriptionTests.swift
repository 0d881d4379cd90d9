import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite struct DescriptionTests {
  @Test func `A1 A2 A6: the declarations of the seed make schemas`() throws {
    let added = try StoreModel(version: 2, label: "two", records: [OptionalAdded.TodoItem.self])
      .checked().schema
    #expect(added.version == 2)
    #expect(added.label == "two")
    let record = try #require(added.record(named: "TodoItem"))
    #expect(
      record.fields.map { "\($0.name) \($0.type)\($0.isOptional ? "?" : "")" }.sorted() == [
        "contents string", "creationDate uuid", "id uuid", "isCompleted boolean",
        "newProperty url?", "tag transformable(json)?", "title string",
      ])
    #expect(record.primaryKey.map { record.field($0.field)?.name } == ["id"])

    let required = try StoreModel(version: 2, records: [RequiredAdded.TodoItem.self]).checked()
    let field = try #require(required.records[0].fields.first { $0.name == "newProperty" })
    #expect(field.migrationDefault == .double(10.5))
  }

  @Test func `A3: a description depends on the version, and renames between two`() throws {
    let schemas = try StoreModel(version: 2, records: [Renamed.TodoItem.self]).schemas()
    let numbers = schemas.map { $0.records[0].numbers }
    #expect(numbers[0]["name"] == nil)
    #expect(numbers[1]["title"] == nil)
    #expect(numbers[0]["title"] == numbers[1]["name"])
  }

  @Test func `A4: loops, switches, availability and other descriptions are statements`() throws {
    let record = try schema(version: 3) { version in
      Field(primaryKey: true, name: "id", type: .int64)
      for index in 0..<3 { Field(name: "part\(index)", type: .double) }
      switch version {
      case 1: Field(name: "one", type: .string)
      case 2: Field(name: "two", type: .string)
      default: Field(name: "many", type: .string)
      }
      if #available(macOS 10, *) { Field(name: "available", type: .boolean) }
      description { Field(name: "shared", type: .date) }
    }.records[0]
    #expect(
      record.fields.map(\.name).sorted()
        == ["available", "id", "many", "part0", "part1", "part2", "shared"])
  }

  @Test func `A7: a field is stored under a name of its own`() throws {
    let record = try checked { _ in
      Field(primaryKey: true, name: "identifier", type: .uuid, property: "id")
    }.get().records[0]
    #expect(record.schema.fields.map(\.name) == ["identifier"])
    #expect(record.fields.map(\.property) == ["id"])
  }

  @Test func `A8: a record is stored under a name of its own, and renamed`() throws {
    let schemas = try [1, 2, 3].map { version in
      try schema(version: version) { version in
        Field(primaryKey: true, name: "id", type: .uuid)
        switch version {
        case 1: RecordName("Todo")
        case 2: RecordName("Task", renamingID: "Todo")
        default: RecordName("Task", renamingID: "Todo")
        }
      }
    }
    #expect(schemas.map { $0.records[0].name } == ["Todo", "Task", "Task"])
    let second = try schema(version: 2, after: schemas[0]) { version in
      Field(primaryKey: true, name: "id", type: .uuid)
      if version > 1 { RecordName("Task", renamingID: "Todo") } else { RecordName("Todo") }
    }
    #expect(second.records[0].number == schemas[0].records[0].number)
  }

  @Test func `A6: what exists differs by version, also for types that are gone`() throws {
    let removed = [
      RemovedRecord("Gone") { version in
        if version < 3 { Field(primaryKey: true, name: "key", type: .string) }
      }
    ]
    let key: Describing = { _ in description { Field(primaryKey: true, name: "id", type: .int64) } }
    let late: Describing = { version in version < 2 ? RecordDescription() : key(version) }
    let model = StoreModel(version: 3, records: [Item.self, Other.self], removed: removed)
    let schemas = try Item.describing.withValue(key) {
      try Other.describing.withValue(late) { try model.schemas() }
    }
    #expect(
      schemas.map { $0.records.map(\.name).sorted() }
        == [["Gone", "Item"], ["Gone", "Item", "Other"], ["Item", "Other"]])
  }

  @Test func `A12: a schema says what it is made of`() throws {
    let record = try schema { _ in
      Field(primaryKey: true, name: "id", type: .int64)
      Field(name: "home", type: .composite { Field(name: "street", type: .string) }, optional: true)
      Index("home.street", named: "by street")
    }.records[0]
    let home = try #require(record.field(named: "home"))
    let street = try #require(record.field(named: "home.street"))
    #expect(home.type == .composite)
    #expect(street.composite == home.number)
    #expect(!street.isOptional)
    #expect(record.canBeNull(street))
    #expect(record.index(named: "by street")?.parts.map(\.field) == [street.number])
  }

  @Test func `A13 B1 B2 B3 B4 B5 B6 B7 B8 B9: every type of column, optional and not`() throws {
    let types: [(FieldType, ColumnType)] = [
      (.boolean, .boolean), (.integer, .int64), (.int8, .int8), (.int16, .int16), (.int32, .int32),
      (.int64, .int64), (.uint8, .uint8), (.uint16, .uint16), (.uint32, .uint32),
      (.uint64, .uint64), (.float, .float), (.double, .double), (.decimal, .decimal),
      (.string, .string), (.date, .date), (.binaryData, .binaryData), (.uuid, .uuid), (.url, .url),
    ]
    for (declared, stored) in types {
      let record = try schema { _ in
        Field(primaryKey: true, name: "key", type: declared)
        Field(name: "value", type: declared)
        Field(name: "maybe", type: declared, optional: true)
        Field(name: "list", type: .array(of: declared))
      }.records[0]
      #expect(record.field(named: "key")?.type == stored)
      #expect(record.field(named: "value")?.isOptional == false)
      #expect(record.field(named: "maybe")?.isOptional == true)
      #expect(record.field(named: "list")?.type == stored.scalar.map { .array(of: $0) })
    }
  }

  @Test func `B12: a codec is named in the schema, and kept beside it`() throws {
    let record = try checked { _ in
      Field(primaryKey: true, name: "id", type: .uuid)
      Field(name: "json", type: .transformable)
      Field(name: "own", type: .transformable(using: ReversingCodec()))
    }.get().records[0]
    let own = try #require(record.fields.first { $0.name == "own" })
    #expect(own.type == .transformable(codec: "reversed"))
    #expect(own.codec is ReversingCodec)
    #expect(record.schema.field(named: "json")?.type == .transformable(codec: "json"))
  }

  @Test func `B11: JSON is the same for equal values, and reads back`() throws {
    let codec = JSONCodec()
    let value = ["b": 2, "a": 1, "c": 3]
    #expect(String(decoding: try codec.encode(value), as: UTF8.self) == #"{"a":1,"b":2,"c":3}"#)
    #expect(try codec.decode([String: Int].self, from: codec.encode(value)) == value)
    #expect(try codec.decode(Int.self, from: codec.encode(7)) == 7)
  }

  @Test func `A16: transients are properties beside the fields`() throws {
    let record = try checked { _ in
      Field(primaryKey: true, name: "id", type: .uuid)
      Transient("views", default: 0)
      Transient("cache", default: nil as String?)
      Field(
        name: "home",
        type: .composite {
          Transient("seen", default: false)
          Field(name: "street", type: .string)
        })
    }.get().records[0]
    #expect(record.transients.map(\.transient.property) == ["views", "cache", "seen"])
    #expect(record.transients.map(\.composite) == [nil, nil, "home"])
    #expect(
      record.transients.map { "\($0.transient.type)" } == ["Int", "Optional<String>", "Bool"])
  }

  @Test func `E1 E2 E3 E6 E7 E8: keys and indexes of every form`() throws {
    let record = try schema { _ in
      PrimaryKey("country", .descending("number"))
      Field(name: "country", type: .string)
      Field(name: "number", type: .int32)
      Field(name: "email", type: .string, unique: true)
      Field(name: "age", type: .uint8, optional: true, indexed: true)
      Unique("email", "age")
      Index(.caseInsensitive("email"), .descending("age"))
      Index("age", named: "adults", where: .comparison(field: "age", .greaterOrEqual, 18))
    }.records[0]
    func text(_ parts: [KeyPart]) -> String {
      parts.map { part in
        (record.field(part.field)?.name ?? "") + (part.isDescending ? "↓" : "")
          + (part.isCaseInsensitive ? "~" : "")
      }.joined(separator: " ")
    }
    #expect(text(record.primaryKey) == "country number↓")
    let indexes = record.indexes.map {
      "\($0.name): \(text($0.parts))\($0.isUnique ? " unique" : "")"
    }
    #expect(
      indexes.sorted() == [
        "adults: age", "age: age", "email without case, age descending: email~ age↓",
        "email, age: email age unique", "email: email unique",
      ])
    #expect(
      record.index(named: "adults")?.condition
        == .comparison(field: "age", .greaterOrEqual, .unsigned(18)))
  }

  @Test func `A20: a validation is of its record's type`() throws {
    let record = try checked { _ in
      Field(primaryKey: true, name: "id", type: .uuid)
      Validation("always") { (_: Item) in true }
    }.get().records[0]
    #expect(record.validations.map(\.text) == ["always"])
    #expect(record.validations[0].predicate(of: Item.self)?(Item()) == true)
    #expect(record.validations[0].predicate(of: Other.self) == nil)
  }
}

/// JSON from its end to its beginning.
struct ReversingCodec: FieldCodec {
  var identifier: String { "reversed" }

  func encode<Value: Encodable>(_ value: Value) throws -> [UInt8] {
    try JSONCodec().encode(value).reversed()
  }

  func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
    try JSONCodec().decode(type, from: bytes.reversed())
  }
}
