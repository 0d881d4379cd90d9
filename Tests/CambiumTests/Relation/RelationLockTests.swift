import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Relations in `Schema.lock`, and as Swift.
@Suite struct RelationLockTests {
  private static func model(
    field: FieldType = .reference(to: "Author"),
    _ inverses: RecordDescription = RecordDescription(),
    tags: FieldType = .references(to: "Tag", deleteRule: .deny, count: 0...10), version: Int = 1,
    _ index: RecordDescription = RecordDescription()
  ) -> StoreModel {
    untyped(
      version: version,
      (
        "Book",
        description {
          Field(primaryKey: true, name: "id", type: .integer)
          Field(name: "author", type: field, optional: true)
          Field(name: "tags", type: tags)
          Field(
            name: "cover", type: .reference(to: "Odd name", checked: false), optional: true,
            modifier: "m")
          Field(
            name: "by",
            type: .composite {
              Field(name: "editor", type: .reference(to: "Author", deleteRule: .cascade))
            })
          index
        }
      ),
      (
        "Author",
        description {
          Field(primaryKey: true, name: "id", type: .uuid)
          inverses
        }
      ), ("Tag", description { Field(primaryKey: true, name: "name", type: .string) }),
      ("Odd name", description { Field(primaryKey: true, name: "id", type: .integer) }))
  }

  private static let inverses = description {
    inverse("books", of: "author", in: "Book", .cascade, count: RelationBounds(0...12))
    inverse("edited", of: "by.editor", in: "Book", .deny, renamingID: "old")
  }

  /// With the name that the inverse had.
  private static let renamed: StoreModel = {
    let model = Self.model(inverses)
    let first = Self.model(
      description {
        inverse("books", of: "author", in: "Book", .cascade, count: RelationBounds(0...12))
        inverse("old", of: "by.editor", in: "Book", .deny)
      })
    return StoreModel(
      version: 2,
      untyped: zip(first.removed, model.removed).map { first, second in
        RemovedRecord(first.name) { $0 == 1 ? first.description(1) : second.description(2) }
      })
  }()

  private func lines(_ lock: SchemaLock, _ word: String) -> [String] {
    "\(lock)".split(separator: "\n").map { $0.trimmed }.filter { $0.hasPrefix(word + " ") }
  }

  @Test func `I4: references and inverses are lines of their own, and made indexes are none`()
    throws
  {
    let lock = try SchemaLock(Self.renamed).filter { $0.number == 2 }
    #expect(
      lines(lock, "field").filter { $0.contains(" to ") } == [
        "field author uuid to Author optional",
        "field by.editor uuid to Author cascade",
        #"field cover int64 to "Odd name" unchecked optional modifier "m""#,
        "field tags array of string to Tag deny count 0...10",
      ])
    #expect(
      lines(lock, "inverse") == [
        "inverse books of Book.author cascade count 0...12",
        "inverse edited of Book.by.editor deny renamed old",
      ])
    #expect(lines(lock, "index") == [])
  }

  @Test func `I4: what is printed is parsed as the same, and makes the same schema`() throws {
    let models = [
      Self.model(), Self.model(Self.inverses.withoutRenaming), Self.renamed,
      Self.model(inverse("books", of: "author", in: "Book", .noAction)),
      Self.model(field: .reference(to: "Author"), tags: .references(to: "Tag", count: 1...)),
      Self.model(RecordDescription(), description { RecordDescription.Index("author", "id") }),
      Self.model(
        RecordDescription(),
        description {
          RecordDescription.Index("by.editor")
          RecordDescription.Index("by.editor", "id")
          RecordDescription.Unique(.elements("tags"))
        }),
    ]
    for (place, model) in models.enumerated() {
      let lock = try SchemaLock(model)
      let parsed = try SchemaLock(parsing: "\(lock)")
      #expect(parsed == lock, "\(place)")
      #expect("\(parsed)" == "\(lock)", "\(place)")
      let made = try StoreModel(parsed)
      #expect(try made.schemas() == model.schemas().ordered(as: made.schemas()), "\(place)")
    }
  }

  @Test func `a lock with a fault in a relation says where it is`() {
    let faults: [(String, column: Int)] = [
      ("field author uuid to", 23), ("field tags array of string to Tag count", 42),
      ("field tags array of string to Tag count 1", 43),
      ("field tags array of string to Tag count 3...2", 43),
      ("field tags array of string to Tag count a...", 43), ("inverse", 10),
      ("inverse books Book.author", 11), ("inverse books of author", 20),
      ("inverse books of Book.author nullify", 32),
    ]
    let fingerprint = "fingerprint 0123456789abcdef0123456789abcdef"
    for (line, column) in faults {
      let text = "schema-lock 1\nversion 1\n\(fingerprint)\nrecord A\n  \(fingerprint)\n  \(line)\n"
      do throws(SchemaLockError) {
        _ = try SchemaLock(parsing: text)
        Issue.record("\(line)")
      } catch {
        guard case .malformed(line: 6, let found, _) = error else {
          Issue.record("\(line): \(error)")
          continue
        }
        #expect(found == column, "\(line): \(error)")
      }
    }
  }

  @Test
  func
    `J12: rules, bounds and inverses are harmless differences; destinations and checking are not`()
    throws
  {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/Schema.lock"
    try SchemaLock.write(Self.model(), at: path)
    let harmless: [(StoreModel, String)] = [
      (
        Self.model(field: .reference(to: "Author", deleteRule: .cascade)),
        "Book.author: the delete rule was nullify and is cascade"
      ),
      (
        Self.model(tags: .references(to: "Tag", deleteRule: .deny, count: 0...9)),
        "Book.tags: the bounds was 0...10 and is 0...9"
      ),
      (
        Self.model(inverse("books", of: "author", in: "Book", .cascade)),
        "Author.books: the inverse was none and is Book.author cascade"
      ),
    ]
    for (model, says) in harmless {
      let error = failure { try SchemaLock.check(model, at: path) }
      guard case .outdated(version: 1, let differences, _) = error else {
        Issue.record("\(says): \(String(describing: error))")
        continue
      }
      #expect(differences.map(\.description) == [says])
    }
    let harmful: [(StoreModel, String)] = [
      (
        Self.model(field: .reference(to: "Author", checked: false)),
        "Book.author is unchecked"
      ),
      (
        Self.model(inverse("books", of: "author", in: "Book", .noAction)),
        "Book.author is unchecked"
      ),
      (Self.model(field: .uuid), "Book.author no longer leads to Author"),
    ]
    for (model, says) in harmful {
      let error = failure { try SchemaLock.check(model, at: path) }
      guard case .changed(version: 1, let differences, _) = error else {
        Issue.record("\(says): \(String(describing: error))")
        continue
      }
      #expect(differences.map(\.description).contains(says), "\(differences)")
    }
  }

  @Test func `a description in Swift has references and inverses, and no made index`() throws {
    let schema = try Self.model(Self.inverses.withoutRenaming).onlySchema
    let book = try #require(schema.record(named: "Book"))
    #expect(
      Set(book.swiftStatements(isNamed: false, in: schema)) == [
        #"Field(primaryKey: true, name: "id", type: .integer)"#,
        #"Field(name: "author", type: .reference(to: Author.self), optional: true)"#,
        #"Field(name: "tags", type: .references(to: Tag.self, deleteRule: .deny, count: 0...10))"#,
        #"Field(name: "cover", type: .reference(to: `Odd name`.self, checked: false), optional: true, modifier: "m")"#,
        #"Field(name: "by", type: .composite {"#,
        #"  Field(name: "editor", type: .reference(to: Author.self, deleteRule: .cascade))"#, "})",
      ])
    let author = try #require(schema.record(named: "Author"))
    #expect(
      author.swiftStatements(isNamed: false, in: schema).suffix(2) == [
        #"Inverse<Author, Book>("books", of: "author", deleteRule: .cascade, count: 0...12)"#,
        #"Inverse<Author, Book>("edited", of: "by.editor", deleteRule: .deny)"#,
      ])
    let list = try Self.model().onlySchema
    #expect(list.record(named: "Tag")?.inverses == [])
  }

  private func failure(_ body: () throws -> Void) -> SchemaLockError? {
    do {
      try body()
      return nil
    } catch { return error as? SchemaLockError }
  }
}

extension RecordDescription {
  fileprivate var withoutRenaming: RecordDescription {
    RecordDescription(
      elements.map { element in
        guard case .inverse(let inverse) = element.kind else { return element }
        return Element(
          kind: .inverse(
            InverseDeclaration(
              name: inverse.name, related: inverse.related, reference: inverse.reference,
              deleteRule: inverse.deleteRule, bounds: inverse.bounds, renamingID: nil)))
      })
  }
}

extension Substring {
  fileprivate var trimmed: String { String(drop { $0 == " " }) }
}
