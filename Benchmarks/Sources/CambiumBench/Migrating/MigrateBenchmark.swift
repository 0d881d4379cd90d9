import Cambium
import Foundation
import GRDB

/// Migrations of so many records, each of them of a fresh copy of one store, in which Cambium and SQLite take
/// turns.
struct MigrateBenchmark {
  let records: Int
  let options: BenchmarkOptions
  let scratch: ScratchDirectory
  let progress: Progress
  private let base: String
  /// How many items have no score.
  private var emptyScores = 0

  init(
    records: Int, options: BenchmarkOptions, scratch: ScratchDirectory, progress: Progress
  ) throws {
    self.records = records
    self.options = options
    self.scratch = scratch
    self.progress = progress
    base = try scratch.makeDirectory("base-\(records)")
    progress.show("loading \(records) records")
    try load(base)
  }

  /// Removes the stores that all migrations begin with.
  func finish() throws { try scratch.removeDirectory(base) }

  // MARK: Measuring

  func measure(_ workload: MigrateWorkload) throws -> MigrateMeasurement {
    let storeSize = try diskUse(of: base + "/cambium")
    var measurement = MigrateMeasurement(
      workload: workload, records: records, storeSize: storeSize)
    for round in 0..<options.rounds {
      progress.show(
        "\(workload.rawValue) of \(records), round \(round + 1) of \(options.rounds)")
      let directory = try scratch.makeDirectory("\(workload.rawValue)-\(round)")
      if workload.rewritesRows {
        measurement.disk.append(try writeSequentially(storeSize, directory + "/disk"))
      }
      let (seconds, growth) = try migrate(workload, base, directory)
      measurement.own.append(seconds)
      measurement.growth = max(measurement.growth, growth)
      let best = try change(workload.statements, base, directory + "/best.sqlite")
      if workload == .rollback {
        measurement.restored.append(try restore(from: base, directory + "/best.sqlite"))
      } else {
        measurement.best.append(best)
        measurement.copy.append(
          try change(MigrateWorkload.copying, base, directory + "/copy.sqlite"))
      }
      try scratch.removeDirectory(directory)
    }
    return measurement
  }

  func measureScan() throws -> PendingScan {
    progress.show("typed scans of \(records)")
    let directory = try scratch.makeDirectory("scan")
    let scan = try PendingScan(of: records, rounds: options.rounds, from: base, in: directory)
    try scratch.removeDirectory(directory)
    return scan
  }

  /// The time that the disk takes for so many bytes.
  private func writeSequentially(_ byteCount: Int, _ path: String) throws -> Double {
    let noise = BlobContents.noise(16 << 20, seed: options.seed)
    let mebibytes = max(1, byteCount >> 20)
    let time = try seconds {
      try SequentialFile.write(noise, to: path, .direct, mebibytes: mebibytes)
    }
    try FileManager.default.removeItem(atPath: path)
    return time * Double(byteCount) / Double(mebibytes << 20)
  }

  private func migrate(
    _ workload: MigrateWorkload, _ base: String, _ directory: String
  ) throws -> (seconds: Double, growth: Int) {
    let path = directory + "/cambium"
    try FileManager.default.copyItem(atPath: base + "/cambium", toPath: path)
    let migration = try PersistentStore.migration(
      at: path, to: workload.model, steps: workload.steps)
    let isRollback = workload == .rollback
    if isRollback { try migration.run() }
    let (watch, task) = MemoryWatch.begin()
    let start = ContinuousClock.now
    if isRollback {
      try PersistentStore.rollback(at: path, to: 1)
    } else {
      try migration.run()
    }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    task.cancel()
    let found = try PersistentStore.inspect(at: path)
    guard found.schemas.last?.version == workload.lastVersion else {
      throw NotMigrated(workload: workload)
    }
    return (seconds, watch.growth)
  }

  /// SQLite's only way back to the values from before: a copy of the database that was made before takes its place.
  private func restore(from base: String, _ path: String) throws -> Double {
    let start = ContinuousClock.now
    try FileManager.default.copyItem(atPath: base + "/store.sqlite", toPath: path + ".before")
    let copy = try FileHandle(forUpdating: URL(filePath: path + ".before"))
    try copy.synchronize()
    try copy.close()
    guard unsafe rename(path + ".before", path) == 0 else { throw POSIXError(.EIO) }
    // The new name, which is in the directory.
    let directory = try FileHandle(
      forReadingFrom: URL(filePath: path).deletingLastPathComponent())
    try directory.synchronize()
    try directory.close()
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    // What the change had filled in is empty again.
    let queue = try Self.open(path)
    let empty = try queue.read {
      try Int.fetchOne($0, sql: "SELECT count(*) FROM item WHERE score IS NULL") ?? 0
    }
    try queue.close()
    guard empty == emptyScores else { throw NotMigrated(workload: .rollback) }
    return seconds
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

  // MARK: Loading

  private mutating func load(_ base: String) throws {
    var random = SplitMix64(seed: options.seed)
    let store = try PersistentStore(
      at: base + "/cambium", model: StoreModel(records: [MigratedItem.self]))
    let queue = try Self.open(base + "/store.sqlite")
    try queue.write { try $0.execute(sql: MigrateWorkload.table) }
    var number = 0
    while number < records {
      let items = (number..<min(number + 100_000, records)).map { MigratedItem($0, &random) }
      emptyScores += items.count { $0.score == nil }
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
}

/// A store or a database is not what the workload was to make of it, so its time means nothing.
struct NotMigrated: Error, CustomStringConvertible {
  let workload: MigrateWorkload

  var description: String { "\(workload.rawValue): not migrated, or not put back" }
}
