import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Descriptions of relations: those that are accepted, and the sentences that refuse the others.
@Suite struct RelationDescriptionTests {
  private static let author = description {
    Field(primaryKey: true, name: "id", type: .uuid)
    Field(name: "name", type: .string)
  }

  /// A book with one field more.
  private static func book(_ field: Field) -> RecordDescription {
    description {
      Field(primaryKey: true, name: "id", type: .integer)
      field
    }
  }

  private static func author(_ inverses: RecordDescription...) -> RecordDescription {
    description {
      author
      for inverse in inverses { inverse }
    }
  }

  private static let optional = book(
    Field(name: "author", type: .reference(to: "Author"), optional: true))
  private static let required = book(Field(name: "author", type: .reference(to: "Author")))
  private static let list = book(Field(name: "authors", type: .references(to: "Author")))
  private static let unchecked = book(
    Field(name: "author", type: .reference(to: "Author", checked: false), optional: true))

  private struct Fault {
    let model: StoreModel
    let record: String
    let field: String?
    let says: String

    init(
      _ book: RecordDescription, _ author: RecordDescription, of record: String, _ field: String?,
      _ says: String
    ) {
      model = untyped(("Book", book), ("Author", author))
      self.record = record
      self.field = field
      self.says = says
    }
  }

  @Test func `an inverse without a rule cuts what can be cut, and otherwise denies`() throws {
    let key = description {
      Field(primaryKey: true, name: "author", type: .reference(to: "Author"))
    }
    for (book, field, rule) in [
      (Self.required, "author", DeleteRule.deny), (key, "author", .deny),
      (Self.optional, "author", .nullify), (Self.list, "authors", .nullify),
    ] {
      let author = Self.author(
        description { UntypedInverse("books", of: field, in: "Book") })
      let schema = try untyped(("Book", book), ("Author", author)).checked().schema
      let inverse = try #require(schema.record(named: "Author")?.inverse(named: "books"))
      #expect(inverse.deleteRule == rule)
    }
  }

  private static let faults: [Fault] = [
    Fault(
      book(Field(name: "author", type: .reference(to: "Writer"))), author, of: "Book", "author",
      "it leads to Writer, which is not in this version of the model"),
    Fault(
      optional,
      description {
        Field(primaryKey: true, name: "name", type: .string)
        Field(primaryKey: true, name: "year", type: .integer)
      }, of: "Book", "author",
      "it leads to Author, whose primary key is not one field; keep the parts as fields of their own, or"
        + " give Author a key of one field"),
    Fault(
      required, author(inverse("books", of: "author", in: "Book")), of: "Author", "books",
      "Book.author cannot be cut, since it is not optional; let the delete rule be .cascade or .deny"
    ),
    Fault(
      description {
        Field(primaryKey: true, name: "author", type: .reference(to: "Author"))
      }, author(inverse("books", of: "author", in: "Book")), of: "Author", "books",
      "Book.author cannot be cut, since it is in the primary key; let the delete rule be .cascade or .deny"
    ),
    Fault(
      optional,
      author(inverse("books", of: "author", in: "Book"), inverse("all", of: "author", in: "Book")),
      of: "Author", "all", "Book.author has another inverse already"),
    Fault(
      optional, author(inverse("name", of: "author", in: "Book")), of: "Author", "name",
      "a field or another inverse has that name too"),
    Fault(
      optional, author(inverse("a.b", of: "author", in: "Book")), of: "Author", "a.b",
      "its name has a dot, which is for parts of composites"),
    Fault(
      optional, author(inverse("books", of: "title", in: "Book")), of: "Author", "books",
      "Book has no reference title"),
    Fault(
      optional, author(inverse("books", of: "id", in: "Book")), of: "Author", "books",
      "Book has no reference id"),
    Fault(
      optional, author(inverse("books", of: "author", in: "Novel")), of: "Author", "books",
      "it is the other end of a reference of Novel, which is not in this version"),
    Fault(
      description {
        optional
        Field(name: "sequel", type: .reference(to: "Book"), optional: true)
      }, author(inverse("books", of: "sequel", in: "Book")), of: "Author", "books",
      "Book.sequel leads to Book, not to Author"),
    Fault(
      unchecked, author(inverse("books", of: "author", in: "Book")), of: "Author", "books",
      "Book.author is not checked, so its inverse has no delete rule"),
    Fault(
      optional,
      author(
        inverse(
          "books", of: "author", in: "Book", .noAction,
          count: RelationBounds(least: 0, most: 3))), of: "Author", "books",
      "Book.author is not checked, so there are no bounds"),
    Fault(
      book(
        Field(
          name: "author", type: .reference(to: "Author", deleteRule: .cascade, checked: false))),
      author, of: "Book", "author",
      "it is not checked, so nothing can happen with its destination"),
    Fault(
      book(Field(name: "author", type: .reference(to: "Author"), optional: true, unique: true)),
      author(
        inverse("books", of: "author", in: "Book", count: RelationBounds(least: 2, most: nil))),
      of: "Author", "books", "Book.author is unique, so there are never 2 of them"),
    Fault(
      book(Field(name: "authors", type: .references(to: "Author", count: -1...3))), author,
      of: "Book", "authors", "bounds are 0 to 4294967295, the upper one at least 1"),
    Fault(
      book(Field(name: "authors", type: .references(to: "Author", count: ...0))), author,
      of: "Book", "authors", "bounds are 0 to 4294967295, the upper one at least 1"),
    Fault(
      book(Field(name: "authors", type: .references(to: "Author", count: 1..<1))), author,
      of: "Book", "authors", "bounds are 0 to 4294967295, the upper one at least 1"),
    Fault(
      optional,
      author(
        inverse("books", of: "author", in: "Book", count: RelationBounds(least: 5, most: 3))),
      of: "Author", "books", "no number is at least 5 and at most 3"),
    Fault(
      description {
        Field(primaryKey: true, name: "id", type: .reference(to: "Author"))
      }, description { Field(primaryKey: true, name: "id", type: .reference(to: "Book")) },
      of: "Book", "id", "the primary key of Book is a reference that leads back to itself"),
    Fault(
      description { Field(primaryKey: true, name: "id", type: .references(to: "Author")) }, author,
      of: "Book", "id", "has no order"),
    Fault(
      description {
        optional
        Field(name: "title", type: .string)
        RecordDescription.Index("title", named: "author")
      }, author, of: "Book", nil, "there are two indexes author; name one of them otherwise"),
    Fault(
      book(Field(name: "authors", type: .array(of: .reference(to: "Author")))), author, of: "Book",
      "authors", "an array has no arrays, composites or transformables in it"),
    Fault(
      book(
        Field(
          name: "author", type: .reference(to: "Author"), storage: .external(), optional: true)),
      author, of: "Book", "author", "only binary data and strings are stored externally, not uuid"),
  ]

  @Test func `C1 C3: what no relation can be is refused by name`() {
    for (index, fault) in Self.faults.enumerated() {
      let result = Result { () throws(StoreError) in try fault.model.onlySchema }
      guard case .failure(.invalidDescription(let record, let field, 1, let reason)) = result else {
        Issue.record("fault \(index), \(fault.says): \(result)")
        continue
      }
      #expect(record == fault.record, "fault \(index): \(reason)")
      #expect(field == fault.field, "fault \(index): \(reason)")
      #expect(reason.contains(fault.says), "fault \(index): \(reason)")
    }
  }

  /// Accepted descriptions, and the schemas that they make.
  private static let accepted: [(String, StoreModel, ReferenceSchema, WayBack?, canCut: Bool)] = [
    (
      "an optional reference", untyped(("Book", optional), ("Author", author)),
      reference(), .index("author", where: "author != null"), true
    ),
    (
      "a required reference", untyped(("Book", required), ("Author", author)), reference(),
      .index("author", where: nil), false
    ),
    (
      "a list", untyped(("Book", list), ("Author", author)), reference(),
      .index("elements(authors)", where: nil), true
    ),
    (
      "an unchecked reference", untyped(("Book", unchecked), ("Author", author)),
      reference(isChecked: false), nil, true
    ),
    (
      "one whose other end does nothing",
      untyped(
        ("Book", optional),
        ("Author", author(inverse("books", of: "author", in: "Book", .noAction)))
      ), reference(isChecked: false), nil, true
    ),
    (
      "one to one",
      untyped(
        (
          "Book",
          book(Field(name: "author", type: .reference(to: "Author"), optional: true, unique: true))
        ), ("Author", author)), reference(), .index("author", where: nil), true
    ),
    (
      "an indexed one",
      untyped(
        (
          "Book",
          book(Field(name: "author", type: .reference(to: "Author"), optional: true, indexed: true))
        ), ("Author", author)), reference(), .index("author", where: nil), true
    ),
    (
      "the first of an index",
      untyped(
        (
          "Book",
          description {
            optional
            Field(name: "year", type: .integer)
            RecordDescription.Index(.descending("author"), "year")
          }
        ), ("Author", author)), reference(), .index("author descending, year", where: nil), true
    ),
    (
      "the second of an index",
      untyped(
        (
          "Book",
          description {
            optional
            Field(name: "year", type: .integer)
            RecordDescription.Index("year", "author")
          }
        ), ("Author", author)), reference(), .index("author", where: "author != null"), true
    ),
    (
      "the first of the primary key",
      untyped(
        (
          "Book",
          description {
            Field(primaryKey: true, name: "author", type: .reference(to: "Author"))
            Field(primaryKey: true, name: "number", type: .integer)
          }
        ), ("Author", author)), reference(), .rows, false
    ),
    (
      "the second of the primary key",
      untyped(
        (
          "Book",
          description {
            Field(primaryKey: true, name: "number", type: .integer)
            Field(primaryKey: true, name: "author", type: .reference(to: "Author"))
          }
        ), ("Author", author)), reference(), .index("author", where: nil), false
    ),
    (
      "a list with bounds and a rule",
      untyped(
        (
          "Book",
          book(
            Field(
              name: "authors",
              type: .references(to: "Author", deleteRule: .cascade, count: 1...3)))
        ), ("Author", author)),
      reference(deleteRule: .cascade, bounds: RelationBounds(least: 1, most: 3)),
      .index("elements(authors)", where: nil), true
    ),
    (
      "a unique list",
      untyped(
        ("Book", book(Field(name: "authors", type: .references(to: "Author"), unique: true))),
        ("Author", author)), reference(), .index("elements(authors)", where: nil), true
    ),
    (
      "a rule to do nothing",
      untyped(
        (
          "Book",
          book(
            Field(
              name: "author", type: .reference(to: "Author", deleteRule: .noAction),
              optional: true))
        ), ("Author", author)), reference(), .index("author", where: "author != null"), true
    ),
    (
      "one in an optional composite",
      untyped(
        (
          "Book",
          book(
            Field(
              name: "by",
              type: .composite { Field(name: "author", type: .reference(to: "Author")) },
              optional: true))
        ), ("Author", author)), reference(), .index("by.author", where: "by.author != null"),
      false
    ),
  ]

  private enum WayBack: Equatable {
    case rows
    case index(String, where: String?)
  }

  private static func reference(
    isChecked: Bool = true, deleteRule: DeleteRule = .nullify, bounds: RelationBounds? = nil
  ) -> ReferenceSchema {
    ReferenceSchema(
      record: 1, destination: "Author", isChecked: isChecked, deleteRule: deleteRule,
      bounds: bounds)
  }

  @Test func `C1 C2 C3: every shape of reference has its way back`() throws {
    for (what, model, reference, wayBack, canCut) in Self.accepted {
      let book = try #require(try model.onlySchema.record(named: "Book"), "\(what)")
      let field = try #require(book.fields.first { $0.reference != nil }, "\(what)")
      #expect(field.reference == reference, "\(what)")
      #expect(book.canCut(field) == canCut, "\(what)")
      let found: WayBack? =
        switch book.wayBack(of: field) {
        case nil: nil
        case .rows: .rows
        case .index(let place):
          .index(
            book.indexes[place].name,
            where: book.indexes[place].condition.map { "\($0)" })
        }
      #expect(found == wayBack, "\(what)")
    }
  }

  @Test func `an index that is described is not one that a reference has made`() throws {
    let made = try untyped(("Book", Self.optional), ("Author", Self.author)).onlySchema
    let stated = try untyped(
      (
        "Book",
        Self.book(
          Field(name: "author", type: .reference(to: "Author"), optional: true, unique: true))
      ), ("Author", Self.author)
    ).onlySchema
    #expect(made.records[1].indexes.map { made.records[1].isMade($0) } == [true])
    #expect(stated.records[1].indexes.map { stated.records[1].isMade($0) } == [false])
  }

  @Test func `C1 C8: records may lead to themselves, and in a ring`() throws {
    let person = description {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "manager", type: .reference(to: "Person"), optional: true)
      Field(name: "friends", type: .references(to: "Person"))
      inverse("staff", of: "manager", in: "Person", .deny, count: RelationBounds(0...12))
      inverse("fans", of: "friends", in: "Person")
    }
    let record = try #require(try untyped(("Person", person)).onlySchema.records.first)
    #expect(record.fields.compactMap { $0.reference?.record } == [1, 1])
    #expect(record.inverses.map(\.name).sorted() == ["fans", "staff"])
    #expect(
      record.inverse(named: "staff").map { record.field($0.field)?.name } == "manager")
    let ring = try untyped(
      ("A", Self.book(Field(name: "next", type: .reference(to: "B")))),
      ("B", Self.book(Field(name: "next", type: .reference(to: "C")))),
      ("C", Self.book(Field(name: "next", type: .reference(to: "A"))))
    ).onlySchema
    #expect(
      ring.records.map { $0.fields.compactMap { $0.reference?.destination } }
        == [["B"], ["C"], ["A"]])
  }

  @Test func `a column has the type of the primary key that it leads to, also through references`()
    throws
  {
    let types: [FieldType] = [
      .integer, .int8, .uint64, .string, .uuid, .binaryData, .url, .date, .decimal,
    ]
    for type in types {
      let schema = try untyped(
        (
          "Book",
          description {
            Field(primaryKey: true, name: "id", type: .integer)
            Field(name: "one", type: .reference(to: "Extra"))
            Field(name: "all", type: .references(to: "Extra"))
          }
        ),
        // One to one: its key is another's.
        (
          "Extra", description { Field(primaryKey: true, name: "of", type: .reference(to: "Root")) }
        ),
        ("Root", description { Field(primaryKey: true, name: "key", type: type) })
      ).onlySchema
      let key = try #require(schema.record(named: "Root")?.fields[0].type.scalar)
      let book = try #require(schema.record(named: "Book"))
      #expect(book.field(named: "one")?.type == .scalar(key))
      #expect(book.field(named: "all")?.type == .array(of: key))
      #expect(schema.record(named: "Extra")?.fields[0].type == .scalar(key))
    }
  }
}
