#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// A summary of a store, read without a model: its content, its versions, and the use of its files.
public struct StoreInspection: Hashable, Sendable {
  /// The path of the store.
  public let path: String
  /// 32 hexadecimal digits, which no other store has.
  package let identity: String
  /// The version of the format that its files are in.
  package let format: Int
  /// True if a process had it open for writing.
  package let isOpenForWriting: Bool

  /// The descriptions of all versions that it has had, ascending; the last is that of its records.
  public let schemas: [Schema]
  /// The states from before migrations to which it can be rolled back, oldest first.
  public let keptVersions: [KeptVersion]
  /// The bytes of the files that only these states need. Files that newer states need as well are not counted.
  package let keptBytes: Int
  /// The work that is left of a deferred migration; nil if there is none.
  public let pendingMigration: PendingMigration?

  /// The number of the last commit.
  public let sequence: UInt64
  /// The number of the last commit that is in the trees. Later ones are in the log.
  package let foldedSequence: UInt64
  /// The last commits, newest first, if a history is kept.
  package let lastCommits: [CommitSummary]
  /// The number and size of the records, by type.
  package let statistics: StoreStatistics

  /// The number of records of all types.
  public var recordCount: Int { statistics.recordCount }

  /// The files of pages, then those of blobs, by number.
  package let segments: [SegmentUse]
  /// The number of blobs that records have, or that are kept with states from before migrations.
  package let blobCount: Int
  package let log: LogUse

  /// The version that its records have; nil if it has no model yet.
  public var version: Int? { schemas.last.map { Int($0.version) } }
  /// The label that the version was given.
  public var label: String? { schemas.last?.label }
  /// The fingerprint of the version's description.
  public var fingerprint: Fingerprint? { schemas.last?.fingerprint }

  /// The bytes of the files of pages, also those that interrupted writers left at their ends.
  package var pageBytes: Int { segments.reduce(0) { $0 + ($1.kind == .pages ? $1.size : 0) } }
  /// The bytes of the pages that the present trees reach.
  package let livePageBytes: Int
  /// The share of the bytes of the files of pages that the present trees reach, from 0 to 1.
  package var liveShare: Double {
    pageBytes == 0 ? 1 : min(1, Double(livePageBytes) / Double(pageBytes))
  }
  /// The bytes of the files of blobs.
  package var blobBytes: Int { segments.reduce(0) { $0 + ($1.kind == .blobs ? $1.size : 0) } }
  /// The bytes that blobs take in them, compressed.
  package var liveBlobBytes: Int {
    segments.reduce(0) { $0 + ($1.kind == .blobs ? $1.liveBytes : 0) }
  }
  /// The bytes in them that no state refers to, which collection can reclaim.
  package var garbageBlobBytes: Int { segments.reduce(0) { $0 + $1.garbageBlobBytes } }
  /// The space of deleted files that snapshots still read, which is not in `size`. Of the snapshots of any process it
  /// is only known that they are older than the deletion; `PersistentStore.heldSpace()` knows more of its own.
  public let heldSpace: HeldSpace
  /// The bytes of all files.
  public var size: Int { segments.reduce(log.size) { $0 + $1.size } }
}

/// The use of a file of pages or blobs.
package struct SegmentUse: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable {
    case pages, blobs
  }

  package let kind: Kind
  /// The number in the file's name.
  package let number: Int
  /// The bytes of the file.
  package let size: Int
  /// The bytes that the present state reaches, as last counted.
  package let liveBytes: Int

  /// The bytes of a file of blobs to which nothing refers, without its header.
  fileprivate var garbageBlobBytes: Int {
    kind == .blobs ? max(0, size - BlobLayout.firstOffset - liveBytes) : 0
  }
}

/// The use of the log.
package struct LogUse: Hashable, Sendable {
  /// The bytes of both files.
  package let size: Int
  /// The bytes of the file in use up to the end of its last frame.
  package let usedBytes: Int
  /// The number of times that a file of the log was begun again.
  package let use: Int
}

extension PersistentStore {
  /// Returns a description of the store at `path`, without needing a model. Nothing is written, and another process may
  /// have it open.
  ///
  /// ```swift
  /// let found = try PersistentStore.inspect(at: "shop.cambium")
  /// print(found.version ?? 0, found.recordCount)
  /// ```
  ///
  /// - Complexity: That of opening, which reads the log. Counts come from aggregates, and no leaf is read for them. The open
  ///   files of all processes are looked at for `heldSpace`.
  /// - Throws: `StoreError.missing`, `.corrupt`, `.newerFormat`, `.networkFileSystem`, `.io`.
  public static func inspect(
    at path: String, options: StoreOptions = StoreOptions()
  ) throws(StoreError) -> StoreInspection {
    try inspect(at: path, lastCommits: 0, options: options)
  }

  /// - Parameter commitLimit: The number of commits that are looked up in the history.
  package static func inspect(
    at path: String, lastCommits commitLimit: Int, options: StoreOptions = StoreOptions()
  ) throws(StoreError) -> StoreInspection {
    try StoreInspection(of: try ReadingBackend(at: path, options), lastCommits: commitLimit)
  }

  /// Returns a snapshot of the store at `path` by its own description, to be read without Swift types.
  ///
  /// ```swift
  /// let snapshot = try PersistentStore.snapshot(at: "shop.cambium")
  /// print(try snapshot.count(record: "Item"))
  /// ```
  ///
  /// - Throws: As `inspect(at:options:)`; `.unknownRecord` if the store has no model yet.
  package static func snapshot(
    at path: String, options: StoreOptions = StoreOptions()
  ) throws(StoreError) -> StoreSnapshot {
    var options = options
    options.access = .reading
    return try PersistentStore(untypedAt: path, options: options).snapshot()
  }
}

extension StoreInspection {
  /// - Throws: As `PersistentStore.inspect`.
  init(of backend: ReadingBackend, lastCommits commitLimit: Int) throws(StoreError) {
    let schemas = try StoredSchemas(backend).all()
    let entities = try backend.describedEntities()
    let state = try backend.snapshot()
    let snapshot = entities.map { StoreSnapshot($0, state) }
    let footer = state.footer
    path = backend.path
    identity = state.identity.text
    format = Int(SegmentHeader.formatVersion)
    isOpenForWriting = try backend.isOpenForWriting()
    self.schemas = schemas
    keptVersions = snapshot?.keptVersions ?? []
    keptBytes = snapshot?.keptBytes ?? 0
    pendingMigration = try snapshot?.pendingMigration()
    sequence = state.sequence
    foldedSequence = footer.coveredSequence
    lastCommits = try snapshot?.lastCommits(commitLimit) ?? []
    statistics = try snapshot?.statistics() ?? StoreStatistics(records: [])
    let blobs = try BlobTrees(backend.names)
    blobCount = try state.count(in: blobs.map)
    let files = try SegmentUse.blobs(blobs, in: .state(state), by: backend.blobs.keeper)
    segments = try backend.pages.segmentsOnDisk().map { SegmentUse(pages: $0) } + files
    log = backend.logUse
    heldSpace = backend.directory?.heldSpace() ?? HeldSpace()
    livePageBytes = footer.trees.reduce(0) {
      $0 + Int(clamping: $1.root?.reference.liveBytes ?? 0)
    }
  }
}

extension SegmentUse {
  fileprivate init(pages extent: SegmentExtent) {
    kind = .pages
    number = Int(extent.number)
    size = Int(clamping: extent.end) * Layout.blockSize
    // Compared with the trees by a check alone.
    liveBytes = min(Int(clamping: extent.liveBytes), size)
  }

  /// The files of blobs of a state, by its accounts.
  ///
  /// - Throws: `.corrupt`, `.missing`, `.io`.
  fileprivate static func blobs(
    _ blobs: BlobTrees, in trees: TreeAccess, by keeper: BlobKeeper?
  ) throws(StoreError) -> [SegmentUse] {
    guard let keeper else { return [] }
    var uses: [SegmentUse] = []
    for (number, account) in try blobs.accounts(in: trees) {
      // The account is compared with the blobs by a check alone.
      let size = try keeper.size(of: number)
      uses.append(
        SegmentUse(
          kind: .blobs, number: Int(number), size: Int(clamping: size),
          liveBytes: Int(clamping: min(account.live, size))))
    }
    return uses
  }
}

extension StoreIdentity {
  /// 32 hexadecimal digits.
  var text: String {
    [low, high].map { word in
      let digits = String(word.byteSwapped, radix: 16)
      return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }.joined()
  }
}

/// The date and author of a commit, as the history has them.
package struct CommitSummary: Hashable, Sendable {
  /// The commit's number.
  package let sequence: UInt64
  /// The time of the commit.
  package let date: Date
  /// The author given to `PersistentStore.write`.
  package let author: String?
  /// The place before the commit: the history since then begins with it.
  package let start: HistoryCursor
}

extension StoreSnapshot {
  /// Returns the last commits of the history, newest first; none if no history is kept.
  ///
  /// - Parameter limit: The largest number of commits to return.
  /// - Complexity: O(limit × log commits).
  /// - Throws: `StoreError.corrupt`, `.io`.
  package func lastCommits(_ limit: Int) throws(StoreError) -> [CommitSummary] {
    let cursor = try trees.cursor(in: entities.history)
    var commits: [CommitSummary] = []
    var isOn = try cursor.last()
    // The entry with the empty key is no commit's.
    while isOn, commits.count < limit, cursor.key.byteCount > 0 {
      let sequence = try HistoryKey(cursor.key).sequence
      let first = HistoryKey(sequence: sequence, part: 0)
      guard try cursor.seek(to: first.bytes.rawSpan), cursor.key.equals(first.bytes.rawSpan) else {
        throw .historyFault(first.bytes.rawSpan, "parts of the commit are missing")
      }
      var reader = HistoryPartReader(try cursor.value(), key: first)
      let (date, author) = try reader.commit()
      commits.append(
        CommitSummary(
          sequence: sequence, date: Date(timeIntervalSinceReferenceDate: date), author: author,
          start: HistoryCursor(Swift.max(sequence, 1) - 1, of: identity)))
      isOn = try cursor.previous()
    }
    return commits
  }
}

/// The number and size of the records in a state of a store.
package struct StoreStatistics: Hashable, Sendable {
  /// The statistics of all types, by stored name.
  package let records: [RecordStatistics]

  /// The number of records of all types.
  package var recordCount: Int { records.reduce(0) { $0 + $1.count } }
}

/// The number and size of the records of one type.
package struct RecordStatistics: Hashable, Sendable {
  /// The stored name.
  package let name: String
  /// The number of records.
  package let count: Int
  /// The bytes of the pages that hold its rows. Changes that are not folded yet are in no page.
  package let rowBytes: Int
  /// The bytes of the pages that hold its indexes.
  package let indexBytes: Int
  /// The bytes among both that are in levels: changes that were not merged into the trees yet.
  package let levelBytes: Int
  /// For each reference with an index, by its stored name: the number of entries that lead back, one for each record
  /// that a record leads to.
  package let references: [String: Int]
}

extension RecordReading where Self: ~Copyable {
  /// Returns the number and size of the records of every type in the schema.
  ///
  /// ```swift
  /// print(try store.statistics().recordCount)
  /// ```
  ///
  /// - Complexity: O(record types and indexes).
  /// - Throws: `StoreError.closed`.
  package func statistics() throws(StoreError) -> StoreStatistics {
    let reader = try recordReader()
    var records: [RecordStatistics] = []
    for entity in reader.entities.all {
      let indexBytes = entity.indexes.reduce(0) {
        $0 + Int(clamping: reader.trees.liveBytes(in: $1.slot))
      }
      let levelBytes = ([entity.rows] + entity.indexes.map(\.slot)).reduce(0) {
        $0 + (reader.trees.level(of: $1)?.liveBytes ?? 0)
      }
      records.append(
        RecordStatistics(
          name: entity.record.name, count: try reader.trees.count(in: entity.rows),
          rowBytes: Int(clamping: reader.trees.liveBytes(in: entity.rows)), indexBytes: indexBytes,
          levelBytes: levelBytes,
          references: try reader.entriesOfReferences(of: entity)))
    }
    return StoreStatistics(records: records.sortedRarely { $0.name < $1.name })
  }
}

extension RecordReader {
  /// The number of entries of each reference's reverse index, by its stored name.
  fileprivate func entriesOfReferences(of entity: Entity) throws(StoreError) -> [String: Int] {
    var counts: [String: Int] = [:]
    for field in entity.record.fields where field.reference != nil {
      switch entity.record.wayBack(of: field) {
      case .rows: counts[field.name] = try trees.count(in: entity.rows)
      case .index(let place):
        counts[field.name] = try trees.count(in: entity.indexes[place].slot)
      case nil: continue
      }
    }
    return counts
  }
}
