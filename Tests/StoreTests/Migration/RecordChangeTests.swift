import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A library in two versions: one record comes, one goes, one has another name, and one another key.
private enum Library {
  struct Book: Record, Equatable {
    var isbn: String
    var shelf: Int?
    var year: String
    static func recordDescription(for version: Int) -> RecordDescription { Library.book(version) }
  }

  struct Volume: Record, Equatable {
    var isbn: String
    var shelf: Int?
    var year: Int?
    static func recordDescription(for version: Int) -> RecordDescription { Library.book(version) }
  }

  struct Loan: Record, Equatable {
    var id: Int
    var code: String
    static func recordDescription(for version: Int) -> RecordDescription { Library.loan(version) }
  }

  struct CodedLoan: Record, Equatable {
    var code: String
    var id: Int
    static func recordDescription(for version: Int) -> RecordDescription { Library.loan(version) }
  }

  struct Draft: Record, Equatable {
    var id: Int
    @RecordDescription.ResultBuilder
    static func recordDescription(for version: Int) -> RecordDescription {
      if version < 2 { Field(primaryKey: true, name: "id", type: .integer, indexed: false) }
    }
  }

  struct Reader: Record, Equatable {
    var name: String
    @RecordDescription.ResultBuilder
    static func recordDescription(for version: Int) -> RecordDescription {
      if version > 1 { Field(primaryKey: true, name: "name", type: .string) }
    }
  }

  @RecordDescription.ResultBuilder
  static func book(_ version: Int) -> RecordDescription {
    if version < 2 {
      RecordName("Book")
    } else {
      RecordName("Volume", renamingID: "Book")
    }
    Field(primaryKey: true, name: "isbn", type: .string)
    Field(name: "shelf", type: .integer, optional: true, indexed: true)
    Field(
      name: "year", type: version < 2 ? .string : .integer, optional: version > 1,
      indexed: version > 1)
  }

  @RecordDescription.ResultBuilder
  static func loan(_ version: Int) -> RecordDescription {
    RecordName("Loan")
    Field(primaryKey: version < 2, name: "id", type: .integer, indexed: version > 1)
    Field(primaryKey: version > 1, name: "code", type: .string, indexed: version < 2)
  }

  static let first = StoreModel(records: [Book.self, Loan.self, Draft.self])
  static let second = StoreModel(
    version: 2, records: [Volume.self, CodedLoan.self, Draft.self, Reader.self])
  static let aside = [
    MigrationStep(to: 2) { UpdateRecord("Volume") { UpdateField("year", converting: .setAside) } }
  ]
}

@Suite struct RecordChangeTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }
  private static let count = scaled(3_000, debug: 200)

  init() throws {
    directory = try TemporaryDirectory()
  }

  private static func book(_ number: Int) -> Library.Book {
    Library.Book(
      isbn: "i\(1000 + number)", shelf: number % 4 == 0 ? nil : number % 7,
      year: number % 9 == 1 ? "unknown" : "\(1900 + number % 100)")
  }

  private func make(code: (Int) -> String = { "c\($0 * 7919 % 10_007)" }) throws {
    let store = try PersistentStore(at: path, model: Library.first)
    try store.write { transaction in
      for number in 0..<Self.count {
        try transaction.insert(Self.book(number))
        try transaction.insert(Library.Loan(id: number, code: code(number)))
        try transaction.insert(Library.Draft(id: number))
      }
    }
    try store.close()
  }

  @Test func `records come, go, get another name and another key, J6 J7 J12 J15`() throws {
    try make()
    let store = try PersistentStore(at: path, model: Library.second, steps: Library.aside)
    #expect(
      try store.fetch(Library.Volume.self)
        == (0..<Self.count).map { number in
          let book = Self.book(number)
          return Library.Volume(isbn: book.isbn, shelf: book.shelf, year: Int(book.year))
        })
    #expect(
      try store.fetch(Library.CodedLoan.self)
        == (0..<Self.count).map { Library.CodedLoan(code: "c\($0 * 7919 % 10_007)", id: $0) }
        .sorted { $0.code < $1.code })
    #expect(try store.fetch(Library.CodedLoan.where { $0.id == 17 }).count == 1)
    #expect(try store.count(Library.Reader.self) == 0)
    try store.insert(Library.Reader(name: "r"))
    #expect(storeError { try store.count(Library.Draft.self) } != nil)
    #expect(try store.snapshot().check() == [])
    try store.close()
  }

  @Test func `what does not convert is set aside with its old record, and can be read later, J13`()
    throws
  {
    try make()
    let store = try PersistentStore(at: path, model: Library.second, steps: Library.aside)
    let unknown = (0..<Self.count).map(Self.book).filter { $0.year == "unknown" }
    let aside = try store.valuesSetAside()
    #expect(
      try aside.map { try $0.record["isbn", as: String.self] }.sorted()
        == unknown.map(\.isbn).sorted())
    #expect(aside.allSatisfy { $0.value == "unknown" && $0.field == "year" && $0.version == 1 })
    #expect(aside.allSatisfy { $0.record.name == "Book" })
    #expect(try store.fetch(Library.Volume.where { $0.year == nil }).count == unknown.count)
    try store.close()
  }

  @Test
  func `keys that two records would have are counted in the plan, and refused by both names, J12`()
    throws
  {
    try make { number in number == 150 ? "c7919" : "c\(number * 7919 % 10_007)" }
    let migration = try PersistentStore.migration(
      at: path, to: Library.second, steps: Library.aside)
    #expect(
      migration.plan.faults == [
        .duplicates(record: "Loan", constraint: "primary key", count: 1, first: "150 as 1")
      ],
      "\(migration.plan)")
    guard case .stepFailed(2, let source, let reason) = storeError({ try migration.run() }) else {
      return #expect(Bool(false), "it is migrated")
    }
    #expect(source == "Loan 150" && reason.contains("Loan 1 makes too"), "\(source): \(reason)")
    let store = try PersistentStore(at: path, model: Library.first)
    #expect(try store.count(Library.Loan.self) == Self.count)
    #expect(try store.snapshot().check() == [])
    try store.close()
  }

  @Test func `the state before is kept, and a run tells of every record that it looks at, P4 Q4`()
    throws
  {
    try make()
    let migration = try PersistentStore.migration(
      at: path, to: Library.second, steps: Library.aside)
    let report = try migration.run()
    // Books and loans put together, and the indexes of both.
    #expect(report.records >= 4 * Self.count, "\(report)")
    let store = try PersistentStore(at: path, model: Library.second)
    #expect(try store.keptVersions().map(\.version) == [1])
    try store.close()
    try PersistentStore.rollback(at: path, to: 1)
    let old = try PersistentStore(at: path, model: Library.first)
    #expect(try old.fetch(Library.Book.self) == (0..<Self.count).map(Self.book))
    #expect(try old.count(Library.Draft.self) == Self.count)
    try old.close()
  }
}
