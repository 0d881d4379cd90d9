/// The result of a check of a store.
public struct StoreCheck: Hashable, Sendable {
  public let depth: Depth
  /// The faults, each with its place: all faults of pages and files, and the first hundred of records. If there are none,
  /// everything that was checked is as it was written.
  public let faults: [StoreError]
  /// The number of leaves and branches that were checked.
  public let nodeCount: Int
  /// The number of records that were checked one by one.
  public let recordCount: Int
  /// The number of the last commit; nil if the store does not open.
  public let sequence: UInt64?

  public var isWhole: Bool { faults.isEmpty }

  /// The extent of a check.
  public enum Depth: String, Hashable, Sendable, CaseIterable {
    /// The log, footers, segments, schemas, and every page of the present state.
    case quick
    /// Every record, every index entry and the history too, and every page of the states that are kept.
    case deep
  }

  /// The progress of a check.
  public struct Progress: Hashable, Sendable {
    public enum Part: String, Hashable, Sendable {
      case pages, records, keptPages
    }

    public let part: Part
    /// The number of bytes of pages, or of records, that were checked.
    public let done: Int
    /// The approximate number of bytes or records in all.
    public let total: Int
  }
}

extension PersistentStore {
  /// Checks the store at `path` for damage, and returns every fault. Nothing is written, damage ends no process, and
  /// another process may have the store open.
  ///
  /// Pages are read from the disk again.
  ///
  /// - Parameter progress: Called often.
  /// - Complexity: linear in the bytes of the pages; the deep one also in records, with a lookup for each index entry.
  /// - Throws: `StoreError.missing` if there is no store, `.newerFormat`, `.networkFileSystem`, `.io`. Damage is not
  ///   thrown.
  public static func check(
    at path: String, _ depth: StoreCheck.Depth = .quick, options: StoreOptions = StoreOptions(),
    progress: @escaping (StoreCheck.Progress) -> Void = { _ in }
  ) throws(StoreError) -> StoreCheck {
    let medium = try PosixFileSystem(
      at: path, allowingNetwork: options.allowsNetworkFileSystems)
    var last = CheckRun(depth, progress)
    // Folds of a writer remove segments while they are looked at; then the next state is.
    for _ in 0..<3 {
      last = CheckRun(depth, progress)
      try last.run(in: medium, path, options)
      guard last.hasMissed else { break }
    }
    return last.result
  }
}

extension StoreSnapshot {
  /// Checks every record and every index entry, and returns the faults: records that cannot be read or lack index entries,
  /// entries without a record, blobs about which map, rows and files disagree, metadata that is not JSON, and the first
  /// fault of the history.
  ///
  /// - Parameters:
  ///   - readingBlobs: True to read the contents of blobs, too; otherwise only their existence is checked.
  ///   - watch: Called for every record.
  /// - Returns: The faults, at most a hundred of them of records. If there are none, everything can be read, and indexes
  ///   and records agree.
  /// - Complexity: linear in all records, with a lookup for each index entry.
  /// - Throws: `StoreError.io`.
  public func check(
    readingBlobs: Bool = false, watch: (() -> Void)? = nil
  ) throws(StoreError) -> [StoreError] {
    var faults = try RecordCheck.faults(
      of: entities.all, in: trees, readingBlobs: readingBlobs, watch: watch)
    func note(_ found: [StoreError]) {
      for fault in found where !faults.contains(fault) { faults.append(fault) }
    }
    do throws(StoreError) {
      let schemas = try StoredSchemas(trees, entities.schemas, path: "").all()
      try RecordCheck.checkHistory(
        in: trees, entities.history, through: sequence, describedBy: schemas)
    } catch {
      guard case .corrupt = error else { throw error }
      note([error])
    }
    note(try MetadataCheck.faults(in: trees, entities.metadata))
    var check = BlobCheck(entities.all, entities.blobs, in: trees, trees.blobs)
    try check.run(deep: readingBlobs)
    note(check.faults)
    return faults
  }
}
