import FoundationEssentials

/// One measurement of writing as one line of JSON.
struct CommitLine: Encodable {
  private let workload: String
  private let key: CommitKeyOrder
  private let engine: CommitEngineName
  private let durability: CommitDurability
  private let promise: String
  private let threads: Int
  private let batch: Int?
  private let preload: Int
  private let records: Int
  private let rounds: Int
  private let seconds: Double
  private let settlingSeconds: Double
  private let recordsPerSecond: Double
  private let p50: Double?
  private let p99: Double?
  private let rawFlush: Double?
  private let onDevice: Double?
  private let inCalls: Double?
  private let own: Double?
  private let bytesOnDisk: Int
  private let peakResident: Int
  private let anonymousGrowth: Int

  private enum CodingKeys: String, CodingKey {
    case workload, key, engine, durability, promise, threads, batch, preload, records, rounds
    case seconds
    case settlingSeconds = "settling_seconds"
    case recordsPerSecond = "records_per_second"
    case p50 = "p50_ns"
    case p99 = "p99_ns"
    case rawFlush = "raw_flush_ns"
    case onDevice = "device_bytes_per_byte"
    case inCalls = "call_bytes_per_byte"
    case own = "own_bytes_per_byte"
    case bytesOnDisk = "bytes_on_disk"
    case peakResident = "peak_rss_bytes"
    case anonymousGrowth = "anonymous_growth_bytes"
  }

  init(_ measurement: CommitMeasurement, of benchmark: CommitBenchmark) {
    workload = benchmark.workload.name
    key = benchmark.dataset.keyOrder
    engine = measurement.engine
    durability = benchmark.durability
    promise = measurement.engine.promise(of: benchmark.durability)
    threads = benchmark.workload.threadCount
    if case .commits(_, let size) = benchmark.workload { batch = size } else { batch = nil }
    preload = benchmark.dataset.preload.count
    records = measurement.recordCount
    rounds = measurement.rounds.count
    seconds = measurement.seconds
    settlingSeconds = measurement.settlingSeconds
    recordsPerSecond = measurement.recordsPerSecond
    p50 = measurement.latency(0.5)
    p99 = measurement.latency(0.99)
    let flushes = benchmark.rawFlushes.map { Double($0[$0.count / 2]) }
    rawFlush = flushes.isEmpty ? nil : median(flushes)
    (onDevice, inCalls, own) = measurement.amplification
    bytesOnDisk = measurement.bytesOnDisk
    peakResident = measurement.peakResident
    anonymousGrowth = measurement.anonymousGrowth
  }

  /// Adds lines to the file at `path`, and makes it if there is none.
  static func append(_ lines: [CommitLine], to path: String) throws {
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
