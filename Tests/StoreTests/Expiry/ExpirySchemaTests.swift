import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Expiries in descriptions, schemas and locks.
@Suite struct ExpirySchemaTests {
  private static func model(_ expiries: Expiry...) -> StoreModel {
    model(expiries, description { Field(name: "end", type: .date, indexed: true) })
  }

  private static func model(
    _ expiry: Expiry, @RecordDescription.ResultBuilder _ fields: () -> RecordDescription
  ) -> StoreModel {
    model([expiry], fields())
  }

  private static func model(_ expiries: [Expiry], _ fields: RecordDescription) -> StoreModel {
    var elements: [RecordDescription.Element] = [
      .init(kind: .field(Field(primaryKey: true, name: "id", type: .integer)))
    ]
    elements += fields.elements
    elements += expiries.map { .init(kind: .expiry($0)) }
    return untyped(("R", RecordDescription(elements)))
  }

  @Test func `A26: what cannot expire is refused, and the error has the line to write`() throws {
    let table: [(String, StoreModel)] = [
      ("not there", Self.model(Expiry("ende"))),
      ("two expiries", Self.model(Expiry("end"), Expiry("end"))),
      ("whole milliseconds", Self.model(Expiry("end", after: .seconds(-1)))),
      ("whole milliseconds", Self.model(Expiry("end", after: .nanoseconds(1)))),
      ("whole milliseconds", Self.model(Expiry("end", after: .seconds(Int64.max)))),
      ("whole milliseconds", Self.model(Expiry("end", after: .seconds(Int64.min)))),
      (
        #"add one: Index("end")"#,
        Self.model(Expiry("end")) { Field(name: "end", type: .date) }
      ),
      (
        #"add one: Index("end")"#,
        Self.model(Expiry("end")) {
          Field(name: "end", type: .date)
          Field(name: "n", type: .integer)
          Index("n", "end")
          Index("end", where: .comparison(field: "n", .greater, 3))
        }
      ),
      (
        "by a date of their own",
        Self.model(Expiry("end")) { Field(name: "end", type: .double, indexed: true) }
      ),
      (
        "by a date of their own",
        Self.model(Expiry("c.end")) {
          Field(name: "c", type: .composite { Field(name: "end", type: .date, indexed: true) })
        }
      ),
    ]
    for (sentence, model) in table {
      let error = storeError { try model.schemas() }
      guard case .invalidDescription("R", _, 1, let reason)? = error else {
        Issue.record("\(sentence): \(String(describing: error))")
        continue
      }
      #expect(reason.contains(sentence), "\(reason)")
    }
  }

  @Test
  func `an expiry is in the lock, the schema's bytes and the Swift form, and in no fingerprint`()
    throws
  {
    let plain = try Self.model().checked().schema
    for (expiry, swift, line) in [
      (Expiry("end"), #"Expiry("end")"#, "expiry end"),
      (
        Expiry("end", after: .seconds(86_400)), #"Expiry("end", after: .seconds(86400))"#,
        "expiry end after 86400000"
      ),
      (
        Expiry("end", after: .milliseconds(5)), #"Expiry("end", after: .milliseconds(5))"#,
        "expiry end after 5"
      ),
    ] {
      let model = Self.model(expiry)
      let schema = try model.checked().schema
      #expect(schema.fingerprint == plain.fingerprint)
      let published = try schema.published()
      let decoded = try Schema(decoding: published.rawSpan, version: 1, path: "")
      #expect(decoded == schema && decoded != plain)
      let lock = try SchemaLock(model)
      #expect("\(lock)".contains(line), "\(lock)")
      #expect(try SchemaLock(parsing: "\(lock)") == lock)
      #expect(try StoreModel(lock).checked().schema.records[0].expiry == schema.records[0].expiry)
      #expect(
        try #require(schema.record(named: "R")).swiftStatements(isNamed: false, in: schema)
          .contains(swift))
    }
  }

  @Test func `an expiry in a damaged schema is refused`() throws {
    let schema = try Self.model(Expiry("end")).checked().schema
    func refuses(_ change: (inout RecordSchema) -> Void) -> Bool {
      var damaged = schema
      change(&damaged.records[0])
      let encoded = damaged.encoded()
      let error = storeError { () throws(StoreError) in
        try Schema(decoding: encoded.rawSpan, version: 1, path: "")
      }
      return error?.breaks(.schemaContents) ?? false
    }
    #expect(!refuses { _ in })
    #expect(!refuses { $0.expiry = nil })
    #expect(refuses { $0.expiry?.field = 77 })
    let key = try #require(schema.records[0].fields.first { $0.name == "id" })
    #expect(refuses { $0.expiry?.field = key.number })
    #expect(refuses { $0.expiry?.milliseconds = -1 })
    #expect(refuses { $0.expiry?.milliseconds = .max })
  }

  @Test func `the expiry of the program that opens a store for writing is the store's`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/s"
    let clock = TestClock()
    let expiries: [Expiry?] = [nil, Expiry("end"), Expiry("end", after: .seconds(9)), nil]
    for expiry in expiries {
      let model = expiry.map { Self.model($0) } ?? Self.model()
      let store = try PersistentStore(at: path, model: model, options: clock.options())
      #expect(
        store.schema.records[0].expiry?.milliseconds
          == expiry.map { Int64($0.delay / .milliseconds(1)) })
      try store.close()
      let kept = try PersistentStore.inspect(at: path).schemas.last?.records[0].expiry
      #expect(kept == store.schema.records[0].expiry)
    }
  }

  @Test func `an expiry comes with a version, goes with the next, and follows a renamed field`()
    throws
  {
    let type = RemovedRecord("R") { version in
      Field(primaryKey: true, name: "id", type: .integer)
      if version < 3 {
        Field(name: "end", type: .date, indexed: true)
      } else {
        Field(name: "until", type: .date, indexed: true, migrationInfo: .init(renamingID: "end"))
      }
      if version == 2 { Expiry("end") }
      if version == 3 { Expiry("until", after: .seconds(5)) }
    }
    let versioned = try VersionedStore(
      versions: 3, [type], holding: [.of("R", 1, ["end": .date(.distantPast)])])
    for mode in [MigrationMode.automatic, .deferred] {
      for version in 2...3 {
        let store = try versioned.migrated(to: version, [], mode)
        #expect(store.schema.record(named: "R")?.expiry?.milliseconds == (version == 3 ? 5_000 : 0))
        _ = try store.collectExpired()
        #expect(try store.count(record: "R", where: nil) == 0)
        try store.close()
      }
    }
  }
}
