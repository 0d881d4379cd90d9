import FoundationEssentials

/// One measurement of records as one line of JSON.
struct RecordLine: Encodable {
  private let workload: RecordWorkload
  private let key: CommitKeyOrder
  private let engine: RecordEngineName
  private let durability: CommitDurability
  private let promise: String
  private let secondaryIndexes: Int
  private let stored: Int
  private let batch: Int
  private let records: Int
  private let rounds: Int
  private let seconds: Double
  private let secondsOpen: Double
  private let processorSeconds: Double
  private let nanoseconds: Double
  private let bytesOnDisk: Int
  private let anonymousGrowth: Int

  private enum CodingKeys: String, CodingKey {
    case workload, key, engine, durability, promise, stored, batch, records, rounds, seconds
    case secondaryIndexes = "secondary_indexes"
    case secondsOpen = "seconds_before_closing"
    case processorSeconds = "cpu_seconds"
    case nanoseconds = "ns_per_record"
    case bytesOnDisk = "bytes_on_disk"
    case anonymousGrowth = "anonymous_growth_bytes"
  }

  init(_ measurement: RecordMeasurement, of benchmark: RecordBenchmark) {
    workload = measurement.workload
    key = benchmark.dataset.keyOrder
    engine = measurement.engine
    durability = benchmark.setting.durability
    promise = measurement.engine.promise(of: benchmark.setting.durability)
    secondaryIndexes = benchmark.setting.isIndexed ? 2 : 0
    stored = benchmark.dataset.items.count
    batch = benchmark.setting.size.batch
    records = measurement.operationCount
    rounds = measurement.rounds.count
    seconds = measurement.seconds
    secondsOpen = measurement.secondsOpen
    processorSeconds = measurement.processorSeconds
    nanoseconds = measurement.nanosecondsPerRecord
    bytesOnDisk = measurement.bytesOnDisk
    anonymousGrowth = measurement.anonymousGrowth
  }

  /// Adds lines to the file at `path`, and makes it if there is none.
  static func append(_ lines: [RecordLine], to path: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    var text = (try? Data(contentsOf: URL(filePath: path))) ?? Data()
    for line in lines {
      text.append(try encoder.encode(line))
      text.append(UInt8(ascii: "\n"))
    }
    try text.write(to: URL(filePath: path))
  }
}
