import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite(.timeLimit(.minutes(60))) struct SectionsTests {
  private static let some = [
    Volume(id: 1, title: "Zauberberg", genre: "novel"), Volume(id: 2, title: "Ariel"),
    Volume(id: 3, title: "Effi Briest", genre: "novel"),
    Volume(id: 4, title: "Faust", genre: "drama"),
    Volume(id: 5, title: "Amok", genre: "novella"),
    Volume(id: 6, title: "Don Carlos", genre: "drama"),
  ]

  @Test func `records come in sections by a property, and in the query's order within, H5`() throws
  {
    try withStore(Volume.model) { store in
      #expect(try store.sections(of: Query<Volume>(), by: \.genre).isEmpty)
      try store.save(contentsOf: Self.some)
      let sections = try store.sections(of: Volume.sorted(by: .ascending(\.title)), by: \.genre)
      #expect(sections.map(\.key) == [nil, "drama", "novel", "novella"])
      #expect(sections.map { $0.records.map(\.id) } == [[2], [6, 4], [3, 1], [5]])
    }
  }

  @Test func `sections are sorted as the query's order says if it begins with their property`()
    throws
  {
    try withStore(Volume.model) { store in
      try store.save(contentsOf: Self.some)
      let descending = Volume.sorted(by: .descending(\.genre), .descending(\.title))
      let sections = try store.sections(of: descending, by: \.genre)
      #expect(sections.map(\.key) == ["novella", "novel", "drama", nil])
      #expect(sections.map { $0.records.map(\.id) } == [[5], [1, 3], [4, 6], [2]])
      // An order that has the property later says nothing of the sections.
      let later = Volume.sorted(by: .ascending(\.isLent), .descending(\.genre))
      #expect(
        try store.sections(of: later, by: \.genre).map(\.key) == [nil, "drama", "novel", "novella"])
      let keys = try store.sections(of: Query<Volume>(), by: \.id)
      #expect(keys.map(\.key) == [1, 2, 3, 4, 5, 6])
    }
  }

  @Test func `a limit, an offset and a record to begin after count in the list of sections`() throws
  {
    try withStore(Volume.model) { store in
      try store.save(contentsOf: Self.some)
      let query = Volume.sorted(by: .ascending(\.title))
      func ids(_ query: Query<Volume>) throws -> [[Int]] {
        try store.sections(of: query, by: \.genre).map { $0.records.map(\.id) }
      }
      #expect(try ids(query.limit(2)) == [[2], [6]])
      #expect(try ids(query.limit(2).offset(2)) == [[4], [3]])
      var after = query
      after.after = [4]
      #expect(try ids(after) == [[3, 1], [5]])
      #expect(try ids(after.limit(1).offset(1)) == [[1]])
      #expect(try ids(query.limit(0)) == [] && ids(query.offset(9)) == [])
      after.after = [99]
      #expect(
        storeError { try ids(after) }.map { if case .noSuchRecord = $0 { true } else { false } }
          ?? false)
    }
  }

  @Test func `equal strings of different bytes are different sections, all NaN are one`() throws {
    try withStore(Volume.model) { store in
      let genres = ["é", "e\u{301}", "é", "Rock", "rock"]
      try store.save(contentsOf: genres.enumerated().map { Volume(id: $0, genre: $1) })
      func ids(_ query: Query<Volume>) throws -> [[Int]] {
        try store.sections(of: query, by: \.genre).map { $0.records.map(\.id) }
      }
      #expect(try ids(Query()) == [[3], [1], [4], [0, 2]])
      let anyCase = Volume.sorted(by: .ascending(\.genre, caseInsensitive: true), .descending(\.id))
      #expect(try ids(anyCase) == [[1], [3], [4], [2, 0]])
      try store.write { try $0.deleteAll(Volume.self) }
      let ratings = [
        Double.nan, 0.0, -Double.nan, -0.0, .infinity, Double(nan: 3, signaling: false),
      ]
      try store.save(contentsOf: ratings.enumerated().map { Volume(id: $0, rating: $1) })
      let byRating = try store.sections(of: Query<Volume>(), by: \.rating)
      #expect(byRating.map { $0.records.map(\.id) } == [[1, 3], [4], [0, 2, 5]])
    }
  }

  @Test func `snapshots have the sections of their state, transactions those of their changes`()
    throws
  {
    try withStore(Volume.model) { store in
      try store.save(contentsOf: Self.some)
      let snapshot = try store.snapshot()
      try store.write { transaction in
        try transaction.save(Volume(id: 2, genre: "poems"))
        let sections = try transaction.sections(of: Query<Volume>(), by: \.genre)
        #expect(sections.map(\.key) == ["drama", "novel", "novella", "poems"])
      }
      #expect(
        try snapshot.sections(of: Query<Volume>(), by: \.genre).map(\.key).first == .some(nil))
      #expect(try store.sections(of: Query<Volume>(), by: \.genre).map(\.key).last == "poems")
    }
  }

  @Test func `a property without a stored order is an invalid query`() throws {
    try withStore(Volume.model) { store in
      func isRefused<Key: Sendable>(_ field: KeyPath<Volume, Key>) -> Bool {
        let errors = [
          storeError { try store.sections(of: Query<Volume>(), by: field) },
          storeError { try store.results(of: Query<Volume>(), sectionedBy: field) },
        ]
        return errors.allSatisfy {
          if case .invalidQuery("Volume", _, _)? = $0 { true } else { false }
        }
      }
      #expect(isRefused(\.tags) && isRefused(\.title.count) && isRefused(\.self))
      let unknown = storeError { try store.sections(of: Query<Note>(), by: \.text) }
      #expect(unknown.map { if case .unknownRecord = $0 { true } else { false } } ?? false)
    }
  }

  @Test func `sections of random queries are those of the records sorted and cut by hand`()
    async throws
  {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("Sections: seed \(seed)")
    var generator = SplitMix64(seed: seed)
    for round in 0..<scaled(200, debug: 25) {
      let store = try PersistentStore(inMemory: Volume.model)
      for _ in 0..<Int.random(in: 0..<60, using: &generator) {
        try await Volume.change(store, of: 60, &generator)
      }
      let volumes = try store.fetch(Volume.self)
      for _ in 0..<20 {
        var query = SectionQuery(&generator)
        if Int.random(in: 0..<4, using: &generator) == 0 {
          query.after = volumes.randomElement(using: &generator)
        }
        let sections = try query.sections(in: store)
        #expect(sections == query.sections(of: volumes), "seed \(seed), round \(round), \(query)")
      }
      try await store.close()
    }
  }
}
