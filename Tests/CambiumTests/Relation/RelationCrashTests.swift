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

  private static func open(
    _ medium: SimulatedFileSystem, spilling: Bool, seed: UInt64
  ) throws -> PersistentStore {
    var options = EngineOptions.small(foldThreshold: 8 << 10)
    options.nodeSizes = .forLongKeys
    if spilling { options.transactionBudget = 3 << 10 }
    let backend = try EngineBackend(alone: medium, options, creating: true, seed: seed)
    let opening = try StoreOpening(model, steps: [], .automatic, StoreOptions())
    return PersistentStore(try opening.open(backend), StoreOptions())
  }

  // MARK: What a program does

  private static let commitCount = 7

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
      // The refused deletion changes nothing; the other changes are committed.
      let error = storeError { try transaction.delete(Shelf.self, key: 0) }
      guard let error else { throw Disagreement(description: "it is not refused") }
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

  private static func live(_ store: PersistentStore) throws {
    for number in 0..<commitCount { try store.write { try commit(number, &$0) } }
    try store.close()
  }

  /// The records after each commit, and before the first.
  private static func states() throws -> [World] {
    let store = try PersistentStore(inMemory: model)
    var states = [try World(store)]
    for number in 0..<commitCount {
      try store.write { try commit(number, &$0) }
      states.append(try World(store))
    }
    return states
  }

  private static func violation(
    in medium: SimulatedFileSystem, of states: [World]
  ) -> String? {
    do {
      let store = try open(medium, spilling: false, seed: 3)
      let found = try World(store)
      try agree(states.contains(found), "no commit left \(found)")
      let faults = try store.snapshot().check()
      try agree(faults.isEmpty, "\(faults)")
      try store.close()
    } catch {
      return "\(error)"
    }
    return nil
  }

  // MARK: Tests

  @Test func `each commit deletes and cuts what its rules say`() throws {
    let states = try Self.states()
    #expect(states.map(\.books.count) == [0, 50, 100, 150, 150, 150, 100, 50])
    #expect(states.map(\.loans.count) == [0, 1, 2, 3, 3, 2, 2, 1])
    #expect(states.map(\.shelves.count) == [0, 1, 2, 3, 3, 4, 3, 3])
    #expect(states[4].books.allSatisfy { $0.tags == [Reference("old")] })
    #expect(states[6].books[3].sequel == nil)
  }

  @Test(arguments: [false, true])
  func `a crash before any call leaves a deletion whole or undone, X1`(spilling: Bool) throws {
    let states = try Self.states()
    let medium = SimulatedFileSystem()
    let store = try Self.open(medium, spilling: spilling, seed: 1)
    var count = 0
    var violations: [String] = []
    let stride = scaled(1, debug: 7)
    medium.beforeEachCall { call in
      guard call % stride == 0 else { return }
      for policy in CrashPolicy.some(4, pending: medium.pendingCount, seed: UInt64(call)) {
        count += 1
        if let violation = Self.violation(in: medium.crashed(policy), of: states) {
          violations.append("call \(call), \(policy): \(violation)")
        }
      }
    }
    try Self.live(store)
    medium.beforeEachCall(nil)
    for violation in violations.prefix(5) { Issue.record("\(violation)") }
    #expect(count > scaled(200, debug: 20))
    print("relations: \(count.grouped) crash images, \(violations.count) violations")
  }

  @Test(arguments: [false, true])
  func `a call that fails leaves a deletion whole or undone, X4`(spilling: Bool) throws {
    let states = try Self.states()
    let whole = SimulatedFileSystem()
    let store = try Self.open(whole, spilling: spilling, seed: 1)
    let start = whole.callCount
    try Self.live(store)
    var count = 0
    for call in stride(from: start, to: whole.callCount, by: scaled(1, debug: 17)) {
      for fault in [Fault.error(.ioError), .error(.noSpace), .flush(.errorCacheReverts)] {
        guard fault.applies(to: whole.calls[call].operation) else { continue }
        let medium = SimulatedFileSystem()
        let store = try Self.open(medium, spilling: spilling, seed: 1)
        medium.inject(fault, at: .call(call), .once)
        count += 1
        do {
          try Self.live(store)
        } catch let error as StoreError {
          switch error {
          case .io, .full, .poisoned, .outcomeUnknown: break
          default: throw error
          }
        }
        medium.heal()
        // The transaction has thrown, and the store shows what it showed before.
        if let found = try? World(store), !states.contains(found) {
          Issue.record("\(fault) at call \(call): a failed commit shows \(found)")
        }
        medium.restart()
        if let violation = Self.violation(in: medium, of: states) {
          Issue.record("\(fault) at call \(call): \(violation)")
        }
      }
    }
    #expect(count > scaled(100, debug: 10))
    print("relations: \(count.grouped) failed calls")
  }
}
