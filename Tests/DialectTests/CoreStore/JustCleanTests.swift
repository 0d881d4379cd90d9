import Cambium
import CambiumCoreStore
import FoundationEssentials
import TestSupport
import Testing

/// Every example of “JustClean Demo”: its data at its version and at the one after.
@Suite struct JustCleanTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/Modern.justclean.sqlite" }

  init() throws {
    directory = try TemporaryDirectory()
  }

  /// Waits for what the demo does with a completion, and prints.
  private func finish(
    _ stack: DataStack,
    _ body: (JustClean.Program, @escaping @Sendable (Any) -> Void) -> Void
  ) async {
    let printed = await withCheckedContinuation { continuation in
      body(JustClean.Program(dataStack: stack)) { continuation.resume(returning: "\($0)") }
    }
    #expect(printed == "success!")
  }

  private func writeFirstData() async throws {
    let stack = try JustClean.firstStack(at: path)
    await finish(stack) { JustClean.addFirstData(to: $0, print: $1) }
    try stack.unsafeRemoveAllPersistentStoresAndWait()
  }

  /// The demo's laundries, as both versions have them.
  private static let names = (0...9).map { "dubai mall \($0 * 7)" }
  private static let items = (0...5).map { "laundryItem\($0) \(Double($0) * 2)" }

  private func checkFirst(_ stack: DataStack) throws {
    let store = try stack.store()
    let data = try #require(try stack.fetchOne(From<V1.LaundryData>()))
    #expect(data.code == 200 && data.status == "suc")
    let laundries = try store.fetch(data.data)
    #expect(laundries.map(\.name) == Self.names)
    for (index, laundry) in laundries.enumerated() {
      #expect(laundry.id == 3456 && laundry.photo == "laundry\(index % 2 + 1)")
      let items = try store.fetch(laundry.items)
      #expect(items.map { "\($0.name ?? "") \($0.price ?? -1)" } == Self.items)
      #expect(try store.fetch(items[0].master, of: items[0])?.objectID == laundry.objectID)
    }
    #expect(try stack.fetchCount(From<V1.LaundryItem>()) == 60)
  }

  private func checkSecond(_ stack: DataStack) throws {
    let store = try stack.store()
    let data = try #require(try stack.fetchOne(From<V2.LaundryData>()))
    #expect(data.code == 200)
    let detail = try #require(try store.fetch(data.data))
    let laundries = try store.fetch(detail.success)
    #expect(laundries.map(\.name) == Self.names)
    for laundry in laundries {
      #expect(laundry.id == 3456)
      let items = try store.fetch(laundry.items)
      #expect(items.map { "\($0.name ?? "") \($0.price ?? -1)" } == Self.items)
      #expect(try store.fetch(laundry.master, of: laundry)?.objectID == detail.objectID)
    }
    #expect(try stack.fetchCount(From<V2.LaundryItem>()) == 60)
    #expect(try stack.fetchCount(From<V2.LaundryDetail>()) == 1)
  }

  @Test func `the demo's data is whole at its version`() async throws {
    try await writeFirstData()
    let stack = try JustClean.firstStack(at: path)
    #expect(try stack.modelVersion == "V1")
    try checkFirst(stack)
    try stack.unsafeRemoveAllPersistentStoresAndWait()
  }

  @Test func `as the demo does it, the next version begins a new store, and the old one is whole`()
    async throws
  {
    try await writeFirstData()
    let stack = try JustClean.dataStack(at: path)
    #expect(try stack.modelVersion == "V2")
    #expect(try stack.fetchCount(From<V2.Laundry>()) == 0)
    await finish(stack) { JustClean.addSecondData(to: $0, print: $1) }
    try checkSecond(stack)
    try stack.unsafeRemoveAllPersistentStoresAndWait()

    let old = DataStack(JustClean.first)
    try old.addStorageAndWait(SQLiteStore(fileName: path + ".aside-1"))
    try checkFirst(old)
    try old.unsafeRemoveAllPersistentStoresAndWait()
    // It has its version now, and is opened as it is.
    let again = try JustClean.dataStack(at: path)
    try checkSecond(again)
    try again.unsafeRemoveAllPersistentStoresAndWait()
  }

  /// The step that the demo could not take: a list becomes a record of its own, with the list in it.
  private static let step = MigrationStep(to: 2) {
    TransformRecords(V1.LaundryData.self, into: V2.LaundryData.self, V2.LaundryDetail.self) {
      old, emit in
      var detail = V2.LaundryDetail()
      detail.objectID = UUID(of: .uuid(old.objectID), in: "LaundryDetail")
      detail.success = old.data.map { Reference<V2.Laundry>($0.id) }
      try emit(detail)
      var data = V2.LaundryData()
      data.objectID = old.objectID
      data.code = old.code
      data.data = detail.reference
      try emit(data)
    }
  }

  /// The same in mappings: one source, two destinations of its identity.
  private static let mapping = CustomSchemaMappingProvider(
    from: "V1", to: "V2",
    entityMappings: [
      .transformEntity(sourceEntity: "LaundryData", destinationEntity: "LaundryDetail") {
        source, create in
        create()["success"] = try source["data"]
      },
      .transformEntity(sourceEntity: "LaundryData", destinationEntity: "LaundryData") {
        source, create in
        let data = create()
        data.enumerateAttributes { attribute, old in
          if attribute != "data", let old { data[attribute] = source.record[old] }
        }
        data["data"] = try source["objectID"]
      },
      .insertEntity(destinationEntity: "LaundryFailure"),
      .copyEntity(sourceEntity: "LaundryItem", destinationEntity: "LaundryItem"),
      .transformEntity(sourceEntity: "Laundry", destinationEntity: "Laundry"),
    ])

  @Test(arguments: ["step", "mapping"])
  func `the demo's data is migrated whole by the step that it could not take`(_ kind: String)
    async throws
  {
    try await writeFirstData()
    let stack = JustClean.dataStack()
    let storage = SQLiteStore(
      fileName: path,
      migrationMappingProviders: [kind == "step" ? Self.step : Self.mapping],
      // With a step that can be taken, it recreates nothing.
      localStorageOptions: .recreateStoreOnModelMismatch)
    #expect(
      try stack.requiredMigrationsForStorage(storage) == [
        .heavyweight(sourceVersion: "V1", destinationVersion: "V2")
      ])
    var fraction = 0.0
    var isFinished = false
    for try await progress in stack.async.addStorage(storage) {
      switch progress {
      case .migrating(_, let progress): fraction = progress.fraction
      case .finished(_, let migrationRequired):
        #expect(migrationRequired)
        isFinished = true
      }
    }
    #expect(isFinished && fraction == 1)
    try checkSecond(stack)
    try stack.unsafeRemoveAllPersistentStoresAndWait()
    #expect(!FileManager.default.fileExists(atPath: path + ".aside-1"))
    let report = try await PersistentStore.check(at: path, .deep)
    #expect(report.faults.isEmpty)
  }

  @Test func `the demo's first version becomes its second by inference and one line`() async throws
  {
    try await writeFirstData()
    let stack = JustClean.dataStack()
    let storage = SQLiteStore(
      fileName: path, localStorageOptions: .allowSynchronousLightweightMigration)
    #expect(
      try stack.requiredMigrationsForStorage(storage) == [
        .lightweight(sourceVersion: "V1", destinationVersion: "V2")
      ])
    try stack.addStorageAndWait(storage)
    try checkSecond(stack)
    #expect(try stack.fetchCount(From<V2.LaundryFailure>()) == 0)
    try stack.unsafeRemoveAllPersistentStoresAndWait()
    let report = try await PersistentStore.check(at: path, .deep)
    #expect(report.faults.isEmpty)
  }

  /// An entity whose list becomes one value, without the line that says which.
  private enum Unstated {
    struct Shirt1: CoreStoreObject, Identifiable {
      var id = UUID()
      var tags: [String] = []

      static func recordDescription(for version: Int) -> RecordDescription {
        RecordName("Shirt")
        Field(primaryKey: true, name: "id", type: .uuid)
        Field(name: "tags", type: .array(of: .string))
      }
    }

    struct Shirt2: CoreStoreObject, Identifiable {
      var id = UUID()
      var tags: String?

      static func recordDescription(for version: Int) -> RecordDescription {
        RecordName("Shirt")
        Field(primaryKey: true, name: "id", type: .uuid)
        Field(name: "tags", type: .string, optional: true)
      }
    }
  }

  @Test func `without a line or a step the change is refused, with the line to write`() throws {
    let one = CoreStoreSchema(modelVersion: "V1", entities: [Entity<Unstated.Shirt1>("Shirt")])
    let two = CoreStoreSchema(modelVersion: "V2", entities: [Entity<Unstated.Shirt2>("Shirt")])
    let old = DataStack(one)
    try old.addStorageAndWait(SQLiteStore(fileName: path))
    try old.perform(synchronous: { transaction in
      _ = try transaction.create(Into<Unstated.Shirt1>()) { $0.tags = ["white", "clean"] }
    })
    try old.unsafeRemoveAllPersistentStoresAndWait()
    let stack = DataStack(one, two, migrationChain: ["V1", "V2"])
    let error = #expect(throws: CoreStoreError.self) {
      try stack.requiredMigrationsForStorage(SQLiteStore(fileName: path))
    }
    guard case .mappingModelNotFound(path, "V1", "V2", let reasons)? = error else {
      return #expect(Bool(false), "\(String(describing: error))")
    }
    #expect(
      reasons.contains {
        $0.contains("Shirt.tags") && $0.contains("MigrationInfo(choosing: .first)")
      })
    try old.addStorageAndWait(SQLiteStore(fileName: path))
    #expect(try old.fetchOne(From<Unstated.Shirt1>())?.tags == ["white", "clean"])
    try old.unsafeRemoveAllPersistentStoresAndWait()
  }
}
