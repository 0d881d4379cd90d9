import FoundationEssentials

/// One measurement as one line of JSON.
struct ResultLine: Encodable {
  private let workload: Workload
  private let key: KeyShape
  private let engine: EngineName
  private let durability: Durability
  private let records: Int
  private let rounds: Int
  private let seconds: Double
  private let operationsPerSecond: Double
  private let bytesOnDisk: Int
  private let peakResident: Int
  private let anonymousGrowth: Int

  private enum CodingKeys: String, CodingKey {
    case workload, key, engine, durability, records, rounds, seconds
    case operationsPerSecond = "operations_per_second"
    case bytesOnDisk = "bytes_on_disk"
    case peakResident = "peak_rss_bytes"
    case anonymousGrowth = "anonymous_growth_bytes"
  }

  init(_ measurement: Measurement) {
    workload = measurement.workload
    key = measurement.shape
    engine = measurement.engine
    durability = measurement.workload.durability
    records = measurement.records
    rounds = measurement.rounds.count
    seconds = measurement.seconds
    operationsPerSecond = measurement.operationsPerSecond
    bytesOnDisk = measurement.bytesOnDisk
    peakResident = measurement.peakResident
    anonymousGrowth = measurement.anonymousGrowth
  }

  /// Writes a line for each measurement to the file at `path`, in place of what it held.
  static func write(_ measurements: [Measurement], to path: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    var text = Data()
    for measurement in measurements {
      text.append(try encoder.encode(ResultLine(measurement)))
      text.append(UInt8(ascii: "\n"))
    }
    try text.write(to: URL(filePath: path))
  }
}
