import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// One record as several programs describe it.
private enum Described {
  enum First {
    struct Item: Record {
      var id: Int
      var name = ""
      static func recordDescription(for version: Int) -> RecordDescription {
        Field(primaryKey: true, name: "id", type: .integer)
        Field(name: "name", type: .string)
      }
    }
  }

  /// The same in another order, with rules and a default, which are not stored.
  enum Same {
    struct Item: Record {
      var title = ""
      var id: Int
      static func recordDescription(for version: Int) -> RecordDescription {
        Field(
          name: "name", type: .string, property: "title", default: "none",
          validation: [.length(0...9)])
        Field(name: "id", type: .integer)
        PrimaryKey("id")
      }
    }
  }

  enum Different {
    struct Item: Record {
      var id: Int
      var name: String?
      var size = 0
      static func recordDescription(for version: Int) -> RecordDescription {
        Field(primaryKey: true, name: "id", type: .integer)
        Field(name: "name", type: .string, optional: true, indexed: true)
        Field(name: "size", type: .integer)
      }
    }
  }

  enum Versioned {
    struct Item: Record {
      var id: Int
      var name = ""
      var size = 0
      static func recordDescription(for version: Int) -> RecordDescription {
        Field(primaryKey: true, name: "id", type: .integer)
        Field(name: "name", type: .string)
        if version > 1 { Field(name: "size", type: .integer, migrationInfo: .init(default: 1)) }
      }
    }
  }
}

@Suite("Opening stores of records")
struct StoreOpeningTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func open(
    _ version: Int = 1, label: String? = nil, _ type: any Record.Type = Described.First.Item.self
  ) throws -> PersistentStore {
    try PersistentStore(
      at: path, model: StoreModel(version: version, label: label, records: [type]))
  }

  private func make(_ version: Int = 1, _ type: any Record.Type = Described.First.Item.self) throws
  {
    try open(version, type).close()
  }

  private var reading: StoreOptions {
    var options = StoreOptions()
    options.access = .reading
    return options
  }

  // MARK: Again

  @Test func `records and constraints are there when a store is opened again`() throws {
    let accounts = Account.some(300)
    for round in 0..<3 {
      let store = try PersistentStore(at: path, model: .samples)
      #expect(store.report.isNew == (round == 0))
      if round == 0 { try store.write { try $0.insert(contentsOf: accounts) } }
      #expect(try store.fetch(Account.self) == accounts)
      #expect(
        storeError { try store.save(Account(id: 999, name: "x", email: accounts[5].email)) } != nil)
      try store.expectSound()
      if round == 1 { continue }
      try store.close()
    }
  }

  @Test func `many small commits are there without a close`() throws {
    let count = scaled(2_000, debug: 200)
    do {
      let store = try PersistentStore(at: path, model: .samples)
      for account in Account.some(count) { try store.save(account, durability: .relaxed) }
      try store.flush()
    }
    let store = try PersistentStore(at: path, model: .samples)
    #expect(try store.fetch(Account.self) == Account.some(count))
    try store.expectSound()
    try store.close()
  }

  @Test func `a store is opened whatever its path is called, or the path is refused`() throws {
    let names = [
      "sp ace", "new\nline", "üñï", "cafe\u{301}", "100%", "'q\"", "-dash", "😀", "a:b",
      String(repeating: "d", count: 250),
    ]
    for name in names {
      let path = directory.path + "/" + name
      for count in 0..<2 {
        let store = try PersistentStore(at: path, model: .samples)
        #expect(try store.count(Note.self) == count, "\(name)")
        try store.save(Note(key: "\(count)"))
        try store.close()
      }
      #expect(try PersistentStore.check(at: path).isWhole, "\(name)")
    }
    let long = String(repeating: "d", count: 256)
    for path in ["", directory.path + "/" + long, directory.path + "/none/store", "/dev/null"] {
      #expect(storeError { try PersistentStore(at: path, model: .samples) } != nil, "\(path)")
    }
  }

  @Test func `a store in memory is gone with its user, F19`() throws {
    let store = try PersistentStore(inMemory: .samples)
    try store.save(Note(key: "a"))
    #expect(try store.count(Note.self) == 1)
    try store.close()
    #expect(try PersistentStore(inMemory: .samples).count(Note.self) == 0)
  }

  @Test func `a store is opened for writing once, and only made where that was asked for`() throws {
    var existing = StoreOptions()
    existing.access = .writingExisting
    guard
      case .missing = storeError({
        try PersistentStore(at: path, model: .samples, options: existing)
      })
    else { return #expect(Bool(false), "it was made") }
    let store = try PersistentStore(at: path, model: .samples)
    guard case .locked = storeError({ try PersistentStore(at: path, model: .samples) }) else {
      return #expect(Bool(false), "it was opened twice")
    }
    try store.close()
    try PersistentStore(at: path, model: .samples, options: existing).close()
  }

  // MARK: Reading only

  @Test func `a reader shows what a writer beside it commits, when it is refreshed, F20`() throws {
    guard
      case .missing = storeError({
        try PersistentStore(at: path, model: .samples, options: reading)
      })
    else { return #expect(Bool(false), "it was made") }
    let writer = try PersistentStore(at: path, model: .samples)
    try writer.write { try $0.insert(contentsOf: Account.some(50)) }
    try writer.close()
    let again = try PersistentStore(at: path, model: .samples)
    let reader = try PersistentStore(at: path, model: .samples, options: reading)
    #expect(try reader.fetch(Account.self) == Account.some(50))
    let snapshot = try reader.snapshot()
    try again.delete(Account.some(1)[0])
    try again.save(Note(key: "a"))
    try again.save(Note(key: "b"))
    // What was committed last comes into sight a moment later.
    let deadline = ContinuousClock.now + .seconds(120)
    while try reader.count(Note.self) < 2, .now < deadline { try reader.refresh() }
    #expect(try reader.fetch(Note.self).map(\.key) == ["a", "b"])
    #expect(try reader.count(Account.self) == 49)
    #expect(try snapshot.count(Account.self) == 50)
    try reader.expectSound()
    #expect(try !reader.refresh())
    try again.close()
    try reader.close()
  }

  @Test func `a reader writes nothing, F20`() throws {
    try make()
    let reader = try PersistentStore(
      at: path, model: StoreModel(records: [Described.First.Item.self]), options: reading)
    let error = storeError { try reader.save(Described.First.Item(id: 1)) }
    guard case .readOnly = error else {
      return #expect(Bool(false), "\(String(describing: error))")
    }
    #expect(try reader.count(Described.First.Item.self) == 0)
    try reader.close()
    guard case .closed = storeError({ try reader.refresh() }) else {
      return #expect(Bool(false), "it goes on after it was closed")
    }
  }

  // MARK: Versions

  @Test func `a model that describes the same opens the store, I3`() throws {
    do {
      let store = try open()
      try store.save(Described.First.Item(id: 1, name: "a"))
      try store.close()
    }
    let store = try open(1, Described.Same.Item.self)
    #expect(try store.fetch(Described.Same.Item.self, key: 1)?.title == "a")
    try store.close()
  }

  @Test func `a model that describes a version otherwise is refused, every difference named, I3`()
    throws
  {
    do {
      let store = try open()
      try store.save(Described.First.Item(id: 1, name: "a"))
      try store.close()
    }
    for options in [StoreOptions(), reading] {
      let error = storeError {
        try PersistentStore(
          at: path, model: StoreModel(records: [Described.Different.Item.self, Note.self]),
          options: options)
      }
      guard case .schemaMismatch(1, let differences) = error else {
        return #expect(Bool(false), "\(String(describing: error))")
      }
      #expect(differences.count == 4, "\(differences)")
      #expect(differences.contains { "\($0)".contains("Item.name") })
      #expect(differences.contains { "\($0)".contains("Item.size is new") })
      #expect(differences.contains { $0 == SchemaDifference(.added(as: nil), of: "Note") })
    }
    // It was not locked nor changed by that.
    let store = try open()
    #expect(try store.fetch(Described.First.Item.self, key: 1)?.name == "a")
    try store.close()
  }

  @Test func `versions count from 1, and are no dates, I2`() {
    for version in [0, -1, 65_536, 20_261_121, Int.max] {
      let error = storeError {
        try PersistentStore(
          inMemory: StoreModel(version: version, records: [Described.First.Item.self]))
      }
      guard case .invalidDescription("StoreModel", nil, version, _) = error else {
        return #expect(Bool(false), "\(String(describing: error))")
      }
    }
  }

  @Test func `a reader finds no store where its maker has not ended`() throws {
    let raw = try RawStore(at: path)
    try raw.close()
    let error = storeError {
      try PersistentStore(
        at: path, model: StoreModel(records: [Described.First.Item.self]), options: reading)
    }
    guard case .missing = error else {
      return #expect(Bool(false), "\(String(describing: error))")
    }
  }

  @Test func `versions older and newer than the store's are refused, and change nothing, I1 I2`()
    throws
  {
    try make(2, Described.Versioned.Item.self)
    for options in [StoreOptions(), reading] {
      #expect(
        storeError {
          try PersistentStore(
            at: path, model: StoreModel(version: 1, records: [Described.First.Item.self]),
            options: options)
        } == .newerSchema(found: 2, supported: 1))
      #expect(
        storeError {
          try PersistentStore(
            at: path, model: StoreModel(version: 3, records: [Described.Versioned.Item.self]),
            migration: .refuse, options: options)
        } == .needsMigration(found: 2, wanted: 3))
    }
    let store = try open(2, Described.Versioned.Item.self)
    #expect(store.schema.version == 2)
    try store.close()
  }

  @Test func `a store says its version, label and sizes without being opened, I2 I7`() throws {
    guard case .missing = storeError({ try PersistentStore.inspect(at: path) }) else {
      return #expect(Bool(false), "there is none")
    }
    do {
      let store = try open(2, label: "spring", Described.Versioned.Item.self)
      for id in 0..<5 { try store.save(Described.Versioned.Item(id: id)) }
      try store.close()
    }
    let inspection = try PersistentStore.inspect(at: path)
    #expect(inspection.version == 2)
    #expect(inspection.schemas.last?.label == "spring")
    #expect(inspection.statistics.records.map(\.count) == [5])
    // Also while somebody writes.
    let store = try open(2, Described.Versioned.Item.self)
    #expect(try PersistentStore.inspect(at: path).version == 2)
    try store.close()
  }

  @Test func `a store that was closed keeps no room for commits to come`() throws {
    let store = try PersistentStore(at: path, model: .samples)
    func logBytes() throws -> [Int] {
      try ["log-0", "log-1"].map { name in
        try FileManager.default.attributesOfItem(atPath: path + "/" + name)[.size] as? Int ?? 0
      }
    }
    for account in Account.some(scaled(20_000, debug: 3_000)) {
      try store.save(account, durability: .relaxed)
    }
    #expect(try logBytes().max() ?? 0 > 128 << 10)
    try store.close()
    #expect(try logBytes() == [128 << 10, 128 << 10])
  }

  @Test func `a store is read by its own description, I8`() throws {
    do {
      let store = try PersistentStore(at: path, model: .samples)
      try store.write { try $0.insert(contentsOf: Account.some(3)) }
      try store.save(Seat(row: "A", number: 1, guest: "Ada"))
      try store.close()
    }
    let snapshot = try PersistentStore.snapshot(at: path)
    #expect(Set(snapshot.schema.records.map(\.name)) == ["Account", "Seat", "Note"])
    #expect(try snapshot.fetch(record: "Seat", key: "A", 1)?["guest"] == "Ada")
    #expect(try snapshot.fetch(record: "Account", key: 2)?["email"] == "2@example.org")
    #expect(try snapshot.count(record: "Account") == 3)
    #expect(try snapshot.check() == [])
    #expect(storeError { try snapshot.fetch(Account.self) } == .unknownRecord(name: "Account"))
  }

  @Test func `a wrong model is refused before anything is made`() throws {
    let error = storeError {
      try PersistentStore(at: path, model: StoreModel(version: 0, records: [Note.self]))
    }
    guard case .invalidDescription = error else {
      return #expect(Bool(false), "\(String(describing: error))")
    }
    guard case .missing = storeError({ try PersistentStore.inspect(at: path) }) else {
      return #expect(Bool(false), "it was made")
    }
  }

  // MARK: Deleting

  @Test func `a store is deleted with its directory, but not under its writer, F21`() throws {
    let store = try open()
    guard case .locked = storeError({ try PersistentStore.delete(at: path) }) else {
      return #expect(Bool(false), "it is open")
    }
    try store.save(Described.First.Item(id: 1))
    try store.close()
    try PersistentStore.delete(at: path)
    guard case .missing = storeError({ try PersistentStore.delete(at: path) }) else {
      return #expect(Bool(false), "it is gone")
    }
    let fresh = try open()
    #expect(fresh.report.isNew)
    #expect(try fresh.count(Described.First.Item.self) == 0)
    try fresh.close()
  }

  @Test func `a directory that never was a store is not deleted`() throws {
    _ = try PosixFileSystem(at: path, creating: true)
    for _ in 0..<2 {
      #expect(storeError { try PersistentStore.delete(at: path) } == .missing(path: path))
    }
    #expect(try PosixFileSystem(at: path).list(at: .test).isEmpty)
    // What only has a lock's file was none either.
    _ = try WriterLock(in: try PosixFileSystem(at: path))
    #expect(storeError { try PersistentStore.delete(at: path) } == .missing(path: path))
    #expect(try PosixFileSystem(at: path).list(at: .test) == [.lock])
  }

  @Test func `a directory with other files is refused and stays as it is`() throws {
    let medium = try PosixFileSystem(at: path, creating: true)
    try Data([1]).write(to: URL(filePath: path + "/letter.txt"))
    guard case .io(.directoryNotEmpty, _, _) = storeError({ try PersistentStore.delete(at: path) })
    else { return #expect(Bool(false), "it was deleted") }
    #expect(try medium.list(at: .test).isEmpty)
    #expect(try Data(contentsOf: URL(filePath: path + "/letter.txt")) == Data([1]))
  }
}
