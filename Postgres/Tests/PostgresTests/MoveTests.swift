import Cambium
import CambiumPostgres
import FoundationEssentials
import Glibc
import Testing

@Suite(.enabled(if: PostgresServer.shared != nil, "\(PostgresServer.missing)"))
struct MoveTests {
  private struct Moved {
    let store: PersistentStore
    let path: String
    let address: String

    var inspection: StoreInspection {
      get throws { try PersistentStore.inspect(at: path) }
    }

    func move(
      options: PlanOptions = PlanOptions(), to other: String? = nil, batch: Int = 4 << 20
    ) throws -> Move {
      var move = Move(
        try store.snapshot(), of: try inspection, options: options, to: other ?? address)
      move.batchSize = batch
      return move
    }

    func verification(rangeSize: Int = 1_000) throws -> Verification {
      try Verification(
        of: try store.snapshot(), identity: try inspection.identity, in: address,
        rangeSize: rangeSize)
    }

    func end() {
      try? store.close()
      try? PersistentStore.delete(at: path)
    }
  }

  private func begin(_ name: String, _ model: StoreModel = Workshop.model) throws -> Moved {
    let server = try #require(PostgresServer.shared)
    let path = Workshop.directory(name)
    return Moved(
      store: try PersistentStore(at: path, model: model), path: path,
      address: try server.makeDatabase(name))
  }

  @Test func `a store without records is moved`() throws {
    let moved = try begin("empty")
    defer { moved.end() }
    #expect(try moved.move().run() == 0)
    #expect(try moved.verification().isSame)
  }

  @Test func `records with relations, composites and long values are the same`() throws {
    let moved = try begin("relations")
    defer { moved.end() }
    try Workshop.fill(moved.store, count: 500)
    #expect(try moved.move(batch: 20_000).run() == 512)
    let found = try moved.verification(rangeSize: 100)
    #expect(found.isSame, "\(found.differences)")
    #expect(found.recordCount == 512)
    // Again: there is nothing to do.
    #expect(try moved.move().run() == 512)
    let connection = try Connection(moved.address)
    #expect(try connection.run("SELECT count(*) FROM tool") == [["500"]])
    #expect(
      try connection.run("SELECT sum(cardinality(sizes)) FROM tool") == [["1000"]])
    // The rules of the store are those of the database.
    try connection.run("DELETE FROM maker WHERE id = 1")
    #expect(try connection.run("SELECT count(*) FROM tool WHERE maker = 1") == [["0"]])
  }

  @Test func `every difference is found, and no other`() throws {
    let moved = try begin("differences")
    defer { moved.end() }
    try Workshop.fill(moved.store, count: 200)
    var long = Workshop.Tool(id: Workshop.identity(1_000))
    long.picture = Blob(Data(repeating: 7, count: 600_000))
    try moved.store.save(long)
    try moved.move().run()
    let connection = try Connection(moved.address)
    let keys = [0, 10].map { "'\(Workshop.identity($0).uuidString)'" }
    try connection.run("UPDATE tool SET price = price + 1 WHERE id = \(keys[0])")
    try connection.run("DELETE FROM tool WHERE id = \(keys[1])")
    try connection.run(
      "DELETE FROM tool_tags WHERE tool_id = '\(Workshop.identity(3).uuidString)' AND position = 2")
    try connection.run(
      "UPDATE cambium.blob SET bytes = bytes || '\\x00' WHERE part = 0 AND identity = (SELECT picture_blob FROM tool WHERE picture_blob IS NOT NULL LIMIT 1)"
    )
    try connection.run("INSERT INTO tag VALUES ('zz')")
    let found = try moved.verification(rangeSize: 50)
    let kinds = found.differences.map(\.kind.rawValue).sorted()
    #expect(found.differenceCount == 5, "\(found.differences)")
    #expect(kinds.filter { $0 == "missing" }.count == 1)
    #expect(kinds.filter { $0 == "extra" }.count == 1)
  }

  @Test func `a move that is cut at any point resumes, with nothing twice and nothing lost`() throws
  {
    let server = try #require(PostgresServer.shared)
    let moved = try begin("cut")
    defer { moved.end() }
    try Workshop.fill(moved.store, count: 150)
    var random = SystemRandomNumberGenerator()
    let budgets = (0..<40).map { 200 + $0 * 700 + Int.random(in: 0..<700, using: &random) }
    let proxy = try CuttingProxy(before: server, named: "cut", cuttingAfter: budgets)
    let count = try moved.move(
      to: server.address("cut", host: proxy.directory), batch: 4_000
    ).run()
    #expect(count == 162, "\(budgets)")
    #expect(proxy.rest < 40)
    let found = try moved.verification()
    #expect(found.isSame, "\(budgets): \(found.differences)")
  }

  @Test func `a move of a store that has changed since is refused, unless it begins again`() throws
  {
    let moved = try begin("changed")
    defer { moved.end() }
    try Workshop.fill(moved.store, count: 10)
    try moved.move().run()
    try moved.store.save(Workshop.Tag(id: "new"))
    #expect(throws: MoveError.self) { try moved.move().run() }
    var move = try moved.move()
    move.restarts = true
    #expect(try move.run() == 23)
    #expect(try moved.verification().isSame)
  }

  @Test func `a record that cannot go over ends the move, and says which`() throws {
    let moved = try begin("impossible")
    defer { moved.end() }
    try Workshop.fill(moved.store, count: 1)
    var tool = Workshop.Tool(id: Workshop.identity(7))
    tool.sortName = "\0"
    try moved.store.save(tool)
    #expect(
      throws: MoveError.impossible(
        record: "Tool", key: "\(tool.id)", field: "sortName", loss: .nul)
    ) { try moved.move().run() }
  }

  @Test func `a move that is killed again and again resumes when it is run again`() throws {
    let moved = try begin("killed")
    defer { moved.end() }
    try Workshop.fill(moved.store, count: 500)
    try moved.store.flush()
    let move =
      "\(program) move \(moved.path) --to '\(moved.address)' --quiet > /dev/null 2>&1"
    for number in 0..<12 {
      _ = unsafe system("timeout -s KILL \(0.02 + Double(number) * 0.05) \(move)")
    }
    #expect(unsafe system(move) == 0)
    let found = try moved.verification()
    #expect(found.isSame, "\(found.differences)")
    #expect(
      unsafe system("\(program) verify \(moved.path) --to '\(moved.address)' > /dev/null") == 0
    )
    try Connection(moved.address).run("DELETE FROM tool WHERE price > 60")
    let status = unsafe system(
      "\(program) verify \(moved.path) --to '\(moved.address)' --json > /dev/null")
    #expect(status >> 8 & 0xff == 10)
  }
}
