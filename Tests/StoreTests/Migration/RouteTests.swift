import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// One record that says in which version it is.
private struct Stepping: Record {
  var id: Int
  static func recordDescription(for version: Int) -> RecordDescription {
    RecordName("Item")
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "v\(version)", type: .integer, optional: version > 1)
    if version > 3 { Field(name: "late", type: .string, optional: true) }
  }
}

private struct SteppingFirst: Record {
  var id: Int
  var v1: Int
  static func recordDescription(for version: Int) -> RecordDescription {
    Stepping.recordDescription(for: version)
  }
}

/// Versions 2 and 5, as their programs have them.
private struct SteppingSecond: Record {
  var id: Int
  var v2: Int?
  static func recordDescription(for version: Int) -> RecordDescription {
    Stepping.recordDescription(for: version)
  }
}

private struct SteppingFifth: Record {
  var id: Int
  var v5: Int?
  var late: String?
  static func recordDescription(for version: Int) -> RecordDescription {
    Stepping.recordDescription(for: version)
  }
}

/// Describes the same record otherwise.
private struct SteppingOther: Record {
  var id: String
  static func recordDescription(for version: Int) -> RecordDescription {
    RecordName("Item")
    Field(primaryKey: true, name: "id", type: .string)
  }
}

/// Which steps lead from one version to another.
@Suite struct RouteTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func route(
    from old: Int, to new: Int, _ steps: [MigrationStep],
    _ change: (inout MigrationOptions) -> Void = { _ in }
  ) throws -> MigrationRoute {
    var options = MigrationOptions()
    change(&options)
    let model = StoreModel(version: max(old, new), records: [Stepping.self])
    let history = try model.schemas()
    return try MigrationRoute(
      from: history[old - 1], history: Array(history.prefix(old)),
      to: StoreModel(version: new, records: [Stepping.self]), steps, options)
  }

  private func path(of route: MigrationRoute) -> String {
    route.hops.map { "\($0.change.from.version)→\($0.change.to.version)\($0.step?.label ?? "")" }
      .joined(separator: " ")
  }

  @Test func `steps lead up one by one, given ones in their places, L1 L3`() throws {
    #expect(path(of: try route(from: 1, to: 4, [])) == "1→2 2→3 3→4")
    let steps = [MigrationStep(to: 3, label: "b"), MigrationStep(to: 2, label: "a")]
    #expect(path(of: try route(from: 1, to: 4, steps)) == "1→2a 2→3b 3→4")
    #expect(path(of: try route(from: 2, to: 4, steps)) == "2→3b 3→4")
  }

  @Test func `at each version the step is taken that leads farthest, K1 L4 M1 M2`() throws {
    let steps = [MigrationStep(from: 1, to: 4, label: "direct"), MigrationStep(to: 3, label: "b")]
    #expect(path(of: try route(from: 1, to: 4, steps)) == "1→4direct")
    #expect(path(of: try route(from: 2, to: 4, steps)) == "2→3b 3→4")
    #expect(path(of: try route(from: 1, to: 5, steps)) == "1→4direct 4→5")
    #expect(path(of: try route(from: 1, to: 3, steps)) == "1→2 2→3b")
    let tree = [
      MigrationStep(from: 1, to: 3, label: "a"), MigrationStep(from: 2, to: 4, label: "b"),
      MigrationStep(to: 4, label: "c"),
    ]
    #expect(path(of: try route(from: 1, to: 4, tree)) == "1→3a 3→4c")
    #expect(path(of: try route(from: 2, to: 4, tree)) == "2→4b")
    let shortcuts = [
      MigrationStep(from: 3, to: 5, label: "b"), MigrationStep(squashing: 1...2, to: 3, label: "a"),
    ]
    #expect(path(of: try route(from: 1, to: 5, shortcuts)) == "1→3a 3→5b")
  }

  @Test func `a squashed step stands for several, and the chain goes on behind it`() throws {
    let steps = [
      MigrationStep(squashing: 1...3, to: 4, label: "old"), MigrationStep(to: 5, label: "e"),
    ]
    #expect(path(of: try route(from: 1, to: 6, steps)) == "1→4old 4→5e 5→6")
    #expect(path(of: try route(from: 3, to: 5, steps)) == "3→4old 4→5e")
    #expect(path(of: try route(from: 4, to: 5, steps)) == "4→5e")
  }

  @Test func `a store below the floor, or too far behind, is refused, L5 L9`() throws {
    let faults = try route(from: 1, to: 4, []) { $0.oldestVersion = 2 }.faults.map(\.reason)
    #expect(faults.count == 1 && faults[0].contains("below version 2"), "\(faults)")
    #expect(try route(from: 2, to: 4, []) { $0.oldestVersion = 2 }.faults == [])
    let several = try route(from: 1, to: 3, []) { $0.allowsSeveralSteps = false }.faults
    #expect(several.count == 1)
    #expect(try route(from: 2, to: 3, []) { $0.allowsSeveralSteps = false }.faults == [])
  }

  @Test(arguments: [
    ([MigrationStep(to: 3), MigrationStep(to: 3)], "twice"),
    ([MigrationStep(from: 1, to: 4), MigrationStep(from: 1, to: 4)], "twice"),
    ([MigrationStep(squashing: 1...2, to: 4), MigrationStep(squashing: 2...3, to: 5)], "twice"),
    ([MigrationStep(squashing: 1...4, to: 4)], "circle"),
    ([MigrationStep(from: 2, to: 2)], "itself"),
    ([MigrationStep(to: 9)], "beyond"),
    ([MigrationStep(to: 1)], "start at 1"),
    ([MigrationStep(to: .min)], "start at 1"),
    ([MigrationStep(from: .max, to: .min)], "start at 1"),
    ([MigrationStep(to: 2) { UpdateRecord("Thing") {} }], "Thing"),
    (
      [MigrationStep(to: 2) { UpdateRecord("Item") { UpdateField("x", path: "v1") } }],
      "no such field"
    ),
    (
      [MigrationStep(to: 2) { UpdateRecord("Item") { UpdateField("v2", path: "x") } }],
      "does not have"
    ),
    ([MigrationStep(to: 2) { UpdateRecord("Item") { UpdateField("v2", by: { $0 }) } }], "is new"),
    ([MigrationStep(to: 2) { TransformRecords("Thing") { _, _ in } }], "Thing"),
    ([MigrationStep(to: 2) { TransformRecords("Item", into: "Thing") { _, _ in } }], "Thing"),
    ([MigrationStep(to: 2) { TransformRecords(SteppingFifth.self) { _, _ in } }], "makes nothing"),
    ([MigrationStep(to: 2) { RunBefore(SteppingOther.self) { _ in } }], "describes it differently"),
  ])
  func `steps that cannot be are found before anything is touched, I11`(
    steps: [MigrationStep], reason: String
  ) throws {
    let faults = try route(from: 1, to: 5, steps).faults.map(\.description)
    #expect(faults.contains { $0.contains(reason) }, "\(faults)")
  }

  @Test func `a step leads back to a version that the store has had, and keeps later records, L6`()
    throws
  {
    let first = try PersistentStore(
      at: path, model: StoreModel(version: 1, records: [SteppingFirst.self]))
    try first.insert(SteppingFirst(id: 1, v1: 10))
    try first.close()
    let second = StoreModel(version: 2, records: [SteppingSecond.self])
    let up = MigrationStep(to: 2) { UpdateRecord("Item") { UpdateField("v2", path: "v1") } }
    let newer = try PersistentStore(at: path, model: second, steps: [up])
    try newer.insert(SteppingSecond(id: 2, v2: 20))
    try newer.close()
    let model = StoreModel(version: 1, records: [SteppingFirst.self])
    #expect(
      storeError { try PersistentStore(at: path, model: model) }
        == .newerSchema(found: 2, supported: 1))
    let back = MigrationStep(from: 2, to: 1) {
      UpdateRecord("Item") { UpdateField("v1", from: { try $0["v2", as: Int.self] }) }
    }
    let older = try PersistentStore(at: path, model: model, steps: [back])
    #expect(try older.fetch(SteppingFirst.self).map(\.v1) == [10, 20])
    #expect(try older.snapshot().check() == [])
    try older.close()
    #expect(try PersistentStore.inspect(at: path).schemas.map(\.version) == [1])
    let again = try PersistentStore(at: path, model: second, steps: [up])
    #expect(try again.fetch(SteppingSecond.self).map(\.v2) == [10, 20])
    try again.close()
    // Also to a version that the store has never had.
    let fresh = path + "-fresh"
    let new = try PersistentStore(at: fresh, model: second)
    try new.insert(SteppingSecond(id: 3, v2: 30))
    try new.close()
    let below = try PersistentStore(at: fresh, model: model, steps: [back])
    #expect(try below.fetch(SteppingFirst.self).map(\.v1) == [30])
    #expect(try below.snapshot().check() == [])
    try below.close()
  }
}
