import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A fingerprint changes when and only when what is stored would.
@Suite struct FingerprintTests {
  private static let base: [Field] = [
    Field(primaryKey: true, name: "id", type: .uuid), Field(name: "a", type: .string),
    Field(name: "n", type: .int32, optional: true), Field(name: "c", type: .transformable),
  ]

  private static func with(
    _ replaced: Int? = nil, _ field: Field? = nil,
    @RecordDescription.ResultBuilder _ more: () -> RecordDescription = { RecordDescription() }
  ) -> RecordDescription {
    let more = more()
    return description {
      for (index, old) in base.enumerated() {
        if index == replaced { if let field { field } } else { old }
      }
      more
    }
  }

  private static let changes: [(String, RecordDescription, isSame: Bool)] = [
    ("nothing", with(), true),
    ("the order", description { for field in base.reversed() { field } }, true),
    ("a property", with(1, Field(name: "a", type: .string, property: "b")), true),
    ("a default", with(1, Field(name: "a", type: .string, default: "x")), true),
    ("validation", with(1, Field(name: "a", type: .string, validation: [.length(1...)])), true),
    (
      "a migration's default",
      with(1, Field(name: "a", type: .string, migrationInfo: .init(default: "x"))), true
    ),
    ("a transient", with { Transient("t", default: 0) }, true),
    ("a record's validation", with { Validation("v") { (_: Item) in true } }, true),
    ("the stored name in words", with { RecordName("Item") }, true),
    ("a primary key in words", with(0, Field(name: "id", type: .uuid)) { PrimaryKey("id") }, true),
    ("a name", with(1, Field(name: "b", type: .string)), false),
    ("a record's name", with { RecordName("Task") }, false),
    ("a type", with(1, Field(name: "a", type: .url)), false),
    ("a width", with(2, Field(name: "n", type: .int64, optional: true)), false),
    ("a sign", with(2, Field(name: "n", type: .uint32, optional: true)), false),
    ("optional", with(1, Field(name: "a", type: .string, optional: true)), false),
    ("required", with(2, Field(name: "n", type: .int32)), false),
    ("a field less", with(1, nil), false),
    ("a field more", with { Field(name: "m", type: .string) }, false),
    ("an array", with(1, Field(name: "a", type: .array(of: .string))), false),
    (
      "I6: a codec", with(3, Field(name: "c", type: .transformable(using: ReversingCodec()))), false
    ),
    ("I5: a field's modifier", with(1, Field(name: "a", type: .string, modifier: "2")), false),
    ("I5: a record's modifier", with { RecordModifier("2") }, false),
    ("the primary key", with(0, Field(name: "id", type: .uuid)) { PrimaryKey("a") }, false),
    ("two in it", with(0, Field(name: "id", type: .uuid)) { PrimaryKey("id", "a") }, false),
    (
      "their order", with(0, Field(name: "id", type: .uuid)) { PrimaryKey("a", "id") }, false
    ),
    (
      "descending", with(0, Field(name: "id", type: .uuid)) { PrimaryKey(.descending("id")) }, false
    ),
    ("an index", with { Index("a") }, false),
    ("a unique one", with { Unique("a") }, false),
    ("one without case", with { Index(.caseInsensitive("a")) }, false),
    ("one by a collation", with { Index(.collated("a", by: .german)) }, false),
    ("one by another version of it", with { Index(.collated("a", by: .germanNames)) }, false),
    ("a descending one", with { Index(.descending("a")) }, false),
    ("a compound one", with { Index("a", "n") }, false),
    ("a partial one", with { Index("a", where: condition) }, false),
    (
      "another partial one", with { Index("a", where: .comparison(field: "n", .less, 2)) }, false
    ),
  ]

  private static let condition = FieldCondition.and([
    .comparison(field: "n", .less, 1), .comparison(field: "a", .notEqual, nil),
  ])

  /// Ways to say the same, of which no two differ.
  private static let equals: [(RecordDescription, RecordDescription)] = [
    (with { Index("a") }, with { Index("a", named: "other") }),
    (
      with(1, Field(name: "a", type: .string, indexed: true)), with { Index("a") }
    ),
    (
      with(1, Field(name: "a", type: .string, unique: true)), with { Unique("a") }
    ),
    (
      with {
        Index("a")
        Index("n")
      },
      with {
        Index("n")
        Index("a")
      }
    ),
    (
      with { Index("a", where: condition) },
      with {
        Index(
          "a",
          where: .and([
            .comparison(field: "a", .notEqual, nil), .comparison(field: "n", .less, .unsigned(1)),
          ]))
      }
    ),
  ]

  private static let lists: (RecordDescription, RecordDescription) = (
    with { Index("a", where: .isIn(field: "n", [1, 2])) },
    with {
      Index(
        "a",
        where: .or([
          .comparison(field: "n", .equal, 2), .comparison(field: "n", .equal, 1),
        ]))
    }
  )

  @Test func `a list in an index's condition is what its alternatives are`() throws {
    #expect(
      try schema { _ in Self.lists.0 }.records == schema { _ in Self.lists.1 }.records)
  }

  @Test func `I3 I5 I6: it changes with what is stored, and with nothing else`() throws {
    let base = try schema { _ in Self.with() }
    var seen: [Fingerprint: String] = [:]
    for (change, changed, isSame) in Self.changes {
      let changed = try schema { _ in changed }
      #expect((changed.fingerprint == base.fingerprint) == isSame, "\(change)")
      #expect(
        (changed.records[0].fingerprint == base.records[0].fingerprint) == isSame, "\(change)")
      #expect(base.differences(to: changed).isEmpty == isSame, "\(change)")
      #expect(changed.differences(to: base).isEmpty == isSame, "\(change)")
      if !isSame {
        let other = seen.updateValue(change, forKey: changed.fingerprint)
        #expect(other == nil, "\(change)")
      }
    }
  }

  @Test func `what says the same has the same, and the same numbers`() throws {
    for (index, (one, other)) in Self.equals.enumerated() {
      let one = try schema { _ in one }
      let other = try schema(after: one) { _ in other }
      #expect(one.fingerprint == other.fingerprint, "\(index)")
      #expect(one.differences(to: other) == [], "\(index)")
      #expect(
        one.records[0].indexes.map(\.number) == other.records[0].indexes.map(\.number), "\(index)")
    }
  }

  @Test func `I1 I3: neither version, label nor history is part of it`() throws {
    let first = try schema(version: 1) { _ in Self.with() }
    let detour = try schema(version: 3, after: first) { version in
      Self.with { if version == 2 { Index("a") } }
    }
    let back = try schema(version: 3) { _ in Self.with { Index("a") } }
    #expect(detour.fingerprint == first.fingerprint)
    #expect(detour.nextNumber != first.nextNumber)
    #expect(back.fingerprint != first.fingerprint)
  }

  @Test func `it is what the format says, for ever`() throws {
    let schema = try schema { _ in Self.with { Index("a", where: Self.condition) } }
    #expect("\(schema.fingerprint)" == "7dff6691f5fdc827fb7e8435df73de28")
    #expect("\(schema.records[0].fingerprint)" == "7aed5711a657cd3fe672eed2e57f3cf7")
  }

  @Test func `differences name record and field`() throws {
    let one = try schema { _ in
      Self.with {
        Field(name: "old", type: .string)
        Index("a")
      }
    }
    let second: Describing = { _ in
      description { Field(primaryKey: true, name: "id", type: .int64) }
    }
    let other = try schema(other: second) { _ in
      Self.with(2, Field(name: "n", type: .int64)) { Unique("a", where: Self.condition) }
    }
    #expect(
      one.differences(to: other).map(\.description) == [
        "Item.old is removed", "Item.n was int32 and is int64",
        "Item.n is no longer optional",
        "Item: the index (a) is removed",
        #"Item: the unique index (a) where (a != null && n < 1) is new"#, "Other is new",
      ])
  }
}
