import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// What two descriptions of a version differ in, and what became of one version in another, in words.
@Suite struct DifferenceTests {
  private struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let change: RecordDescription
    /// Of one schema to the other, by names.
    let differences: [String]
  }

  private static func described(
    key: FieldType = .uuid, keyParts: PrimaryKey = PrimaryKey("id"),
    _ name: Field? = Field(name: "name", type: .string),
    _ size: Field? = Field(name: "size", type: .int32, optional: true),
    modifier: String? = nil, renamed: String = "Item",
    @RecordDescription.ResultBuilder _ more: () -> RecordDescription = { RecordDescription() }
  ) -> RecordDescription {
    let more = more()
    return description {
      RecordName(renamed)
      Field(name: "id", type: key)
      if let name { name }
      if let size { size }
      Field(name: "blob", type: .transformable)
      keyParts
      if let modifier { RecordModifier(modifier) }
      more
    }
  }

  private static let cases: [Case] = [
    Case(testDescription: "nothing", change: described(), differences: []),
    Case(
      testDescription: "a type", change: described(Field(name: "name", type: .url)),
      differences: ["Item.name was string and is url"]),
    Case(
      testDescription: "optional",
      change: described(Field(name: "name", type: .string, optional: true)),
      differences: ["Item.name is optional"]),
    Case(
      testDescription: "required",
      change: described(Field(name: "name", type: .string), Field(name: "size", type: .int32)),
      differences: ["Item.size is no longer optional"]),
    Case(
      testDescription: "a name", change: described(Field(name: "title", type: .string)),
      differences: ["Item.name is removed", "Item.title is new: string"]),
    Case(
      testDescription: "a field less", change: described(nil),
      differences: ["Item.name is removed"]),
    Case(
      testDescription: "a field more", change: described { Field(name: "more", type: .date) },
      differences: ["Item.more is new: date"]),
    Case(
      testDescription: "a part of a composite",
      change: described {
        Field(name: "at", type: .composite { Field(name: "x", type: .double) })
      }, differences: ["Item.at is new: composite", "Item.at.x is new: double"]),
    Case(
      testDescription: "the type of a key", change: described(key: .string),
      differences: ["Item.id was uuid and is string"]),
    Case(
      testDescription: "the key",
      change: described(keyParts: PrimaryKey("id", .descending("name"))),
      differences: ["Item: the primary key was (id) and is (id, name descending)"]),
    Case(
      testDescription: "an index", change: described { Index(.descending("size"), "name") },
      differences: ["Item: the index (size descending, name) is new"]),
    Case(
      testDescription: "a unique one without case",
      change: described { Unique(.caseInsensitive("name")) },
      differences: ["Item: the unique index (name without case) is new"]),
    Case(
      testDescription: "a partial one",
      change: described { Index("name", where: .comparison(field: "size", .greater, 3)) },
      differences: ["Item: the index (name) where size > 3 is new"]),
    Case(
      testDescription: "a codec",
      change: description {
        described()
        Field(name: "coded", type: .transformable(using: ReversingCodec()))
      }, differences: ["Item.coded is new: transformable(reversed)"]),
    Case(
      testDescription: "a field's modifier",
      change: described(Field(name: "name", type: .string, modifier: "2")),
      differences: ["Item.name: the modifier was none and is “2”"]),
    Case(
      testDescription: "a record's modifier", change: described(modifier: "new"),
      differences: ["Item: the modifier was none and is “new”"]),
    Case(
      testDescription: "a record's name", change: described(renamed: "Thing"),
      differences: ["Item is removed", "Thing is new"]),
  ]

  @Test(arguments: cases)
  private func `every kind of difference is said in words, I3 I5 I6 I10`(_ test: Case) throws {
    let base = try schema { _ in Self.described() }
    let changed = try schema { _ in test.change }
    #expect(base.differences(to: changed).map(\.description) == test.differences)
    #expect((base.fingerprint == changed.fingerprint) == test.differences.isEmpty)
  }

  @Test func `another codec is a difference, I6`() throws {
    let base = try schema { _ in Self.described() }
    let changed = try schema { _ in
      Field(primaryKey: true, name: "id", type: .uuid)
      Field(name: "name", type: .string)
      Field(name: "size", type: .int32, optional: true)
      Field(name: "blob", type: .transformable(using: ReversingCodec()))
    }
    #expect(
      base.differences(to: changed).map(\.change) == [
        .changed(.type, from: "transformable(json)", to: "transformable(reversed)")
      ])
  }

  @Test func `what became of each thing from version to version is said by its name, I10`() throws {
    let first: Describing = { version in
      description {
        RecordName(version < 3 ? "Item" : "Thing", renamingID: version < 3 ? nil : "Item")
        Field(primaryKey: true, name: "id", type: .integer)
        switch version {
        case 1:
          Field(name: "color", type: .string, indexed: true)
          Field(name: "size", type: .int16)
          Field(name: "rest", type: .url)
        case 2:
          Field(
            name: "paint", type: .string, indexed: true, migrationInfo: .init(renamingID: "color"))
          Field(name: "size", type: .int32, optional: true)
          Field(name: "count", type: .integer, default: 0)
        default:
          Field(name: "paint", type: .string)
          Field(name: "size", type: .int32)
          Field(name: "count", type: .integer)
          Unique("count")
        }
      }
    }
    let second: Describing = { version in
      description { if version == 2 { Field(primaryKey: true, name: "id", type: .uuid) } }
    }
    try Item.describing.withValue(first) { () throws in
      try Other.describing.withValue(second) { () throws in
        let model = StoreModel(version: 3, records: [Item.self, Other.self])
        #expect(
          try model.changes(from: 1, to: 2).map(\.description) == [
            "Item.rest is removed", "Item.paint was called color",
            "Item.size was int16 and is int32", "Item.size is optional",
            "Item.count is new: int64", "Other is new",
          ])
        #expect(
          try model.changes(from: 2, to: 3).map(\.description) == [
            "Other is removed", "Thing was called Item", "Thing.size is no longer optional",
            "Thing: the index (paint) is removed", "Thing: the unique index (count) is new",
          ])
        #expect(try model.changes(from: 3, to: 3) == [])
        #expect(storeError { _ = try model.changes(from: 0, to: 3) } != nil)
        #expect(storeError { _ = try model.changes(from: 1, to: 4) } != nil)
      }
    }
  }
}
