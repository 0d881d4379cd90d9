import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A shop in several versions. Its types are kept per version.
private enum V1 {
  struct Item: Record, Equatable {
    var id: Int
    var name: String
    var price: String
    var street: String?
    static func recordDescription(for version: Int) -> RecordDescription { Shop.item(version) }
  }
}

private enum V2 {
  struct Item: Record, Equatable {
    var id: Int
    var title: String
    var price: Int
    static func recordDescription(for version: Int) -> RecordDescription { Shop.item(version) }
  }

  struct Place: Record, Equatable {
    var street: String
    var count: Int
    static func recordDescription(for version: Int) -> RecordDescription { Shop.place(version) }

    /// Steps do not call it.
    static var hooks: RecordHooks<Place> {
      RecordHooks(beforeInsert: { place, _ in place.count = -7 })
    }
  }
}

private enum Shop {
  @RecordDescription.ResultBuilder
  static func item(_ version: Int) -> RecordDescription {
    if version > 0 {
      RecordName("Item")
      Field(primaryKey: true, name: "id", type: .integer)
      if version == 1 {
        Field(name: "name", type: .string, indexed: true)
        Field(name: "price", type: .string)
        Field(name: "street", type: .string, optional: true)
      } else {
        Field(name: "title", type: .string, indexed: true, migrationInfo: .init(renamingID: "name"))
        Field(name: "price", type: .integer, indexed: true)
      }
    }
  }

  @RecordDescription.ResultBuilder
  static func place(_ version: Int) -> RecordDescription {
    if version > 1 {
      RecordName("Place")
      Field(primaryKey: true, name: "street", type: .string)
      Field(name: "count", type: .integer, validation: [.range(0...)])
    }
  }

  static let first = StoreModel(version: 1, records: [V1.Item.self])
  static let second = StoreModel(version: 2, records: [V2.Item.self, V2.Place.self])

  static func record(_ id: Int) -> V1.Item {
    V1.Item(
      id: id, name: "n\(id)", price: id % 10 == 3 ? "dear" : "\(id * 7)",
      street: id % 3 == 0 ? nil : "s\(id % 4)")
  }
}

@Suite struct StepTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }
  private static let count = scaled(5_000, debug: 400)

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func make(_ count: Int = Self.count) throws {
    let store = try PersistentStore(at: path, model: Shop.first)
    try store.write { try $0.insert(contentsOf: (0..<count).map { Shop.record($0) }) }
    try store.close()
  }

  private func open(
    _ steps: [MigrationStep], sliceCount: Int = 150, stepwise: Bool = false
  ) throws -> PersistentStore {
    var options = StoreOptions()
    options.migration.sliceCount = sliceCount
    options.migration.stepwise = stepwise
    return try PersistentStore(at: path, model: Shop.second, steps: steps, options: options)
  }

  /// The old version is still all there, and a program of it goes on.
  private func expectUntouched() throws {
    let store = try PersistentStore(at: path, model: Shop.first)
    #expect(try store.fetch(V1.Item.self) == (0..<Self.count).map { Shop.record($0) })
    #expect(try store.snapshot().check() == [])
    try store.close()
  }

  // MARK: Fields

  @Test
  func
    `a value is transformed, computed from its record, or pulled along a path, K6 K7 K8 K9 K10 K15`()
    throws
  {
    try make()
    let store = try open([
      MigrationStep(to: 2) {
        UpdateRecord("Item") {
          UpdateField("price", by: { old in try Int(old.as(String.self) ?? "") ?? -1 })
          UpdateField(
            "title",
            from: { old in
              try old["name", as: String.self] + " in "
                + (old["street", as: String?.self] ?? "nowhere")
            })
        }
      }
    ])
    for id in stride(from: 0, to: Self.count, by: 37) {
      let old = Shop.record(id)
      #expect(
        try store.fetch(V2.Item.self, key: id)
          == V2.Item(
            id: id, title: "\(old.name) in \(old.street ?? "nowhere")", price: Int(old.price) ?? -1)
      )
    }
    #expect(try store.count(V2.Item.self) == Self.count)
    #expect(try store.snapshot().check() == [])
    try store.close()
  }

  @Test(arguments: [ConversionPolicy.replace(-5), .setAside, .refuse])
  func `a declared conversion replaces, sets aside or refuses what does not convert, J13`(
    policy: ConversionPolicy
  ) throws {
    try make()
    let steps = [
      MigrationStep(to: 2) { UpdateRecord("Item") { UpdateField("price", converting: policy) } }
    ]
    let plan = try PersistentStore.migration(at: path, to: Shop.second, steps: steps).plan
    switch policy {
    case .replace:
      #expect(plan.canRun, "\(plan)")
      let store = try open(steps)
      #expect(try store.fetch(V2.Item.self, key: 13)?.price == -5)
      #expect(try store.fetch(V2.Item.self, key: 14)?.price == 98)
      #expect(try store.snapshot().check() == [])
      try store.close()
    case .setAside:
      // What is set aside leaves no value, and there has to be one.
      guard case .stepFailed(2, let source, _) = storeError({ try open(steps) }) else {
        return #expect(Bool(false), "it is migrated")
      }
      #expect(source.hasPrefix("Item.price of "), "\(source)")
      try expectUntouched()
    case .refuse:
      #expect(!plan.canRun)
      let refused = (0..<Self.count).count { $0 % 10 == 3 }
      #expect(
        plan.faults.contains {
          "\($0)".contains("Item.price: \(refused) of \(Self.count) records")
        },
        "\(plan)")
      guard case .stepFailed(2, let source, let reason) = storeError({ try open(steps) }) else {
        return #expect(Bool(false), "it is migrated")
      }
      #expect(source.hasPrefix("Item.price of "), "\(source)")
      #expect(reason.contains("“dear”") || reason.contains("dear"), "\(reason)")
      try expectUntouched()
    }
  }

  @Test func `a closure that throws names its record, and nothing has changed, P10`() throws {
    struct Odd: Error {}
    try make()
    let steps = [
      MigrationStep(to: 2) {
        UpdateRecord("Item") {
          UpdateField(
            "price",
            by: { old in
              if old == .string("dear") { throw Odd() }
              return 1
            })
        }
      }
    ]
    guard case .stepFailed(2, let source, let reason) = storeError({ try open(steps) }) else {
      return #expect(Bool(false), "it is migrated")
    }
    #expect(source.contains("Item") && source.contains("3"), "\(source)")
    #expect(reason.contains("Odd"), "\(reason)")
    try expectUntouched()
  }

  // MARK: Records

  private static let split = MigrationStep(to: 2, label: "split") {
    TransformRecords("Item", into: "Item", "Place") { old, emit in
      // Dear ones are dropped.
      guard let price = Int(try old["price", as: String.self]) else { return }
      try emit(
        DynamicRecord(
          "Item",
          ["id": old["id"], "title": old["name"], "price": .integer(Int64(price))]))
      guard let street = try old["street", as: String?.self] else { return }
      try emit.upsert(
        DynamicRecord("Place", ["street": .string(street), "count": 1])
      ) { existing, _ in
        var merged = existing
        merged["count"] = .integer(try existing["count", as: Int64.self] + 1)
        return merged
      }
    }
  }

  private func expectSplit(_ store: PersistentStore) throws {
    let kept = (0..<Self.count).map { Shop.record($0) }.filter { Int($0.price) != nil }
    #expect(
      try store.fetch(V2.Item.self)
        == kept.map { V2.Item(id: $0.id, title: $0.name, price: Int($0.price) ?? 0) })
    var places: [String: Int] = [:]
    for item in kept { if let street = item.street { places[street, default: 0] += 1 } }
    #expect(
      try store.fetch(V2.Place.self)
        == places.sorted { $0.key < $1.key }.map { V2.Place(street: $0.key, count: $0.value) })
    #expect(try store.snapshot().check() == [])
  }

  @Test func `a closure splits, merges by upsert and drops records, K11 K12 K13 K14`() throws {
    try make()
    let store = try open([Self.split])
    try expectSplit(store)
    try store.close()
  }

  @Test func `types kept per version stand for old and new records, A5`() throws {
    try make()
    let store = try open([
      MigrationStep(to: 2) {
        TransformRecords(V1.Item.self, into: V2.Item.self, V2.Place.self) { old, emit in
          guard let price = Int(old.price) else { return }
          try emit(V2.Item(id: old.id, title: old.name, price: price))
          if let street = old.street {
            try emit.upsert(
              DynamicRecord("Place", ["street": .string(street), "count": 1])
            ) { existing, _ in
              var merged = existing
              merged["count"] = .integer(try existing["count", as: Int64.self] + 1)
              return merged
            }
          }
        }
      }
    ])
    try expectSplit(store)
    try store.close()
  }

  @Test func `a key that two records emit names both, and nothing has changed`() throws {
    try make()
    let steps = [
      MigrationStep(to: 2) {
        TransformRecords("Item") { old, emit in
          let id = try old["id", as: Int.self]
          try emit(
            DynamicRecord(
              "Item",
              ["id": .integer(Int64(id == 391 ? 17 : id)), "title": "t", "price": 1]))
        }
      }
    ]
    guard case .stepFailed(2, let source, let reason) = storeError({ try open(steps) }) else {
      return #expect(Bool(false), "it is migrated")
    }
    #expect(source == "Item 391" && reason.contains("Item 17"), "\(source): \(reason)")
    try expectUntouched()
  }

  @Test func `what is emitted has to meet the rules of its fields, K16`() throws {
    try make()
    let steps = [
      MigrationStep(to: 2) {
        TransformRecords("Item", into: "Place") { old, emit in
          let id = try old["id", as: Int64.self]
          try emit(
            DynamicRecord(
              "Place", ["street": .string("\(id)"), "count": .integer(9 - id)]))
        }
      }
    ]
    guard case .stepFailed(2, let source, _) = storeError({ try open(steps) }) else {
      return #expect(Bool(false), "it is migrated")
    }
    #expect(source == "Place.count of Item 10", "\(source)")
    try expectUntouched()
  }

  @Test(arguments: [
    (UpdateField("price", value: "7"), #"the step gives it "7", which is not int64"#),
    (
      UpdateField("price", converting: .replace(1.5)),
      "the step gives it 1.5, which is not int64"
    ),
    (UpdateField("price", value: nil), "the step gives it null, but it is not optional"),
  ])
  func `a value that a step states is of the field's type`(
    field: UpdateField, reason: String
  ) throws {
    try make()
    let steps = [MigrationStep(to: 2) { UpdateRecord("Item") { field } }]
    guard case .cannotMigrate(1, 2, let reasons) = storeError({ try open(steps) }) else {
      return #expect(Bool(false), "it is migrated")
    }
    #expect(reasons.contains { $0.contains(reason) }, "\(reasons)")
    try expectUntouched()
  }

  // MARK: Whole versions

  @Test func `before and after change whole versions, and a check looks at the result, K16 N5 N7`()
    throws
  {
    try make()
    let store = try open([
      MigrationStep(to: 2) {
        RunBefore(V1.Item.self) { transaction in
          // By an index, which is the migration's own too.
          for item in try transaction.fetch(V1.Item.where { $0.name == "n5" }) {
            try transaction.delete(item)
          }
          _ = try transaction.delete(record: "Item", key: 6)
          try transaction.setMetadata(6, for: "deleted")
        }
        UpdateRecord("Item") {
          UpdateField("price", converting: .replace(0))
        }
        RunAfter(V2.Item.self, V2.Place.self) { transaction in
          let count = try transaction.count(V2.Item.self)
          try transaction.insert(V2.Place(street: "all", count: count))
          try transaction.delete(V2.Item(id: 7, title: "", price: 0))
        }
        CheckRecords("there is a place", V2.Place.self) { snapshot in
          guard try snapshot.count(V2.Place.self) == 1 else {
            throw StoreError.noSuchRecord(record: "Place", key: "all")
          }
        }
      }
    ])
    #expect(try store.count(V2.Item.self) == Self.count - 3)
    #expect(
      try store.fetch(V2.Place.self) == [V2.Place(street: "all", count: Self.count - 2)])
    #expect(try store.metadata(Int.self, for: "deleted") == 6)
    #expect(try store.fetch(V2.Item.where { $0.price == 70 }).map(\.title) == ["n10"])
    #expect(try store.snapshot().check() == [])
    try store.close()
  }

  @Test func `a check that fails leaves the old version, and so does what was before it, K16`()
    throws
  {
    try make()
    let steps = [
      MigrationStep(to: 2) {
        RunBefore { transaction in
          _ = try transaction.delete(record: "Item", key: 6)
          try transaction.setMetadata(1, for: "x")
        }
        UpdateRecord("Item") { UpdateField("price", converting: .replace(0)) }
        CheckRecords("the moon is full") { _ in throw StoreError.unknownRecord(name: "Moon") }
      }
    ]
    guard case .stepFailed(2, let source, _) = storeError({ try open(steps) }) else {
      return #expect(Bool(false), "it is migrated")
    }
    #expect(source.contains("the moon is full"))
    try expectUntouched()
    let store = try PersistentStore(at: path, model: Shop.first)
    #expect(try store.metadataNames() == [])
    try store.close()
  }

  // MARK: Plans, rehearsals and runs

  @Test func `a plan says what is done and changes nothing, and is data, P1 P2 J14 I10`() throws {
    try make()
    let writer = try PersistentStore(at: path, model: Shop.first)
    let inferred = try PersistentStore.migration(at: path, to: Shop.second).plan
    #expect(!inferred.canRun)
    #expect(
      inferred.faults.count == 1 && "\(inferred.faults[0])".contains("Item.price"), "\(inferred)")
    #expect("\(inferred.faults[0])".contains("UpdateField"))
    let plan = try PersistentStore.migration(at: path, to: Shop.second, steps: [Self.split]).plan
    #expect(plan.canRun && !plan.isInferred && plan.from == 1 && plan.to == 2)
    #expect(plan.steps.map(\.label) == ["split"])
    #expect("\(plan)".contains("transforming Item, \(Self.count) records"), "\(plan)")
    #expect(plan.records >= Self.count && plan.bytesToWrite > 0)
    #expect((plan.bytesFree ?? 0) > 0, "\(path) \(String(describing: plan.bytesFree))")
    let bytes = try JSONCoder.encode(plan)
    #expect(try JSONCoder.decode(MigrationPlan.self, from: bytes) == plan)
    try writer.close()
    try expectUntouched()
  }

  @Test func `a rehearsal does it all and leaves nothing, a run then does it, P3 Q1 Q2 Q3 Q5`()
    async throws
  {
    try make()
    let migration = try await PersistentStore.migration(
      at: path, to: Shop.second, steps: [Self.split])
    let progress = migration.progress
    let rehearsed = try await migration.rehearse()
    #expect(rehearsed.from == 1 && rehearsed.to == 2 && rehearsed.records >= Self.count)
    var last: MigrationProgress?
    for await some in progress { last = some }
    #expect(last?.fraction == 1 && last?.version == 2, "\(String(describing: last))")
    try expectUntouched()
    let ran = try await migration.run()
    #expect(ran.records == rehearsed.records)
    #expect(try await migration.run().records == 0, "it is there already")
    let store = try open([])
    try expectSplit(store)
    try await store.close()
  }

  @Test func `a rehearsal finds what the run would, P3`() throws {
    try make()
    let steps = [
      MigrationStep(to: 2) {
        UpdateRecord("Item") { UpdateField("price", by: { _ in "no integer" }) }
      }
    ]
    let migration = try PersistentStore.migration(at: path, to: Shop.second, steps: steps)
    let rehearsed = storeError { try migration.rehearse() }
    guard case .stepFailed(2, _, _) = rehearsed else {
      return #expect(Bool(false), "\(String(describing: rehearsed))")
    }
    #expect(storeError { try migration.run() } == rehearsed)
    try expectUntouched()
  }

  @Test func `cancelled at any slice it goes on there, or the old program throws it away, P7`()
    throws
  {
    try make()
    for cancelled in stride(from: 0, to: Self.count, by: scaled(501, debug: 97)) {
      let box = Guarded<Migration?>(nil)
      let seen = Guarded(0)
      let steps = [
        MigrationStep(to: 2) {
          TransformRecords("Item", into: "Item") { old, emit in
            let count = seen.withLock { seen in
              seen += 1
              return seen
            }
            if count > cancelled { box.withLock { $0 }?.cancel() }
            try emit(
              DynamicRecord(
                "Item", ["id": old["id"], "title": old["name"], "price": 1]))
          }
        }
      ]
      var options = StoreOptions()
      options.migration.sliceCount = 10
      let migration = try PersistentStore.migration(
        at: path, to: Shop.second, steps: steps, options: options)
      box.withLock { $0 = migration }
      let error = storeError { try migration.run() }
      #expect(error == .migrationCancelled(from: 1, to: 2), "\(String(describing: error))")
      box.withLock { $0 = nil }
      if cancelled.isMultiple(of: 2) {
        try expectUntouched()
        continue
      }
      // Gone on with, it looks at what is left only, and again at the slice that it was in: slices grow to a
      // quarter of what is done.
      let before = seen.withLock { $0 }
      let again = try PersistentStore.migration(
        at: path, to: Shop.second, steps: steps, options: options)
      try again.rehearse()
      #expect(seen.withLock { $0 } - before <= Self.count - cancelled * 3 / 4 + 10)
      try expectUntouched()
    }
  }
}

/// JSON with the coders that programs use.
private enum JSONCoder {
  static func encode(_ value: some Encodable) throws -> Data { try JSONEncoder().encode(value) }
  static func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
    try JSONDecoder().decode(type, from: data)
  }
}
