import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Relations in schemas: their bytes, fingerprints and differences.
@Suite struct RelationSchemaTests {
  private static let author = description {
    Field(primaryKey: true, name: "id", type: .integer)
  }

  private static func model(
    _ reference: FieldType = .reference(to: "Author"), optional: Bool = true,
    _ more: RecordDescription = RecordDescription(), named author: String = "Author"
  ) -> StoreModel {
    untyped(
      (
        "Book",
        description {
          Field(primaryKey: true, name: "id", type: .integer)
          Field(name: "author", type: reference, optional: optional)
        }
      ),
      (
        author,
        description {
          Self.author
          more
        }
      ), ("Editor", Self.author))
  }

  private static let changes: [(String, StoreModel, isSame: Bool)] = [
    ("nothing", model(), true),
    (
      "an inverse", model(.reference(to: "Author"), inverse("books", of: "author", in: "Book")),
      true
    ),
    (
      "an inverse's rule and bounds",
      model(
        .reference(to: "Author"),
        inverse("books", of: "author", in: "Book", .cascade, count: RelationBounds(1...))), true
    ),
    ("a rule", model(.reference(to: "Author", deleteRule: .cascade)), true),
    ("a destination", model(.reference(to: "Editor")), false),
    ("no checking", model(.reference(to: "Author", checked: false)), false),
    (
      "no checking, by the inverse",
      model(.reference(to: "Author"), inverse("books", of: "author", in: "Book", .noAction)), false
    ),
    ("a bare key", model(.integer), false),
    ("a list", model(.references(to: "Author")), false),
    ("a required one", model(optional: false), false),
  ]

  @Test
  func `I6: a fingerprint changes with the destination, the type and the checking, and no rule`()
    throws
  {
    let base = try Self.model().onlySchema
    for (what, model, isSame) in Self.changes {
      let changed = try model.onlySchema
      #expect((changed.fingerprint == base.fingerprint) == isSame, "\(what)")
      #expect(base.differences(to: changed).isEmpty == isSame, "\(what)")
    }
    let (one, other) = (
      Self.model(.references(to: "Author", count: 1...3)), Self.model(.references(to: "Author"))
    )
    #expect(try one.onlySchema.fingerprint == other.onlySchema.fingerprint)
  }

  @Test func `differences name the destination and the checking`() throws {
    let base = try Self.model().onlySchema
    let other = try Self.model(.reference(to: "Editor")).onlySchema
    #expect(
      base.differences(to: other).map(\.description) == [
        "Book.author leads to Editor instead of Author"
      ])
    let unchecked = try Self.model(.reference(to: "Author", checked: false)).onlySchema
    #expect(
      base.differences(to: unchecked).map(\.description) == [
        "Book.author is unchecked",
        "Book: the index (author) where author != null is removed",
      ])
  }

  @Test func `I8: references and inverses read as they were written`() throws {
    for (what, model, _) in Self.changes {
      let schema = try model.onlySchema
      let read = try decode(schema.encoded())
      #expect(read == schema, "\(what)")
      #expect(read.encoded() == schema.encoded(), "\(what)")
    }
  }

  @Test func `an inverse keeps its number when it is renamed, and gives it to no other`() throws {
    func model(_ version: Int, _ inverses: RecordDescription) -> StoreModel {
      StoreModel(
        version: version,
        untyped: [
          RemovedRecord("Book") { _ in
            Field(primaryKey: true, name: "id", type: .integer)
            Field(name: "author", type: .reference(to: "Author"), optional: true)
          },
          RemovedRecord("Author") { at in
            Self.author
            if at == 1 { inverse("books", of: "author", in: "Book") }
            if at == version, version > 1 { inverses }
          },
        ])
    }
    let first = try model(1, RecordDescription()).onlySchema
    let number = try #require(first.record(named: "Author")?.inverses.first?.number)
    let renamed = try model(
      2, inverse("works", of: "author", in: "Book", renamingID: "books")
    ).checked(after: first).schema
    #expect(renamed.record(named: "Author")?.inverses.map(\.number) == [number])
    let another = try model(2, inverse("works", of: "author", in: "Book"))
      .checked(after: first).schema
    #expect(another.record(named: "Author")?.inverses.map(\.number) == [number + 1])
    #expect(another.record(named: "Author")?.nextField == number + 2)
  }

  /// Schemas that no description makes.
  @Test func `D2: relations that cannot be are refused also where they are read`() throws {
    let base = try Self.model(
      .reference(to: "Author"), inverse("books", of: "author", in: "Book")
    ).onlySchema
    let (author, book) = (0, 1)
    let field = try #require(base.records[book].fields.firstIndex { $0.reference != nil })
    let impossible: [(String, (inout Schema) -> Void)] = [
      ("a reference to nothing", { $0.records[book].fields[field].reference?.record = 77 }),
      (
        "a reference of another type", { $0.records[book].fields[field].type = .scalar(.string) }
      ),
      ("no way back", { $0.records[book].indexes = [] }),
      (
        "a rule to do nothing",
        { $0.records[book].fields[field].reference?.deleteRule = .noAction }
      ),
      (
        "bounds of one",
        { $0.records[book].fields[field].reference?.bounds = RelationBounds(1...3) }
      ),
      ("an inverse of nothing", { $0.records[author].inverses[0].record = 77 }),
      ("an inverse of a field that leads nowhere", { $0.records[author].inverses[0].field = 2 }),
      (
        "an inverse of what leads elsewhere",
        { $0.records[book].fields[field].reference?.record = 3 }
      ),
      ("an inverse with a field's number", { $0.records[author].inverses[0].number = 1 }),
      ("an inverse with a number of none", { $0.records[author].inverses[0].number = 0 }),
      ("an inverse with a field's name", { $0.records[author].inverses[0].name = "id" }),
      (
        "two inverses of one",
        { schema in
          var other = schema.records[author].inverses[0]
          other.number += 1
          other.name = "more"
          schema.records[author].nextField += 1
          schema.records[author].inverses.append(other)
        }
      ),
      ("an inverse that checks nothing", { $0.records[author].inverses[0].deleteRule = .noAction }),
      (
        "an inverse without possible bounds",
        { $0.records[author].inverses[0].bounds = RelationBounds(least: 3, most: 2) }
      ),
    ]
    #expect(try decode(base.encoded()) == base)
    for (what, change) in impossible {
      var schema = base
      change(&schema)
      let bytes = schema.encoded()
      let error = storeError { () throws(StoreError) in _ = try decode(bytes) }
      guard case .corrupt(_, .schemaContents, _) = error else {
        Issue.record("\(what): \(String(describing: error))")
        continue
      }
    }
  }

  private func decode(_ bytes: [UInt8]) throws(StoreError) -> Schema {
    try Schema(decoding: bytes.rawSpan, version: 1, path: "here")
  }
}
