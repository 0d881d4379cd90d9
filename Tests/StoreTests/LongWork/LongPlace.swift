import FoundationEssentials
import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// Where a store lies that long operations are done to: on the simulated disk, in segments so small that a run has many,
/// or in a directory, with the options that programs have.
struct LongPlace {
  enum Kind {
    case simulated(SimulatedFileSystem)
    case directory(String)
  }

  let kind: Kind
  /// The number of records in a slice.
  var sliceCount = 4
  /// Numbers the openings of a store and of its copies, as each use of a log has another salt.
  private let openings: Guarded<UInt64>

  init(_ medium: SimulatedFileSystem) { self.init(.simulated(medium), Guarded(1)) }

  init(_ directory: String, sliceCount: Int = StoreOptions().migration.sliceCount) {
    self.init(.directory(directory), Guarded(1))
    self.sliceCount = sliceCount
  }

  private init(_ kind: Kind, _ openings: Guarded<UInt64>) {
    self.kind = kind
    self.openings = openings
  }

  var medium: SimulatedFileSystem? {
    if case .simulated(let medium) = kind { medium } else { nil }
  }

  private static var engineOptions: EngineOptions {
    var options = EngineOptions()
    options.logSize = .init(initial: 128 << 10, max: 1 << 20)
    options.readMode = .buffered(cacheSize: 1 << 20)
    options.segmentBlocks = 129
    options.blobSegmentSize = 64 << 10
    options.transactionBudget = 96 << 10
    return options
  }

  private var options: StoreOptions {
    var options = StoreOptions()
    options.migration.sliceCount = sliceCount
    if medium != nil { options.readMode = .buffered(cacheSize: 1 << 20) }
    return options
  }

  private var seed: UInt64 {
    openings.withLock { number in
      number += 1
      return number
    }
  }

  // MARK: Opening

  func open(
    _ model: StoreModel, _ steps: [MigrationStep] = [], _ mode: MigrationMode = .automatic
  ) throws -> PersistentStore {
    switch kind {
    case .directory(let path):
      return try PersistentStore(
        at: path, model: model, steps: steps, migration: mode, options: options)
    case .simulated(let medium):
      let opening = try StoreOpening(model, steps: steps, mode, options)
      let backend = try EngineBackend(
        alone: medium, Self.engineOptions, creating: true, opening, seed: seed)
      return PersistentStore(try opening.open(backend), options)
    }
  }

  /// Opens the store as it describes itself, to be read.
  func reader() throws -> PersistentStore {
    PersistentStore(try StoreOpening.open(reading: try reading(), options), options)
  }

  private func reading() throws -> ReadingBackend {
    switch kind {
    case .directory(let path): try ReadingBackend(at: path, options)
    case .simulated(let medium): try ReadingBackend(on: medium, options)
    }
  }

  private func backend() throws -> EngineBackend {
    switch kind {
    case .directory(let path): try EngineBackend(at: path, options)
    case .simulated(let medium):
      try EngineBackend(alone: medium, Self.engineOptions, creating: false, seed: seed)
    }
  }

  // MARK: Operations

  func check() throws -> [StoreError] {
    switch kind {
    case .directory(let path):
      return try PersistentStore.check(at: path, .deep, options: options).faults
    case .simulated(let medium):
      var run = CheckRun(.deep) { _ in }
      try run.run(in: medium, options)
      return run.result.faults
    }
  }

  func inspect() throws -> StoreInspection {
    try StoreInspection(of: try reading(), lastCommits: 5)
  }

  func rollBack(to version: Int, discardingCommits: Bool = false) throws {
    let backend = try backend()
    try Rollback(backend: backend, version: UInt32(version))
      .run(discardingCommits: discardingCommits)
    try backend.close()
  }

  /// Runs a migration or rehearses it, and cancels it if the monitor does.
  func migrate(
    _ model: StoreModel, _ steps: [MigrationStep], isRehearsal: Bool,
    _ monitor: MigrationMonitor = MigrationMonitor()
  ) throws {
    let backend = try backend()
    do {
      let schemas = try StoredSchemas(backend).all()
      if let stored = schemas.last, stored.version != model.version {
        let route = try MigrationRoute(
          from: stored, history: schemas, to: model, steps, options.migration)
        try route.check()
        try RouteRun(backend, .automatic, options.migration, monitor)
          .run(route, isRehearsal: isRehearsal)
      }
      try backend.close()
    } catch {
      try? backend.close()
      throw error
    }
  }

  /// Copies the newest state, from a reader as a command does.
  ///
  /// - Parameter target: Where to; on the simulated disk only.
  func backUp(to target: LongPlace) throws {
    let store = try reader()
    switch target.kind {
    case .directory(let path): try store.backUp(to: path)
    case .simulated(let medium):
      let copy = StoreBackup(
        of: try store.backend.snapshot(), store.backend.names, BackupMonitor { _ in })
      _ = try copy.run(into: medium)
    }
    try store.close()
  }

  func salvage(to target: LongPlace) throws {
    switch (kind, target.kind) {
    case (.directory(let path), .directory(let other)):
      _ = try PersistentStore.salvage(at: path, to: other)
    case (.simulated(let medium), .simulated(let other)):
      let seed = seed
      _ = try Salvage.run(from: medium, to: other, options: Self.engineOptions) { seed }
    default: preconditionFailure("a store is salvaged to a place of its own kind")
    }
  }

  // MARK: Copies

  /// What a power cut would leave now.
  func crashed(_ policy: CrashPolicy) -> LongPlace {
    guard let medium else { preconditionFailure("files are real") }
    return with(.simulated(medium.crashed(policy)))
  }

  func copy() throws -> LongPlace {
    guard case .directory(let path) = kind else { return crashed(.all) }
    let copy = another()
    guard case .directory(let other) = copy.kind else { return copy }
    try FileManager.default.copyItem(atPath: path, toPath: other)
    return copy
  }

  /// An empty place of the same kind.
  func another() -> LongPlace {
    switch kind {
    case .simulated: with(.simulated(SimulatedFileSystem()))
    case .directory(let path): with(.directory("\(path)-\(seed)"))
    }
  }

  private func with(_ kind: Kind) -> LongPlace {
    var place = LongPlace(kind, openings)
    place.sliceCount = sliceCount
    return place
  }

  /// Removes a directory.
  func remove() {
    if case .directory(let path) = kind { try? FileManager.default.removeItem(atPath: path) }
  }
}
