import FoundationEssentials
import Testing

@testable import Cambium
@testable import InternalTestSupport

private final class Owner: Codable, Hashable, Sendable {
  let name: String

  init(_ name: String) { self.name = name }

  static func == (one: Owner, other: Owner) -> Bool { one.name == other.name }
  func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

private struct Place: Codable, Hashable, Sendable {
  var city: String
}

private enum Only: String, RecordStringEnum {
  case one
}

/// A record with properties of which key paths end with the names of its fields, but do not lead to them.
private struct Document: Record, Equatable {
  var id: Int
  var name: String
  var city: String
  var owner: Owner
  var target: Place { didSet {} }
  var level: Int { didSet {} }
  var home: Place?
  var first = Only.one
  var second = Only.one

  var computed: Place { Place(city: name) }
  var twiceTheLevel: Int { level * 2 }

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "name", type: .string)
    Field(name: "city", type: .string)
    Field(name: "owner", type: .transformable)
    Field(name: "target", type: .composite { Field(name: "city", type: .string) })
    Field(name: "level", type: .integer)
    Field(name: "home", type: .composite { Field(name: "city", type: .string) }, optional: true)
    Field(name: "first", type: .string)
    Field(name: "second", type: .string)
  }
}

@propertyWrapper
private struct Noted: Codable, Sendable {
  var wrappedValue: Int

  init(wrappedValue: Int) { self.wrappedValue = wrappedValue }

  init(from decoder: any Decoder) throws {
    wrappedValue = try decoder.singleValueContainer().decode(Int.self)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(wrappedValue)
  }
}

/// A record with a property in a wrapper.
private struct Wrapped: Record, WrappedProperties {
  var id: Int
  @Noted var level: Int

  var double: Int {
    get { level * 2 }
    set { level = newValue / 2 }
  }

  static let coding = RecordCoding.codable

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "height", type: .integer, property: "level")
  }

  static func wrappedProperty(at keyPath: AnyKeyPath) -> String? {
    keyPath == \Wrapped.level ? "level" : nil
  }
}

/// Names with dots, of types that are one in the other.
private enum Outer<Value: Sendable> {
  struct Inner: Record {
    var id: Int
    var part: Place?
    var city = ""

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "part", type: .composite { Field(name: "city", type: .string) }, optional: true)
      Field(name: "city", type: .string)
    }
  }
}

private struct Size: Codable, Hashable, Sendable, ObservedProperties {
  var width: Int
  var height: Int { didSet {} }
  var area: Int {
    get { width * height }
    set { height = newValue }
  }

  static var observedProperties: [String: PartialKeyPath<Size>] { ["height": \.height] }
}

/// A record whose stored properties have observers, and computed ones that are settable like them.
private struct Watched: Record, Equatable, ObservedProperties {
  var id: Int
  var level: Int { didSet {} }
  var other: Int { willSet {} }
  var name: String { didSet { if oldValue != name { id = 0 } } }
  var place: Place { didSet {} }
  var home: Place? { didSet {} }
  var size: Size
  var outer: Size? { didSet {} }
  var plain = 0

  var unlisted: Int {
    get { level }
    set { level = newValue }
  }

  static var observedProperties: [String: PartialKeyPath<Watched>] {
    [
      "level": \.level, "other": \.other, "name": \.name, "place": \.place, "home": \.home,
      "outer": \.outer, "plain": \.plain, "place.city": \.place.city, "home.city": \.home?.city,
      "size.height": \.size.height, "outer.height": \.outer?.height, "outer.width": \.outer?.width,
    ]
  }

  init(_ id: Int) {
    self.id = id
    level = id * 10
    other = -id
    name = "n\(id)"
    place = Place(city: "c\(id)")
    home = id == 2 ? nil : Place(city: "h\(id)")
    size = Size(width: id, height: id * 100)
    outer = Size(width: -id, height: id * 1000)
  }

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "level", type: .integer, indexed: true)
    Field(name: "stored other", type: .integer, property: "other")
    Field(name: "name", type: .string)
    Field(name: "place", type: .composite { Field(name: "city", type: .string) })
    Field(name: "home", type: .composite { Field(name: "city", type: .string) }, optional: true)
    Field(name: "size", type: .composite { Self.size })
    Field(name: "outer", type: .composite { Self.size }, optional: true)
    Field(name: "plain", type: .integer)
  }

  @RecordDescription.ResultBuilder private static var size: RecordDescription {
    Field(name: "width", type: .integer)
    Field(name: "height", type: .integer)
  }
}

/// A record that names key paths which are not its properties'.
private struct Misnamed: Record, ObservedProperties {
  var id: Int
  var name: String { didSet {} }
  var city = ""
  var alias: String { city }
  static var observedProperties: [String: PartialKeyPath<Misnamed>] {
    Misnaming.current.keyPaths
  }

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "name", type: .string)
    Field(name: "city", type: .string)
  }
}

private enum Misnaming: CaseIterable {
  case missing, stored, computed, ofOtherType, longer, twice

  @TaskLocal static var current = Misnaming.missing

  var keyPaths: [String: PartialKeyPath<Misnamed>] {
    switch self {
    case .missing: ["nam": \.name]
    case .stored: ["name": \.city]
    case .computed: ["name": \.alias]
    case .ofOtherType: ["name": \.id]
    case .longer: ["name": \.name.description]
    case .twice: ["name": \.name, "city": \.name]
    }
  }
}

private func withDocuments(_ body: (PersistentStore, [Document]) throws -> Void) throws {
  try withStore(StoreModel(records: [Document.self])) { store in
    let documents = [
      Document(
        id: 1, name: "plan", city: "Ulm", owner: Owner("anna"), target: Place(city: "Rome"),
        level: 3, home: Place(city: "Bonn")),
      Document(
        id: 2, name: "anna", city: "Rome", owner: Owner("bob"), target: Place(city: "Ulm"),
        level: 4, home: nil),
    ]
    try store.write { transaction in try transaction.insert(contentsOf: documents) }
    try body(store, documents)
  }
}

@Suite struct KeyPathTests {
  private static let unstored: [Condition<Document>] = [
    Condition { $0.owner.name == "anna" }, Condition { $0.computed.city == "Rome" },
    Condition { $0.twiceTheLevel == 6 },
    Condition({ $0.owner.name == "anna" }),
    Condition({ $0.computed.city == "Rome" }),
    Condition { $0.first == .one }, Condition { $0.second == .one },
  ]

  @Test func `a key path that leads to no field is refused, whatever it ends with`() throws {
    try withDocuments { store, documents in
      for condition in Self.unstored {
        let errors = [
          storeError { try store.fetch(Document.where(condition)) },
          storeError { try store.count(Document.where(condition)) },
          storeError { try store.contains(Document.where(condition)) },
          storeError { try store.write { try $0.delete(Document.where(condition)) } },
          storeError {
            try store.write { try $0.update(Document.where(condition)) { $0.name = "" } }
          },
        ]
        for error in errors {
          guard case .invalidQuery("Document", _, _) = error else {
            Issue.record("\(condition): \(String(describing: error))")
            continue
          }
        }
      }
      let order = Document.sorted(by: .ascending(\.owner.name))
      guard case .invalidQuery = storeError({ try store.fetch(order) }) else {
        Issue.record("the name of the owner is sorted by")
        return
      }
      let left = try store.fetch(Document.self)
      #expect(left == documents)
    }
  }

  @Test func `a refused key path says what to do`() throws {
    try withDocuments { store, _ in
      let error = storeError { try store.fetch(Document.where { $0.owner.name == "anna" }) }
      #expect(error?.description.contains("owner.name") == true)
      #expect(error?.description.contains("make the condition of text") == true)
    }
  }

  @Test func `key paths through structs and optional structs lead to their parts`() throws {
    try withDocuments { store, _ in
      let conditions: [(Condition<Document>, [Int])] = [
        (Condition { $0.city == "Rome" }, [2]), (Condition { $0.home.city == "Bonn" }, [1]),
        (Condition { $0.home == nil }, [2]),
        (Condition({ $0.home.city == "Bonn" }), [1]),
      ]
      for (condition, expected) in conditions {
        let found = try store.fetch(Document.where(condition))
        #expect(found.map(\.id) == expected)
      }
    }
  }

  @Test func `fields that no key path leads to are asked by their names`() throws {
    try withDocuments { store, _ in
      let conditions = [
        ("level == 3", [1]), (#"target.city == "Rome""#, [1]),
        (#"first == "one" && second == "one""#, [1, 2]), (#"second == "two""#, []),
      ]
      for (text, expected) in conditions {
        let condition = Condition<Document>(try FieldCondition(parsing: text))
        let found = try store.fetch(Document.where(condition))
        #expect(found.map(\.id) == expected)
      }
    }
  }

  @Test func `a record's type may have dots in its name`() throws {
    typealias Inner = Outer<[Outer<Int>.Inner]>.Inner
    try withStore(StoreModel(records: [Inner.self])) { store in
      try store.write { transaction in
        try transaction.save(Inner(id: 1, part: Place(city: "Ulm"), city: "Bonn"))
      }
      #expect(try store.count(Inner.where { $0.part.city == "Ulm" }) == 1)
      #expect(try store.count(Inner.where { $0.part.city == "Bonn" }) == 0)
      #expect(try store.count(Inner.where { $0.city == "Bonn" }) == 1)
    }
  }

  @Test func `stored properties with observers are found by the key paths that are named`() throws {
    try withStore(StoreModel(records: [Watched.self])) { store in
      try store.write { transaction in
        try transaction.insert(contentsOf: (1...3).map { Watched($0) })
      }
      let conditions: [(Condition<Watched>, [Int])] = [
        (Condition { $0.level == 20 }, [2]), (Condition { $0.other == -3 }, [3]),
        (Condition { $0.name == "n1" }, [1]),
        (Condition { $0.plain == 0 }, [1, 2, 3]),
        (Condition { $0.place.city == "c2" }, [2]), (Condition { $0.home.city == "h3" }, [3]),
        (Condition { $0.home == nil }, [2]),
        (Condition { $0.size.height == 300 }, [3]), (Condition { $0.outer.height == 1000 }, [1]),
        (Condition { $0.outer.width == -2 }, [2]),
        (Condition({ $0.level == 30 && $0.place.city == "c3" }), [3]),
        (Condition({ $0.outer.height == 2000 || $0.size.height == 100 }), [1, 2]),
        (try Condition(#Predicate { $0.level == 10 || $0.home?.city == "h3" }), [1, 3]),
      ]
      for (condition, expected) in conditions {
        let found = try store.fetch(Watched.where(condition))
        #expect(found.map(\.id) == expected, "\(condition)")
      }
      let sorted = try store.fetch(Watched.sorted(by: .descending(\.level)))
      #expect(sorted.map(\.id) == [3, 2, 1])
      #expect(try store.sum(\Watched.other) == -6)
      _ = try store.write { try $0.update(Watched.where { $0.other == -1 }) { $0.level = 7 } }
      #expect(try store.fetch(Watched.self, key: 1)?.level == 7)
    }
  }

  @Test func `properties in wrappers are found by the key paths that the type knows`() throws {
    try withStore(StoreModel(records: [Wrapped.self])) { store in
      try store.write { transaction in
        try transaction.insert(contentsOf: (1...3).map { Wrapped(id: $0, level: -$0) })
      }
      #expect(try store.fetch(Wrapped.where { $0.level == -2 }).map(\.id) == [2])
      #expect(try store.fetch(Wrapped.where { $0.level < -1 }).map(\.id) == [2, 3])
      #expect(
        try store.fetch(Wrapped.sorted(by: .ascending(\.level))).map(\.level) == [-3, -2, -1])
      guard
        case .invalidQuery = storeError({ try store.count(Wrapped.where { $0.double == -2 }) })
      else {
        Issue.record("a computed property was taken for a field")
        return
      }
    }
  }

  @Test func `a computed property is refused though it can be set and is of a field's type`() throws
  {
    try withStore(StoreModel(records: [Watched.self])) { store in
      for condition: Condition<Watched> in [
        Condition { $0.unlisted == 10 }, Condition { $0.size.area == 1 },
        Condition { $0.name.description == "n1" }, Condition { $0.outer.area == 1 },
      ] {
        guard case .invalidQuery = storeError({ try store.count(Watched.where(condition)) })
        else {
          Issue.record("\(condition)")
          continue
        }
      }
    }
  }

  @Test(arguments: Misnaming.allCases)
  private func `a key path that is not the property's is refused at opening`(_ misnaming: Misnaming)
  {
    Misnaming.$current.withValue(misnaming) {
      let error = storeError { try withStore(StoreModel(records: [Misnamed.self])) { _ in } }
      guard case .invalidDescription("Misnamed", _, _, let reason) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(reason.contains("observedProperties"))
    }
  }
}
