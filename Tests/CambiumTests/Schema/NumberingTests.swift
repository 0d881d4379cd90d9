import Testing

@testable import Cambium
@testable import InternalTestSupport

/// What was there keeps its number, whatever it is called; what is new has one of its own.
@Suite struct NumberingTests {
  private static let id = Field(primaryKey: true, name: "id", type: .uuid)

  private static func string(_ name: String, was old: String? = nil) -> Field {
    Field(
      name: name, type: .string, migrationInfo: old.map { MigrationInfo(renamingID: $0) })
  }

  @Test func `the order of declaration is kept, and changes neither numbers nor fingerprints`()
    throws
  {
    let one = try schema { _ in
      Self.id
      Self.string("a")
      Self.string("b")
      Index("a")
      Index("b")
    }
    let other = try schema { _ in
      Index("b")
      Self.string("b")
      Index("a")
      Self.string("a")
      Self.id
    }
    #expect(one.fingerprint == other.fingerprint)
    #expect(one.records[0].fields == other.records[0].fields)
    #expect(one.records[0].indexes == other.records[0].indexes)
    #expect(one.records[0].declaredFields.map(\.name) == ["id", "a", "b"])
    #expect(other.records[0].declaredFields.map(\.name) == ["b", "a", "id"])
    let read = try Schema(decoding: other.encoded().rawSpan, version: 1, path: "")
    #expect(read == other && read != one)
  }

  @Test func `a schema made after itself is itself`() throws {
    let describe: Describing = { version in
      description {
        Self.id
        Self.string("a")
        if version > 1 { Self.string("b") }
        Field(name: "home", type: .composite { Self.string("street") })
        Index("a", "home.street", where: .comparison(field: "a", .notEqual, nil))
      }
    }
    let first = try schema(version: 1) { describe($0) }
    let second = try schema(version: 2, after: first) { describe($0) }
    #expect(try schema(version: 2, after: second) { describe($0) } == second)
  }

  @Test func `names may be swapped, and used again`() throws {
    let describe: Describing = { version in
      description {
        Self.id
        switch version {
        case 1:
          Self.string("a")
          Self.string("b")
        case 2:
          Self.string("a", was: "b")
          Self.string("b", was: "a")
        case 3:
          Self.string("a", was: "b")
          Self.string("c", was: "b")
        default:
          Self.string("a", was: "b")
          Self.string("b")
          Self.string("c", was: "b")
        }
      }
    }
    let numbers = try (1...4).reduce(into: [Schema]()) { schemas, version in
      schemas.append(try schema(version: version, after: schemas.last) { describe($0) })
    }.map { $0.records[0].numbers }
    #expect(numbers[1]["a"] == numbers[0]["b"])
    #expect(numbers[1]["b"] == numbers[0]["a"])
    #expect(numbers[2]["c"] == numbers[1]["b"])
    #expect(numbers[2]["a"] == numbers[1]["a"], "an old renaming is ignored")
    #expect(numbers[3]["c"] == numbers[2]["c"])
    #expect(numbers[3]["b"] == 4, "a new field under an old name is new")

    let atOnce = try schema(version: 4, after: schema { describe($0) }) { describe($0) }
    #expect(atOnce.records[0].numbers == numbers[3], "four versions at once are their steps")
  }

  @Test func `the same renaming may come again, and one that stays stated acts once`() throws {
    let describe: Describing = { version in
      description {
        Self.id
        switch version {
        case 1, 3: Self.string("a", was: version == 3 ? "b" : nil)
        // Stated in two versions, one after the other.
        case 2, 4, 5: Self.string("b", was: "a")
        // And the name that it had is another field's now.
        default:
          Self.string("b", was: "a")
          Self.string("a")
        }
      }
    }
    let first = try schema { describe($0) }
    for version in 2...6 {
      let numbers = try schema(version: version, after: first) { describe($0) }.records[0].numbers
      #expect(numbers[version == 3 ? "a" : "b"] == first.records[0].numbers["a"], "\(version)")
      if version == 6 { #expect(numbers["a"] == 3) }
    }
  }

  @Test func `numbers of what is gone are not used again`() throws {
    let describe: Describing = { version in
      description {
        Self.id
        if version == 1 { Self.string("a") }
        if version == 1 { Index("a") }
        if version == 3 { Self.string("a") }
        if version == 3 { Index("a") }
      }
    }
    let other: Describing = { version in
      version == 2 ? RecordDescription() : description { Self.id }
    }
    var schemas: [Schema] = []
    for version in 1...3 {
      schemas.append(
        try schema(version: version, after: schemas.last, other: other) { describe($0) })
    }
    let items = schemas.compactMap { $0.record(named: "Item") }
    #expect(Set(items.map(\.number)).count == 1)
    #expect(items.map { $0.numbers["a"] } == [1, nil, 3])
    let trees = [
      items[0].number, items[0].indexes[0].number, schemas[0].record(named: "Other")?.number,
      items[2].indexes[0].number, schemas[2].record(named: "Other")?.number,
    ]
    #expect(Set(trees).count == 5)
  }

  @Test func `parts of a composite keep their numbers when it is renamed, or they are`() throws {
    let describe: Describing = { version in
      description {
        Self.id
        Field(
          name: version == 1 ? "address" : "home",
          type: .composite {
            Self.string(version < 3 ? "street" : "line", was: version < 3 ? nil : "street")
            Field(name: "in", type: .composite { Self.string("town") })
          }, migrationInfo: version == 1 ? nil : .init(renamingID: "address"))
      }
    }
    let first = try schema { describe($0) }
    let third = try schema(version: 3, after: first) { describe($0) }
    let (old, new) = (first.records[0].numbers, third.records[0].numbers)
    #expect(old["address"] == new["home"])
    #expect(old["address.street"] == new["home.line"])
    #expect(old["address.in.town"] == new["home.in.town"])
  }

  /// Version 2 of an index, and whether it is the same tree as in version 1.
  private static let indexes: [(String, isKept: Bool, RecordDescription)] = [
    ("the same", true, description { Index("a", "n") }),
    ("another name", true, description { Index("a", "n", named: "other") }),
    ("another order", false, description { Index("n", "a") }),
    ("descending", false, description { Index("a", .descending("n")) }),
    ("unique", false, description { Unique("a", "n") }),
    ("partial", false, description { Index("a", "n", where: .comparison(field: "n", .less, 9)) }),
  ]

  @Test func `an index is the same tree only while its entries are the same`() throws {
    for (change, isKept, statement) in Self.indexes {
      let first = try schema { _ in
        Self.id
        Self.string("a")
        Field(name: "n", type: .int32)
        Index("a", "n")
      }
      func after(_ type: FieldType, isOptional: Bool = false, key: FieldType = .uuid) throws -> Bool
      {
        let second = try schema(version: 2, after: first) { version in
          Field(primaryKey: true, name: "id", type: version == 1 ? .uuid : key)
          Self.string("a")
          Field(
            name: "n", type: version == 1 ? .int32 : type, optional: version > 1 && isOptional)
          if version == 1 { Index("a", "n") } else { statement }
        }
        return second.records[0].indexes[0].number == first.records[0].indexes[0].number
      }
      #expect(try after(.int32) == isKept, "\(change)")
      #expect(try !after(.int64), "\(change), and a wider part")
      #expect(try !after(.int32, isOptional: true), "\(change), and an optional part")
      #expect(try !after(.int32, key: .string), "\(change), and another primary key")
    }
  }

  /// What a second version cannot rename.
  private static let renamings: [(RecordDescription, field: String?, says: String)] = [
    (
      description {
        id
        string("a", was: "x")
      }, "a", "not there before"
    ),
    (
      description {
        id
        string("b", was: "a")
        string("c", was: "a")
      }, "c", "two fields"
    ),
    (
      description {
        RecordName("Task", renamingID: "Nobody")
        id
      }, nil, "not there before"
    ),
    (
      description {
        id
        Field(name: "new", type: .composite { string("b", was: "a") })
      }, "new.b", "not there before"
    ),
  ]

  @Test func `a renaming of what was not there is refused`() {
    for (second, field, says) in Self.renamings {
      let result = checked(version: 2) { version in
        if version == 1 {
          Self.id
          Self.string("a")
        } else {
          second
        }
      }
      guard case .failure(.invalidDescription(_, let found, 2, let reason)) = result else {
        Issue.record("\(says): \(result)")
        continue
      }
      #expect(found == field)
      #expect(reason.contains(says), "\(reason)")
    }
  }
}
