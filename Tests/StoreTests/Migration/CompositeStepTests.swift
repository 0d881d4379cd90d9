import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Values that a step gives to parts of composites that may be null.
@Suite struct CompositeStepTests {
  private typealias Rows = [[String: FieldValue]]

  private static func records(_ rows: Rows) -> [DynamicRecord] {
    rows.enumerated().map { index, fields in
      DynamicRecord(
        "R",
        RecordFields(fields.merging(["id": .integer(Int64(index))]) { one, _ in one }))
    }
  }

  /// The records of version 2, without their ids.
  private static func migrated(
    _ store: DescribedStore, _ fields: UpdateField..., migration: MigrationMode = .automatic
  ) throws -> Rows {
    let step = MigrationStep(to: 2) { UpdateRecord("R") { for field in fields { field } } }
    return try store.records(through: 2, steps: [step], migration: migration).map { record in
      var fields = record.fields
      fields["id"] = nil
      return fields.dictionary
    }
  }

  private static let cities: Rows = [["city": "Rome"], ["city": nil], ["city": "Oslo"]]

  /// From a field of its own to a part of a composite that is new and may be null.
  private static func store(
    part isOptional: Bool, sibling: Field? = nil, default value: FieldValue? = nil
  ) throws -> DescribedStore {
    try DescribedStore(versions: 2, holding: records(cities)) { version in
      Field(primaryKey: true, name: "id", type: .integer)
      if version == 1 {
        Field(name: "city", type: .string, optional: true)
      } else {
        Field(
          name: "address",
          type: .composite {
            Field(
              name: "city", type: .string, optional: isOptional,
              migrationInfo: value.map { MigrationInfo(default: $0) })
            if let sibling { sibling }
          }, optional: true)
      }
    }
  }

  private static let sources: [UpdateField] = [
    UpdateField("address.city", path: "city"),
    UpdateField("address.city", from: { try $0["city"] }),
  ]

  @Test(arguments: sources.indices, [true, false])
  func `a new composite is there exactly if a part of it is given a value`(
    source: Int, isOptional: Bool
  ) throws {
    let store = try Self.store(part: isOptional)
    for mode in [MigrationMode.automatic, .deferred] {
      #expect(
        try Self.migrated(store, Self.sources[source], migration: mode) == [
          ["address": .composite(["city": "Rome"])], ["address": nil],
          ["address": .composite(["city": "Oslo"])],
        ])
    }
    let step = MigrationStep(to: 2) { UpdateRecord("R") { Self.sources[source] } }
    #expect(try store.plan(to: 2, steps: [step]).hops.map(\.isDeferrable) == [false])
  }

  @Test func `a default of a part alone makes no composite`() throws {
    let store = try Self.store(part: false, default: "nowhere")
    #expect(
      try Self.migrated(store, Self.sources[0]) == [
        ["address": .composite(["city": "Rome"])], ["address": nil],
        ["address": .composite(["city": "Oslo"])],
      ])
    let other = try Self.store(
      part: true,
      sibling: Field(name: "zip", type: .integer, migrationInfo: .init(default: 7)))
    #expect(
      try Self.migrated(other, Self.sources[0]) == [
        ["address": .composite(["city": "Rome", "zip": 7])], ["address": nil],
        ["address": .composite(["city": "Oslo", "zip": 7])],
      ])
  }

  @Test func `a part that would have no value in a composite that is made is refused`() throws {
    let store = try Self.store(part: true, sibling: Field(name: "zip", type: .integer))
    guard
      case .cannotMigrate(1, 2, let reasons) = storeError({
        try Self.migrated(store, Self.sources[0])
      })
    else { return #expect(Bool(false), "it is migrated") }
    #expect(
      reasons.count == 1 && reasons[0].hasPrefix("R.address.zip: it is a part of address"),
      "\(reasons)")
    // Given, it is there.
    #expect(
      try Self.migrated(
        store, Self.sources[0], UpdateField("address.zip", from: { _ in 5 })
      )[1] == ["address": .composite(["city": nil, "zip": 5])])
  }

  @Test
  func `a composite that was null is made by a value of a part, and one that was there stays`()
    throws
  {
    let rows: Rows = [
      ["city": "Rome", "address": .composite(["zip": 1])], ["city": "Oslo", "address": nil],
      ["city": nil, "address": nil], ["city": nil, "address": .composite(["zip": 4])],
    ]
    func store(zip isOptional: Bool) throws -> DescribedStore {
      try DescribedStore(versions: 2, holding: Self.records(rows)) { version in
        Field(primaryKey: true, name: "id", type: .integer)
        if version == 1 { Field(name: "city", type: .string, optional: true) }
        Field(
          name: "address",
          type: .composite {
            Field(name: "zip", type: .integer, optional: isOptional)
            if version == 2 { Field(name: "city", type: .string, optional: true) }
          }, optional: true)
      }
    }
    for source in Self.sources {
      #expect(
        try Self.migrated(try store(zip: true), source) == [
          ["address": .composite(["zip": 1, "city": "Rome"])],
          ["address": .composite(["zip": nil, "city": "Oslo"])], ["address": nil],
          ["address": .composite(["zip": 4, "city": nil])],
        ])
      // A part that has to be there was not.
      guard
        case .stepFailed(2, let place, _) = storeError({
          try Self.migrated(try store(zip: false), source)
        })
      else {
        Issue.record("it is migrated")
        return
      }
      #expect(place.contains("address.zip"), "\(place)")
    }
  }

  @Test
  func `composites within composites are made together, and whole ones come with their parts`()
    throws
  {
    let rows: Rows = [
      ["old": .composite(["city": "Rome", "more": .composite(["zip": 1])])], ["old": nil],
    ]
    let store = try DescribedStore(versions: 2, holding: Self.records(rows)) { version in
      Field(primaryKey: true, name: "id", type: .integer)
      let address = FieldType.composite {
        Field(name: "city", type: .string, optional: true)
        Field(
          name: "more", type: .composite { Field(name: "zip", type: .integer, optional: true) },
          optional: true)
      }
      if version == 1 {
        Field(name: "old", type: address, optional: true)
      } else {
        Field(
          name: "home", type: .composite { Field(name: "address", type: address, optional: true) },
          optional: true)
      }
    }
    let whole = rows[0]["old"] ?? .null
    #expect(
      try Self.migrated(store, UpdateField("home.address", path: "old")) == [
        ["home": .composite(["address": whole])], ["home": nil],
      ])
    #expect(
      try Self.migrated(store, UpdateField("home.address", from: { try $0["old"] })) == [
        ["home": .composite(["address": whole])], ["home": nil],
      ])
    #expect(
      try Self.migrated(store, UpdateField("home.address.more.zip", path: "old.more.zip")) == [
        [
          "home": .composite([
            "address": .composite(["city": nil, "more": .composite(["zip": 1])])
          ])
        ], ["home": nil],
      ])
  }
}
