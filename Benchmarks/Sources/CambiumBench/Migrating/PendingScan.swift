import BenchmarkReport
import Cambium
import Foundation

/// Scans of typed records whose rows are still of the version before, against the same scans after they were rewritten.
struct PendingScan {
  let records: Int
  let rounds: Int
  private(set) var pending: [Double] = []
  private(set) var rewritten: [Double] = []

  /// - Parameters:
  ///   - base: A store of the first version.
  ///   - directory: Where copies of it are put.
  init(of records: Int, rounds: Int, from base: String, in directory: String) throws {
    self.records = records
    self.rounds = rounds
    let path = directory + "/scanned"
    try FileManager.default.copyItem(atPath: base + "/cambium", toPath: path)
    let model = StoreModel(version: 2, records: [ScannedItem.self])
    let store = try PersistentStore(at: path, model: model)
    guard try store.pendingMigration != nil else { throw NotMigrated(workload: .add) }
    _ = try scan(store)
    for _ in 0..<rounds { pending.append(try scan(store)) }
    while try store.finishMigration() {}
    for _ in 0..<rounds { rewritten.append(try scan(store)) }
    try store.close()
    try FileManager.default.removeItem(atPath: path)
  }

  private func scan(_ store: PersistentStore) throws -> Double {
    var sum = 0
    let time = try seconds { try store.snapshot().forEach(ScannedItem.self) { sum &+= $0.more } }
    guard sum == 7 * records else { throw NotMigrated(workload: .add) }
    return time
  }

  /// The time through the pending step, over the time of new rows.
  var ratio: Double { median(pending) / median(rewritten) }

  private static var goal: Goal { .atMost(1.3) }

  var line: ResultLine {
    var line = ResultLine(
      part: "migrate", workload: "typed scan through a pending step",
      setting: "\(Figures.grouped(records)) records", engine: "cambium", durability: "read",
      count: records, rounds: rounds, seconds: median(pending), figure: ratio, unit: .timesAsLong)
    line.goals = [ResultGoal(Self.goal)]
    return line
  }

  var text: String {
    "typed scan through a pending step: \(Figures.decimal(median(pending), places: 3)) s; of rewritten rows"
      + " \(Figures.decimal(median(rewritten), places: 3)) s: \(Figures.decimal(ratio, places: 2)) × as long"
      + " \(Self.goal.verdict(on: ratio))"
  }
}

/// The item of the second version of `MigrateWorkload.add`, with a property for each field.
private struct ScannedItem: Record {
  var id: Int
  var name: String
  var joined: Double
  var weight: Double
  var note: String?
  var city: String
  var level: Int32
  var score: Double?
  var more: Int

  static func recordDescription(for version: Int) -> RecordDescription {
    MigrateWorkload.add.description(of: version)
  }
}
