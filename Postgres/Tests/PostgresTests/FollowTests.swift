import Cambium
import CambiumPostgres
import CambiumTesting
import FoundationEssentials
import Glibc
import Synchronization
import Testing

@Suite(.enabled(if: PostgresServer.shared != nil, "\(PostgresServer.missing)"))
struct FollowTests {
  /// Changes the workshop at random, in one commit.
  private func change(_ store: PersistentStore, _ random: inout SeededGenerator) throws {
    try store.write { transaction in
      for _ in 0..<Int.random(in: 1...8, using: &random) {
        let number = Int.random(in: 0..<40, using: &random)
        switch Int.random(in: 0..<12, using: &random) {
        case 0: try transaction.delete(Workshop.Maker.self, key: number % 7 + 1)
        case 1:
          // Names are unique: two makers exchange theirs.
          let (one, other) = (number % 7 + 1, (number + 3) % 7 + 1)
          guard one != other, var first = try transaction.fetch(Workshop.Maker.self, key: one),
            var second = try transaction.fetch(Workshop.Maker.self, key: other)
          else { continue }
          (first.name, second.name) = (second.name, first.name)
          let name = first.name
          first.name = "between"
          try transaction.save(first)
          try transaction.save(second)
          first.name = name
          try transaction.save(first)
        case 2:
          let id = number % 7 + 1
          if try transaction.fetch(Workshop.Maker.self, key: id) == nil {
            try transaction.save(
              Workshop.Maker(id: id, name: "\(UInt64.random(in: 0 ... .max, using: &random))"))
          }
        case 3: try transaction.delete(Workshop.Tag.self, key: "tag\(number % 5)")
        case 4: try transaction.save(Workshop.Tag(id: "tag\(number % 5)"))
        case 5, 6: try transaction.delete(Workshop.Tool.self, key: Workshop.identity(number))
        default:
          var tool = Workshop.Tool(id: Workshop.identity(number))
          if try transaction.fetch(Workshop.Maker.self, key: number % 7 + 1) != nil {
            tool.maker = Reference(number % 7 + 1)
          }
          for place in 0..<5 where Bool.random(using: &random) {
            if try transaction.fetch(Workshop.Tag.self, key: "tag\(place)") != nil {
              tool.tags.append(Reference("tag\(place)"))
            }
          }
          tool.sortName = "\(UInt32.random(in: 0...99, using: &random))"
          tool.sizes = Array(0..<number % 4)
          if number % 5 == 0 {
            let size = number % 2 == 0 ? 300_000 : 50
            tool.picture = Blob(Data(repeating: UInt8(number), count: size))
          }
          try transaction.save(tool)
        }
      }
    }
  }

  @Test(arguments: 1...6)
  func `random lives of a store are followed, and the database is the same after each`(
    seed: UInt64
  ) throws {
    let followed = try Followed("life\(seed)")
    try Workshop.fill(followed.store, count: 30)
    try followed.move()
    var random = SeededGenerator(seed: seed)
    for step in 0..<12 {
      for _ in 0..<Int.random(in: 1...5, using: &random) { try change(followed.store, &random) }
      let progress = try followed.follow().catchUp()
      #expect(progress.isCaughtUp)
      try followed.expectSame("seed \(seed), step \(step)")
    }
    #expect(try followed.follow().catchUp().transactionCount == 0)
  }

  @Test(arguments: 1...8)
  func `random records of random models, with kinds, are followed`(version: Int) throws {
    let followed = try Followed("chaoslife\(version)", Chaos.model(version))
    var random = RandomRecords(seed: UInt64(version))
    try followed.move()
    for _ in 0..<4 {
      try random.fill(followed.store, count: 15)
      let scan = try ValueScan(
        of: try followed.store.snapshot(), for: PostgresPlan(followed.store.schema))
      guard scan.isMovable else {
        #expect(throws: (any Error).self) { try followed.follow().catchUp() }
        return
      }
      try followed.follow().catchUp()
      try followed.expectSame("version \(version)")
    }
  }

  @Test func `following that is cut at any point goes on, with nothing twice and nothing lost`()
    throws
  {
    let server = try #require(PostgresServer.shared)
    let followed = try Followed("cutfollow")
    try Workshop.fill(followed.store, count: 60)
    try followed.move()
    var random = SeededGenerator(seed: 7)
    let budgets = (0..<60).map { 300 + $0 * 150 + Int.random(in: 0..<150, using: &random) }
    let proxy = try CuttingProxy(before: server, named: "cutfollow", cuttingAfter: budgets)
    let address = server.address("cutfollow", host: proxy.directory)
    while proxy.rest > 0 {
      try change(followed.store, &random)
      let follow = try followed.follow(to: address)
      try follow.catchUp()
      try followed.expectSame("after \(60 - proxy.rest) cuts")
    }
  }

  @Test func `following that is killed again and again goes on when it is run again`() throws {
    let followed = try Followed("killedfollow")
    try Workshop.fill(followed.store, count: 200)
    try followed.move()
    var random = SeededGenerator(seed: 11)
    let follow =
      "\(program) follow \(followed.path) --to '\(followed.address)' --pause 1 > /dev/null 2>&1"
    for number in 0..<12 {
      // It reads beside this process, which writes.
      let end = Flag()
      Thread.run {
        _ = unsafe system("timeout -s KILL \(0.05 + Double(number) * 0.06) \(follow)")
        end.set()
      }
      while !end.isSet {
        try change(followed.store, &random)
        usleep(2_000)
      }
    }
    #expect(
      status(of: "\(program) follow \(followed.path) --to '\(followed.address)' --once --quiet")
        == 0)
    try followed.expectSame()
  }

  @Test func `following once ends with every commit that was made before`() throws {
    let followed = try Followed("oncefollow")
    try followed.move()
    for number in 0..<4 {
      // Nothing flushes it once more, so other processes see it a moment later.
      try followed.store.save(Workshop.Tag(id: "tag \(number)"))
      #expect(
        status(of: "\(program) follow \(followed.path) --to '\(followed.address)' --once --quiet")
          == 0)
      try followed.expectSame("round \(number)")
    }
  }

  @Test func `the database shows the state of a commit at every moment`() throws {
    let followed = try Followed("moments")
    try followed.store.write { transaction in
      for id in 0..<10 { try transaction.save(Workshop.Maker(id: id, name: "0 \(id)")) }
    }
    try followed.move()
    let end = Flag()
    let (path, address) = (followed.path, followed.address)
    Thread.run {
      _ = status(
        of: "timeout -s INT 3 \(program) follow \(path) --to '\(address)' --pause 1 --quiet")
      end.set()
    }
    let reader = try Connection(followed.address)
    var states: Set<String> = []
    var round = 0
    while !end.isSet {
      round += 1
      // Every commit changes all of them.
      try followed.store.write { transaction in
        for id in 0..<10 { try transaction.save(Workshop.Maker(id: id, name: "\(round) \(id)")) }
      }
      let rows = try reader.run(
        "SELECT DISTINCT split_part(name, ' ', 1), count(*) FROM maker GROUP BY 1")
      #expect(rows.count == 1 && rows[0][1] == "10", "\(rows)")
      states.insert(rows.first?[0] ?? "")
    }
    #expect(states.count > 3, "\(states.count) of \(round)")
  }

  @Test func `a server without space is tried again until it has some`() throws {
    let directory = "/tmp/cambium-full-\(getpid())"
    guard status(of: "mkdir -p \(directory) && mount -t tmpfs -o size=12m tmpfs \(directory)") == 0
    else {
      return  // Only root can make a small disk.
    }
    defer { _ = status(of: "umount -l \(directory); rmdir \(directory)") }
    _ = status(of: "chown postgres \(directory)")
    let followed = try Followed("fullfollow", on: .withSmallDisk)
    try followed.move()
    let server = try Connection(followed.address)
    try server.run("CREATE TABLESPACE small LOCATION '\(directory)'")
    defer {
      _ = try? server.run("ALTER TABLE tool SET TABLESPACE pg_default")
      _ = try? server.run("DROP TABLESPACE small")
    }
    try server.run("ALTER TABLE tool SET TABLESPACE small")
    _ = status(of: "cat /dev/zero > \(directory)/ballast 2> /dev/null")
    try Workshop.fill(followed.store, count: 600)
    var follow = try followed.follow()
    var failures = 0
    follow.trouble = { error in
      failures += 1
      #expect((error as? PostgresError)?.state == "53100", "\(error)")
      if failures == 3 { _ = status(of: "rm \(directory)/ballast") }
    }
    try follow.catchUp()
    #expect(failures >= 3)
    try followed.expectSame()
  }

  @Test func `a record that cannot go over stops following, and is named, until it is changed`()
    throws
  {
    let followed = try Followed("impossiblefollow")
    try followed.move()
    var tool = Workshop.Tool(id: Workshop.identity(7))
    tool.sortName = "\0"
    try followed.store.save(tool)
    let before = try followed.verification().movedSequence
    #expect(
      throws: MoveError.impossible(
        record: "Tool", key: "\(tool.id)", field: "sortName", loss: .nul)
    ) { try followed.follow().catchUp() }
    tool.sortName = "0"
    try followed.store.save(tool)
    #expect(
      try Connection(followed.address).run("SELECT sequence FROM cambium.store") == [["\(before)"]])
    try followed.follow().catchUp()
    try followed.expectSame()
  }

  @Test func `a store is compared while it is written, without the records that are on their way`()
    throws
  {
    let followed = try Followed("pending")
    try Workshop.fill(followed.store, count: 50)
    try followed.move()
    try followed.store.delete(Workshop.Tool.self, key: Workshop.identity(1))
    try followed.store.save(Workshop.Tool(id: Workshop.identity(2)))
    try followed.store.save(Workshop.Tool(id: Workshop.identity(2_000)))
    let found = try followed.verification()
    #expect(found.isSame && found.pendingCount == 3, "\(found)")
    // One that cannot go over is on its way as well, wherever it is among the others.
    try followed.store.save(Workshop.Tag(id: "tag2\0"))
    let more = try followed.verification()
    #expect(more.isSame && more.pendingCount == 4, "\(more)")
    try Connection(followed.address).run(
      "UPDATE tool SET price = 9999 WHERE id = '\(Workshop.identity(3).uuidString)'")
    #expect(try followed.verification().differenceCount == 1)
  }

  @Test func `a second move or follower is refused at once, and named`() throws {
    let followed = try Followed("two")
    try followed.move()
    let other = try Connection(followed.address)
    try other.run("SELECT pg_advisory_lock(hashtext('cambium'), hashtext('move'))")
    let number = try other.run("SELECT pg_backend_pid()")[0][0] ?? ""
    let clock = ContinuousClock()
    let start = clock.now
    for run in [{ _ = try followed.follow().catchUp() }, { _ = try followed.move() }] {
      do {
        try run()
        Issue.record("it ran beside another")
      } catch MoveError.running(let text) {
        #expect(text.contains("server process \(number)"), "\(text)")
      }
    }
    #expect(clock.now - start < .seconds(10))
  }

  @Test func `lag and progress are told in JSON, a line for each transaction`() throws {
    let followed = try Followed("jsonfollow")
    try followed.move()
    try Workshop.fill(followed.store, count: 5)
    try followed.store.flush()
    let file = followed.path + ".json"
    defer { _ = unsafe unlink(file) }
    #expect(
      status(
        of: "\(program) follow \(followed.path) --to '\(followed.address)' --once --json > \(file)")
        == 0)
    let text = String(decoding: FileManager.default.contents(atPath: file) ?? Data(), as: UTF8.self)
    let lines = text.split(separator: "\n")
    #expect(lines.count == 1, "\(text)")
    let last = try JSONDecoder().decode([String: Double].self, from: Data(lines[0].utf8))
    #expect(last["changeCount"] == 17 && last["sequence"] == last["storeSequence"], "\(last)")
  }
}

/// A flag that threads share.
final class Flag: Sendable {
  private let value = Atomic(false)
  var isSet: Bool { value.load(ordering: .acquiring) }
  func set() { value.store(true, ordering: .releasing) }
}
