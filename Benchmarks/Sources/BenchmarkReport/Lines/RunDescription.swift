/// The steps, the time and the machine of a run: its first line.
public struct RunDescription: Codable, Equatable, Sendable {
  /// As ISO 8601 has it.
  public var date: String
  /// With smaller counts and one round.
  public var isQuick: Bool
  public var seed: UInt64
  public var machine: MachineDescription
  public var versions: SoftwareVersions
  /// The planned steps, in this order.
  public var steps: [PlannedStep]

  public init(
    date: String, isQuick: Bool, seed: UInt64, machine: MachineDescription,
    versions: SoftwareVersions, steps: [PlannedStep]
  ) {
    self.date = date
    self.isQuick = isQuick
    self.seed = seed
    self.machine = machine
    self.versions = versions
    self.steps = steps
  }

  private enum CodingKeys: String, CodingKey {
    case date, seed, machine, versions, steps
    case isQuick = "quick"
  }
}

/// The machine that the figures were measured on.
public struct MachineDescription: Codable, Equatable, Sendable {
  public var processor: String
  public var coreCount: Int
  /// In bytes.
  public var memory: Int
  /// Of the directory in which the stores were.
  public var fileSystem: String
  public var kernel: String

  public init(
    processor: String, coreCount: Int, memory: Int, fileSystem: String, kernel: String
  ) {
    self.processor = processor
    self.coreCount = coreCount
    self.memory = memory
    self.fileSystem = fileSystem
    self.kernel = kernel
  }

  private enum CodingKeys: String, CodingKey {
    case processor, kernel
    case coreCount = "cores"
    case memory = "memory_bytes"
    case fileSystem = "file_system"
  }
}

/// The measured version, and its compiler.
public struct SoftwareVersions: Codable, Equatable, Sendable {
  public var swift: String
  /// Of Cambium.
  public var commit: String
  /// By name.
  public var peers: [String: String]

  public init(swift: String, commit: String, peers: [String: String]) {
    self.swift = swift
    self.commit = commit
    self.peers = peers
  }
}

/// One call of the program with one of its commands.
public struct PlannedStep: Codable, Equatable, Sendable {
  /// Unlike that of any other step of a run.
  public var name: String
  public var arguments: [String]

  public init(_ name: String, _ arguments: [String]) {
    self.name = name
    self.arguments = arguments
  }

  /// The command.
  public var part: String { arguments.first ?? "" }
}

/// How a step ended.
public struct StepOutcome: Codable, Equatable, Sendable {
  public var step: PlannedStep
  public var seconds: Double
  /// The error; nil if there was none.
  public var problem: String?
  /// The most memory that its process had, in bytes.
  public var peakResident: Int

  public init(step: PlannedStep, seconds: Double, problem: String?, peakResident: Int) {
    self.step = step
    self.seconds = seconds
    self.problem = problem
    self.peakResident = peakResident
  }

  private enum CodingKeys: String, CodingKey {
    case step, seconds, problem
    case peakResident = "peak_rss_bytes"
  }
}
