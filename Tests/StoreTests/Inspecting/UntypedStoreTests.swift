import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Stores without Swift types: opened as they describe themselves, and made of locks.
@Suite struct UntypedStoreTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }

  init() throws {
    directory = try TemporaryDirectory()
  }

  struct Book: Record {
    var isbn: String
    var pages: Int32
    var size: Size?
    var extra: [Int]

    struct Size: Codable, Equatable, Sendable {
      var width: Double
    }

    static func recordDescription(for version: Int) -> RecordDescription {
      if version > 1 { RecordName("Volume", renamingID: "Book") }
      Field(primaryKey: true, name: "isbn", type: .string)
      Field(
        name: version > 1 ? "length" : "pages", type: .int32, property: "pages", default: 7,
        modifier: "m", migrationInfo: version > 1 ? .init(default: 9, renamingID: "pages") : nil)
      Field(name: "size", type: .composite { Field(name: "width", type: .double) }, optional: true)
      Field(name: "extra", type: .transformable, default: [1, 2])
      RecordModifier("x")
      Unique("isbn", .descending("size.width"), named: "odd \"name\"")
      Index(.caseInsensitive("isbn"), where: .comparison(field: "isbn", .notEqual, "a\"b"))
    }
  }

  private func model(_ version: Int) -> StoreModel {
    StoreModel(version: version, label: "label", records: [Book.self])
  }

  @Test(arguments: [1, 2]) func `a model made of a lock describes the same`(_ version: Int) throws {
    let typed = model(version)
    let lock = try SchemaLock(typed)
    let made = try StoreModel(SchemaLock(parsing: "\(lock)"))
    #expect(try made.schemas() == typed.schemas().ordered(as: made.schemas()))
    #expect("\(try SchemaLock(made))" == "\(lock)")
  }

  @Test func `the lock of a store's schemas makes its model again`() throws {
    let schemas = try model(2).schemas()
    let last = try #require(schemas.last)
    let made = try StoreModel(SchemaLock(parsing: "\(SchemaLock([last]))")).schemas()
    #expect(made.last?.fingerprint == last.fingerprint)
    #expect(
      made.last?.records.first?.indexes.map(\.name) == last.records.first?.indexes.map(\.name))
  }

  @Test func `a lock whose fingerprints are others' is refused`() throws {
    let text = "\(try SchemaLock(model(1)))".replacing(
      "field pages int32", with: "field pages int64")
    let lock = try SchemaLock(parsing: text)
    guard case .invalidDescription("Book", _, 1, _) = storeError({ try StoreModel(lock) }) else {
      Issue.record("it was taken")
      return
    }
    #expect(throws: StoreError.self) { try StoreModel(SchemaLock([])) }
  }

  @Test func `names of indexes are no difference to a store`() throws {
    let lock = try SchemaLock(model(1))
    let other = try SchemaLock(parsing: "\(lock)".replacing(#" named "odd \"name\"""#, with: ""))
    #expect(lock != other)
    let (one, two) = (try #require(lock[1]), try #require(other[1]))
    #expect(one.differences(to: two).isEmpty)
    #expect(one.harmlessDifferences(to: two).count == 1)
  }

  @Test func `a store made of a lock is the program's`() throws {
    let made = try PersistentStore(at: path, model: StoreModel(SchemaLock(model(1))))
    let record = DynamicRecord(
      "Book",
      [
        "isbn": "1", "pages": .integer(3), "extra": .data(Data("[5]".utf8)),
        "size": .composite(["width": .double(2)]),
      ])
    try made.write { transaction in try transaction.save(record) }
    try made.close()
    let store = try PersistentStore(at: path, model: model(1))
    let book = try #require(try store.fetch(Book.self, key: "1"))
    #expect(book.extra == [5] && book.pages == 3 && book.size == Book.Size(width: 2))
    try store.close()
  }

  @Test func `a store is migrated by a lock as by the program`() throws {
    let store = try PersistentStore(at: path, model: model(1))
    try store.save(Book(isbn: "1", pages: 3, size: nil, extra: []))
    try store.close()
    let migration = try PersistentStore.migration(
      at: path, to: try StoreModel(SchemaLock(model(2))))
    #expect(migration.plan.canRun)
    try migration.run()
    let after = try PersistentStore(at: path, model: model(2), migration: .refuse)
    #expect(try after.fetch(Book.self, key: "1")?.pages == 3)
    try after.close()
  }

  @Test func `a store is written to as it describes itself`() throws {
    try PersistentStore(at: path, model: model(1)).close()
    let store = try PersistentStore(untypedAt: path)
    #expect(store.schema.record(named: "Book") != nil)
    let record = DynamicRecord(
      "Book", ["isbn": "1", "pages": .integer(3), "extra": .data(Data())])
    try store.write { transaction in try transaction.save(record) }
    #expect(throws: StoreError.self) {
      try store.write { transaction in
        try transaction.save(
          DynamicRecord("Book", ["isbn": "2", "pages": .string("x")]))
      }
    }
    #expect(throws: StoreError.locked(path: path, holder: getpid())) {
      try PersistentStore(untypedAt: path)
    }
    try store.close()
    var options = StoreOptions()
    options.access = .reading
    let reading = try PersistentStore(untypedAt: path, options: options)
    #expect(try reading.count(record: "Book") == 1)
    #expect(try reading.fetch(record: "Book", where: nil).first?["pages"] == .integer(3))
    #expect(throws: StoreError.self) {
      try reading.write { transaction in try transaction.save(record) }
    }
  }

  @Test func `a query's records come one by one`() throws {
    let store = try PersistentStore(at: path, model: model(1))
    try store.write { transaction in
      for number in 0..<50 {
        try transaction.save(Book(isbn: "\(number)", pages: Int32(number), size: nil, extra: []))
      }
    }
    var found: [FieldValue] = []
    try store.forEach(
      record: "Book", where: FieldCondition(parsing: "pages >= 40"),
      sortedBy: [FieldOrder(field: "pages", isDescending: true)], limit: 3, fields: ["pages"]
    ) { record in
      found.append(record["pages"])
      #expect(record.fields.count == 1)
    }
    #expect(found == [.integer(49), .integer(48), .integer(47)])
    try store.close()
  }

  @Test func `values are read as they are written`() throws {
    let values: [FieldValue] = [
      .null, .boolean(true), .integer(.min), .unsigned(.max), .double(-0.5), .double(.infinity),
      .float(1.5), .decimal(Decimal(string: "1.25") ?? 0), .string("a\"\n\\"),
      .data(Data([0, 255])),
      .uuid(UUID()), .date(Date(timeIntervalSinceReferenceDate: 1.5)), .array([.integer(1), "x"]),
      .composite(["a": .integer(1)]),
    ]
    for value in values { #expect(try FieldValue(parsing: value.literal) == value) }
    #expect(throws: ConditionSyntaxError.self) { try FieldValue(parsing: "1 2") }
    #expect(throws: ConditionSyntaxError.self) { try FieldValue(parsing: "") }
  }
}
