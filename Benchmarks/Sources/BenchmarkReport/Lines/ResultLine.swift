/// One figure of one engine at one workload, as one line of JSON.
///
/// Lines of the same part, workload, setting and durability are compared with each other. Whatever
/// changes a figure and is not the engine's (sizes, threads, indexes) is therefore in the setting.
public struct ResultLine: Codable, Equatable, Sendable {
  /// The command that measured it: `tree`, `commit`, …
  public var part: String
  public var workload: String
  /// Everything else that was chosen, in words.
  public var setting: String
  public var engine: String
  public var role: EngineRole
  /// The promise that holds when the clock stops.
  public var durability: String
  /// The promise in the engine's own words.
  public var promise: String?
  /// The operations of a round; where there are none, one.
  public var count: Int
  public var rounds: Int
  /// Of a round, the median, where it is a time that was measured.
  public var seconds: Double?
  public var figure: Double
  public var unit: FigureUnit
  /// How many times as good Cambium's figure is as each peer's; in Cambium's lines, once they are
  /// compared.
  public var ratios: [String: Double] = [:]
  public var goals: [ResultGoal] = []
  public var latency: LatencyPercentiles?
  /// Of keys and values, or of the fields of records.
  public var rawBytes: Int?
  public var bytesOnDisk: Int?
  /// Of the whole process, its input included.
  public var peakResident: Int?
  /// The memory that the engine requested beyond that from before.
  public var anonymousGrowth: Int?
  /// The figures of this part only.
  public var details: [String: Double] = [:]

  public init(
    part: String, workload: String, setting: String, engine: String, role: EngineRole? = nil,
    durability: String, count: Int = 1, rounds: Int, seconds: Double? = nil, figure: Double,
    unit: FigureUnit
  ) {
    self.part = part
    self.workload = workload
    self.setting = setting
    self.engine = engine
    self.role = role ?? EngineRole(ofEngine: engine)
    self.durability = durability
    self.count = count
    self.rounds = rounds
    self.seconds = seconds
    self.figure = figure
    self.unit = unit
  }

  /// A rate: `count` operations in `seconds`.
  public init(
    part: String, workload: String, setting: String, engine: String, role: EngineRole? = nil,
    durability: String, count: Int, rounds: Int, seconds: Double
  ) {
    self.init(
      part: part, workload: workload, setting: setting, engine: engine, role: role,
      durability: durability, count: count, rounds: rounds, seconds: seconds,
      figure: Double(count) / seconds, unit: .perSecond)
  }

  private enum CodingKeys: String, CodingKey {
    case part, workload, setting, engine, role, durability, promise, count, rounds, seconds
    case figure, unit, ratios, goals, details
    case latency = "latency_ns"
    case rawBytes = "raw_bytes"
    case bytesOnDisk = "bytes_on_disk"
    case peakResident = "peak_rss_bytes"
    case anonymousGrowth = "anonymous_growth_bytes"
  }
}

extension ResultLine {
  /// How many times as large a store is as its data.
  var sizeOverData: Double? {
    bytesOnDisk.flatMap { size in rawBytes.map { Double(size) / Double(max($0, 1)) } }
  }

  /// To the device, the file system's journal included.
  var writtenForEachByte: Double? { details["device_bytes_per_byte"] }
}

/// The role of an engine in a comparison.
public enum EngineRole: String, Codable, Sendable {
  /// Cambium, one way or another; the first such line of a comparison is compared with the peers.
  case own
  case peer
  /// The limit of all engines: a flush, the disk.
  case limit

  init(ofEngine name: String) {
    self = name.hasPrefix("cambium") ? .own : .peer
  }
}

/// The longest time of a share of the operations, in nanoseconds.
public struct LatencyPercentiles: Codable, Equatable, Sendable {
  public var p50: Double
  public var p90: Double
  public var p99: Double
  public var p999: Double

  public init(p50: Double, p90: Double, p99: Double, p999: Double) {
    self.p50 = p50
    self.p90 = p90
    self.p99 = p99
    self.p999 = p999
  }
}
