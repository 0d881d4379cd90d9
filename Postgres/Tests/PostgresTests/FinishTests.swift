import Cambium
import CambiumPostgres
import FoundationEssentials
import Glibc
import Testing

@Suite(.enabled(if: PostgresServer.shared != nil, "\(PostgresServer.missing)"))
struct FinishTests {
  private func tables(_ followed: Followed, of schema: String = "public") throws -> [String] {
    try Connection(followed.address).run(
      "SELECT tablename FROM pg_tables WHERE schemaname = '\(schema)' ORDER BY 1"
    ).compactMap { $0[0] }
  }

  private func foreignKeys(_ followed: Followed, areValid: Bool) throws -> Int {
    let rows = try Connection(followed.address).run(
      "SELECT count(*) FROM pg_constraint WHERE contype = 'f' AND convalidated = \(areValid)")
    return rows.first?.first.flatMap { $0 }.flatMap { Int($0) } ?? -1
  }

  @Test func `a finished move fences the store, and the database has its rules`() throws {
    let followed = try Followed("finish")
    try Workshop.fill(followed.store, count: 50)
    try followed.move()
    let keys = try foreignKeys(followed, areValid: true)
    #expect(keys == 3)
    try followed.store.delete(Workshop.Maker.self, key: 1)
    try followed.follow().catchUp()
    #expect(try foreignKeys(followed, areValid: true) == 0)
    try followed.store.save(Workshop.Tag(id: "late"))
    let found = try followed.whileClosed {
      let found = try #require(try followed.finish())
      #expect(found.isSame, "\(found.differences)")
      // Again: there is nothing to do.
      #expect(try followed.finish() == nil)
      return found
    }
    #expect(found.recordCount > 40)
    #expect(try foreignKeys(followed, areValid: true) == keys)
    #expect(try foreignKeys(followed, areValid: false) == 0)
    let connection = try Connection(followed.address)
    #expect(try connection.run("SELECT count(*) FROM tag WHERE id = 'late'") == [["1"]])
    try connection.run("DELETE FROM maker WHERE id = 2")
    #expect(try connection.run("SELECT count(*) FROM tool WHERE maker = 2") == [["0"]])
    let place = connection.place
    #expect(place.hasSuffix("/finish?host=\(PostgresServer.shared?.directory ?? "")&port=5432"))
    #expect(throws: StoreError.moved(path: followed.path, to: place)) {
      try PersistentStore(at: followed.path, model: Workshop.model)
    }
  }

  @Test func `a store that a program writes is followed until the program ends`() throws {
    let followed = try Followed("stillwritten")
    try followed.move()
    do {
      _ = try followed.finish()
      Issue.record("it was fenced from outside")
    } catch MoveError.stillWritten(let process, _) {
      #expect(process == getpid())
    }
    // Nothing has happened: the program still writes.
    try followed.store.save(Workshop.Tag(id: "one"))
    let (path, address) = (followed.path, followed.address)
    let end = Flag()
    Thread.run {
      if status(of: "\(program) finish \(path) --to '\(address)' --wait 30 2> /dev/null") == 0 {
        end.set()
      }
    }
    for number in 0..<20 {
      try followed.store.save(Workshop.Tag(id: "tag \(number)"))
      usleep(50_000)
    }
    try followed.store.close()
    for _ in 0..<200 where !end.isSet { usleep(50_000) }
    #expect(end.isSet)
    let connection = try Connection(address)
    #expect(try connection.run("SELECT count(*) FROM tag") == [["21"]])
  }

  @Test func `a program may fence its store itself, and finishing goes on from there`() throws {
    let followed = try Followed("selffenced")
    try followed.move()
    try followed.store.save(Workshop.Tag(id: "last"))
    try followed.store.fence(movedTo: try Connection(followed.address).place)
    #expect(try followed.finish()?.recordCount == 1)
    let other = try Followed("otherfence")
    try other.move()
    try other.store.fence(movedTo: "elsewhere")
    #expect(throws: MoveError.fencedElsewhere("elsewhere")) { try other.finish() }
  }

  @Test func `finishing that is killed again and again ends when it is run again`() throws {
    let followed = try Followed("killedfinish")
    try Workshop.fill(followed.store, count: 300)
    try followed.move()
    for number in 0..<20 { try followed.store.save(Workshop.Tag(id: "new \(number)")) }
    try followed.whileClosed {
      let finish = "\(program) finish \(followed.path) --to '\(followed.address)' > /dev/null 2>&1"
      for number in 0..<12 {
        _ = status(of: "timeout -s KILL \(0.04 + Double(number) * 0.04) \(finish)")
      }
      #expect(status(of: finish) == 0)
      try followed.verifyByProgram()
    }
  }

  @Test func `after finishing, back-out returns to the store unless the database has changed`()
    throws
  {
    let followed = try Followed("backout")
    try Workshop.fill(followed.store, count: 30)
    try followed.move()
    try followed.whileClosed { _ = try followed.finish() }
    let connection = try Connection(followed.address)
    try connection.run("UPDATE maker SET name = 'changed' WHERE id = 3")
    do {
      _ = try followed.whileClosed { try followed.backOut() }
      Issue.record("changes were left behind")
    } catch MoveError.different(let found) {
      #expect(
        found.differences.map(\.key) == ["3"] && found.differences.map(\.kind) == [.different])
    }
    #expect(
      status(of: "\(program) back-out \(followed.path) --to '\(followed.address)' > /dev/null")
        == 10)
    try connection.run("UPDATE maker SET name = 'Maker 3' WHERE id = 3")
    #expect(try followed.whileClosed { try followed.backOut() } == .unfenced)
    // The store is used again, followed again, and finished again.
    try followed.store.save(Workshop.Tag(id: "after"))
    try followed.follow().catchUp()
    try followed.expectSame()
    try followed.whileClosed { _ = try followed.finish() }
    try connection.run("DELETE FROM tag WHERE id = 'after'")
    #expect(try followed.whileClosed { try followed.backOut(force: true) } == .unfenced)
    #expect(throws: MoveError.abandoned) { try followed.follow().catchUp() }
    try followed.move(restarting: true)
    try followed.expectSame()
  }

  @Test func `back-out drops what the move made, and nothing else`() throws {
    let followed = try Followed("drops")
    let connection = try Connection(followed.address)
    try connection.run("CREATE TABLE other (id integer)")
    try followed.move()
    try connection.run("CREATE VIEW view AS SELECT id FROM tool")
    do {
      _ = try followed.backOut()
      Issue.record("the view was dropped")
    } catch MoveError.dependents(let text) { #expect(text.contains("view"), "\(text)") }
    #expect(try tables(followed).count == 5)
    #expect(
      try followed.backOut(force: true) == .dropped(tables: ["maker", "tag", "tool", "tool_tags"]))
    #expect(try tables(followed) == ["other"])
    #expect(try connection.run("SELECT 1 FROM pg_namespace WHERE nspname = 'cambium'").isEmpty)
    #expect(throws: MoveError.noMove) { try followed.backOut() }
    // The store never knew.
    try followed.store.save(Workshop.Tag(id: "more"))
    #expect(try followed.move() == 1)
  }

  // MARK: - The table

  private enum Verb: CaseIterable {
    case move, restart, follow, verify, finish, backOut
  }

  private enum Stage: CaseIterable {
    case none, copying, moved, following, fenced, finished, abandoned
  }

  /// The outcome of each verb in each stage: `done`, or the name of the refusal.
  private static let table: [Stage: [Verb: String]] = [
    .none: [
      .move: "done", .restart: "done", .follow: "noMove", .verify: "noMove", .finish: "noMove",
      .backOut: "noMove",
    ],
    .copying: [
      .move: "changed", .restart: "done", .follow: "unfinished", .verify: "unfinished",
      .finish: "unfinished", .backOut: "done",
    ],
    .moved: [
      .move: "isMoved", .restart: "done", .follow: "done", .verify: "done", .finish: "done",
      .backOut: "done",
    ],
    .following: [
      .move: "isMoved", .restart: "done", .follow: "done", .verify: "done", .finish: "done",
      .backOut: "done",
    ],
    .fenced: [
      .move: "isMoved", .restart: "done", .follow: "done", .verify: "done", .finish: "done",
      .backOut: "done",
    ],
    .finished: [
      .move: "finished", .restart: "finished", .follow: "finished", .verify: "done",
      .finish: "done", .backOut: "done",
    ],
    .abandoned: [
      .move: "isMoved", .restart: "done", .follow: "abandoned", .verify: "done",
      .finish: "abandoned", .backOut: "done",
    ],
  ]

  @Test func `every verb does or refuses what the table says in every stage`() throws {
    for (place, stage) in Stage.allCases.enumerated() {
      for (number, verb) in Verb.allCases.enumerated() {
        let followed = try Followed("table\(place)x\(number)")
        try Workshop.fill(followed.store, count: 5)
        try bring(followed, to: stage)
        let expected = Self.table[stage]?[verb]
        #expect(try outcome(of: verb, followed) == expected, "\(verb) when \(stage)")
      }
    }
  }

  private func bring(_ followed: Followed, to stage: Stage) throws {
    if stage == .none { return }
    try followed.move()
    let connection = try Connection(followed.address)
    switch stage {
    case .none, .moved: break
    case .copying: try connection.run("UPDATE cambium.store SET stage = 'copying'")
    case .following:
      try followed.store.save(Workshop.Tag(id: "followed"))
      try followed.follow().catchUp()
    case .fenced: try followed.store.fence(movedTo: connection.place)
    case .finished: try followed.whileClosed { _ = try followed.finish() }
    case .abandoned:
      try followed.whileClosed { _ = try followed.finish() }
      try connection.run("INSERT INTO tag VALUES ('of the server')")
      try followed.whileClosed { _ = try followed.backOut(force: true) }
    }
    if stage != .fenced, stage != .finished { try followed.store.save(Workshop.Tag(id: "more")) }
  }

  private func outcome(of verb: Verb, _ followed: Followed) throws -> String {
    do {
      switch verb {
      case .move: try followed.move()
      case .restart: try followed.move(restarting: true)
      case .follow: try followed.follow().catchUp()
      case .verify: _ = try followed.verification()
      case .finish: _ = try followed.whileClosed { try followed.finish() }
      case .backOut: _ = try followed.whileClosed { try followed.backOut() }
      }
      return "done"
    } catch let error as MoveError {
      return String("\(Mirror(reflecting: error).children.first?.label ?? Self.name(error))")
    }
  }

  private static func name(_ error: MoveError) -> String {
    switch error {
    case .noMove: "noMove"
    case .unfinished: "unfinished"
    case .finished: "finished"
    case .abandoned: "abandoned"
    default: "\(error)"
    }
  }
}

extension Followed {
  /// Has the program compare, and expects that nothing differs.
  func verifyByProgram() throws {
    #expect(status(of: "\(program) verify \(path) --to '\(address)' > /dev/null") == 0)
  }
}
