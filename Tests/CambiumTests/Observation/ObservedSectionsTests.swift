import Glibc
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite(.timeLimit(.minutes(60))) struct ObservedSectionsTests {
  @Test func `sections come first, and then what they become, H5`() async throws {
    let store = try PersistentStore(inMemory: Volume.model)
    try await store.save(contentsOf: [
      Volume(id: 1, title: "a", genre: "x"), Volume(id: 2, title: "b", genre: "x"),
      Volume(id: 3, title: "c", genre: "z"),
    ])
    let query = Volume.sorted(by: .ascending(\.title))
    let told = Told(by: try store.results(of: query, sectionedBy: \.genre))
    let first = try #require(try await told.next())
    #expect(first.sections.map(\.key) == ["x", "z"] && first.authors.isEmpty)
    #expect(first.difference.insertedSections.map(\.offset) == [0, 1])
    #expect(first.difference.insertions.map(\.place) == [place(0, 0), place(0, 1), place(1, 0)])

    func change(_ id: Int, _ body: (inout Volume) -> Void) async throws
      -> SectionedResults<Volume, String?>
    {
      var volume = try store.fetch(Volume.self, key: id) ?? Volume(id: id)
      body(&volume)
      let changed = volume
      try await store.write(author: "me") { try $0.save(changed) }
      return try #require(try await told.next())
    }
    // The last of a section and the first of the next are neighbours among the results.
    let next = try await change(2) { $0.genre = "z" }
    #expect(next.difference.moves.map(\.oldPlace) == [place(0, 1)] && next.authors == ["me"])
    #expect(next.difference.moves.map(\.newPlace) == [place(1, 0)])
    #expect(next.difference.insertedSections.isEmpty && next.difference.updates.isEmpty)
    let alone = try await change(1) { $0.genre = "y" }
    #expect(alone.difference.removedSections.map(\.key) == ["x"])
    #expect(alone.difference.insertedSections.map(\.key) == ["y"])
    #expect(alone.difference.moves.map(\.newPlace) == [place(0, 0)])
    let updated = try await change(3) { $0.isLent = true }
    #expect(updated.difference.updates.map(\.place) == [place(1, 1)])
    #expect(updated.difference.updates.first?.change.changedFields == ["isLent"])
    let nobody = try await change(4) { $0.title = "d" }
    #expect(nobody.difference.insertedSections.map(\.key) == [nil])
    #expect(nobody.difference.insertedSections.map(\.offset) == [0])
    #expect(nobody.sections.map { $0.records.map(\.id) } == [[4], [1], [2, 3]])
    try await store.write { _ = try $0.delete(Volume.self, key: 1) }
    let removed = try #require(try await told.next())
    #expect(removed.difference.removals.map(\.place) == [place(1, 0)])
    #expect(removed.difference.removedSections.map(\.offset) == [1])
    try await store.close()
    #expect(try await told.next() == nil)
  }

  private func place(_ section: Int, _ row: Int) -> SectionPlace {
    SectionPlace(section: section, row: row)
  }

  // MARK: Applying

  /// Applies a difference step by step as its documentation says, and checks all that it states on the way.
  private static func apply<Key>(
    _ difference: SectionDifference<Volume, Key>, to sections: inout [RecordSection<Volume, Key>]
  ) -> Bool {
    var isExact = true
    let leaving =
      difference.removals.map { ($0.place, $0.record) }
      + difference.moves.map { ($0.oldPlace, $0.change.old) }
    for (place, record) in leaving.sorted(by: { $0.0 > $1.0 }) {
      isExact = sections[place.section].records.remove(at: place.row) == record && isExact
    }
    for section in difference.removedSections.reversed() {
      let removed = sections.remove(at: section.offset)
      isExact = removed.records.isEmpty && "\(removed.key)" == "\(section.key)" && isExact
    }
    for section in difference.insertedSections {
      sections.insert(RecordSection(key: section.key, records: []), at: section.offset)
    }
    let coming =
      difference.insertions.map { ($0.place, $0.record) }
      + difference.moves.map { ($0.newPlace, $0.change.new) }
    for (place, record) in coming.sorted(by: { $0.0 < $1.0 }) {
      sections[place.section].records.insert(record, at: place.row)
    }
    for update in difference.updates {
      let (section, row) = (update.place.section, update.place.row)
      isExact = sections[section].records[row] == update.change.old && isExact
      sections[section].records[row] = update.change.new
    }
    let lists = [
      difference.removals.map(\.place), difference.insertions.map(\.place),
      difference.moves.map(\.newPlace), difference.updates.map(\.place),
    ]
    isExact = lists.allSatisfy { $0 == $0.sorted() } && isExact
    return isExact && sections.allSatisfy { !$0.records.isEmpty }
  }

  /// Follows sections by their differences alone.
  private final class Follower {
    let observation: any Sendable
    private let advance: () async throws -> (isExact: Bool, moveCount: Int, [ShownSection])?
    private(set) var sections: [ShownSection] = []
    /// The number of moves that the last element told of.
    private(set) var moveCount = 0

    init<Key: Sendable>(
      _ store: PersistentStore, _ query: SectionQuery, _ field: KeyPath<Volume, Key>
    )
      throws
    {
      let observation = try store.results(of: query.query, sectionedBy: field)
      self.observation = observation
      let told = Told(by: observation)
      var (sections, applied): ([RecordSection<Volume, Key>], [RecordSection<Volume, Key>]) = (
        [], []
      )
      advance = {
        guard let results = try await told.next() else { return nil }
        let isExact = ObservedSectionsTests.apply(results.difference, to: &sections)
        applied = results.difference.applying(to: applied)
        let shown = results.sections.map { ShownSection($0) }
        let isSame = sections.map { ShownSection($0) } == shown
        return (
          isExact && isSame && applied.map { ShownSection($0) } == shown,
          results.difference.moves.count, shown
        )
      }
    }

    static func make(_ store: PersistentStore, _ query: SectionQuery) throws -> Follower {
      switch query.section {
      case .genre: try Follower(store, query, \.genre)
      case .rating: try Follower(store, query, \.rating)
      case .isLent: try Follower(store, query, \.isLent)
      case .title: try Follower(store, query, \.title)
      }
    }

    /// Takes the next element in. Nil at the end; false if its difference does not lead to it.
    func next() async throws -> Bool? {
      guard let (isExact, moveCount, sections) = try await advance() else { return nil }
      (self.moveCount, self.sections) = (moveCount, sections)
      return isExact
    }
  }

  // MARK: Small worlds

  /// All worlds of `count` records, each of which is absent or in one of the sections with one of two titles.
  private static func worlds(_ count: Int, sections: [String]) -> [[Volume?]] {
    var worlds: [[Volume?]] = [[]]
    for id in 0..<count {
      var states: [Volume?] = [nil]
      for genre in sections {
        states += ["a", "b"].map { Volume(id: id, title: $0, genre: genre) }
      }
      worlds = worlds.flatMap { world in states.map { world + [$0] } }
    }
    return worlds
  }

  private static func visit(
    _ world: [Volume?], _ store: PersistentStore, _ follower: Follower, _ query: SectionQuery
  ) async throws -> Bool {
    try await store.write(durability: .relaxed) { transaction in
      for (id, volume) in world.enumerated() {
        if let volume {
          try transaction.save(volume)
        } else {
          try transaction.delete(Volume.self, key: id)
        }
      }
    }
    let expected = query.sections(of: world.compactMap(\.self))
    if expected == follower.sections { return true }
    let least = leastMoves(from: follower.sections, to: expected)
    return try await follower.next() == true && follower.sections == expected
      && follower.moveCount == least
  }

  /// The number of records that have to move: those that come into another section, and in each section those that are
  /// not in the longest part whose order is the same. Records that have not changed are in it.
  private static func leastMoves(from old: [ShownSection], to new: [ShownSection]) -> Int {
    let stayed = new.flatMap { section in
      let volumes = old.first { $0.key == section.key }?.volumes ?? []
      let (was, present) = (volumes.map(\.id), section.volumes.map(\.id))
      let both = was.filter { present.contains($0) }
      let unchanged = both.filter { id in
        volumes.first { $0.id == id } == section.volumes.first { $0.id == id }
      }
      let parts = (0..<(1 << both.count)).map { bits in
        both.indices.filter { bits & 1 << $0 != 0 }.map { both[$0] }
      }
      return parts.filter { part in
        part == present.filter { part.contains($0) } && unchanged.allSatisfy { part.contains($0) }
      }.max { $0.count < $1.count } ?? []
    }
    let ids = Set(old.flatMap(\.volumes).map(\.id))
    return ids.intersection(new.flatMap(\.volumes).map(\.id)).count - stayed.count
  }

  @Test(arguments: [nil, 1, 2], [0, 1])
  func `every change of two records in three sections is told exactly`(
    _ limit: Int?, _ offset: Int
  ) async throws {
    let store = try PersistentStore(inMemory: Volume.model)
    var query = SectionQuery(by: .genre)
    query.orders = [VolumeOrder(property: .title)]
    (query.limit, query.offset) = (limit, offset)
    let follower = try Follower.make(store, query)
    #expect(try await follower.next() == true)
    let worlds = Self.worlds(2, sections: ["x", "y", "z"])
    for from in worlds {
      for to in worlds {
        let isTold = try await Self.visit(from, store, follower, query)
        let isExact = try await Self.visit(to, store, follower, query)
        try #require(isTold && isExact, "from \(from) to \(to)")
      }
    }
    try await store.close()
  }

  @Test func `changes of three records in two sections are told exactly`() async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("Changes of three records: seed \(seed)")
    var generator = SplitMix64(seed: seed)
    let store = try PersistentStore(inMemory: Volume.model)
    var query = SectionQuery(by: .genre)
    query.orders = [VolumeOrder(property: .title, isDescending: true)]
    let follower = try Follower.make(store, query)
    #expect(try await follower.next() == true)
    let worlds = Self.worlds(3, sections: ["x", "y"])
    for _ in 0..<scaled(30_000, debug: 3_000) {
      let world = try #require(worlds.randomElement(using: &generator))
      try #require(try await Self.visit(world, store, follower, query), "seed \(seed), \(world)")
    }
    try await store.close()
  }

  // MARK: Random lives

  @Test func `differences lead from the first sections to those of the query asked again`()
    async throws
  {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("Observed sections: seed \(seed)")
    var generator = SplitMix64(seed: seed)
    for round in 0..<scaled(400, debug: 50) {
      let store = try PersistentStore(inMemory: Volume.model)
      for _ in 0..<Int.random(in: 0..<40, using: &generator) {
        try await Volume.change(store, of: 40, &generator)
      }
      var query = SectionQuery(&generator)
      if Int.random(in: 0..<4, using: &generator) == 0 {
        query.after = try store.fetch(Volume.self).randomElement(using: &generator)
      }
      let follower = try Follower.make(store, query)
      #expect(try await follower.next() == true)
      #expect(try follower.sections == query.sections(in: store), "seed \(seed), \(query)")
      for _ in 0..<Int.random(in: 1..<30, using: &generator) {
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
          try await Volume.change(store, of: 40, &generator)
        }
        let expected = query.sections(of: try store.fetch(Volume.self))
        if query.after == nil { #expect(try query.sections(in: store) == expected) }
        if expected == follower.sections { continue }
        #expect(try await follower.next() == true, "seed \(seed), round \(round), \(query)")
        #expect(follower.sections == expected, "seed \(seed), round \(round), \(query)")
      }
      try await store.close()
      #expect(try await follower.next() == nil, "seed \(seed), round \(round)")
    }
  }

  @Test func `several loops over one observation receive the same sections`() async throws {
    let store = try PersistentStore(inMemory: Volume.model)
    try await store.save(contentsOf: (0..<9).map { Volume(id: $0, genre: "\($0 % 3)") })
    let observation = try store.results(of: Query<Volume>(), sectionedBy: \.genre)
    let loops = [Told(by: observation), Told(by: observation), Told(by: observation)]
    for loop in loops { #expect(try await loop.next()?.sections.count == 3) }
    try await store.write { try $0.save(Volume(id: 4, genre: "4")) }
    for loop in loops {
      let results = try #require(try await loop.next())
      #expect(
        results.sections.map { $0.records.map(\.id) } == [[0, 3, 6], [1, 7], [2, 5, 8], [4]])
      #expect(results.difference.moves.map(\.newPlace) == [SectionPlace(section: 3, row: 0)])
    }
    try await store.close()
  }

  @Test func `sections follow what another process commits, H6`() async throws {
    let directory = try TemporaryDirectory()
    await #expect(processExitsWith: .success) { [path = directory.path as String] in
      let writer = ForkedChild { pipe in
        do {
          // Closed once, so that the schema is in sight at once.
          try PersistentStore(at: "\(path)/s", model: Volume.model).close()
          let store = try PersistentStore(at: "\(path)/s", model: Volume.model)
          send(0, to: pipe)
          for number in 0..<200 {
            let volume = Volume(id: number % 100, genre: "\(number % 7)", isLent: number >= 100)
            try store.save(volume, durability: .relaxed)
            if number % 10 == 0 { usleep(5_000) }
          }
          try store.close()
          return 0
        } catch { return 1 }
      }
      guard let writer, writer.next() == 0 else { exit(1) }
      var options = StoreOptions()
      options.access = .reading
      let reader = try await PersistentStore(at: "\(path)/s", model: Volume.model, options: options)
      let query = SectionQuery(by: .genre)
      let observation = try reader.results(of: query.query, sectionedBy: \.genre)
      var iterator = observation.makeAsyncIterator()
      var sections: [RecordSection<Volume, String?>] = []
      while sections.map({ $0.records.count { $0.isLent } }).reduce(0, +) < 100 {
        guard let results = try await iterator.next() else { exit(2) }
        guard ObservedSectionsTests.apply(results.difference, to: &sections) else { exit(3) }
        let expected = query.sections(of: try observation.snapshot.fetch(Volume.self))
        if sections.map({ ShownSection($0) }) != expected { exit(4) }
        if results.sections.map({ ShownSection($0) }) != expected { exit(5) }
      }
      try await reader.close()
    }
    withExtendedLifetime(directory) {}
  }
}
