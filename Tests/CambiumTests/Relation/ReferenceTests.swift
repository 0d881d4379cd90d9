import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A record with a key of a type, and one that leads to it in every way.
struct Target<ID: RecordKey & Sendable>: Record, Identifiable {
  var id: ID

  static func recordDescription(for version: Int) -> RecordDescription {
    RecordName("Target")
    Field(primaryKey: true, name: "id", type: ID.fieldType)
  }
}

private struct Place<ID: RecordKey & Sendable>: Hashable, Codable {
  var owner: Reference<Target<ID>>?
}

private struct Source<ID: RecordKey & Sendable>: Record, Hashable {
  var id: Int
  var one: Reference<Target<ID>>
  var maybe: Reference<Target<ID>>?
  var list: [Reference<Target<ID>>]
  var set: Set<Reference<Target<ID>>>
  var someList: [Reference<Target<ID>>]?
  var bare: ID
  var maybeBare: ID?
  var bareList: [ID]
  var place: Place<ID>

  static func recordDescription(for version: Int) -> RecordDescription {
    RecordName("Source")
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "one", type: .reference(to: Target<ID>.self))
    Field(name: "maybe", type: .reference(to: Target<ID>.self), optional: true)
    Field(name: "list", type: .references(to: Target<ID>.self))
    Field(name: "set", type: .references(to: Target<ID>.self))
    Field(name: "someList", type: .references(to: Target<ID>.self), optional: true)
    Field(name: "bare", type: .reference(to: Target<ID>.self))
    Field(name: "maybeBare", type: .reference(to: Target<ID>.self), optional: true)
    Field(name: "bareList", type: .references(to: Target<ID>.self))
    Field(
      name: "place",
      type: .composite {
        Field(name: "owner", type: .reference(to: Target<ID>.self), optional: true)
      })
  }
}

extension RecordKey {
  fileprivate static var fieldType: FieldType {
    switch Self.self {
    case is Int.Type: .integer
    case is UInt8.Type: .uint8
    case is String.Type, is Colour.Type: .string
    case is UUID.Type: .uuid
    case is Data.Type: .binaryData
    case is URL.Type: .url
    case is Date.Type: .date
    case is Decimal.Type: .decimal
    default: .int32
    }
  }
}

private enum Colour: String, RecordStringEnum, RecordKey, CaseIterable {
  case red, green, blue
}

private enum Grade: Int, RecordIntegerEnum, RecordKey, CaseIterable {
  case one = 1
  case two
  case three
}

/// A record with its own coding.
private struct Coded: Record, Codable, Equatable {
  static var coding: RecordCoding { .codable }
  var id: Int
  var one: Reference<Target<UUID>>
  var maybe: Reference<Target<UUID>>?
  var list: [Reference<Target<UUID>>]
  var set: Set<Reference<Target<UUID>>>

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "one", type: .reference(to: Target<UUID>.self))
    Field(name: "maybe", type: .reference(to: Target<UUID>.self), optional: true)
    Field(name: "list", type: .references(to: Target<UUID>.self))
    Field(name: "set", type: .references(to: Target<UUID>.self))
  }
}

/// One to one: its key is the key of another.
private struct Extra: Record, Identifiable, Equatable {
  var id: Reference<Target<UUID>>
  var text: String
  var next: Reference<Extra>?

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .reference(to: Target<UUID>.self))
    Field(name: "text", type: .string)
    Field(name: "next", type: .reference(to: Extra.self), optional: true)
  }
}

@Suite struct ReferenceTests {
  private func keepsReferences<ID: RecordKey & Sendable>(_ keys: [ID]) throws {
    let store = try PersistentStore(
      inMemory: StoreModel(records: [Source<ID>.self, Target<ID>.self]))
    let all = keys.map { Reference<Target<ID>>($0) }
    var sources: [Source<ID>] = []
    for (number, one) in all.enumerated() {
      let others = Array(all.reversed().prefix(number))
      sources.append(
        Source(
          id: number, one: one, maybe: number % 2 == 0 ? nil : one, list: others,
          set: Set(others), someList: number % 2 == 0 ? others : nil, bare: one.id,
          maybeBare: number % 2 == 0 ? one.id : nil, bareList: others.map(\.id),
          place: Place(owner: number % 2 == 0 ? one : nil)))
    }
    try store.write { transaction in
      try transaction.save(contentsOf: keys.map { Target(id: $0) })
      try transaction.save(contentsOf: sources)
    }
    #expect(try store.fetch(Source<ID>.self) == sources)
    let first = all[1]
    typealias Key = KeyPath<Source<ID>, Reference<Target<ID>>>
    #expect(try store.fetch(Source<ID>.where { $0.one == first }) == [sources[1]])
    #expect(try store.fetch(Source<ID>.where { $0.maybe == first }) == [sources[1]])
    #expect(try store.fetch(Source<ID>.where { $0.bare == first.id }) == [sources[1]])
    #expect(
      try store.fetch(Source<ID>.where { $0.list.contains(first) })
        == sources.filter { $0.list.contains(first) })
    #expect(
      try store.fetch(Source<ID>.where { $0.place.owner == all[0] }) == [sources[0]])
    #expect(
      try store.count(Source<ID>.where { $0.place.owner == nil })
        == sources.filter { $0.place.owner == nil }.count)
    try store.close()
  }

  @Test func `C1 C2: references to keys of every type come back, and are found`() throws {
    try keepsReferences([1, -5, Int.max, .min])
    try keepsReferences([1, 2, 255] as [UInt8])
    try keepsReferences(["a", "é", "b\u{0}c", String(repeating: "x", count: 40)])
    try keepsReferences((0..<4).map { _ in UUID() })
    try keepsReferences([Data([0]), Data([1, 2, 3]), Data([1])])
    try keepsReferences(
      ["http://a/b", "https://c", "file:///d"].compactMap { URL(string: $0) })
    try keepsReferences((0..<3).map { Date(timeIntervalSinceReferenceDate: Double($0) * 1.5) })
    try keepsReferences([Decimal(1), Decimal(string: "-12.5") ?? 0, Decimal(3)])
    try keepsReferences(Colour.allCases)
    try keepsReferences(Grade.allCases)
  }

  @Test func `references of a record with its own coding come back`() throws {
    let store = try PersistentStore(
      inMemory: StoreModel(records: [Coded.self, Target<UUID>.self]))
    let targets = (0..<4).map { _ in Target(id: UUID()) }
    let all = targets.map(\.reference)
    let records = [
      Coded(id: 1, one: all[0], maybe: nil, list: [], set: []),
      Coded(id: 2, one: all[1], maybe: all[2], list: all.reversed(), set: Set(all)),
    ]
    try store.write { transaction in
      try transaction.save(contentsOf: targets)
      try transaction.save(contentsOf: records)
    }
    #expect(try store.fetch(Coded.self) == records)
    #expect(try store.fetch(Coded.where { $0.maybe == all[2] }) == [records[1]])
    try store.close()
  }

  @Test func `a set of references is stored in the order of their keys`() throws {
    let store = try PersistentStore(
      inMemory: StoreModel(records: [Source<Int>.self, Target<Int>.self]))
    let keys = [5, 1, 3]
    let all = keys.map { Reference<Target<Int>>($0) }
    try store.write { transaction in
      try transaction.save(contentsOf: keys.map { Target(id: $0) })
      try transaction.save(
        Source(
          id: 1, one: all[0], maybe: nil, list: all, set: Set(all), someList: nil, bare: 1,
          maybeBare: nil, bareList: keys, place: Place(owner: nil)))
    }
    let record = try #require(
      try store.fetch(record: "Source", where: FieldCondition(parsing: "id == 1")).first)
    #expect(record["set"] == [1, 3, 5])
    #expect(record["list"] == [5, 1, 3])
    #expect(record["maybe"] == .null)
    #expect(record["place.owner"] == .null)
    try store.close()
  }

  @Test func `C1: a primary key may be a reference, and what leads there holds the same key`()
    throws
  {
    let store = try PersistentStore(
      inMemory: StoreModel(records: [Extra.self, Target<UUID>.self]))
    let targets = (0..<2).map { _ in Target(id: UUID()) }
    let first = Extra(id: targets[0].reference, text: "a", next: nil)
    let second = Extra(id: targets[1].reference, text: "b", next: first.reference)
    try store.write { transaction in
      try transaction.save(contentsOf: targets)
      try transaction.save(contentsOf: [first, second])
    }
    #expect(try store.fetch(Extra.self, key: targets[1].reference) == second)
    #expect(try store.find(second.reference) == second)
    #expect(try store.fetch(Extra.where { $0.next == first.reference }) == [second])
    try store.close()
  }

  @Test func `references are encoded as their keys`() throws {
    let reference = Reference<Target<String>>("a b")
    let data = try JSONEncoder().encode([reference])
    #expect(String(decoding: data, as: UTF8.self) == #"["a b"]"#)
    #expect(try JSONDecoder().decode([Reference<Target<String>>].self, from: data) == [reference])
    #expect(reference.fieldValue == "a b")
    #expect(Reference<Target<String>>(fieldValue: 5) == nil)
  }

  @Test func `types of one version are checked against their references alone`() throws {
    let model = StoreModel(records: [Extra.self, Target<UUID>.self, Owner.self])
    let schema = try model.onlySchema
    let checked = try schema.checked(types: [Extra.self, Owner.self])
    #expect(checked.records.map { $0.schema.name } == ["Extra", "Owner"])
    // Where another record of the name is what the store has.
    let other = try untyped(
      ("Owner", description { Field(primaryKey: true, name: "id", type: .integer) }),
      (
        "Extra",
        description {
          Field(primaryKey: true, name: "id", type: .reference(to: "Target"))
          Field(name: "text", type: .string)
          Field(name: "next", type: .reference(to: "Target"), optional: true)
        }
      ), ("Target", description { Field(primaryKey: true, name: "id", type: .uuid) })
    ).onlySchema
    let error = storeError { () throws(StoreError) in _ = try other.checked(types: [Extra.self]) }
    guard case .invalidDescription("Extra", nil, 1, let reason) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(reason.contains("Extra.next leads to Extra instead of Target"))
  }
}

/// A record whose reference is indexed by its description, and one that its other end leaves unchecked.
private struct Owner: Record, Identifiable {
  var id: Int
  var target: Reference<Target<UUID>>
  var boss: Reference<Owner>?

  static let staff = Inverse("staff", of: \Owner.boss, deleteRule: .noAction)

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "target", type: .reference(to: Target<UUID>.self), indexed: true)
    Field(name: "boss", type: .reference(to: Owner.self), optional: true)
    staff
  }
}
