import CambiumTesting
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Parts of composites that must be there from a version on: where the composite is, though it may be null.
@Suite struct RequiredPartTests {
  enum Change: CaseIterable {
    /// The part was there, and optional.
    case required
    /// It is new.
    case new
  }

  /// By the record: with the part, without it, without the composite.
  private static func records(_ change: Change) -> [DynamicRecord] {
    let zip: FieldValue = change == .required ? 1 : .null
    let parts: [FieldValue] = [
      .composite(["city": "Rome"].merging(change == .required ? ["zip": zip] : [:]) { $1 }),
      .composite(["city": "Oslo"].merging(change == .required ? ["zip": .null] : [:]) { $1 }),
      .null,
    ]
    return parts.enumerated().map { place, address in
      DynamicRecord("R", ["id": .integer(Int64(place)), "address": address])
    }
  }

  private static func store(
    _ change: Change, default value: FieldValue?, of records: [DynamicRecord]
  ) throws -> DescribedStore {
    try DescribedStore(versions: 2, holding: records) { version in
      Field(primaryKey: true, name: "id", type: .integer)
      Field(
        name: "address",
        type: .composite {
          Field(name: "city", type: .string)
          if version == 2 {
            Field(
              name: "zip", type: .integer,
              migrationInfo: value.map { MigrationInfo(default: $0) })
          } else if change == .required {
            Field(name: "zip", type: .integer, optional: true)
          }
        }, optional: true)
    }
  }

  @Test(arguments: Change.allCases, [MigrationMode.automatic, .deferred])
  func `a part that must be there from now on gets its default where the composite is`(
    change: Change, mode: MigrationMode
  ) throws {
    let store = try Self.store(change, default: 7, of: Self.records(change))
    let addresses = try store.records(through: 2, migration: mode).map { $0["address"] }
    #expect(
      addresses == [
        .composite(["city": "Rome", "zip": change == .required ? 1 : 7]),
        .composite(["city": "Oslo", "zip": 7]), .null,
      ])
  }

  @Test(arguments: [MigrationMode.automatic, .deferred])
  func `without a default, a record that lacks a part that becomes required is named`(
    mode: MigrationMode
  ) throws {
    let records = Self.records(.required)
    let store = try Self.store(.required, default: nil, of: records)
    #expect(try store.plan(to: 2, steps: []).hops.map(\.isDeferrable) == [false])
    guard
      case .stepFailed(2, let place, _) = storeError({
        try store.records(through: 2, migration: mode)
      })
    else {
      Issue.record("it is migrated")
      return
    }
    #expect(place.contains("R.address.zip") && place.contains("1"), "\(place)")
    // Those that have it, and those without the composite, lack nothing.
    let sound = try Self.store(.required, default: nil, of: [records[0], records[2]])
    #expect(try sound.records(through: 2, migration: mode) == [records[0], records[2]])
  }

  @Test func `without a default, a part that is new in a composite that was there is refused`()
    throws
  {
    let store = try Self.store(.new, default: nil, of: Self.records(.new))
    guard case .cannotMigrate(1, 2, let reasons) = storeError({ try store.records(through: 2) })
    else {
      Issue.record("it is migrated")
      return
    }
    #expect(reasons.count == 1 && reasons[0].hasPrefix("R.address.zip: it is new"), "\(reasons)")
  }

  /// A kind's fields are parts of what may be null, as well.
  private func kinds(
    _ change: Change, default value: FieldValue?
  ) throws -> (StoreModel, StoreImage) {
    let model = StoreModel(
      version: 2,
      untyped: [
        RemovedRecord("Trip") { _ in Field(primaryKey: true, name: "id", type: .integer) },
        RemovedRecord("Tour") { version in
          RecordDescription.Parent("Trip")
          Field(name: "guide", type: .string, optional: true)
          if version == 2 {
            Field(
              name: "days", type: .integer,
              migrationInfo: value.map { MigrationInfo(default: $0) })
          } else if change == .required {
            Field(name: "days", type: .integer, optional: true)
          }
        },
      ])
    let image = StoreImage()
    let store = try image.open(model.dynamic(version: 1))
    try store.write { transaction in
      try transaction.save(DynamicRecord("Trip", ["id": 1]))
      let parts: [String: FieldValue] = change == .required ? ["days": .null] : [:]
      try transaction.save(
        DynamicRecord("Trip", ["id": 2, "Tour": .composite(parts)]))
    }
    try store.close()
    return (model, image)
  }

  @Test(arguments: Change.allCases, [MigrationMode.automatic, .deferred])
  func `fields of a kind get their defaults in its records, or are refused`(
    change: Change, mode: MigrationMode
  ) throws {
    let (model, image) = try kinds(change, default: 3)
    let store = try image.copy().open(model, migration: mode)
    #expect(
      try store.allRecords().map { $0["Tour"] } == [.null, .composite(["days": 3, "guide": nil])])
    try store.expectSound()
    try store.close()
    let (other, same) = try kinds(change, default: nil)
    #expect(throws: StoreError.self) { try same.copy().open(other, migration: mode) }
  }
}
