import Cambium
import CambiumPostgres
import FoundationEssentials
import Glibc
import Synchronization
import Testing

/// Changes that take the records themselves.
@Suite(.enabled(if: PostgresServer.shared != nil, "\(PostgresServer.missing)"))
struct RebuildTests {
  private static let id = Field(primaryKey: true, name: "id", type: .integer)

  private func trial(
    _ name: String, _ one: [String: RecordDescription], _ two: [String: RecordDescription],
    _ step: MigrationStep? = nil
  ) -> MigrationTrial {
    MigrationTrial(
      name: "m_" + name,
      versions: [ModelVersion(1, describing: one), ModelVersion(2, describing: two)],
      steps: step.map { [$0] } ?? [])
  }

  @Test("Closures make values of old ones, and values are converted")
  func closures() async throws {
    let one = describe {
      Self.id
      Field(name: "name", type: .string, indexed: true)
      Field(name: "size", type: .double)
      Field(name: "count", type: .integer)
    }
    let two = describe {
      Self.id
      Field(name: "name", type: .string, indexed: true)
      Field(name: "size", type: .string)
      Field(name: "count", type: .int16)
      Field(name: "length", type: .integer, unique: false)
    }
    let step = MigrationStep(to: 2) {
      UpdateRecord("Item") {
        UpdateField("name", by: { old in try old.as(String.self).map { "<\($0)>" } ?? "" })
        UpdateField("size", converting: .refuse)
        UpdateField("count", converting: .replace(.integer(0)))
        UpdateField("length", from: { old in try old["name", as: String.self].utf8.count })
      }
    }
    try await trial("closures", ["Item": one], ["Item": two], step).run(byServer: false)
  }

  @Test("Records are divided, and the program changes them before and after the step")
  func transformed() async throws {
    let one = [
      "Person": describe {
        Self.id
        Field(name: "name", type: .string)
        Field(name: "street", type: .string, optional: true)
      },
      "Note": describe {
        Self.id
        Field(name: "person", type: .reference(to: "Person"), optional: true)
        Field(name: "people", type: .references(to: "Person"))
      },
    ]
    let two = [
      "Person": describe {
        Self.id
        Field(name: "name", type: .string)
      },
      "Address": describe {
        Self.id
        Field(name: "person", type: .reference(to: "Person"))
        Field(name: "street", type: .string)
      },
      "Note": one["Note"] ?? RecordDescription(),
    ]
    let step = MigrationStep(to: 2) {
      RunBefore { transaction in
        try transaction.save(DynamicRecord("Person", ["id": 1, "name": "first", "street": "Main"]))
      }
      TransformRecords("Person", into: "Person", "Address") { old, emit in
        try emit(DynamicRecord("Person", ["id": old["id"], "name": old["name"]]))
        if try old["street"] != .null {
          try emit(
            DynamicRecord(
              "Address", ["id": old["id"], "person": old["id"], "street": old["street"]]))
        }
      }
      RunAfter { transaction in
        try transaction.save(DynamicRecord("Person", ["id": 2, "name": "last"]))
      }
    }
    try await trial("transformed", one, two, step).run(byServer: false)
  }

  @Test("A reference becomes a list, and a list a reference")
  func lists() async throws {
    let tag = describe { Self.id }
    let one = [
      "Tag": tag,
      "Item": describe {
        Self.id
        Field(name: "tag", type: .reference(to: "Tag"), optional: true)
        Field(name: "marks", type: .references(to: "Tag"))
        Field(name: "number", type: .integer)
      },
    ]
    let two = [
      "Tag": tag,
      "Item": describe {
        Self.id
        Field(name: "tags", type: .references(to: "Tag"), migrationInfo: .init(renamingID: "tag"))
        Field(
          name: "mark", type: .reference(to: "Tag"), optional: true,
          migrationInfo: .init(choosing: .first, renamingID: "marks"))
        Field(
          name: "numbers", type: .array(of: .integer), migrationInfo: .init(renamingID: "number"))
      },
    ]
    try await trial("lists", one, two).run(byServer: false)
  }

  @Test("Keys change, and records become kinds of another")
  func keysAndKinds() async throws {
    let one = [
      "Item": describe {
        Self.id
        Field(name: "code", type: .uuid)
      },
      "Vehicle": describe {
        Self.id
        Field(name: "name", type: .string)
      },
      "Truck": describe {
        Field(primaryKey: true, name: "id", type: .integer)
        Field(name: "name", type: .string)
        Field(name: "load", type: .integer)
      },
    ]
    let two = [
      "Item": describe {
        Field(primaryKey: true, name: "code", type: .uuid)
        Field(name: "id", type: .integer)
      },
      "Vehicle": one["Vehicle"] ?? RecordDescription(),
      "Truck": describe {
        Parent("Vehicle")
        Field(name: "load", type: .integer)
      },
    ]
    var trial = trial("keys", one, two)
    trial.values = [
      "Truck.id": { .integer(-1 - Int64($0.next() % UInt64(1_000_000))) },
      "Vehicle.id": { .integer(Int64($0.next() % UInt64(1_000_000))) },
    ]
    try await trial.run(byServer: false)
  }

  // MARK: Interruptions

  private static let counted = Mutex(0)

  private struct Stop: Error {}

  /// A migration of 300 records by a closure that counts its calls, and fails at some of them.
  private func counting(_ name: String, revision: Int = 0, failingAt place: Int? = nil)
    -> MigrationTrial
  {
    let one = describe {
      Self.id
      Field(name: "name", type: .string)
    }
    let two = describe {
      Self.id
      Field(name: "name", type: .string)
      Field(name: "size", type: .integer)
    }
    let step = MigrationStep(to: 2, revision: revision) {
      UpdateRecord("Item") {
        UpdateField(
          "size",
          from: { old in
            let count = Self.counted.withLock {
              $0 += 1
              return $0
            }
            if count == place { throw Stop() }
            return try old["name", as: String.self].utf8.count
          })
      }
    }
    var trial = trial(name, ["Item": one], ["Item": two], step)
    trial.count = 300
    return trial
  }

  @Test("A step that fails for a record names it, and leaves the database as it was")
  func failingStep() async throws {
    Self.counted.withLock { $0 = 0 }
    let trial = counting("failing", failingAt: 100)
    let address = try trial.database()
    let before = try DatabaseContent(address)
    let migration = try await PostgresStore.migration(
      at: address, to: trial.model, steps: trial.steps)
    for attempt in 0..<2 {
      Self.counted.withLock { $0 = 0 }
      do {
        _ = try await (attempt == 0 ? migration.rehearse() : migration.run())
        Issue.record("it did not fail")
      } catch StoreError.stepFailed {}
      #expect(try DatabaseContent(address) == before)
    }
    let left = try Connection(address).run(
      "SELECT to_regclass('cambium.migration'), to_regnamespace('cambium_next')")
    #expect(left == [[nil, nil]])
  }
}
