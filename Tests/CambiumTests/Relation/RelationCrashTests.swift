import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// The power goes before every call, or a call fails, while deletions take others with them: a store is as one of the commits
/// left it, so no reference leads nowhere.
@Suite struct RelationCrashTests {
  private struct Shelf: Record, Identifiable, Equatable {
    var id: Int
    var label: String

    static let books = Inverse("books", of: \Book.shelf, deleteRule: .cascade)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "label", type: .string, unique: true)
      books
    }
  }

  private struct Tag: Record, Identifiable, Equatable {
    var id: String

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .string)
    }
  }

  private struct Book: Record, Identifiable, Equatable {
    var id: Int
    var shelf: Reference<Shelf>
    var tags: [Reference<Tag>]
    /// Another one, which does without it.
    var sequel: Reference<Book>?

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "shelf", type: .reference(to: Shelf.self))
      Field(name: "tags", type: .references(to: Tag.self))
      Field(name: "sequel", type: .reference(to: Book.self), optional: true)
    }
  }

  /// Keeps its book from being deleted.
  private struct Loan: Record, Equatable {
    var book: Reference<Book>

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "book", type: .reference(to: Book.self))
    }
  }

  private struct World: Equatable {
    var shelves: [Shelf]
    var tags: [Tag]
    var books: [Book]
    var loans: [Loan]

    init(_ reader: borrowing some RecordReading & ~Copyable) throws {
      shelves = try reader.fetch(Shelf.self)
      tags = try reader.fetch(Tag.self)
      books = try reader.fetch(Book.self)
      loans = try reader.fetch(Loan.self)
    }
  }

  private static var model: StoreModel {
    StoreModel(records: [Shelf.self, Tag.self, Book.self, Loan.self])
  }

  // MARK: What a program does

  private static func commit(_ number: Int, _ transaction: inout WriteTransaction) throws {
    switch number {
    case 0, 1, 2:
      // Every reference comes before what it leads to.
      for id in number * 50..<(number + 1) * 50 {
        let sequel = id % 50 == 49 ? nil : Reference<Book>(id + 1)
        try transaction.insert(
          Book(
            id: id, shelf: Reference(number), tags: [Reference("new"), Reference("old")],
            sequel: sequel))
      }
      try transaction.insert(Loan(book: Reference(number * 50 + 7)))
      try transaction.insert(Shelf(id: number, label: "shelf \(number)"))
      try transaction.save(Tag(id: "new"))
      try transaction.save(Tag(id: "old"))
    case 3:
      // Cuts a list of each book.
      try transaction.delete(Tag(id: "new"))
    case 4:
      // A deletion that is refused by its plan changes nothing; the other changes are committed.
      let plan = try transaction.deletion(of: Shelf(id: 0, label: ""))
      guard let error = plan.denial else { throw Disagreement(description: "it is not refused") }
      guard case .deleteDenied("Book", "7", "Loan.book", 1) = error else { throw error }
      try transaction.delete(Loan.self, key: 57)
      try transaction.insert(Shelf(id: 9, label: "empty"))
    case 5:
      // Takes 50 books with it, and cuts what leads to the last of them.
      var book = try transaction.fetch(Book.self, key: 3)
      book?.sequel = Reference(99)
      if let book { try transaction.update(book) }
      try transaction.delete(Shelf.self, key: 1)
    default:
      try transaction.delete(Loan(book: Reference(107)))
      try transaction.insert(Shelf(id: 10, label: "shelf 2"), onConflict: .replaceOther)
    }
  }

  private static func sweep(spilling: Bool) -> CommitSweep<World> {
    CommitSweep(
      name: "relations", model: model, commitCount: 7,
      transactionBudget: spilling ? 3 << 10 : nil, commit: commit, world: World.init)
  }

  // MARK: Tests

  @Test func `each commit deletes and cuts what its rules say`() throws {
    let worlds = try Self.sweep(spilling: false).worlds()
    #expect(worlds.map(\.books.count) == [0, 50, 100, 150, 150, 150, 100, 50])
    #expect(worlds.map(\.loans.count) == [0, 1, 2, 3, 3, 2, 2, 1])
    #expect(worlds.map(\.shelves.count) == [0, 1, 2, 3, 3, 4, 3, 3])
    #expect(worlds[4].books.allSatisfy { $0.tags == [Reference("old")] })
    #expect(worlds[6].books[3].sequel == nil)
  }

  @Test(arguments: [false, true])
  func `crashes before any call leave a deletion whole or undone, X1, X2`(spilling: Bool) throws {
    let findings = try Self.sweep(spilling: spilling).crash(stride: scaled(1, debug: 7))
    #expect(findings.violations == [])
    #expect(findings.count > scaled(1_000, debug: 60))
  }

  @Test(arguments: [false, true])
  func `a call that fails leaves a deletion whole or undone, X4`(spilling: Bool) throws {
    let findings = try Self.sweep(spilling: spilling).fail(stride: scaled(1, debug: 17))
    #expect(findings.violations == [])
    #expect(findings.count > scaled(100, debug: 10))
  }
}
