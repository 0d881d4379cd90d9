import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Conditions across relations as programs write them.
@Suite struct RelatedConditionTests {
  private let store: PersistentStore

  init() throws {
    store = try PersistentStore(inMemory: .library)
    try store.write { transaction in
      try transaction.save(contentsOf: [
        Region(id: 1, name: "France", rank: 2), Region(id: 2, name: "Chile"),
      ])
      try transaction.save(contentsOf: [
        Poet(id: "a", name: "Arp", born: 1886, region: Reference(1)),
        Poet(id: "b", name: "Benn", born: 1886),
        Poet(id: "m", name: "Mistral", region: Reference(2)),
      ])
      try transaction.save(contentsOf: [Theme(id: 1, text: "sea"), Theme(id: 2, text: "night")])
      try transaction.save(contentsOf: [
        Poem(
          id: 1, name: "A", year: 1920, price: 5, poet: Reference("a"), themes: [Reference(1)]),
        Poem(
          id: 2, name: "B", year: 1930, price: 20, poet: Reference("a"),
          themes: [Reference(1), Reference(2)]),
        Poem(id: 3, name: "C", year: 1912, price: 12, poet: Reference("b"), others: [Reference(1)]),
        Poem(id: 4, name: "D", year: 1924, poet: Reference("m"), finder: Reference("nobody")),
      ])
    }
  }

  private func ids(
    _ condition: Condition<Poem>, _ text: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> [Int] {
    let found = try store.ids(Poem.where(condition))
    #expect("\(condition)" == text, sourceLocation: sourceLocation)
    // The text means the same, and so does what is stored by it.
    let parsed = Condition<Poem>(try FieldCondition(parsing: text))
    #expect("\(parsed)" == text, sourceLocation: sourceLocation)
    #expect(try store.ids(Poem.where(parsed)) == found, sourceLocation: sourceLocation)
    return found
  }

  private func ids(
    _ text: String, sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: (Fields<Poem>) -> Condition<Poem>
  ) throws -> [Int] {
    try ids(condition(Fields()), text, sourceLocation: sourceLocation)
  }

  @Test func `closures lead over references`() throws {
    #expect(try ids(#"poet.name == "Arp""#) { $0.poet.name == "Arp" } == [1, 2])
    #expect(
      try ids(#"poet.region.name beginswith "F""#) { $0.poet.region.name.hasPrefix("F") } == [1, 2])
    #expect(try ids("poet.region.rank >= 1.0") { $0.poet.region.rank >= 1 } == [1, 2])
    #expect(try ids(#"poet.id == "b""#) { $0.poet.id == "b" } == [3])
    #expect(try ids("poet.born in [1886]") { $0.poet.born.isIn([1886]) } == [1, 2, 3])
  }

  @Test func `where there is no related record, its fields are null`() throws {
    #expect(try ids("poet.region.name == null") { $0.poet.region.name == nil } == [3])
    #expect(
      try ids(#"poet.region.name != "Chile""#) { $0.poet.region.name != "Chile" } == [1, 2, 3])
    #expect(try ids("poet.region.rank < 9.0") { $0.poet.region.rank < 9 } == [1, 2])
    // One that leads nowhere, and is not checked.
    #expect(try ids("finder.name == null") { $0.finder.name == nil } == [1, 2, 3, 4])
    #expect(try ids("finder == null") { $0.finder == nil } == [1, 2, 3])
  }

  @Test func `the key and the name of a record that is not there yet are both null`() throws {
    let expected: [(text: String, ids: [FieldValue])] = [
      ("poet.id == null", [5]), ("poet.name == null", [5]), ("poet.id in [null]", [5]),
      (#"poet.id in [null, "z"]"#, [5]), (#"poet.id == "z""#, []), (#"poet.id in ["z"]"#, []),
      (#"poet.id > "m""#, []), (#"poet.name > "m""#, []), (#"poet.any(id == "z")"#, []),
      (#"poet.id != "a""#, [3, 4, 5]), (#"(poet.id ?? "none") == "none""#, [5]),
      (#"poet == "z""#, [5]),
    ]
    try store.write { transaction in
      try transaction.save(Poem(id: 5, name: "E", year: 1940, poet: Reference("z")))
      for (text, ids) in expected {
        let found = try transaction.fetch(record: "Poem", where: FieldCondition(parsing: text))
        #expect(found.map { $0["id"] } == ids, "\(text)")
      }
      for field in ["poet.id", "poet.name"] {
        let first = try transaction.fetch(
          record: "Poem", sortedBy: [FieldOrder(field: field)], limit: 1)
        #expect(first.map { $0["id"] } == [5], "\(field)")
      }
      try transaction.save(Poet(id: "z", name: "Zeh"))
      let found = try transaction.fetch(
        record: "Poem", where: FieldCondition(parsing: #"poet.id == "z""#))
      #expect(found.map { $0["id"] } == [5])
    }
    #expect(try store.ids(Poem.where { $0.poet.id == "z" }) == [5])
  }

  @Test func `lists and inverses are queried by any, all, none and counts`() throws {
    #expect(
      try ids(#"themes.any(text == "night")"#) { $0.themes.any { $0.text == "night" } } == [2])
    #expect(
      try ids(#"!(themes.any(!(text == "sea")))"#) { $0.themes.all { $0.text == "sea" } } == [
        1, 3, 4,
      ])
    #expect(try ids("!(themes.any())") { $0.themes.none() } == [3, 4])
    #expect(try ids("themes.count() == 2") { $0.themes.count() == 2 } == [2])
    #expect(
      try ids(#"mentions.any(year < 1920)"#) { $0.mentions.any { $0.year < 1920 } } == [1])
    #expect(
      try ids(#"themes.sum(id, text != "sea") == 2"#) {
        $0.themes.sum(\.id) { $0.text != "sea" } == 2
      } == [2])
    #expect(try ids("themes.maximum(id) >= 2") { $0.themes.maximum(\.id) >= 2 } == [2])
    #expect(try ids("themes.minimum(id) == null") { $0.themes.minimum(\.id) == nil } == [3, 4])
    #expect(
      try ids(#"others.any(poet.region.name == "France")"#) {
        $0.others.any { $0.poet.region.name == "France" }
      } == [3])
  }

  @Test func `statics say the same of key paths and inverses`() throws {
    #expect(
      try ids(
        Condition { $0.poet.any { $0.name == "Arp" } && $0.year > 1920 },
        #"(poet.any(name == "Arp") && year > 1920)"#
      )
        == [2])
    #expect(try ids(Condition { $0.themes.none() }, "!(themes.any())") == [3, 4])
    #expect(
      try ids(Condition { $0.themes.all { $0.text == "sea" } }, #"!(themes.any(!(text == "sea")))"#)
        == [1, 3, 4])
    let poets = try store.ids(
      Poet.where { $0.poems.any { $0.price > 10 } && $0.poems.count { $0.year > 1900 } >= 2 })
    #expect(poets == ["a"])
    #expect(try store.ids(Poet.where { $0.poems.all { $0.price > 10 } }) == ["b"])
    #expect(try store.ids(Poet.where { $0.poems.sum(\.price) > 20.0 }) == ["a"])
    #expect(try store.ids(Poet.where { $0.poems.maximum(\.price) < 15 }) == ["b"])
    #expect(try store.ids(Region.where { $0.poets.any { $0.poems.any { $0.id == 4 } } }) == [2])
  }

  @Test func `records are sorted by a field of those that a reference leads to`() throws {
    let query = Poem.sorted(by: .descending { $0.poet.name }, .ascending(\.year))
    #expect(try store.ids(query) == [4, 3, 1, 2])
    #expect("\(query)" == "all sorted by poet.name descending, year")
    let byRegion = try store.fetch(
      record: "Poem", sortedBy: [FieldOrder(field: "poet.region.name", isDescending: true)])
    #expect(byRegion.map { $0["id"] } == [1, 2, 4, 3])
    // A page begins after a record, as the records are now.
    let page = try store.fetch(query.limit(2))
    #expect(try store.fetch(query, after: page.last).map(\.id) == [1, 2])
    #expect(throws: StoreError.self) {
      _ = try store.fetch(record: "Poem", sortedBy: [FieldOrder(field: "themes.text")])
    }
  }

  @Test func `kept queries lead over relations by stored names`() throws {
    let query = Poem.where { $0.poet.name == "Arp" && $0.others.none { $0.name == "A" } }
      .sorted(by: .ascending { $0.poet.born })
    try store.write { try $0.setQuery(query, named: "kept") }
    let kept = try #require(try store.query(Poem.self, named: "kept"))
    #expect(try store.ids(kept) == [1, 2])
  }

  @Test func `what is deleted by a condition across relations is what it finds`() throws {
    try store.delete(Poem.where { $0.poet.region.name == "France" })
    #expect(try store.ids(Query<Poem>()) == [3, 4])
  }

  @Test(arguments: [
    "themes.text == \"x\"", "poems.year > 1", "poet.nobody == 1", "nobody.any(id == 1)",
    "year.any(id == 1)", "poet.any(nobody == 1)", "themes.sum(text) == 1", "poet.region == \"x\"",
    "mentions.year == 1", "themes.count(text > 1) == 1",
  ])
  func `a condition that does not fit the relations is refused`(text: String) throws {
    let condition = try FieldCondition(parsing: text)
    for record in ["Poem", "Theme"] {
      let error = #expect(throws: StoreError.self) {
        _ = try store.fetch(record: record, where: condition)
      }
      guard case .invalidQuery = error else {
        Issue.record("\(text): \(error.map { "\($0)" } ?? "")")
        continue
      }
    }
  }

  @Test func `a plan says how related records are found`() throws {
    try store.write { transaction in
      for id in 10..<400 {
        try transaction.save(Poet(id: "p\(id)", name: "P\(id)"))
        for poem in 0..<5 {
          try transaction.save(
            Poem(
              id: id * 10 + poem, name: "t\(id)", year: 2000, price: Double(poem),
              poet: Reference("p\(id)")))
        }
      }
    }
    let few = try store.explain(Poem.where { $0.poet.name.hasPrefix("P10") }, running: true)
    #expect(few.access == "keys of Poem.poet")
    #expect(
      few.related.first?.hasPrefix(
        #"after Poet where name beginswith "P10": index name in one range, about"#) == true)
    #expect(few.actual?.resultCount == 55)
    let one = try store.explain(
      Poem.where { $0.id == 100 && $0.poet.name.hasPrefix("P") }, running: true)
    #expect(one.access == "rows in one range")
    #expect(one.related.first?.hasPrefix("looking up Poem.poet of each") == true)
    #expect(one.actual?.resultCount == 1)
  }

  private static func ids(
    _ text: String, in transaction: borrowing WriteTransaction
  ) throws -> [FieldValue] {
    try transaction.fetch(record: "Poem", where: FieldCondition(parsing: text)).map { $0["id"] }
  }

  @Test func `in a transaction a key and a field agree on a record that is not there yet`() throws {
    let store = try PersistentStore(inMemory: .library)
    try store.write { transaction in
      try transaction.save(Poet(id: "a", name: "a"))
      for (id, sequel) in [(1, 1), (2, 9), (3, nil)] as [(Int, Int?)] {
        try transaction.save(
          Poem(
            id: id, name: "p", year: 1, poet: Reference("a"), sequel: sequel.map { Reference($0) }))
      }
      for (one, other) in [
        ("sequel.id == null", "sequel.title == null"),
        ("sequel.id != null", "sequel.title != null"),
        ("sequel.id != 9", "sequel.title != \"x\""), ("sequel.id == 9", "sequel.title == \"x\""),
        ("sequel.id in [null, 9]", "sequel.title in [null, \"x\"]"),
        ("sequel.id > 5", "sequel.title > \"x\""),
      ] {
        let found = try Self.ids(one, in: transaction)
        let expected = try Self.ids(other, in: transaction)
        #expect(found == expected, "\(one)")
      }
      let missing = try Self.ids("sequel.id == null", in: transaction)
      let there = try Self.ids("sequel.id == 1", in: transaction)
      #expect(missing == [2, 3] && there == [1])
      try transaction.save(Poem(id: 9, name: "p", year: 1, poet: Reference("a")))
      let led = try Self.ids("sequel.id == 9", in: transaction)
      #expect(led == [2])
    }
    #expect(
      try store.fetch(record: "Poem", where: FieldCondition(parsing: "sequel.id == 9"))
        .map { $0["id"] } == [2])
  }
}
