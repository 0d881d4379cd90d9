import Cambium
import CambiumPostgres
import FoundationEssentials
import Testing

/// Parts of parts, some of which are in each other.
private struct Part: Record, Identifiable {
  var id: String
  var whole: Reference<Part>?
  var uses: [Reference<Part>] = []
  static let parts = Inverse("parts", of: \Part.whole)
  static let users = Inverse("users", of: \Part.uses)

  static func recordDescription(for version: Int) -> RecordDescription {
    Field("id", primaryKey: true)
    Field("whole")
    Field("uses")
    parts
    users
  }
}

/// Records that a relation of a type to itself leads to: the same, at the same depths, in a store on a server and in an embedded one.
@Suite(.enabled(if: PostgresServer.shared != nil, "\(PostgresServer.missing)"))
struct ReachingTests {
  private static let model = StoreModel(version: 1, records: [Part.self])

  /// Trees of three, a cycle of the last five, and lists with every kind of way; two keys only look the same.
  private static let parts: [Part] = {
    let names = (0..<30).map { "\($0)" } + ["é", "e\u{301}"]
    return names.enumerated().map { place, name in
      var whole: Reference<Part>?
      if place > 0, place < 25 { whole = Reference(names[(place - 1) / 3]) }
      if place >= 25, place < 30 { whole = Reference(names[25 + (place - 24) % 5]) }
      if place >= 30 { whole = Reference("2") }
      let uses = Set((0..<place % 4).map { names[(place * 7 + $0 * 11) % names.count] })
      return Part(id: name, whole: whole, uses: uses.sorted().map { Reference($0) })
    }
  }()

  private static func fill(_ store: some RecordStore) async throws {
    try await store.write { transaction in try transaction.insert(contentsOf: parts) }
  }

  private static func seen(_ state: some PortableReading) throws -> [String] {
    var seen: [String] = []
    func add(_ found: [(record: Part, depth: Int)]) {
      seen.append(found.map { "\($0.depth) \(Array($0.record.id.utf8))" }.joined(separator: ", "))
    }
    for part in parts {
      for depth in [nil, 0, 1, 2] {
        add(try state.descendants(of: part, along: Part.parts, upTo: depth))
        add(try state.descendants(of: part, along: Part.users, upTo: depth))
        add(try state.ancestors(of: part, along: \.whole, upTo: depth))
        add(try state.ancestors(of: part, along: \.uses, upTo: depth))
      }
    }
    let some = Part.where { $0.id > "2" && $0.id < "4" }
    add(try state.descendants(of: some, along: Part.parts))
    add(try state.descendants(of: some.limit(2), along: Part.users))
    add(try state.ancestors(of: some, along: \.whole))
    add(try state.ancestors(of: some.sorted(by: .descending(\.id)).limit(3), along: \.uses))
    add(try state.ancestors(of: Part.where { $0.id == "none" }, along: \.uses))
    // Records that are not stored, and a key that cannot be there.
    let new = Part(
      id: "new", whole: Reference("e\u{301}"), uses: [Reference("24"), Reference("3")])
    add(try state.ancestors(of: new, along: \.whole))
    add(try state.ancestors(of: new, along: \.uses, upTo: 2))
    add(try state.descendants(of: new, along: Part.parts))
    return seen
  }

  @Test func `descendants and ancestors are the same, and cycles end`() async throws {
    let server = try #require(PostgresServer.shared)
    let embedded = try PersistentStore(inMemory: Self.model)
    let store = try await PostgresStore(try server.makeDatabase("reaching"), model: Self.model)
    try await Self.fill(embedded)
    try await Self.fill(store)
    let expected = try Self.seen(try embedded.snapshot())
    let found = try await store.read { try Self.seen($0) }
    #expect(found.count == expected.count)
    for (place, (one, other)) in zip(found, expected).enumerated() {
      #expect(one == other, "\(place)")
    }
    #expect(expected.count { !$0.isEmpty } > 250)
    #expect(expected.contains { $0.contains("4 [") })
    await #expect(throws: StoreError.self) {
      _ = try await store.read { state in
        try state.descendants(of: Self.parts[0], along: Part.parts, upTo: -1).count
      }
    }
    let nul = Part(id: "a\0", whole: Reference("b\0"), uses: [Reference("1"), Reference("c\0")])
    let reached = try await store.read { state in
      [
        try state.descendants(of: nul, along: Part.parts).count,
        try state.ancestors(of: nul, along: \.whole).count,
        try state.ancestors(of: nul, along: \.uses, upTo: 1).count,
      ]
    }
    #expect(reached == [0, 0, 1])
  }
}
