import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Steps that lead over several versions end with the records that the steps one by one end with.
@Suite struct DirectStepTests {
  /// A history of one record: its names and that of its field, from version 1 on.
  struct History: CustomTestStringConvertible, Sendable {
    let name: String
    /// The name of the field, with the `renamingID` that the version states.
    let fields: [(name: String, was: String?)]
    var records: [(name: String, was: String?)] = []

    var testDescription: String { name }
  }

  static let histories = [
    History(
      name: "a renaming that only a version between states",
      fields: [("a", nil), ("b", "a"), ("b", nil)]),
    History(name: "a, b, c", fields: [("a", nil), ("b", "a"), ("c", "b")]),
    History(
      name: "a pair that comes again", fields: [("a", nil), ("b", "a"), ("a", "b"), ("b", "a")]),
    History(
      name: "a renaming that stays stated",
      fields: [("a", nil), ("b", "a"), ("b", "a"), ("c", "b"), ("c", "b")]),
    History(
      name: "records A, B, C", fields: [("a", nil), ("a", nil), ("a", nil)],
      records: [("A", nil), ("B", "A"), ("C", "B")]),
    History(
      name: "records A, B, A, B, and a field in them",
      fields: [("a", nil), ("b", "a"), ("b", "a"), ("a", "b")],
      records: [("A", nil), ("B", "A"), ("A", "B"), ("B", "A")]),
  ]

  private func store(_ history: History, isOptional: Bool) throws -> DescribedStore {
    let first = history.records.first?.name ?? "R"
    return try DescribedStore(
      versions: history.fields.count,
      holding: [DynamicRecord(first, ["id": 1, "a": "kept"])]
    ) { version in
      if !history.records.isEmpty {
        RecordName(
          history.records[version - 1].name, renamingID: history.records[version - 1].was)
      }
      Field(primaryKey: true, name: "id", type: .integer)
      let field = history.fields[version - 1]
      Field(
        name: field.name, type: .string, optional: isOptional,
        migrationInfo: field.was.map { MigrationInfo(renamingID: $0) })
    }
  }

  @Test(arguments: histories, [true, false])
  func `every renaming between is followed, at once, one by one, directly and squashed`(
    history: History, isOptional: Bool
  ) throws {
    let last = history.fields.count
    let store = try store(history, isOptional: isOptional)
    let expected = [
      DynamicRecord(
        history.records.last?.name ?? "R",
        ["id": 1, history.fields[last - 1].name: "kept"])
    ]
    #expect(try store.records(through: last) == expected)
    #expect(try store.records(through: last, migration: .deferred) == expected)
    let steps: [[MigrationStep]] = [
      [MigrationStep(from: 1, to: last)], [MigrationStep(squashing: 1...(last - 1), to: last)],
      [MigrationStep(squashing: 1...2, to: 3)], [MigrationStep(from: 1, to: last - 1)],
      [MigrationStep(from: 2, to: last)],
    ]
    for steps in steps {
      #expect(try store.records(through: last, steps: steps) == expected, "\(steps)")
      #expect(
        try store.records(through: last, steps: steps, migration: .deferred) == expected)
    }
    #expect(try store.records(through: 2, last) == expected)
    if last == 4 { #expect(try store.records(through: 2, 3, 4) == expected) }
  }

  @Test func `defaults and widenings between act as they do one by one`() throws {
    let rows = [["v": 1], ["v": nil]] as [[String: FieldValue]]
    let store = try DescribedStore(
      versions: 4,
      holding: rows.enumerated().map { index, fields in
        DynamicRecord(
          "R",
          RecordFields(fields.merging(["id": .integer(Int64(index))]) { one, _ in one }))
      }
    ) { version in
      Field(primaryKey: true, name: "id", type: .integer)
      // Required for a while, and wider.
      Field(
        name: "v", type: version < 3 ? .int16 : .int32, optional: version != 2,
        migrationInfo: version == 2 ? .init(default: 9) : nil)
      // New with a default that later versions do not state.
      if version > 1 {
        Field(
          name: "n", type: version < 4 ? .float : .double,
          migrationInfo: version == 2 ? .init(default: 0.5) : nil)
      }
    }
    let expected = [
      DynamicRecord("R", ["id": 0, "v": 1, "n": 0.5]),
      DynamicRecord("R", ["id": 1, "v": 9, "n": 0.5]),
    ]
    #expect(try store.records(through: 2, 3, 4) == expected)
    for steps in [
      [], [MigrationStep(from: 1, to: 4)], [MigrationStep(squashing: 1...3, to: 4)],
      [MigrationStep(from: 1, to: 3)],
    ] {
      #expect(try store.records(through: 4, steps: steps) == expected, "\(steps)")
      #expect(try store.records(through: 4, steps: steps, migration: .deferred) == expected)
    }
  }

  @Test func `defaults in place of null are the same at once and one by one, whatever their type`()
    throws
  {
    let types: [(type: FieldType, value: FieldValue, given: FieldValue)] = [
      (.boolean, false, true), (.int8, 1, -7), (.uint16, .unsigned(1), .unsigned(60_000)),
      (.int64, 1, .integer(1 << 40)), (.float, .float(1), .float(0.5)), (.double, 1.0, -2.5),
      (.uuid, .uuid(UUID()), .uuid(UUID())), (.string, "s", "none"),
    ]
    var records: [DynamicRecord] = []
    for id in 0..<64 {
      var record = DynamicRecord("R", ["id": .integer(Int64(id))])
      // Each is null in every other record, or in fewer.
      for (place, type) in types.enumerated() where id % (place + 2) != 0 {
        record["f\(place)"] = type.value
      }
      records.append(record)
    }
    let store = try DescribedStore(versions: 4, holding: records) { version in
      Field(primaryKey: true, name: "id", type: .integer)
      if version > 1 { Field(name: "more", type: .int64, optional: true) }
      for (place, type) in types.enumerated() {
        Field(
          name: "f\(place)", type: type.type,
          optional: version < 3 || version == 4 && place % 2 == 0,
          migrationInfo: version > 2 ? .init(default: type.given) : nil)
      }
    }
    let expected = records.map { record in
      var record = record
      for (place, type) in types.enumerated() where record["f\(place)"] == .null {
        record["f\(place)"] = type.given
      }
      record["more"] = .null
      return record
    }
    for versions in [[4], [2, 4], [3, 4], [2, 3, 4]] {
      var found: [DynamicRecord] = []
      switch versions.count {
      case 1: found = try store.records(through: 4)
      case 2: found = try store.records(through: versions[0], 4)
      default: found = try store.records(through: 2, 3, 4)
      }
      #expect(found == expected, "\(versions)")
    }
  }

  @Test func `a field that was gone for a version is new, directly too`() throws {
    let store = try DescribedStore(
      versions: 3, holding: [DynamicRecord("R", ["id": 1, "a": "old"])]
    ) { version in
      Field(primaryKey: true, name: "id", type: .integer)
      if version != 2 { Field(name: "a", type: .string, optional: true) }
    }
    for steps in [[], [MigrationStep(from: 1, to: 3)]] {
      #expect(
        try store.records(through: 3, steps: steps)
          == [DynamicRecord("R", ["id": 1, "a": nil])])
    }
  }

  @Test func `a lock follows a renaming that comes again, and forgets older ones`() throws {
    let describe: @Sendable (Int) -> RecordDescription = { version in
      description {
        Field(primaryKey: true, name: "id", type: .integer)
        switch version {
        case 2, 3, 5: Field(name: "b", type: .string, migrationInfo: .init(renamingID: "a"))
        case 4: Field(name: "a", type: .string, migrationInfo: .init(renamingID: "b"))
        default: Field(name: "a", type: .string)
        }
      }
    }
    let model = StoreModel(version: 5, untyped: [RemovedRecord("R", description: describe)])
    for first in 1...5 {
      let lock = try SchemaLock(model).filter { $0.number >= first }
      let schemas = try StoreModel(lock).schemas().suffix(6 - first)
      #expect(Set(schemas.map { $0.records[0].fields.map(\.number) }).count == 1, "\(first)")
    }
  }

  // MARK: Several of them

  private static func copy(_ old: Int, _ new: Int) -> MigrationStep {
    MigrationStep(from: old, to: new) {
      UpdateRecord("R") { UpdateField("v\(new)", from: { old in old.record.values + ",\(new)" }) }
    }
  }

  /// A record whose one field is called after its version.
  private func versioned(from first: Int = 1) throws -> DescribedStore {
    try DescribedStore(
      versions: 5, from: first,
      holding: [DynamicRecord("R", ["id": 1, "v\(first)": .string("\(first)")])]
    ) { version in
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "v\(version)", type: .string, migrationInfo: .init(default: "new"))
    }
  }

  @Test func `shortcuts follow one another`() throws {
    let store = try versioned()
    let shortcuts = [Self.copy(1, 3), Self.copy(3, 5)]
    #expect(try store.records(through: 5, steps: shortcuts).map(\.values) == ["1,3,5"])
    let tree = [Self.copy(1, 3), Self.copy(2, 4), Self.copy(3, 4)]
    #expect(try store.records(through: 4, steps: tree).map(\.values) == ["1,3,4"])
    #expect(
      try versioned(from: 2).records(through: 4, steps: tree).map(\.values) == ["2,4"])
    let all = tree + [Self.copy(1, 2), Self.copy(4, 5)]
    #expect(try store.records(through: 5, steps: all).map(\.values) == ["1,3,4,5"])
    #expect(try store.records(through: 2, 4, 5, steps: all).map(\.values) == ["1,2,4,5"])
  }

  @Test func `steps back follow one another, over versions that the store has had`() throws {
    let store = try versioned()
    let back = [Self.copy(5, 4), Self.copy(4, 2), Self.copy(4, 3), Self.copy(3, 1)]
    #expect(try store.records(through: 5, 1, steps: back).map(\.values) == ["new,4,3,1"])
    #expect(try store.records(through: 5, 2, steps: back).map(\.values) == ["new,4,2"])
    #expect(
      storeError { try store.records(through: 5, 1, steps: Array(back.dropLast())) }
        == .newerSchema(found: 5, supported: 1))
    guard
      case .cannotMigrate(5, 1, let reasons) = storeError({
        try versioned(from: 5).records(through: 1, steps: back)
      })
    else { return #expect(Bool(false), "it goes back") }
    #expect(reasons.contains { $0.contains("never had version 4") }, "\(reasons)")
  }

  @Test
  func `a store goes back below the version that made it, by a step of the older program, L6`()
    throws
  {
    let store = try versioned(from: 5)
    let back = MigrationStep(from: 5, to: 1) {
      UpdateRecord("R") { UpdateField("v1", path: "v5") }
    }
    #expect(try store.records(through: 1, steps: [back]).map(\.values) == ["5"])
    // What is not stated has its default, and the way up is open again.
    let bare = MigrationStep(from: 5, to: 1)
    #expect(try store.records(through: 1, steps: [bare]).map(\.values) == ["new"])
    #expect(
      try store.records(through: 1, 3, steps: [back, Self.copy(1, 3)]).map(\.values) == ["5,3"])
    #expect(
      storeError { try store.records(through: 1) } == .newerSchema(found: 5, supported: 1))
  }

  @Test func `what has no value for an older version is counted, and the store is as it was, L6`()
    throws
  {
    let store = try DescribedStore(
      versions: 2, from: 2, holding: [DynamicRecord("R", ["id": 1])]
    ) { version in
      Field(primaryKey: true, name: "id", type: .integer)
      if version == 1 { Field(name: "name", type: .string) }
    }
    guard
      case .cannotMigrate(2, 1, _) = storeError({
        try store.records(through: 1, steps: [MigrationStep(from: 2, to: 1)])
      })
    else { return #expect(Bool(false), "it goes back") }
    let step = MigrationStep(from: 2, to: 1) {
      UpdateRecord("R") { UpdateField("name", from: { "\(try $0["id", as: Int.self])" }) }
    }
    #expect(try store.records(through: 1, steps: [step]).map(\.values) == ["1"])
  }
}

extension DynamicRecord {
  /// The value of the one field that is no key.
  fileprivate var values: String {
    for case (let name, .string(let text)) in fields where name != "id" { return text }
    return ""
  }
}
