import Cambium
import FoundationEssentials
import Testing

/// Limits, extremes of values that are no numbers, different values in order, and letters without regard to case.
@Suite struct QueryRuleTests {
  struct Sample: Record, Equatable {
    var id: Int
    var name: String
    var value: Double?
    var day: Date?
    var price: Decimal?

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
      Field(name: "value", type: .double, optional: true)
      Field(name: "day", type: .date, optional: true)
      Field(name: "price", type: .decimal, optional: true)
      Index(.words("name"))
    }
  }

  private func store() throws -> PersistentStore {
    let store = try PersistentStore(inMemory: StoreModel(records: [Sample.self]))
    try store.write { transaction in
      let names = ["b", "a", "c", "a", "b"]
      for (id, name) in names.enumerated() {
        try transaction.save(
          Sample(
            id: id, name: name, value: id == 0 ? .nan : id == 1 ? nil : Double(id),
            day: Date(timeIntervalSinceReferenceDate: id == 4 ? .nan : Double(id)),
            price: id == 2 ? .nan : Decimal(id)))
      }
    }
    return store
  }

  @Test func `a negative limit or offset is an error of every verb`() throws {
    let store = try store()
    for query in [Query<Sample>().limit(-1), Query<Sample>().offset(-1), Query().limit(.min)] {
      #expect(throws: StoreError.self) { try store.fetch(query) }
      #expect(throws: StoreError.self) { try store.first(query) }
      #expect(throws: StoreError.self) { try store.count(query) }
      #expect(throws: StoreError.self) { try store.delete(query) }
      #expect(throws: StoreError.self) { try store.update(query) { $0.name = "x" } }
      #expect(throws: StoreError.self) { try store.sum(\.value, of: query) }
      #expect(throws: StoreError.self) { try store.max(\.value, of: query) }
      #expect(throws: StoreError.self) { try store.distinct(\.name, from: query) }
      #expect(throws: StoreError.self) { try store.explain(query) }
      #expect(throws: StoreError.self) { try store.results(of: query) }
    }
    #expect(throws: StoreError.self) { try store.fetch(record: "Sample", limit: -1) }
    #expect(throws: StoreError.self) { try store.fetch(record: "Sample", offset: -1) }
    #expect(try store.fetch(Query<Sample>().limit(0)).isEmpty)
    #expect(try store.count(Sample.self) == 5)
  }

  @Test func `what is no number is neither the lowest nor the highest value`() throws {
    let store = try store()
    #expect(try store.max(\.value, of: Query<Sample>()) == 4)
    #expect(try store.min(\.value, of: Query<Sample>()) == 2)
    #expect(try store.max(\.day, of: Query<Sample>())?.timeIntervalSinceReferenceDate == 3)
    #expect(try store.min(\.day, of: Query<Sample>())?.timeIntervalSinceReferenceDate == 0)
    #expect(try store.max(\.price, of: Query<Sample>()) == 4)
    #expect(try store.min(\.price, of: Query<Sample>()) == 0)
    #expect(try store.max(\.value, of: Sample.where { $0.id < 2 }) == nil)
    #expect(try store.max(\.value, of: Query<Sample>().limit(3)) == 2)
    let groups = try store.fetch(
      Query<Sample>().grouped(by: \.name)
        .computing(.min(\.value), .max(\.value), .max(\.price)))
    #expect(groups.map { $0.value.0 } == [3, 4, 2])
    #expect(groups.map { $0.value.1 } == [3, 4, 2])
    #expect(groups.map { $0.value.2 } == [3, 4, nil])
  }

  struct Measure: Record, Equatable {
    var id: Int
    var value: Double
    var place: Double
    var count: UInt64 = 0

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "value", type: .double)
      Field(name: "place", type: .double, indexed: true)
      Field(name: "count", type: .uint64, indexed: true)
    }
  }

  @Test func `what is no number is in no range, and together in an order`() throws {
    let store = try PersistentStore(inMemory: StoreModel(records: [Measure.self]))
    let values: [Double] = [3, .nan, -1, 2, .nan, 0, .infinity, -.infinity, 1, -.nan]
    for (id, value) in values.enumerated() {
      try store.save(Measure(id: id, value: value, place: Double(id)))
    }
    #expect(try store.fetch(Measure.where { $0.value > 0 }).map(\.id) == [0, 3, 6, 8])
    #expect(try store.fetch(Measure.where { $0.value < 0 }).map(\.id) == [2, 7])
    #expect(try store.count(Measure.where { $0.value > .nan || $0.value <= .nan }) == 0)
    #expect(try store.count(Measure.where { $0.place > .nan || $0.place <= .nan }) == 0)
    let sorted = try store.fetch(Measure.sorted(by: .ascending(\.value))).map(\.value)
    let numbers = sorted.filter { !$0.isNaN }
    #expect(numbers == [-.infinity, -1, 0, 1, 2, 3, .infinity])
    #expect([0, 7].contains(sorted.firstIndex { $0.isNaN }))
    #expect(sorted.split(omittingEmptySubsequences: true) { $0.isNaN }.count == 1)
  }

  @Test func `both zeros are one value, and each keeps its sign`() throws {
    let store = try PersistentStore(inMemory: StoreModel(records: [Measure.self]))
    try store.save(Measure(id: 1, value: -0.0, place: -0.0))
    try store.save(Measure(id: 2, value: 0, place: 0))
    for condition: Condition<Measure> in [
      Condition { $0.value == 0 }, Condition { $0.value <= -0.0 }, Condition { $0.place == -0.0 },
      Condition { $0.place == 0 }, Condition { $0.place <= -0.0 }, Condition { $0.place >= 0 },
    ] {
      #expect(try store.count(Measure.where(condition)) == 2, "\(condition)")
    }
    #expect(try store.distinct(\.value, from: Query<Measure>()).count == 1)
    let stored = try #require(try store.fetch(Measure.self, key: 1))
    #expect(stored.value.sign == .minus && stored.place.sign == .minus)
  }

  @Test func `numbers above those with a sign are sorted and compared as they are`() throws {
    let store = try PersistentStore(inMemory: StoreModel(records: [Measure.self]))
    let signed = UInt64(Int64.max)
    let counts: [UInt64] = [0, 1, signed, signed + 1, .max - 1, .max]
    for (id, count) in counts.enumerated() {
      try store.save(Measure(id: -id, value: 0, place: 0, count: count))
    }
    #expect(try store.fetch(Measure.sorted(by: .ascending(\.count))).map(\.count) == counts)
    #expect(try store.count(Measure.where { $0.count > signed }) == 3)
    #expect(try store.max(\Measure.count) == UInt64.max)
    let text = try FieldCondition(parsing: "count == 18446744073709551615")
    #expect(try store.count(record: "Measure", where: text) == 1)
  }

  @Test func `what are wildcards elsewhere are letters`() throws {
    let store = try PersistentStore(inMemory: StoreModel(records: [Sample.self]))
    let names = [
      "50% off", "50 then 5 off", "a_b", "axb", "100%", "x*y", "xzzy", "what?", "whatx", "a\\b",
    ]
    for (id, name) in names.enumerated() { try store.save(Sample(id: id, name: name)) }
    func found(_ condition: (Fields<Sample>) -> Condition<Sample>) throws -> [String] {
      try store.fetch(Sample.where(condition)).map(\.name)
    }
    #expect(try found { $0.name.contains("50%") } == ["50% off"])
    #expect(try found { $0.name.contains("_") } == ["a_b"])
    #expect(try found { $0.name.contains("\\") } == ["a\\b"])
    #expect(try found { $0.name.hasPrefix("x*") } == ["x*y"])
    #expect(try found { $0.name.hasSuffix("?") } == ["what?"])
    #expect(try found { $0.name.hasPrefix("") } == names)
    #expect(try found { $0.name.like("*%") } == ["100%"])
    #expect(try found { $0.name.like("x\\*y") } == ["x*y"])
    #expect(try found { $0.name.like("x*y") } == ["x*y", "xzzy"])
  }

  @Test func `different values come in the order of the query, or sorted without one`() throws {
    let store = try store()
    #expect(try store.distinct(\.name, from: Query<Sample>()) == ["a", "b", "c"])
    #expect(
      try store.distinct(\.name, from: Sample.sorted(by: .descending(\.name))) == ["c", "b", "a"])
    #expect(
      try store.distinct(\.name, from: Sample.sorted(by: .ascending(\.id))) == ["b", "a", "c"])
    #expect(
      try store.distinct(\.name, from: Sample.sorted(by: .descending(\.id)).limit(2)) == ["b", "a"])
    let pairs = try store.distinct(\.name, \.id, from: Sample.sorted(by: .descending(\.id)))
    #expect(pairs.map(\.1) == [4, 3, 2, 1, 0])
  }

  struct Place: Record, Equatable {
    var id: Int
    var name: String
    var folded = ""

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
      Field(name: "folded", type: .string, derived: .folded("name"))
      Unique(.caseInsensitive("name"))
      Index(.words("name"))
    }
  }

  @Test func `both small sigmas are one letter without regard to case`() throws {
    let store = try PersistentStore(inMemory: StoreModel(records: [Place.self]))
    try store.save(Place(id: 1, name: "Οδυσσεύς"))
    #expect(throws: StoreError.self) { try store.save(Place(id: 2, name: "ΟΔΥΣΣΕΎΣ")) }
    #expect(
      try store.count(Place.where { $0.name.equals("ΟΔΥΣΣΕΎΣ", .caseInsensitive) })
        == 1)
    #expect(
      try store.count(Place.where { $0.name.contains("ΕΎΣ", .caseInsensitive) }) == 1)
    #expect(try store.count(Place.where { $0.name.matches("ΟΔΥΣΣΕΎΣ") }) == 1)
    #expect(try store.fetch(Place.self, key: 1)?.folded == "οδυσσευσ")
    try store.save(Place(id: 3, name: "İ"))
    #expect(try store.fetch(Place.self, key: 3)?.folded == "i")
  }

  struct Tag: Record, Identifiable, Equatable {
    var id: String

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .string)
    }
  }

  struct Post: Record, Equatable {
    var id: Int
    var tags: Set<Reference<Tag>>
    var words: Set<String> = []

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "tags", type: .references(to: Tag.self))
      Field(name: "words", type: .array(of: .string))
    }
  }

  @Test func `a set of references keeps two whose keys Swift takes for equal`() throws {
    let store = try PersistentStore(inMemory: StoreModel(records: [Tag.self, Post.self]))
    let (one, two) = ("\u{e9}", "e\u{301}")
    try store.write { transaction in
      try transaction.save(Tag(id: one))
      try transaction.save(Tag(id: two))
      try transaction.save(Post(id: 1, tags: [Reference(one), Reference(two)]))
    }
    var post = try #require(try store.fetch(Post.self, key: 1))
    #expect(post.tags.count == 2)
    try store.save(post)
    let stored = try #require(try store.fetch(record: "Post", key: 1))
    guard case .array(let tags) = stored["tags"] else { throw CancellationError() }
    #expect(tags.count == 2)
    post = try #require(try store.fetch(Post.self, key: 1))
    #expect(post.tags == [Reference(two), Reference(one)])
    // Of strings, the set would lose one: that is said.
    try store.write { transaction in
      try transaction.save(
        DynamicRecord(
          "Post",
          ["id": 2, "tags": .array([]), "words": .array([.string(one), .string(two)])]))
    }
    #expect(throws: StoreError.self) { try store.fetch(Post.self, key: 2) }
  }
}
