import ArgumentParser
import Cambium
import Foundation
import GRDB

/// Migrations of a million records.
struct MigrateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate",
    abstract: "Changes of a schema, against SQLite doing the same its best way, and by copy.",
    discussion: """
      Every change is durable when the clock stops; SQLite's log is then in its database, and Cambium's \
      migration is published. Changes that SQLite makes without touching a row are shown as they are. Ratios are \
      of Cambium to SQLite, with what they are to be in brackets.
      """)

  @Option(help: "How many records.")
  var records = 1_000_000

  @Option(help: "Which workloads.")
  var workloads = CommaList(MigrateWorkload.allCases)

  @Option(help: "How often each workload is done; figures are medians.")
  var rounds = 3

  @Option(help: "What all records are made from.")
  var seed: UInt64 = 2026

  @Option(help: "Where to put the stores, for as long as the run lasts.")
  var directory = "."

  func run() throws {
    let scratch = try ScratchDirectory(in: directory)
    defer { scratch.remove() }
    let progress = Progress()
    defer { progress.clear() }
    let base = try scratch.makeDirectory("base")
    progress.show("loading \(records) records")
    try load(base)
    var table = TextTable(header: [
      "seconds", "cambium", "records/s", "MiB", "sqlite", "copy", "to sqlite", "to copy",
    ])
    for workload in workloads.elements {
      progress.show(workload.rawValue)
      table.append(try measure(workload, base, scratch))
    }
    progress.clear()
    print(
      "\(Figures.grouped(records)) records of 8 fields, medians of \(rounds) rounds, seed \(seed)")
    for line in table.lines { print(line) }
  }

  // MARK: Loading

  private func load(_ base: String) throws {
    var random = SplitMix64(seed: seed)
    let store = try PersistentStore(
      at: base + "/cambium", model: StoreModel(records: [MigratedItem.self]))
    let queue = try Self.open(base + "/store.sqlite")
    try queue.write { try $0.execute(sql: MigrateWorkload.table) }
    var number = 0
    while number < records {
      let items = (number..<min(number + 100_000, records)).map { MigratedItem($0, &random) }
      try store.write { try $0.insert(contentsOf: items) }
      try queue.write { database in
        let insert = try database.makeStatement(
          sql: "INSERT INTO item VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
        for item in items {
          try insert.execute(arguments: [
            item.id, item.name, item.joined, item.weight, item.note, item.city, item.level,
            item.score,
          ])
        }
      }
      number += items.count
    }
    try store.close()
    try queue.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    try queue.close()
  }

  private static func open(_ path: String) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.prepareDatabase { database in
      try database.execute(sql: "PRAGMA journal_mode = WAL")
      try database.execute(sql: "PRAGMA synchronous = FULL")
      try database.execute(sql: "PRAGMA cache_size = -262144")
    }
    return try DatabaseQueue(path: path, configuration: configuration)
  }

  // MARK: Measuring

  private func measure(
    _ workload: MigrateWorkload, _ base: String, _ scratch: ScratchDirectory
  ) throws -> [String] {
    var own: [Double] = []
    var best: [Double] = []
    var copy: [Double] = []
    var memory = 0
    for round in 0..<rounds {
      let directory = try scratch.makeDirectory("\(workload.rawValue)-\(round)")
      let (seconds, growth) = try migrate(workload, base, directory)
      own.append(seconds)
      memory = max(memory, growth)
      best.append(try change(workload.statements, base, directory + "/best.sqlite"))
      copy.append(try change(MigrateWorkload.copying, base, directory + "/copy.sqlite"))
      try FileManager.default.removeItem(atPath: directory)
    }
    let medians = (median(own), median(best), median(copy))
    let goal = workload.goal.map { " (\(Figures.decimal($0, places: 0)))" } ?? ""
    return [
      workload.rawValue, Figures.decimal(medians.0, places: 3),
      Figures.grouped(Int(Double(records) / medians.0))
        + " (\(Figures.grouped(Int(workload.rateGoal))))",
      "\(memory >> 20)", Figures.decimal(medians.1, places: 3),
      Figures.decimal(medians.2, places: 3),
      Figures.decimal(medians.1 / medians.0, places: 2),
      Figures.decimal(medians.2 / medians.0, places: 2) + goal,
    ]
  }

  private func migrate(
    _ workload: MigrateWorkload, _ base: String, _ directory: String
  ) throws -> (seconds: Double, growth: Int) {
    let path = directory + "/cambium"
    try FileManager.default.copyItem(atPath: base + "/cambium", toPath: path)
    let migration = try PersistentStore.migration(
      at: path, to: workload.model, steps: workload.steps)
    let (watch, task) = MemoryWatch.begin()
    let start = ContinuousClock.now
    try migration.run()
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    task.cancel()
    let found = try PersistentStore.inspect(at: path)
    guard found.schemas.last?.version == UInt32(workload.version) else {
      throw ValidationError("\(workload.rawValue): the store is not migrated")
    }
    return (seconds, watch.growth)
  }

  private func change(_ statements: [[String]], _ base: String, _ path: String) throws -> Double {
    try FileManager.default.copyItem(atPath: base + "/store.sqlite", toPath: path)
    let queue = try Self.open(path)
    let start = ContinuousClock.now
    for transaction in statements {
      try queue.write { database in
        for statement in transaction { try database.execute(sql: statement) }
      }
    }
    try queue.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    try queue.close()
    return seconds
  }
}
