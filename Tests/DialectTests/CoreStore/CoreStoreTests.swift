import Cambium
import CambiumCoreStore
import FoundationEssentials
import Synchronization
import TestSupport
import Testing

/// The vocabulary of CoreStore beside the demo: locks, chains, mappings, options, transactions.
@Suite struct CoreStoreTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/people" }

  init() throws {
    directory = try TemporaryDirectory()
  }

  private static let one = CoreStoreSchema(
    modelVersion: "V1", entities: [Entity<P1.Person>("Person"), Entity<P1.Dog>("Dog")])
  private static let two = CoreStoreSchema(
    modelVersion: "V2", entities: [Entity<P2.Person>("Person"), Entity<P1.Dog>("Dog")])
  private static let three = CoreStoreSchema(
    modelVersion: "V3", entities: [Entity<P3.Person>("Person"), Entity<P3.Cat>("Cat")])

  /// A store of version 1 with two people and a dog.
  private func writeFirst() throws {
    let stack = DataStack(Self.one)
    try stack.addStorageAndWait(SQLiteStore(fileName: path))
    try stack.perform(synchronous: { transaction in
      let dog = try transaction.create(Into<P1.Dog>()) { $0.name = "Rex" }
      try transaction.create(Into<P1.Person>()) { person in
        (person.id, person.first, person.last) = (1, "Ada", "Lovelace")
        person.dog = dog.reference
      }
      try transaction.create(Into<P1.Person>()) { person in
        (person.id, person.first, person.last) = (2, "", "Nobody")
      }
    })
    try stack.unsafeRemoveAllPersistentStoresAndWait()
  }

  private static func joining(from: String, to: String) -> CustomSchemaMappingProvider {
    CustomSchemaMappingProvider(
      from: from, to: to,
      entityMappings: [
        .transformEntity(sourceEntity: "Person", destinationEntity: "Person") { source, create in
          let first = try source["first", as: String.self]
          if first.isEmpty { return }  // not made: dropped
          let person = create()
          person.enumerateAttributes { attribute, old in
            if let old { person[attribute] = source.record[old] }
          }
          person["name"] = .string("\(first) \(try source["last", as: String.self])")
        }
      ])
  }

  private static let toCats = CustomSchemaMappingProvider(
    from: "V2", to: "V3",
    entityMappings: [.copyEntity(sourceEntity: "Dog", destinationEntity: "Cat")])

  // MARK: Locks

  @Test func `a lock that is not right throws the right one, as it is written`() throws {
    func stack(_ lock: VersionLock) -> DataStack {
      DataStack(
        CoreStoreSchema(modelVersion: "V1", entities: [Entity<P1.Dog>("Dog")], versionLock: lock))
    }
    let error = #expect(throws: CoreStoreError.self) {
      try stack(["Dog": [0x1, 0x2]]).addStorageAndWait(InMemoryStore())
    }
    guard case .versionLockMismatch("V1", let lock)? = error else {
      return #expect(Bool(false), "\(String(describing: error))")
    }
    let text = try #require(error).description
    #expect(text.contains("versionLock: [\n    \"Dog\": [0x"))
    try stack(lock).addStorageAndWait(InMemoryStore())
    let literal = try #require("\(lock)".firstMatch(of: /\[0x([0-9a-f]+), 0x([0-9a-f]+)\]/))
    let words = try [literal.1, literal.2].map { try #require(UInt64($0, radix: 16)) }
    #expect(lock == ["Dog": words])
    #expect(throws: CoreStoreError.self) {
      try stack(["Dog": words, "Cat": [0, 0]]).addStorageAndWait(InMemoryStore())
    }
    #expect(throws: CoreStoreError.self) { try stack([:]).addStorageAndWait(InMemoryStore()) }
  }

  // MARK: Chains

  @Test func `chains are none, one, a list or a tree, without loops and forks`() throws {
    let none: MigrationChain = nil
    let one: MigrationChain = "V4"
    let list: MigrationChain = ["V1", "V2", "V3"]
    let tree: MigrationChain = ["V1": "V3", "V2": "V4", "V3": "V4"]
    for chain in [none, one, list, tree] { #expect(chain.isValid) }
    let loop: MigrationChain = ["V1", "V2", "V1"]
    let itself: MigrationChain = ["V1": "V1"]
    let forked: MigrationChain = ["V1": "V2", "V1": "V3"]
    for chain in [loop, itself, forked] { #expect(!chain.isValid) }

    func current(_ chain: MigrationChain, exactly version: String? = nil) throws -> String {
      try SchemaHistory(
        allSchema: [Self.one, Self.two, Self.three], migrationChain: chain,
        exactCurrentModelVersion: version
      ).currentModelVersion
    }
    #expect(try current(["V1", "V2", "V3"]) == "V3")
    #expect(try current(["V1": "V3", "V2": "V3"]) == "V3")
    #expect(try current(["V3", "V2", "V1"], exactly: "V2") == "V2")
    #expect(throws: CoreStoreError.self) { try current(nil) }
    #expect(throws: CoreStoreError.self) { try current(["V1": "V2", "V3": "V4"]) }
    for chain: MigrationChain in [
      ["V2", "V1"], ["V1", "V1"], ["V1", "V9"], "V9", ["V1": "V2", "V1": "V3"],
    ] {
      #expect(throws: CoreStoreError.self) {
        try DataStack(Self.one, Self.two, Self.three, migrationChain: chain)
          .addStorageAndWait(InMemoryStore())
      }
    }
  }

  @Test func `names of versions and entities are checked`() throws {
    let schemas = [
      [Self.one, Self.one],
      [CoreStoreSchema(modelVersion: "V1", entities: [Entity<P1.Dog>("Hound")])],
    ]
    for schemas in schemas {
      #expect(throws: CoreStoreError.self) {
        try DataStack(
          schemaHistory: SchemaHistory(allSchema: schemas, exactCurrentModelVersion: "V1")
        )
        .addStorageAndWait(InMemoryStore())
      }
    }
    #expect(throws: CoreStoreError.persistentStoreNotFound("any entity")) {
      try DataStack(Self.one).fetchAll(From<P1.Dog>())
    }
  }

  @Test func `a list is followed step by step, a shortcut in one`() throws {
    try writeFirst()
    func storage(_ providers: [any SchemaMappingProvider], _ options: LocalStorageOptions = .none)
      -> SQLiteStore
    {
      SQLiteStore(
        fileName: path, migrationMappingProviders: providers, localStorageOptions: options)
    }
    let list = DataStack(Self.one, Self.two, Self.three, migrationChain: ["V1", "V2", "V3"])
    let providers: [any SchemaMappingProvider] = [
      Self.joining(from: "V1", to: "V2"), Self.toCats, InferredSchemaMappingProvider(),
    ]
    let types = try list.requiredMigrationsForStorage(storage(providers))
    #expect(
      types == [
        .heavyweight(sourceVersion: "V1", destinationVersion: "V2"),
        // The description says that cats were dogs, so there is nothing to do for the mapping.
        .lightweight(sourceVersion: "V2", destinationVersion: "V3"),
      ])
    #expect(types.allSatisfy { $0.hasMigration })
    #expect(
      throws: CoreStoreError.progressiveMigrationRequired(localStoreURL: path)
    ) {
      try list.requiredMigrationsForStorage(storage(providers, .preventProgressiveMigration))
    }
    let tree = DataStack(
      Self.one, Self.two, Self.three, migrationChain: ["V1": "V3", "V2": "V3"])
    let short = storage(
      [
        Self.joining(from: "V1", to: "V3"),
        CustomSchemaMappingProvider(from: "V2", to: "V3", entityMappings: []),
      ], .preventProgressiveMigration)
    #expect(
      try tree.requiredMigrationsForStorage(short) == [
        .heavyweight(sourceVersion: "V1", destinationVersion: "V3")
      ])
  }

  @Test func `mappings join, drop, rename and copy, and references go with their objects`()
    async throws
  {
    try writeFirst()
    let stack = DataStack(Self.one, Self.two, Self.three, migrationChain: ["V1", "V2", "V3"])
    let storage = SQLiteStore(
      fileName: path,
      migrationMappingProviders: [Self.joining(from: "V1", to: "V2"), Self.toCats])
    try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<Void, any Error>) in
      stack.addStorage(storage) { continuation.resume(with: $0.map { _ in }) }
    }
    let people = try stack.fetchAll(From<P3.Person>())
    #expect(people.map(\.name) == ["Ada Lovelace"])
    #expect(people.map(\.family) == ["Lovelace"])
    let cat = try stack.store().fetch(people[0].cat)
    #expect(cat?.name == "Rex")
    #expect(try stack.requiredMigrationsForStorage(storage).isEmpty)
    #expect(try storage.fileSize() > 0)
    try stack.unsafeRemoveAllPersistentStoresAndWait()
  }

  @Test func `what a mapping says has to be so`() throws {
    try writeFirst()
    let stack = DataStack(Self.one, Self.two, migrationChain: ["V1", "V2"])
    let wrong: [CustomMapping] = [
      .deleteEntity(sourceEntity: "Dog"), .deleteEntity(sourceEntity: "Bird"),
      .insertEntity(destinationEntity: "Dog"), .insertEntity(destinationEntity: "Bird"),
      .copyEntity(sourceEntity: "Person", destinationEntity: "Person"),
      .transformEntity(sourceEntity: "Bird", destinationEntity: "Dog"),
      .transformEntity(sourceEntity: "Dog", destinationEntity: ""),
    ]
    for mapping in wrong {
      let error = #expect(throws: CoreStoreError.self) {
        try stack.requiredMigrationsForStorage(
          SQLiteStore(
            fileName: path,
            migrationMappingProviders: [
              CustomSchemaMappingProvider(from: "V1", to: "V2", entityMappings: [mapping])
            ]))
      }
      guard case .invalidMapping? = error else {
        return #expect(Bool(false), "\(String(describing: error))")
      }
    }
    #expect(throws: CoreStoreError.self) {
      try stack.requiredMigrationsForStorage(
        SQLiteStore(
          fileName: path,
          migrationMappingProviders: [CustomSchemaMappingProvider(from: "V1", to: "V9")]))
    }
  }

  @Test func `a reversed chain leads back to a version that the store had`() throws {
    try writeFirst()
    let up = DataStack(Self.one, Self.two, migrationChain: ["V1", "V2"])
    try up.addStorageAndWait(
      SQLiteStore(
        fileName: path, localStorageOptions: .allowSynchronousLightweightMigration))
    #expect(try up.fetchOne(From<P2.Person>().where(\.id == 1))?.family == "Lovelace")
    try up.unsafeRemoveAllPersistentStoresAndWait()

    let down = DataStack(
      schemaHistory: SchemaHistory(
        allSchema: [Self.one, Self.two], migrationChain: ["V2", "V1"],
        exactCurrentModelVersion: "V1"))
    let storage = SQLiteStore(
      fileName: path, localStorageOptions: .allowSynchronousLightweightMigration)
    #expect(
      try down.requiredMigrationsForStorage(storage) == [
        .lightweight(sourceVersion: "V2", destinationVersion: "V1")
      ])
    try down.addStorageAndWait(storage)
    #expect(try down.fetchOne(From<P1.Person>().where(\.id == 1))?.last == "Lovelace")
    try down.unsafeRemoveAllPersistentStoresAndWait()
  }

  // MARK: Options

  @Test func `adding at once migrates only what it may, adding later everything`() async throws {
    try writeFirst()
    func stack() -> DataStack { DataStack(Self.one, Self.two, migrationChain: ["V1", "V2"]) }
    func storage(_ options: LocalStorageOptions, _ providers: [any SchemaMappingProvider] = [])
      -> SQLiteStore
    {
      SQLiteStore(
        fileName: path, migrationMappingProviders: providers, localStorageOptions: options)
    }
    let required = CoreStoreError.asynchronousMigrationRequired(localStoreURL: path)
    #expect(throws: required) { try stack().addStorageAndWait(storage(.none)) }
    #expect(throws: required) {
      try stack().addStorageAndWait(
        storage(
          .allowSynchronousLightweightMigration, [Self.joining(from: "V1", to: "V2")]))
    }
    let upgraded = stack()
    let done = Mutex<[MigrationType]?>(nil)
    let progress = try await withCheckedThrowingContinuation { continuation in
      do {
        let progress = try upgraded.upgradeStorageIfNeeded(storage(.none)) { result in
          done.withLock { $0 = try? result.get() }
        }
        continuation.resume(returning: progress)
      } catch { continuation.resume(throwing: error) }
    }
    for await _ in try #require(progress) {}
    while done.withLock({ $0 == nil }) { try await Task.sleep(for: .milliseconds(5)) }
    #expect(
      done.withLock { $0 } == [.lightweight(sourceVersion: "V1", destinationVersion: "V2")])
    let none = try upgraded.upgradeStorageIfNeeded(storage(.none)) { result in
      done.withLock { $0 = try? result.get() }
    }
    #expect(none == nil && done.withLock { $0 } == [])
    try upgraded.addStorageAndWait(storage(.none))
    #expect(try upgraded.fetchCount(From<P2.Person>()) == 2)
    try upgraded.unsafeRemoveAllPersistentStoresAndWait()
  }

  @Test func `a newer store is begun again only if that is an option`() async throws {
    let new = DataStack(Self.one, Self.two, migrationChain: ["V1", "V2"])
    try new.addStorageAndWait(SQLiteStore(fileName: path))
    try new.unsafeRemoveAllPersistentStoresAndWait()
    for try await _ in new.async.addStorage(SQLiteStore(fileName: path)) {}
    try new.unsafeRemoveAllPersistentStoresAndWait()
    let old = DataStack(Self.one)
    #expect(throws: StoreError.newerSchema(found: 2, supported: 1)) {
      try old.addStorageAndWait(SQLiteStore(fileName: path))
    }
    for try await progress in old.async.addStorage(
      SQLiteStore(fileName: path, localStorageOptions: .recreateStoreOnModelMismatch))
    {
      if case .finished(_, let migrationRequired) = progress { #expect(!migrationRequired) }
    }
    try old.unsafeRemoveAllPersistentStoresAndWait()
    try old.addStorageAndWait(SQLiteStore(fileName: path))
    try old.unsafeRemoveAllPersistentStoresAndWait()
    #expect(try await PersistentStore.inspect(at: path + ".aside-1").version == 2)
  }

  // MARK: Transactions and fetching

  @Test func `transactions commit what they return, or nothing`() async throws {
    let stack = DataStack(Self.one)
    try stack.addStorageAndWait(InMemoryStore())
    let id = try stack.perform(synchronous: { try $0.create(Into<P1.Dog>()).id })
    #expect(try stack.fetchOne(From<P1.Dog>())?.id == id)
    #expect(throws: CoreStoreError.userCancelled) {
      try stack.perform(synchronous: { transaction in
        try transaction.create(Into<P1.Dog>())
        try transaction.cancel()
      })
    }
    let count = try await stack.async.perform { transaction in
      try transaction.create(Into<P1.Dog>()) { $0.name = "Bo" }
      return try transaction.fetchAll(From<P1.Dog>(), Where(\.name == "Bo")).count
    }
    #expect(count == 1)
    let byName: OrderBy<P1.Dog> = OrderBy(.descending(\.name))
    #expect(try stack.fetchAll(From<P1.Dog>(), byName).map(\.name) == ["Bo", ""])
    #expect(
      try stack.fetchAll(From<P1.Dog>().orderBy(.ascending(\.name)).tweak { $0.offset = 1 })
        .map(\.name) == ["Bo"])
    #expect(try stack.fetchCount(From<P1.Dog>(), Where(\.name == "Bo")) == 1)
    let deleted = try stack.perform(synchronous: { transaction in
      try transaction.deleteAll(From<P1.Dog>().where(\.name == "Bo"))
    })
    #expect(deleted == 1)
    #expect(try stack.perform(synchronous: { try $0.fetchOne(From<P1.Dog>())?.name }) == "")
  }

  @Test func `configurations are stores of their own`() throws {
    let schema = CoreStoreSchema(
      modelVersion: "V1",
      entityConfigurations: ["dogs": [Entity<P1.Dog>("Dog")], "cats": [Entity<P1.Cat>("Cat")]])
    let stack = DataStack(schema)
    try stack.addStorageAndWait(SQLiteStore(fileName: path, configuration: "dogs"))
    try stack.addStorageAndWait(InMemoryStore(configuration: "cats"))
    try stack.perform(synchronous: { _ = try $0.create(Into<P1.Dog>()) }, in: "dogs")
    try stack.perform(synchronous: { _ = try $0.create(Into<P1.Cat>()) }, in: "cats")
    #expect(try stack.fetchCount(From<P1.Dog>()) == 1)
    #expect(try stack.fetchCount(From<P1.Cat>("cats")) == 1)
    #expect(throws: StoreError.self) { try stack.fetchCount(From<P1.Cat>("dogs")) }
    #expect(throws: CoreStoreError.persistentStoreNotFound("birds")) {
      try stack.fetchCount(From<P1.Cat>("birds"))
    }
    #expect(throws: StoreError.self) {
      try stack.addStorageAndWait(InMemoryStore(configuration: "birds"))
    }
    try stack.unsafeRemoveAllPersistentStoresAndWait()
  }
}

private enum P1 {
  struct Person: CoreStoreObject, Identifiable {
    var id = 0
    var first = ""
    var last = ""
    var dog: Reference<Dog>?

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      // The default is that of a store that comes back from version 2.
      Field(name: "first", type: .string, migrationInfo: .init(default: ""))
      Field(name: "last", type: .string)
      Field(name: "dog", type: .reference(to: Dog.self), optional: true)
    }
  }

  struct Dog: CoreStoreObject, Identifiable {
    var id = UUID()
    var name = ""

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .uuid)
      Field(name: "name", type: .string)
    }
  }
}

extension P1 {
  struct Cat: CoreStoreObject, Identifiable {
    var id = UUID()

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .uuid)
    }
  }
}

private enum P2 {
  struct Person: CoreStoreObject, Identifiable {
    var id = 0
    var name = ""
    var family = ""
    var dog: Reference<P1.Dog>?

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string, migrationInfo: .init(default: "?"))
      Field(name: "family", type: .string, migrationInfo: .init(renamingID: "last"))
      Field(name: "dog", type: .reference(to: P1.Dog.self), optional: true)
    }
  }
}

private enum P3 {
  struct Person: CoreStoreObject, Identifiable {
    var id = 0
    var name = ""
    var family = ""
    var cat: Reference<Cat>?

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string, migrationInfo: .init(default: "?"))
      Field(name: "family", type: .string, migrationInfo: .init(renamingID: "last"))
      Field(
        name: "cat", type: .reference(to: Cat.self), optional: true,
        migrationInfo: .init(renamingID: "dog"))
    }
  }

  struct Cat: CoreStoreObject, Identifiable {
    var id = UUID()
    var name = ""

    static func recordDescription(for version: Int) -> RecordDescription {
      RecordName("Cat", renamingID: "Dog")
      Field(primaryKey: true, name: "id", type: .uuid)
      Field(name: "name", type: .string)
    }
  }
}
