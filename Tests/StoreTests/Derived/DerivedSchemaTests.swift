import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Derived fields in descriptions, schemas and locks.
@Suite struct DerivedSchemaTests {
  private static let book = description {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "author", type: .reference(to: "Author"))
    Field(name: "editor", type: .reference(to: "Author", checked: false))
    Field(name: "price", type: .decimal)
    Field(name: "title", type: .string)
    Field(name: "ratings", type: .array(of: .double))
  }

  private static func model(_ field: Field, _ others: Field...) -> StoreModel {
    var elements: [RecordDescription.Element] = [
      .init(kind: .field(Field(primaryKey: true, name: "id", type: .integer))),
      .init(kind: .field(Field(name: "name", type: .string))),
      .init(kind: .field(Field(name: "nick", type: .string, optional: true))),
      .init(kind: .field(Field(name: "tags", type: .array(of: .string)))),
      .init(kind: .field(field)),
    ]
    elements += others.map { .init(kind: .field($0)) }
    elements += inverse("books", of: "author", in: "Book", .cascade).elements
    elements += inverse("edited", of: "editor", in: "Book", .noAction).elements
    return untyped(("Author", RecordDescription(elements)), ("Book", book))
  }

  private static let whole = model(
    Field(name: "count", type: .integer, indexed: true, derived: .count(of: "books")),
    Field(name: "sum", type: .decimal, derived: .sum(of: "books", "price")),
    Field(name: "least", type: .decimal, optional: true, derived: .minimum(of: "books", "price")),
    Field(name: "most", type: .decimal, optional: true, derived: .maximum(of: "books", "price")),
    Field(name: "tagCount", type: .integer, derived: .count(of: "tags")),
    Field(name: "lower", type: .string, derived: .lowercased("name")),
    Field(name: "upper", type: .string, optional: true, derived: .uppercased("nick")),
    Field(name: "folded", type: .string, unique: true, derived: .folded("name")),
    Field(name: "changed", type: .date, derived: .modificationDate))

  // MARK: What cannot be

  private static let refused: [(String, Field)] = [
    ("no inverse", Field(name: "d", type: .integer, derived: .count(of: "novels"))),
    ("no inverse", Field(name: "d", type: .integer, derived: .count(of: "name"))),
    ("not checked", Field(name: "d", type: .integer, derived: .count(of: "edited"))),
    ("type is integer", Field(name: "d", type: .int32, derived: .count(of: "books"))),
    (
      "not optional", Field(name: "d", type: .integer, optional: true, derived: .count(of: "books"))
    ),
    ("not there", Field(name: "d", type: .decimal, derived: .sum(of: "books", "cost"))),
    ("no sum", Field(name: "d", type: .string, derived: .sum(of: "books", "title"))),
    ("no order", Field(name: "d", type: .double, derived: .sum(of: "books", "ratings"))),
    ("type is decimal", Field(name: "d", type: .double, derived: .sum(of: "books", "price"))),
    ("no list", Field(name: "d", type: .integer, derived: .count(of: "nick"))),
    ("no inverse", Field(name: "d", type: .integer, derived: .sum(of: "tags", "x"))),
    ("optional", Field(name: "d", type: .decimal, derived: .minimum(of: "books", "price"))),
    (
      "neither",
      Field(name: "d", type: .string, optional: true, derived: .maximum(of: "books", "title"))
    ),
    ("not there", Field(name: "d", type: .string, derived: .folded("surname"))),
    ("strings", Field(name: "d", type: .string, derived: .folded("id"))),
    ("strings", Field(name: "d", type: .integer, derived: .lowercased("name"))),
    ("may be nil", Field(name: "d", type: .string, derived: .lowercased("nick"))),
    ("derived itself", Field(name: "d", type: .string, derived: .lowercased("d"))),
    ("type is date", Field(name: "d", type: .double, derived: .modificationDate)),
    (
      "cannot be unique",
      Field(name: "d", type: .integer, unique: true, derived: .count(of: "books"))
    ),
    ("no default", Field(name: "d", type: .integer, default: 1, derived: .count(of: "books"))),
    (
      "no default",
      Field(
        name: "d", type: .integer, migrationInfo: .init(default: 1), derived: .count(of: "books"))
    ),
    (
      "nothing to validate",
      Field(name: "d", type: .integer, validation: [.range(0...3)], derived: .count(of: "books"))
    ),
    (
      "reference", Field(name: "d", type: .reference(to: "Book"), derived: .count(of: "books"))
    ),
    (
      "not there",
      Field(
        name: "c",
        type: .composite { Field(name: "d", type: .string, derived: .lowercased("name")) })
    ),
    (
      "c.name may be nil",
      Field(
        name: "c",
        type: .composite {
          Field(name: "name", type: .string, optional: true)
          Field(name: "d", type: .string, derived: .lowercased("name"))
        })
    ),
    (
      "derived of c.e, which is derived itself",
      Field(
        name: "c",
        type: .composite {
          Field(name: "e", type: .date, derived: .modificationDate)
          Field(name: "d", type: .string, derived: .lowercased("e"))
        })
    ),
  ]

  @Test func `A22: what cannot be derived is refused when the model is checked`() throws {
    for (sentence, field) in Self.refused {
      let error = storeError { try Self.model(field).schemas() }
      guard case .invalidDescription("Author", _, 1, let reason)? = error else {
        Issue.record("\(field.name) \(sentence): \(String(describing: error))")
        continue
      }
      #expect(reason.contains(sentence), "\(sentence) is not in: \(reason)")
    }
  }

  @Test func `a derived field is in no primary key`() throws {
    let model = untyped(
      (
        "Author",
        description {
          Field(name: "name", type: .string)
          Field(primaryKey: true, name: "d", type: .string, derived: .lowercased("name"))
        }
      ))
    #expect(storeError { try model.schemas() }?.description.contains("primary key") == true)
  }

  // MARK: Schemas

  @Test func `a schema with derived fields reads as it was written`() throws {
    let schema = try Self.whole.checked().schema
    let read = try Schema(decoding: schema.encoded().rawSpan, version: 1, path: "")
    #expect(read == schema)
    let author = try #require(read.record(named: "Author"))
    #expect(
      author.fields.compactMap(\.derivation).map(\.description).sorted() == [
        "count of tags", "count over Book.author", "folded of name", "lowercased of name",
        "maximum over Book.author of price", "minimum over Book.author of price",
        "modificationDate", "sum over Book.author of price", "uppercased of nick",
      ])
  }

  @Test func `what is derived is in the fingerprint, and the names of inverses are not`() throws {
    func fingerprint(_ derived: Derivation?) throws -> Fingerprint {
      try Self.model(Field(name: "d", type: .string, derived: derived)).checked().schema.fingerprint
    }
    let all: [Derivation?] = [nil, .lowercased("name"), .uppercased("name"), .folded("name")]
    #expect(Set(try all.map(fingerprint)).count == all.count)
    func counting(_ name: String) throws -> Schema {
      let author = description {
        Field(primaryKey: true, name: "id", type: .integer)
        Field(name: "d", type: .integer, derived: .count(of: name))
        inverse(name, of: "author", in: "Book", .cascade)
      }
      return try untyped(("Author", author), ("Book", Self.book)).checked().schema
    }
    #expect(try counting("books").fingerprint == counting("works").fingerprint)
    #expect(try counting("books").differences(to: counting("works")) == [])
    let plain = try Self.model(Field(name: "d", type: .string)).checked().schema
    let derived = try Self.model(Field(name: "d", type: .string, derived: .folded("name")))
      .checked().schema
    #expect(
      plain.differences(to: derived).map(\.description) == [
        "Author.d: the derivation was none and is folded of name"
      ])
  }

  @Test func `a lock has derivations, and the Swift form states them`() throws {
    let lock = try SchemaLock(Self.whole)
    let text = "\(lock)"
    for line in [
      "field count int64 derived count over Book.author",
      "field folded string derived folded of name",
      "field most decimal optional derived maximum over Book.author of price",
      "field tagCount int64 derived count of tags", "field changed date derived modificationDate",
    ] {
      #expect(text.contains(line), "\(line) is not in \(text)")
    }
    #expect(try SchemaLock(parsing: text) == lock)
    let again = try StoreModel(SchemaLock(parsing: text)).checked().schema
    let schema = try Self.whole.checked().schema
    #expect(again.fingerprint == schema.fingerprint)
    let author = try #require(schema.record(named: "Author"))
    let swift = author.swiftStatements(isNamed: false, in: schema)
    #expect(
      swift.contains(#"Field(name: "count", type: .integer, derived: .count(of: "books"))"#))
    #expect(
      swift.contains(#"Field(name: "sum", type: .decimal, derived: .sum(of: "books", "price"))"#))
    #expect(swift.contains(#"Field(name: "changed", type: .date, derived: .modificationDate)"#))
    for line in [
      "field d int64 derived nonsense", "field d int64 derived count over Book",
      "field d int64 derived sum of",
    ] {
      #expect(throws: SchemaLockError.self) {
        try SchemaLock(
          parsing: text.replacing("field count int64 derived count over Book.author", with: line))
      }
    }
  }

  @Test func `derived fields in a store's schema that cannot be are refused when it is read`()
    throws
  {
    let schema = try Self.whole.checked().schema
    var refused = 0
    replaying(0..<UInt64(scaled(2_000, debug: 300))) { seed in
      var random = SplitMix64(seed: seed)
      var changed = schema
      let fields = changed.records[0].fields.indices.filter {
        changed.records[0].fields[$0].derivation != nil
      }
      guard let place = fields.randomElement(using: &random),
        var derivation = changed.records[0].fields[place].derivation
      else { return }
      let number = UInt32.random(in: 0...12, using: &random)
      switch random.next() % 4 {
      case 0: derivation.relatedNumber = number
      case 1: derivation.referenceNumber = number
      case 2: derivation.sourceNumber = number
      default: changed.records[0].fields[place].type = .scalar(random.pick(ScalarType.allCases))
      }
      changed.records[0].fields[place].derivation = derivation
      do {
        let read = try Schema(decoding: changed.encoded().rawSpan, version: 1, path: "")
        try read.validate()
      } catch let error as StoreError {
        guard case .corrupt(_, .schemaContents, _) = error else { throw error }
        refused += 1
      }
    }
    #expect(refused > 100)
  }

  @Test func `a derivation that is not known refuses the store as newer`() throws {
    var bytes = try Self.whole.checked().schema.encoded()
    let element = try #require(bytes.firstRange(of: [13, 0, 1, 0, 13, 0, 0, 0]))
    bytes[element.upperBound] = 99
    let error = storeError { try Schema(decoding: bytes.rawSpan, version: 1, path: "") }
    guard case .newerFormat(_, let reason)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(reason.contains("derivation of kind 99"))
  }

  @Test func `the check finds a derived field that has another value, K5`() throws {
    let store = try PersistentStore(inMemory: Self.whole)
    try store.write { transaction in
      try transaction.save(.of("Author", 1, ["name": "A", "tags": []]))
      try transaction.save(.of("Author", 2, ["name": "B", "tags": []]))
    }
    try store.expectSound()
    let entity = try store.entities.entity(named: "Author")
    let column = try #require(entity.layout.index(named: "sum"))
    let (key, changed) = (KeyEncoder(), RowWriter())
    try key.encode(primaryKey: [2], of: entity)
    var row: Bytes = []
    #expect(
      try store.snapshot().trees.copyValue(of: key.key, in: entity.rows, to: &row))
    let reader = try entity.row(key: key.key, row: row.rawSpan)
    try reader.copy(to: changed, replacing: [column: .decimal(5)])
    try store.backend.commit { trees throws(StoreError) in
      try trees.put(
        key.key, changed.row, schemaVersion: entity.layout.version, in: entity.rows)
    }
    let faults = try store.snapshot().check()
    #expect(faults.count == 1)
    guard case .corrupt(_, .derivations, let reason)? = faults.first else {
      Issue.record("\(faults)")
      return
    }
    #expect(reason.contains("sum is 5, and the sum over Book.author of price is 0"), "\(reason)")
  }
}
