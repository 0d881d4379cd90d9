/// A summary of a store, read without a model: its content, its versions, and the use of its files.
public struct StoreInspection: Hashable, Sendable {
  public let path: String
  /// 32 hexadecimal digits, which no other store has.
  public let identity: String
  /// The version of the format that its files are in.
  public let format: Int
  /// True if a process had it open for writing.
  public let isOpenForWriting: Bool

  /// The descriptions of all versions that it has had, ascending; the last is that of its records.
  public let schemas: [Schema]
  /// The states from before migrations to which it can be rolled back, oldest first.
  public let keptVersions: [KeptVersion]
  /// The bytes of the files that only these states need. Files that newer states need as well are not counted.
  public let keptBytes: Int
  /// The work that is left of a deferred migration; nil if there is none.
  public let pendingMigration: PendingMigration?

  /// The number of the last commit.
  public let sequence: UInt64
  /// The number of the last commit that is in the trees. Later ones are in the log.
  public let foldedSequence: UInt64
  /// The last commits, newest first, if a history is kept.
  public let lastCommits: [CommitSummary]
  public let statistics: StoreStatistics

  /// The files of pages, then those of blobs, by number.
  public let segments: [SegmentUse]
  /// The number of blobs that records have, or that are kept with states from before migrations.
  public let blobCount: Int
  public let log: LogUse

  /// The version that its records have; nil if it has no model yet.
  public var version: Int? { schemas.last.map { Int($0.version) } }
  /// The label that the version was given.
  public var label: String? { schemas.last?.label }
  /// The fingerprint of the version's description.
  public var fingerprint: Fingerprint? { schemas.last?.fingerprint }

  /// The bytes of all pages.
  public var pageBytes: Int { segments.reduce(0) { $0 + ($1.kind == .pages ? $1.size : 0) } }
  /// The bytes of the pages that the present trees reach.
  public let livePageBytes: Int
  /// The share of the pages' bytes that the present trees reach, from 0 to 1.
  public var liveShare: Double {
    pageBytes == 0 ? 1 : min(1, Double(livePageBytes) / Double(pageBytes))
  }
  /// The bytes of the files of blobs.
  public var blobBytes: Int { segments.reduce(0) { $0 + ($1.kind == .blobs ? $1.size : 0) } }
  /// The bytes that blobs take in them, compressed.
  public var liveBlobBytes: Int {
    segments.reduce(0) { $0 + ($1.kind == .blobs ? $1.liveBytes : 0) }
  }
  /// The bytes in them that no state refers to, which collection can reclaim.
  public var garbageBlobBytes: Int { segments.reduce(0) { $0 + $1.garbageBlobBytes } }
  /// The bytes of all files.
  public var size: Int { segments.reduce(log.size) { $0 + $1.size } }
}

/// The use of a file of pages or blobs.
public struct SegmentUse: Hashable, Sendable {
  public enum Kind: String, Hashable, Sendable {
    case pages, blobs
  }

  public let kind: Kind
  /// The number in the file's name.
  public let number: Int
  /// The number of published bytes.
  public let size: Int
  /// The bytes that the present state reaches, as last counted.
  public let liveBytes: Int

  /// The bytes of a file of blobs to which nothing refers, without its header.
  fileprivate var garbageBlobBytes: Int {
    kind == .blobs ? max(0, size - BlobLayout.firstOffset - liveBytes) : 0
  }
}

/// The use of the log.
public struct LogUse: Hashable, Sendable {
  /// The bytes of both files.
  public let size: Int
  /// The bytes of the file in use up to the end of its last frame.
  public let usedBytes: Int
  /// The number of times that a file of the log was begun again.
  public let use: Int
}
