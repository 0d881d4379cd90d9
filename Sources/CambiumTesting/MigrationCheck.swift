public import Cambium
internal import TestSupport

/// Takes stores of older versions to the model's, along every path, and compares the results.
///
/// ```swift
/// @Test func `every released version migrates`() throws {
///   let check = MigrationCheck(.app)
///   for version in 1..<StoreModel.app.version { try check.everyPath(from: version) }
/// }
/// ```
///
/// It works on copies in memory; the store that it begins with is not written to.
public struct MigrationCheck: Sendable {
  public let model: StoreModel
  /// The program's migration steps.
  public let steps: [MigrationStep]
  /// The generator of the records of a store.
  public var records: RandomRecords
  /// The number of records of each type that a store of an older version gets. By default so many that a migration has several
  /// slices, each with a footer.
  public var count = 1_000

  public init(_ model: StoreModel, steps: [MigrationStep] = [], seed: UInt64 = 1) {
    self.model = model
    self.steps = steps
    records = RandomRecords(seed: seed)
  }

  /// Why a migration is not as it should be.
  public struct Failure: Error, CustomStringConvertible {
    public let path: MigrationPath
    public let reasons: [String]

    public var description: String {
      "Migrated by the path \(path): \(reasons.joined(separator: "; "))."
    }
  }

  /// Fills a store of an older version with random records, and migrates it along every path.
  ///
  /// - Returns: The content of the store in the end.
  /// - Throws: `Failure` if two paths end with different records, or an index does not agree with them; errors of
  ///   migrating; `RecordShortage` if `count` is more than there are different keys, unique values or destinations.
  @discardableResult
  public func everyPath(from version: Int) throws -> ContentFingerprint {
    try everyPath(of: try filled(version))
  }

  /// Migrates copies of the store at `path`, a fixture, along every path.
  ///
  /// - Throws: as `everyPath(from:)`; `StoreError.missing`.
  @discardableResult
  public func everyPath(of path: String) throws -> ContentFingerprint {
    try everyPath(of: try StoreImage(contentsOf: path))
  }

  @discardableResult
  package func everyPath(of image: StoreImage) throws -> ContentFingerprint {
    let from = try version(of: image)
    let expected = try migrated(image, .direct, from: from)
    let fingerprint = try verified(expected, .direct)
    for path in MigrationPath.all(from: from, to: model.version) where path != .direct {
      let store = try migrated(image, path, from: from)
      if try verified(store, path) != fingerprint {
        let differences = try expected.snapshot().contentDifferences(to: store.snapshot())
        throw Failure(path: path, reasons: ["other records than all at once"] + differences)
      }
      try store.close()
    }
    try expected.close()
    return fingerprint
  }
}

// MARK: - Migrating

extension MigrationCheck {
  /// A store of a version with random records.
  package func filled(_ version: Int) throws -> StoreImage {
    let image = StoreImage()
    let store = try image.open(model.dynamic(version: version))
    var records = records
    try records.fill(store, count: count)
    // A store that was written at once and never compacted has free space that hides faults.
    try store.compact()
    try store.close()
    return image.copy()
  }

  /// Options with which migrations are done in eight slices of the records or more.
  var options: StoreOptions {
    var options = StoreOptions()
    options.migration.sliceCount = max(1, count / 8)
    return options
  }

  func version(of image: StoreImage) throws -> Int {
    for version in stride(from: model.version, through: 1, by: -1) {
      do {
        let store = try image.copy().open(model.dynamic(version: version), migration: .refuse)
        try store.close()
        return version
      } catch StoreError.needsMigration(let found, _) { return found }
    }
    return model.version
  }

  /// A copy of the store, taken along a path, and open.
  package func migrated(
    _ image: StoreImage, _ path: MigrationPath, from: Int
  ) throws -> PersistentStore {
    var image = image.copy()
    switch path {
    case .resumed: image = try brokenOff(image)
    case .deferred: return try deferred(image)
    default:
      for stop in path.stops(from: from, to: model.version).dropLast() {
        let known = steps.filter { $0.to <= stop && $0.from.upperBound <= stop }
        try image.open(model.dynamic(version: stop), steps: known, options: options).close()
      }
    }
    return try image.open(model, steps: steps, options: options)
  }

  /// The image that a power cut leaves in the middle of a migration.
  private func brokenOff(_ image: StoreImage) throws -> StoreImage {
    let whole = image.copy()
    let start = whole.medium.callCount
    try whole.open(model, steps: steps, options: options).close()
    let middle = (start + whole.medium.callCount) / 2
    let running = image.copy()
    var left = running
    running.medium.beforeEachCall { call in
      guard call == middle else { return }
      let policies = CrashPolicy.some(1, pending: running.medium.pendingCount, seed: UInt64(call))
      for policy in policies { left = running.crashed(policy) }
    }
    try running.open(model, steps: steps, options: options).close()
    running.medium.beforeEachCall(nil)
    return left
  }

  /// Reading through pending steps, and then finishing them, must give the same content.
  private func deferred(_ image: StoreImage) throws -> PersistentStore {
    let store = try image.open(model, steps: steps, migration: .deferred, options: options)
    let before = try verified(store, .deferred)
    while try store.finishMigration(budget: WorkBudget(records: max(1, count / 3))) {}
    guard try verified(store, .deferred) == before else {
      throw Failure(path: .deferred, reasons: ["other records before it was finished"])
    }
    return store
  }

  func verified(_ store: PersistentStore, _ path: MigrationPath) throws -> ContentFingerprint {
    let snapshot = try store.snapshot()
    let faults = try snapshot.check()
    guard faults.isEmpty else { throw Failure(path: path, reasons: faults.map { "\($0)" }) }
    return try snapshot.contentFingerprint()
  }
}
