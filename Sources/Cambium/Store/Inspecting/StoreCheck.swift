/// What a check of a store found.
public struct StoreCheck: Hashable, Sendable {
  public let depth: Depth
  /// Every fault, located; the first hundred of records among them. None: all that was looked at is as it was
  /// written.
  public let faults: [StoreError]
  /// The leaves and branches that were looked at.
  public let nodeCount: Int
  /// The records that were looked at, one by one.
  public let recordCount: Int
  /// The number of the last commit; nil where the store does not open.
  public let sequence: UInt64?

  public var isWhole: Bool { faults.isEmpty }

  /// How much is looked at.
  public enum Depth: String, Hashable, Sendable, CaseIterable {
    /// The log, footers, segments, schemas, and every page of the present state.
    case quick
    /// Every record, every index entry and the history too, and every page of the states that are kept.
    case deep
  }

  /// How far a check is.
  public struct Progress: Hashable, Sendable {
    public enum Part: String, Hashable, Sendable {
      case pages, records, keptPages
    }

    public let part: Part
    /// Bytes of pages, or records.
    public let done: Int
    /// About how many there are.
    public let total: Int
  }
}

extension PersistentStore {
  /// Looks for damage in the store at `path`, and names every fault that it finds. Nothing is written, nothing
  /// traps, and another process may have it open.
  ///
  /// Pages are read from the medium anew.
  ///
  /// - Parameter progress: Told how far it is, often.
  /// - Complexity: linear in the bytes of the pages; the deep one also in records, with a lookup for each index entry.
  /// - Throws: `StoreError.missing` where there is no store, `.newerFormat`, `.networkFileSystem`, `.io`. Damage is
  ///   not thrown.
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
  /// Reads every record and every index entry, and says what is wrong: what cannot be read, a record without
  /// its index entries, an entry without its record; blobs that the map, rows and files disagree about; metadata that
  /// is no JSON; the first fault of the history.
  ///
  /// - Parameters:
  ///   - readingBlobs: Whether the contents of blobs are read, too; else it is looked whether all are there.
  ///   - watch: Told of every record that is looked at.
  /// - Returns: The faults, the first hundred of records among them. None: everything can be read, and indexes and records
  ///   agree.
  /// - Complexity: linear in all records, with a lookup for each index entry.
  /// - Throws: `StoreError.io`.
  public func check(
    readingBlobs: Bool = false, watch: (() -> Void)? = nil
  ) throws(StoreError) -> [StoreError] {
    var all: [RecordTrees] = []
    for record in types.schema.records { all.append(try types.trees(named: record.name)) }
    var faults = try RecordCheck.faults(
      of: all, in: trees, readingBlobs: readingBlobs, watch: watch)
    func note(_ found: [StoreError]) {
      for fault in found where !faults.contains(fault) { faults.append(fault) }
    }
    do throws(StoreError) {
      let schemas = try StoredSchemas(trees, types.schemas, path: "").all()
      try RecordCheck.checkHistory(
        in: trees, types.history, through: sequence, describedBy: schemas)
    } catch {
      guard case .corrupt = error else { throw error }
      note([error])
    }
    note(try MetadataCheck.faults(in: trees, types.metadata))
    var check = BlobCheck(all, types.blobs, in: trees, trees.blobs)
    try check.run(deep: readingBlobs)
    note(check.faults)
    return faults
  }
}
