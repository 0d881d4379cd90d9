// What is done to a store in a directory as a whole.

extension PersistentStore {
  /// Deletes the store in the directory at `path`, and the directory. A crash leaves all of it, or nothing that
  /// opens.
  ///
  /// - Throws: `StoreError.locked` where it is open for writing; `.missing`; `.io`, also where there are files
  ///   in the directory that are no store's: then nothing has changed.
  public static func delete(at path: String) throws(StoreError) {
    let medium = try PosixFileSystem(at: path, allowingNetwork: true)
    let lock = try WriterLock(in: medium)
    defer { withExtendedLifetime(lock) {} }
    try medium.remove()
  }
<<<<<<< HEAD

  /// What the store at `path` says of itself, without a model. Nothing is written, and another process may have
  /// it open.
  ///
  /// - Throws: `StoreError.missing`, `.corrupt`, `.newerFormat`, `.networkFileSystem`, `.io`.
  public static func inspect(
    at path: String, options: StoreOptions = StoreOptions()
  ) throws(StoreError) -> StoreInspection {
    let backend = try ReadingBackend(at: path, options)
    let schemas = try StoredSchemas(backend).all()
    try DeferredOpening(backend).usePending()
    let snapshot = try StoreSnapshot.of(backend, schemas.last)
    return StoreInspection(
      schemas: schemas, keptVersions: snapshot?.keptVersions ?? [],
      keptBytes: snapshot?.keptBytes ?? 0,
      sequence: snapshot?.sequence ?? backend.report.sequence,
      statistics: try snapshot?.statistics() ?? StoreStatistics(records: []))
  }

  /// A snapshot of the store at `path` as it describes itself, for whoever has no Swift types for its records.
  ///
  /// - Throws: as `inspect(at:options:)`; `.unknownRecord` where no program has put a model into it yet.
  public static func snapshot(
    at path: String, options: StoreOptions = StoreOptions()
  ) throws(StoreError) -> StoreSnapshot {
    let backend = try ReadingBackend(at: path, options)
    let schemas = try StoredSchemas(backend).all()
    try DeferredOpening(backend).usePending()
    guard let snapshot = try StoreSnapshot.of(backend, schemas.last) else {
      throw .unknownRecord(name: "of any kind")
    }
    return snapshot
  }
}

/// What a store says of itself.
public struct StoreInspection: Hashable, Sendable {
  /// Of every version that it ever had, ascending; the last is that of its records.
  public let schemas: [Schema]
  /// The states from before migrations that it can be taken back to, oldest first.
  public let keptVersions: [KeptVersion]
  /// The bytes of the files that only these need. What shares a file with something newer does not count.
  public let keptBytes: Int
  /// The number of the last commit.
  public let sequence: UInt64
  public let statistics: StoreStatistics

  /// The version that its records have; nil where no program has put a model into it yet.
  public var version: Int? { schemas.last.map { Int($0.version) } }
  /// The name that the version was given.
  public var label: String? { schemas.last?.label }
  /// What tells the version from others that are described otherwise.
  public var fingerprint: Fingerprint? { schemas.last?.fingerprint }
}

extension StoreSnapshot {
  /// The state of a store, described by its own schema.
  fileprivate static func of(
    _ backend: ReadingBackend, _ schema: Schema?
  ) throws(StoreError) -> StoreSnapshot? {
    guard let schema else { return nil }
    let types = try RecordTypes(schema, model: nil, names: backend.names)
    return StoreSnapshot(types, try backend.snapshot())
  }
}

// MARK: - Checking

extension StoreSnapshot {
  /// Reads every record and every index entry, and says what is wrong: what cannot be read, a record without
  /// its index entries, an entry without its record; the first fault of the history.
  ///
  /// - Parameter readingBlobs: Whether the contents of blobs are read, too; else it is looked whether all are there.
  /// - Returns: The faults, the first hundred of records among them. None: everything can be read, and indexes and records
  ///   agree.
  /// - Complexity: linear in all records, with a lookup for each index entry.
  /// - Throws: `StoreError.io`.
  public func check(readingBlobs: Bool = false) throws(StoreError) -> [StoreError] {
    var all: [RecordTrees] = []
    for record in types.schema.records { all.append(try types.trees(named: record.name)) }
    var faults = try RecordCheck.faults(of: all, in: trees)
    do throws(StoreError) {
      try RecordCheck.checkHistory(in: trees, types.history)
    } catch {
      guard case .corrupt = error else { throw error }
      faults.append(error)
    }
    if let segments = trees.blobs {
      var check = BlobCheck(all, types.blobs, in: trees, segments)
      try check.run(deep: readingBlobs)
      faults += check.faults
    }
    return faults
  }
=======
>>>>>>> command
}
