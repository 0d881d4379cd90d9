import Cambium
import CambiumCoreStore
import FoundationEssentials
import Logging
import Synchronization
import TestSupport
import Testing

/// Objects that are described by their attributes and relationships, and what stacks print.
@Suite struct CoreStoreFieldTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/people" }

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func stack() throws -> DataStack {
    let stack = DataStack(
      CoreStoreSchema(
        modelVersion: "V1", entities: [Entity<F1.Person>("Person"), Entity<F1.House>("House")]))
    try stack.addStorageAndWait(InMemoryStore())
    return stack
  }

  @Test func `attributes of all types are stored and read, also without a value`() throws {
    let stack = try stack()
    var person = F1.Person()
    try stack.perform(synchronous: { try $0.save(person) })
    let empty = try #require(try stack.fetchOne(From<F1.Person>()))
    #expect(empty.id == nil && empty.name == "?" && empty.born == nil && empty.mood == .calm)
    #expect(empty.weight == 1.5 && empty.picture == Data([1, 2]))
    person.id = 7
    person.born = Date(timeIntervalSinceReferenceDate: 1)
    person.mood = .merry
    try stack.perform(synchronous: { try $0.save(person) })
    let full = try #require(try stack.fetchOne(From<F1.Person>()))
    #expect(full.id == 7 && full.born == person.born && full.mood == .merry)
    #expect(full.objectID == person.objectID && full.reference.id == person.objectID)
    let schema = try #require(try stack.store().schema.record(named: "Person"))
    #expect(
      "\(schema)"
        == "Person(born: date?, called: string, id: int64?, mood: string, objectID: uuid, picture: binaryData, weight: double)"
    )
  }

  @Test func `conditions and orders name attributes with a dollar sign`() throws {
    let stack = try stack()
    try stack.perform(synchronous: { transaction in
      for (number, name) in ["Bo", "Ada", "Cy"].enumerated() {
        var person = F1.Person()
        person.id = number == 2 ? nil : number
        person.name = name
        try transaction.save(person)
      }
    })
    func names(_ condition: Condition<F1.Person>) throws -> [String] {
      try stack.fetchAll(From<F1.Person>().where(condition).orderBy(.ascending(\.$name)))
        .map(\.name)
    }
    #expect(try names(\.$name == "Ada") == ["Ada"])
    #expect(try names(\.$name != "Ada") == ["Bo", "Cy"])
    #expect(try names(\.$name > "Ada" && \.$name <= "Bo") == ["Bo"])
    #expect(try names(\.$name >= "Bo" && \.$name < "Cy") == ["Bo"])
    #expect(try names(\.$id == nil) == ["Cy"])
    let last = try stack.fetchOne(From<F1.Person>(), OrderBy(.descending(\.$name)))
    #expect(last?.name == "Cy")
    // The property itself is computed: no condition can be made of it.
    let error = storeError { try stack.fetchAll(From<F1.Person>().where(\.name == "Ada")) }
    guard case .invalidQuery? = error else {
      return #expect(Bool(false), "\(String(describing: error))")
    }
  }

  @Test func `a relation is set from either end, and followed from both`() throws {
    let stack = try stack()
    try stack.perform(synchronous: { transaction in
      let house = try transaction.create(Into<F1.House>())
      let wing = try transaction.create(Into<F1.House>())
      var people: [Reference<F1.Person>] = []
      for _ in 0..<2 { people.append(try transaction.create(Into<F1.Person>())) }
      #expect(try transaction.set(\.people, of: house.reference, to: people))
      try transaction.set(\.outer, of: wing, to: house)
      let none: Reference<F1.House>? = nil
      #expect(try !transaction.set(\.people, of: none, to: people))
      let lost = Reference<F1.House>(UUID())
      #expect(throws: StoreError.noSuchRecord(record: "House", key: "\(lost.id)")) {
        try transaction.set(\.people, of: lost, to: [])
      }
      let stored = try transaction.fetch(house.reference)
      #expect(stored?.people == people && stored?.wings == [wing.reference])
      let person = try #require(try transaction.fetch(people[1]))
      #expect(try transaction.fetch(person.houses, of: person).map(\.objectID) == [house.objectID])
      #expect(try transaction.fetch(wing.outer, of: wing)?.objectID == house.objectID)
      try transaction.set(\.houses, of: person, to: [wing])
      try transaction.set(\.outer, of: wing, to: nil)
      #expect(try transaction.fetch(house.reference)?.people == [people[0]])
      #expect(try transaction.fetch(house.reference)?.wings == [])
      #expect(try transaction.fetch(wing.reference)?.people == [people[1]])
    })
    // A wing is of one house: the other end is an optional.
    #expect(throws: StoreError.self) {
      try stack.perform(synchronous: { transaction in
        let wing = try transaction.create(Into<F1.House>())
        for _ in 0..<2 {
          let house = try transaction.create(Into<F1.House>())
          try transaction.set(\.wings, of: house.reference, to: [wing.reference])
        }
      })
    }
  }

  @Test func `an end that several relationships could have is refused, with the way out`() throws {
    let stack = DataStack(
      CoreStoreSchema(
        modelVersion: "V1", entities: [Entity<F2.Team>("Team"), Entity<F2.Player>("Player")]))
    let error = storeError { try stack.addStorageAndWait(InMemoryStore()) }
    guard case .invalidDescription("Player", "team", 1, let reason)? = error else {
      return #expect(Bool(false), "\(String(describing: error))")
    }
    #expect(reason.contains("state the inverse of one of 2"), "\(reason)")
  }

  @Test func `an attribute that is renamed keeps its values`() throws {
    let one = CoreStoreSchema(modelVersion: "V1", entities: [Entity<F3.Note>("Note")])
    let two = CoreStoreSchema(modelVersion: "V2", entities: [Entity<F4.Note>("Note")])
    let old = DataStack(one)
    try old.addStorageAndWait(SQLiteStore(fileName: path))
    try old.perform(synchronous: { _ = try $0.create(Into<F3.Note>()) { $0.text = "Ada" } })
    try old.unsafeRemoveAllPersistentStoresAndWait()
    let new = DataStack(one, two, migrationChain: ["V1", "V2"])
    try new.addStorageAndWait(
      SQLiteStore(
        fileName: path, localStorageOptions: .allowSynchronousLightweightMigration))
    #expect(try new.fetchAll(From<F4.Note>()).map(\.body) == ["Ada"])
    try new.unsafeRemoveAllPersistentStoresAndWait()
  }

  // MARK: Printing

  @Test func `a version without a lock, or with a wrong one, has the right one in the log`() throws
  {
    func schema(_ lock: VersionLock?) -> CoreStoreSchema {
      CoreStoreSchema(
        modelVersion: "V1", entities: [Entity<F3.Note>("Note")], versionLock: lock)
    }
    func logged(_ lock: VersionLock?) throws -> [String] {
      let lines = Calls()
      var storage = SQLiteStore(fileName: path)
      storage.options.logger = Logger(label: "test") { _ in LineHandler(lines: lines) }
      let stack = DataStack(schema(lock))
      do { try stack.addStorageAndWait(storage) } catch is CoreStoreError {}
      try stack.unsafeRemoveAllPersistentStoresAndWait()
      return lines.all.filter { $0.contains("versionLock") }
    }
    let lines = try logged(nil)
    let lock = VersionLock(try SchemaHistory(allSchema: [schema(nil)]).schema(of: "V1"))
    #expect(lines == ["notice: The version V1 is not locked. Its lock is:\nversionLock: \(lock)"])
    #expect("\(lock)".wholeMatch(of: /\[\n    "Note": \[0x[0-9a-f]+, 0x[0-9a-f]+\]\n\]/) != nil)
    #expect(try logged(lock) == [])
    let wrong = try logged(["Note": [1, 2]])
    #expect(wrong.count == 1 && wrong[0].hasPrefix("error: "))
    #expect(wrong[0].hasSuffix("versionLock: \(lock)"))
    #expect(
      "\(VersionLock(dictionaryLiteral: ("A", [0x718_03a7_723a_af47])))".contains(
        "[0x71803a7723aaf47]"))
  }

  @Test func `values of a stack print as they are written`() throws {
    let types: [MigrationType] = [
      .none(version: "V1"), .lightweight(sourceVersion: "V1", destinationVersion: "V2"),
      .heavyweight(sourceVersion: "V2", destinationVersion: "V3"),
    ]
    #expect(
      "\(types)"
        == #"[.none ("V1"), .lightweight ("V1" → "V2"), .heavyweight ("V2" → "V3")]"#)
    let storage = SQLiteStore(fileName: "a.cambium", configuration: "dogs")
    #expect("\(storage)" == #"SQLiteStore "a.cambium" of configuration "dogs""#)
    #expect("\(InMemoryStore())" == "InMemoryStore")
    #expect("\(LocalStorageOptions.none)" == ".none")
    let options: LocalStorageOptions = [
      .preventProgressiveMigration, .recreateStoreOnModelMismatch,
    ]
    #expect("\(options)" == "[.recreateStoreOnModelMismatch, .preventProgressiveMigration]")
    let chains: [MigrationChain] = [nil, "V1", ["V1", "V2"], ["V1": "V3", "V2": "V3"]]
    #expect(
      "\(chains)" == #"[nil, ["V1"], ["V1", "V2"], ["V1": "V3", "V2": "V3"]]"#, "\(chains)")
    let mappings: [CustomMapping] = [
      .copyEntity(sourceEntity: "Dog", destinationEntity: "Cat"),
      .deleteEntity(sourceEntity: "Bird"),
    ]
    #expect("\(mappings)" == #"[.copyEntity ("Dog" → "Cat"), .deleteEntity ("Bird")]"#)
    let schema = CoreStoreSchema(modelVersion: "V1", entities: [Entity<F3.Note>("Note")])
    #expect("\(schema)" == #"CoreStoreSchema "V1": Note"#)
    let stack = DataStack(schema, migrationChain: ["V1"])
    #expect("\(stack)" == #"DataStack of "V1", migrated by ["V1"]"#)
    let finished = DataStack.MigrationProgress.finished(storage: storage, migrationRequired: true)
    #expect("\(finished)" == "finished \(storage), which was migrated")
  }
}

/// A log handler that keeps the lines.
private struct LineHandler: LogHandler {
  let lines: Calls
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.trace

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) { lines.add("\(event.level): \(event.message)") }
}

private enum F1 {
  enum Mood: String, RecordStringEnum, FieldStorableType { case calm, merry }

  struct Person: KeyedObject {
    typealias House = Inverse<F1.Person, F1.House>

    var objectID = UUID()
    @Field.Stored("id") var id: Int?
    @Field.Stored("called") var name: String = "?"
    @Field.Stored("born") var born: Date?
    @Field.Stored("mood") var mood: Mood = .calm
    @Field.Stored("weight") var weight: Double = 1.5
    @Field.Stored("picture") var picture: Data = Data([1, 2])
    @Field.Relationship("houses") var houses: [House]
  }

  struct House: KeyedObject {
    typealias Person = Reference<F1.Person>
    typealias Wing = Reference<F1.House>
    typealias Outer = Inverse<F1.House, F1.House>

    var objectID = UUID()
    @Field.Relationship("people", inverse: \.$houses) var people: [Person]
    @Field.Relationship("wings", inverse: \.$outer) var wings: [Wing]
    @Field.Relationship("outer") var outer: Outer?
  }
}

private enum F2 {
  struct Team: KeyedObject {
    var objectID = UUID()
    @Field.Relationship("players") var players: [Reference<Player>]
    @Field.Relationship("keeper") var keeper: Reference<Player>?
  }

  struct Player: KeyedObject {
    var objectID = UUID()
    @Field.Relationship("team") var team: Inverse<Player, Team>?
  }
}

private enum F3 {
  struct Note: KeyedObject {
    var objectID = UUID()
    @Field.Stored("text") var text: String = ""
  }
}

private enum F4 {
  struct Note: KeyedObject {
    var objectID = UUID()
    @Field.Stored("body", versionHashModifier: "2", previousVersionKeyPath: "text")
    var body: String = ""
  }
}
