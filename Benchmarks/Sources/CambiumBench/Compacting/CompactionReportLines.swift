import FoundationEssentials

/// What came of compactions, in words and as a table.
struct CompactionReportLines {
  private let benchmark: CompactionBenchmark
  private let seed: UInt64

  init(_ benchmark: CompactionBenchmark, seed: UInt64) {
    self.benchmark = benchmark
    self.seed = seed
  }

  var header: [String] {
    let engines = Set(benchmark.methods.map(\.engine)).sorted { $0.rawValue < $1.rawValue }
    return [
      "\(Machine.processor), \(Machine.coreCount) cores, \(Figures.mebibytes(Machine.memory))"
        + ", Linux \(Machine.kernel)",
      engines.map { "\($0.rawValue) \($0.version)" }.joined(separator: ", "),
      "Medians of \(benchmark.roundCount) rounds in which the methods take turns; seed \(seed).",
      "\(Figures.grouped(benchmark.dataset.entries.count)) records, keys of \(CommitKeyOrder.keyLength) bytes, values of"
        + " \(Dataset.valueLength), in any order; half of them removed. What became of it is opened, and its",
      "count and sampled values are checked. Speeds are of keys and values that are left; room is what the",
      "medium held more meanwhile, copies included.", "",
    ]
  }

  var table: [String] {
    var table = TextTable(
      header: [
        "method", "ms", "MiB a second", "before", "after", "of keys and values", "room",
        "anonymous growth", "first is",
      ])
    for measurement in benchmark.measurements { table.append(row(measurement)) }
    return table.lines
  }

  private func row(_ measurement: CompactionMeasurement) -> [String] {
    let first = benchmark.measurements[0]
    let ratio = measurement.seconds / first.seconds
    return [
      measurement.method.rawValue, Figures.decimal(measurement.seconds * 1_000, places: 0),
      Figures.decimal(measurement.bytesPerSecond / Double(1 << 20), places: 0),
      Figures.mebibytes(measurement.before), Figures.mebibytes(measurement.after),
      Figures.decimal(measurement.sizeShare, places: 3),
      Figures.mebibytes(measurement.roomNeeded), Figures.mebibytes(measurement.anonymousGrowth),
      measurement.method == first.method ? "–" : Figures.decimal(ratio, places: 2) + " ×",
    ]
  }
}

/// One measurement of a compaction as one line of JSON.
struct CompactionLine: Encodable {
  private let workload = "compact"
  private let method: CompactionMethod
  private let records: Int
  private let rounds: Int
  private let seconds: Double
  private let liveBytes: Int
  private let bytesPerSecond: Double
  private let bytesBefore: Int
  private let bytesOnDisk: Int
  private let roomNeeded: Int
  private let anonymousGrowth: Int

  private enum CodingKeys: String, CodingKey {
    case workload, method, records, rounds, seconds
    case liveBytes = "live_bytes"
    case bytesPerSecond = "bytes_per_second"
    case bytesBefore = "bytes_before"
    case bytesOnDisk = "bytes_on_disk"
    case roomNeeded = "room_needed_bytes"
    case anonymousGrowth = "anonymous_growth_bytes"
  }

  private init(_ measurement: CompactionMeasurement, of records: Int) {
    method = measurement.method
    self.records = records
    rounds = measurement.rounds.count
    seconds = measurement.seconds
    liveBytes = measurement.liveBytes
    bytesPerSecond = measurement.bytesPerSecond
    bytesBefore = measurement.before
    bytesOnDisk = measurement.after
    roomNeeded = measurement.roomNeeded
    anonymousGrowth = measurement.anonymousGrowth
  }

  /// Adds lines to the file at `path`, and makes it if there is none.
  static func append(
    _ measurements: [CompactionMeasurement], of records: Int, to path: String
  ) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    var text = (try? Data(contentsOf: URL(filePath: path))) ?? Data()
    for measurement in measurements {
      text.append(try encoder.encode(CompactionLine(measurement, of: records)))
      text.append(UInt8(ascii: "\n"))
    }
    try text.write(to: URL(filePath: path))
  }
}
