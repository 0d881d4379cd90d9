import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite(.timeLimit(.minutes(60))) struct RelatedObservationTests {
  /// What makes the results the same.
  private static func text(_ poems: [Poem]) -> String {
    poems.map { poem in
      var poem = poem
      let others = poem.others.map(\.id).sorted()
      // A set is printed in any order.
      poem.others = []
      return "\(poem) \(others)"
    }.joined()
  }

  @Test func `results are told of changes in other records`() async throws {
    let store = try PersistentStore(inMemory: .library)
    try await store.write { transaction in
      try transaction.save(Region(id: 1, name: "France"))
      try transaction.save(contentsOf: [
        Poet(id: "a", name: "Arp", region: Reference(1)), Poet(id: "b", name: "Benn"),
      ])
      try transaction.save(contentsOf: [
        Poem(id: 1, name: "one", year: 1, poet: Reference("a")),
        Poem(id: 2, name: "two", year: 2, poet: Reference("b")),
      ])
    }
    let query = Poem.where { $0.poet.region.name == "France" }
      .sorted(by: .ascending { $0.poet.name }, .ascending(\.id))
    let told = Told(by: try store.results(of: query))
    #expect(try await told.next()?.records.map(\.id) == [1])
    try await store.write(author: "me") { transaction in
      try transaction.save(Poet(id: "b", name: "Benn", region: Reference(1)))
    }
    let more = try #require(try await told.next())
    #expect(more.records.map(\.id) == [1, 2] && more.authors == ["me"])
    #expect(more.difference.insertions.map(\.offset) == [1])
    // A record moves that has not changed.
    try await store.write { try $0.save(Poet(id: "a", name: "Celan", region: Reference(1))) }
    let moved = try #require(try await told.next())
    #expect(moved.records.map(\.id) == [2, 1])
    #expect(moved.difference.moves.map(\.change.changedFields) == [[]])
    try await store.write { try $0.save(Region(id: 1, name: "Gaul")) }
    let none = try #require(try await told.next())
    #expect(none.records.isEmpty && none.difference.removals.map(\.offset) == [0, 1])
    // What does not concern the results is not told of.
    try await store.write { try $0.save(Region(id: 2, name: "Chile")) }
    try await store.close()
    #expect(try await told.next() == nil)
  }

  @Test func `results across relations are those that are queried anew after every commit`()
    async throws
  {
    for seed in Seeds.range(scaled(60, debug: 8), shard: 180) {
      var choices = LibraryChoices(seed: seed)
      let store = try PersistentStore(inMemory: .library)
      let filled = choices
      choices = try await store.write { transaction in
        var copy = filled
        try copy.fill(12, &transaction)
        return copy
      }
      let type = try store.entities.type(Poem.self)
      let schema = store.entities.schema
      let query = choices.query(type.record, schema)
      let told = Told(by: try store.results(of: query, type))
      var records = try #require(try await told.next()).records
      for _ in 0..<scaled(40, debug: 12) {
        let before = choices
        choices = try await store.write { transaction in
          var copy = before
          try copy.change(12, &transaction)
          return copy
        }
        let found = try QueryRunner(type, in: store.snapshot().recordReader()).find(query)
        var anew: [Poem] = []
        while try found.next() { anew.append(try type.load(key: found.key, row: try found.row())) }
        if Self.text(anew) == Self.text(records) { continue }
        let results = try #require(try await told.next())
        #expect(Self.text(results.records) == Self.text(anew), "seed \(seed), \(query)")
        records = results.difference.applying(to: records)
        #expect(Self.text(records) == Self.text(anew), "the difference, seed \(seed), \(query)")
      }
      try await store.close()
      #expect(try await told.next() == nil, "seed \(seed), \(query)")
    }
  }

  @Test func `a reader is told of what another commits to other records`() async throws {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/s"
    let writer = try await PersistentStore(at: path, model: .library)
    try await writer.write { transaction in
      try transaction.save(Poet(id: "a", name: "Arp"))
      try transaction.save(Poem(id: 1, name: "one", year: 1, poet: Reference("a")))
    }
    try await writer.close()
    let again = try await PersistentStore(at: path, model: .library)
    var options = StoreOptions()
    options.access = .reading
    let reader = try await PersistentStore(at: path, model: .library, options: options)
    let told = Told(by: try reader.results(of: Poem.where { $0.poet.name == "Benn" }))
    #expect(try await told.next()?.records.isEmpty == true)
    try await again.write { try $0.save(Poet(id: "a", name: "Benn")) }
    #expect(try await told.next()?.records.map(\.id) == [1])
    try await reader.close()
    try await again.close()
  }

  @Test func `changes of single records are refused where they depend on others`() throws {
    let store = try PersistentStore(inMemory: .library)
    #expect(throws: StoreError.self) {
      _ = try store.changes(of: Poem.where { $0.poet.name == "Arp" })
    }
  }

  // MARK: Included records

  @Test func `results with included records are told of changes in those`() async throws {
    let store = try PersistentStore(inMemory: .library)
    try await store.write { transaction in
      try transaction.save(Region(id: 1, name: "France"))
      try transaction.save(contentsOf: [
        Poet(id: "a", name: "Arp", region: Reference(1)), Poet(id: "b", name: "Benn"),
      ])
      try transaction.save(contentsOf: [
        Poem(id: 1, name: "one", year: 1, poet: Reference("a")),
        Poem(id: 2, name: "two", year: 2, poet: Reference("b")),
      ])
    }
    let told = Told(
      by: try store.results(
        of: Query<Poem>(), including: .one(\.poet, including: .one(\.region)), .all(\.themes)))
    let first = try #require(try await told.next())
    #expect(first.records.map(\.id) == [1, 2] && first.relatedChanges.isEmpty)
    let poets = first.related.map { related in related.0?.0.name }
    #expect(poets == ["Arp", "Benn"])
    try await store.write(author: "me") { try $0.save(Region(id: 1, name: "Gaul")) }
    let renamed = try #require(try await told.next())
    #expect(renamed.difference.isEmpty && renamed.relatedChanges == [0])
    #expect(renamed.authors == ["me"])
    let region = renamed.related[0].0?.1?.name
    #expect(region == "Gaul")
    // Of a record that has moved or is new, what is included is known to be new.
    try await store.write { transaction in
      try transaction.save(Poem(id: 0, name: "none", year: 0, poet: Reference("b")))
      try transaction.save(Poet(id: "b", name: "Brecht"))
    }
    let more = try #require(try await told.next())
    #expect(more.difference.insertions.map(\.offset) == [0] && more.relatedChanges == [2])
    // What is included with none of them is not told of.
    try await store.write { try $0.save(Region(id: 2, name: "Chile")) }
    try await store.close()
    #expect(try await told.next() == nil)
  }

  @Test func `included results are those that are fetched anew after every commit`() async throws {
    for seed in Seeds.range(scaled(40, debug: 6), shard: 190) {
      var choices = LibraryChoices(seed: seed)
      let store = try PersistentStore(inMemory: .library)
      let filled = choices
      choices = try await store.write { transaction in
        var copy = filled
        try copy.fill(12, &transaction)
        return copy
      }
      let query = Poet.where { $0.born != 1 }.sorted(by: .ascending(\.name))
      let told = Told(
        by: try store.results(
          of: query, including: .all(Poet.poems, including: .all(\.others)), .one(\.region)))
      var last = try #require(try await told.next())
      func texts(_ poet: Poet, _ poems: [(Poem, [Poem])], _ region: Region?) -> String {
        "\(poet) \(poems.map { Self.text([$0.0] + $0.1) }) \(region.map { "\($0)" } ?? "")"
      }
      for _ in 0..<scaled(40, debug: 12) {
        let before = choices
        choices = try await store.write { transaction in
          var copy = before
          try copy.change(12, &transaction)
          return copy
        }
        var anew: [String] = []
        for (poet, poems, region) in try store.fetch(
          query, including: .all(Poet.poems, including: .all(\.others)), .one(\.region))
        {
          anew.append(texts(poet, poems, region))
        }
        let old = last.records.indices.map { place in
          texts(last.records[place], last.related[place].0, last.related[place].1)
        }
        if anew == old { continue }
        let results = try #require(try await told.next())
        let now = results.records.indices.map { place in
          texts(results.records[place], results.related[place].0, results.related[place].1)
        }
        #expect(now == anew, "seed \(seed)")
        // Each record that was there is said to have changed if what is included with it has, and only then.
        let byID = Dictionary(
          uniqueKeysWithValues: last.records.indices.map { place in
            (Array(last.records[place].id.utf8), Self.relatedText(last.related[place]))
          })
        let changed = results.records.indices.filter { place in
          byID[Array(results.records[place].id.utf8)].map {
            $0 != Self.relatedText(results.related[place])
          } ?? false
        }
        #expect(results.relatedChanges == changed, "seed \(seed)")
        last = results
      }
      try await store.close()
      #expect(try await told.next() == nil, "seed \(seed)")
    }
  }

  private static func relatedText(_ related: ([(Poem, [Poem])], Region?)) -> String {
    related.0.map { text([$0.0] + $0.1) }.joined() + (related.1.map { "\($0)" } ?? "")
  }
}
