import FoundationEssentials
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// What a description cannot be, each with the field and the words of its error.
@Suite struct DescriptionFaultTests {
  private static let id = Field(primaryKey: true, name: "id", type: .uuid)

  private static let faults: [(RecordDescription, field: String?, says: String)] = [
    (description { Field(name: "a", type: .string) }, nil, "no primary key"),
    (
      description {
        Field(primaryKey: true, name: "a", type: .string)
        PrimaryKey("a")
      }, nil, "both"
    ),
    (
      description {
        Field(name: "a", type: .string)
        PrimaryKey("a")
        PrimaryKey("a")
      }, nil, "two primary keys"
    ),
    (description { PrimaryKey("a") }, "a", "not there"),
    (
      description {
        id
        PrimaryKey()
      }, nil, "both"
    ),
    (
      description {
        PrimaryKey()
        Field(name: "a", type: .string)
      }, nil, "no primary key"
    ),
    (
      description { Field(primaryKey: true, name: "a", type: .string, optional: true) }, "a",
      "not optional"
    ),
    (description { Field(primaryKey: true, name: "a", type: .transformable) }, "a", "no order"),
    (
      description {
        Field(name: "a", type: .string)
        PrimaryKey(.caseInsensitive("a"))
      }, nil, "regards case"
    ),
    (
      description {
        Field(name: "a", type: .string)
        PrimaryKey(.words("a"))
      }, nil, "no elements or words"
    ),
    (
      description {
        id
        Field(name: "a", type: .string)
        Index(.elements("a"))
      }, "a", "only an array has elements"
    ),
    (
      description {
        id
        Field(name: "a", type: .array(of: .string))
        Index("a")
      }, "a", "no order"
    ),
    (
      description {
        id
        Field(name: "a", type: .string, storage: .external())
        Index(.words("a"))
      }, "a", "has words"
    ),
    (
      description {
        id
        Field(name: "a", type: .array(of: .string))
        Field(name: "b", type: .string)
        Index(.elements("a"), .words("b"))
      }, nil, "two parts of elements or words"
    ),
    (
      description {
        id
        Field(name: "a", type: .array(of: .string))
        Index(.elements("a"), "id", .elements("a"))
      }, "a", "twice"
    ),
    (
      description {
        id
        Field(name: "a", type: .string)
        Unique(.words("a"))
      }, nil, "cannot be unique"
    ),
    (
      description {
        Field(name: "a", type: .string)
        PrimaryKey("a", "a")
      }, "a", "twice"
    ),
    (
      description {
        Field(name: "a", type: .composite { Field(primaryKey: true, name: "b", type: .uuid) })
      }, "a.b", "part of a composite"
    ),
    (
      description {
        Field(name: "a", type: .composite { Field(name: "b", type: .uuid) })
        PrimaryKey("a.b")
      }, "a.b", "part of a composite"
    ),
    (
      description {
        id
        Field(name: "", type: .string)
      }, "", "empty"
    ),
    (
      description {
        id
        Field(name: "a.b", type: .string)
      }, "a.b", "dot"
    ),
    (
      description {
        id
        Field(name: String(repeating: "é", count: 128), type: .string)
      }, String(repeating: "é", count: 128), "255"
    ),
    (
      description {
        id
        Field(name: "a", type: .string)
        Field(name: "a", type: .string)
      }, "a", "twice"
    ),
    (
      description {
        id
        Field(name: "a", type: .string, property: "x")
        Field(name: "a", type: .string, property: "y")
      }, "a", "that name"
    ),
    (
      description {
        id
        Field(name: "a", type: .string, property: "id")
      }, "a", "described twice"
    ),
    (
      description {
        id
        Transient("id", default: 0)
      }, "id", "described twice"
    ),
    (
      description {
        id
        Field(name: "a", type: .array(of: .array(of: .string)))
      }, "a", "array"
    ),
    (
      description {
        id
        Field(name: "a", type: .array(of: .transformable))
      }, "a", "array"
    ),
    (
      description {
        id
        Field(name: "a", type: .composite {})
      }, "a", "at least one part"
    ),
    (
      description {
        id
        Field(
          name: "a",
          type: .composite {
            Field(name: "b", type: .string)
            Index("b")
          })
      }, "a", "fields and transients"
    ),
    (
      description {
        id
        Field(name: "a", type: .composite { Field(name: "b", type: .string) }, default: 1)
      }, "a", "no default"
    ),
    (
      description {
        id
        Index("b")
      }, "b", "not there"
    ),
    (
      description {
        id
        Index()
      }, nil, "index"
    ),
    (
      description {
        id
        Field(name: "a", type: .transformable, indexed: true)
      }, "a", "no order"
    ),
    (
      description {
        id
        Field(name: "a", type: .int64)
        Index(.caseInsensitive("a"))
      }, "a", "only strings"
    ),
    (
      description {
        id
        Field(name: "a", type: .int64, indexed: true)
        Index("a")
      }, nil, "the same as another"
    ),
    (
      description {
        id
        Field(name: "a", type: .int64, indexed: true)
        Index("a", "id", named: "a")
      }, nil, "two indexes a"
    ),
    (
      description {
        id
        Field(name: "a", type: .int64)
        Index("a", where: .comparison(field: "b", .equal, 1))
      }, nil, "is of b"
    ),
    (
      description {
        id
        Field(name: "a", type: .int64)
        Index("a", where: .comparison(field: "a", .equal, "one"))
      }, nil, "compares a, int64"
    ),
    (
      description {
        id
        Field(name: "a", type: .int64)
        Index("a", where: .comparison(field: "a", .less, nil))
      }, nil, "null"
    ),
    (
      description {
        id
        Field(name: "a", type: .double)
        Index("a", where: .comparison(field: "a", .less, .double(.nan)))
      }, nil, "with NaN"
    ),
    (
      description {
        id
        Field(name: "a", type: .array(of: .int64))
        Index("id", where: .comparison(field: "a", .equal, [1]))
      }, nil, "compares a"
    ),
    (
      description {
        id
        Index("id", where: (0..<40).reduce(.and([])) { condition, _ in .not(condition) })
      }, nil, "nested"
    ),
    (
      description {
        id
        Field(name: "a", type: .string)
        Index("id", where: .match(field: "a", TextMatch(.prefix, "x")))
      }, nil, "only comparisons"
    ),
    (
      description {
        id
        Index("id", where: .not(.computed(.field("id"), .equal, .value(nil))))
      }, nil, "only comparisons"
    ),
    (
      description {
        id
        Field(name: "a", type: .string, unique: true, default: "x")
      }, "a", "unique"
    ),
    (
      description { Field(primaryKey: true, name: "a", type: .string, default: "x") }, "a",
      "unique"
    ),
    (
      description {
        id
        Field(name: "a", type: .string, migrationInfo: .init(default: "x"))
        Unique("a")
      }, "a", "unique"
    ),
    (
      description {
        id
        Validation("of another") { (_: Other) in true }
      }, nil, "another type"
    ),
    (
      description {
        id
        RecordName("A")
        RecordName("B")
      }, nil, "two names"
    ),
    (
      description {
        id
        RecordName("A.B")
      }, nil, "dot"
    ),
    (
      description {
        id
        RecordName("A", renamingID: "B")
      }, nil, "was not there before"
    ),
    (
      description {
        id
        Field(name: "a", type: .string, migrationInfo: .init(renamingID: "b"))
      }, "a", "was not there before"
    ),
    (
      description {
        id
        Field(name: "a", type: .string, validation: [.pattern("(")])
      }, "a", "no regular expression"
    ),
    (
      description {
        id
        Field(name: "a", type: .int64, validation: [.pattern("a")])
      }, "a", "no pattern"
    ),
    (
      description {
        id
        Field(name: "a", type: .int64, validation: [.length(1...2)])
      }, "a", "no length"
    ),
    (
      description {
        id
        Field(name: "a", type: .string, validation: [.range(1...2)])
      }, "a", "no bound"
    ),
    (
      description {
        id
        Field(name: "a", type: .url, validation: [.range("http://a"...)])
      }, "a", "no ranges"
    ),
    (
      description {
        id
        Field(name: "a", type: .transformable, validation: [.predicate("one") { _ in true }])
      }, "a", "validate the record"
    ),
    (
      description {
        id
        Field(name: "a", type: .int64, default: 3, validation: [.range(5...)])
      }, "a", "at least 5"
    ),
    (
      description {
        id
        Field(name: "a", type: .transformable(using: NamelessCodec()))
      }, "a", "identifier"
    ),
  ]

  @Test func `each is refused by name`() {
    for (index, fault) in Self.faults.enumerated() {
      let result = checked { _ in fault.0 }
      guard case .failure(.invalidDescription(let record, let field, 1, let reason)) = result else {
        Issue.record("fault \(index), \(fault.says): \(result)")
        continue
      }
      #expect(record == "Item" || record.hasPrefix("A"), "fault \(index)")
      #expect(field == fault.field, "fault \(index): \(reason)")
      #expect(reason.contains(fault.says), "fault \(index): \(reason)")
    }
  }

  @Test func `names that two types have are refused, and types that are there twice`() {
    let key: Describing = { _ in
      description {
        Field(primaryKey: true, name: "id", type: .uuid)
        RecordName("Same")
      }
    }
    #expect(reason(checked(other: key) { key($0) })?.contains("another record") == true)
    let twice = Result { () throws(StoreError) in
      try StoreModel(records: [Item.self, Item.self]).checked()
    }
    #expect(reason(twice)?.contains("twice") == true)
  }

  @Test func `I1: versions start at 1, and an old one is checked too`() {
    for version in [0, -1, Int.min] {
      #expect(reason(checked(version: version) { _ in Self.id })?.contains("start at 1") == true)
    }
    let result = checked(version: 3) { version in
      Self.id
      if version == 2 { Field(name: "", type: .string) }
    }
    guard case .failure(.invalidDescription("Item", "", 2, _)) = result else {
      Issue.record("\(result)")
      return
    }
  }

  @Test func `what was removed is not described for the current version`() {
    let removed = RemovedRecord("Gone") { _ in Self.id }
    #expect(reason(checked(removed: [removed]) { _ in Self.id })?.contains("removed") == true)
  }

  @Test func `a store newer than the model is refused as newer`() throws {
    let newer = try schema(version: 3) { _ in Self.id }
    let result = checked(version: 2, after: newer) { _ in Self.id }
    guard case .failure(.newerSchema(found: 3, supported: 2)) = result else {
      Issue.record("\(result)")
      return
    }
  }

  private func reason(_ result: Result<CheckedModel, StoreError>) -> String? {
    guard case .failure(.invalidDescription(_, _, _, let reason)) = result else { return nil }
    return reason
  }
}

private struct NamelessCodec: FieldCodec {
  var identifier: String { "" }

  func encode<Value: Encodable>(_ value: Value) throws -> [UInt8] { [] }

  func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
    try JSONCodec().decode(type, from: bytes)
  }
}
