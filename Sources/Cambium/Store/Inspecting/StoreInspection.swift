/// What a store says of itself, without a model: what it holds, in which versions, and where its bytes are.
public struct StoreInspection: Hashable, Sendable {
  public let path: String
  /// 32 hexadecimal digits, which no other store has.
  public let identity: String
  /// The version of the format that its files are in.
  public let format: Int
  /// Whether a process had it open for writing.
  public let isOpenForWriting: Bool

  /// Of every version that it ever had, ascending; the last is that of its records.
  public let schemas: [Schema]
  /// The states from before migrations that it can be taken back to, oldest first.
  public let keptVersions: [KeptVersion]
  /// The bytes of the files that only these need. What shares a file with something newer does not count.
  public let keptBytes: Int
  /// What is still to be done of a migration that was deferred; nil if nothing is.
  public let pendingMigration: PendingMigration?

  /// The number of the last commit.
  public let sequence: UInt64
  /// The last commit that is in the trees. Those behind it are in the log.
  public let foldedSequence: UInt64
  /// The last commits, newest first, where a history is kept.
  public let lastCommits: [CommitSummary]
  public let statistics: StoreStatistics

  /// The files of pages, and then of blobs, by number.
  public let segments: [SegmentUse]
  /// The blobs that records have, or that are kept with states from before migrations.
  public let blobCount: Int
  public let log: LogUse

  /// The version that its records have; nil where no program has put a model into it yet.
  public var version: Int? { schemas.last.map { Int($0.version) } }
  /// The name that the version was given.
  public var label: String? { schemas.last?.label }
  /// What tells the version from others that are described otherwise.
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
  /// The bytes that blobs take there, compressed.
  public var liveBlobBytes: Int {
    segments.reduce(0) { $0 + ($1.kind == .blobs ? $1.liveBytes : 0) }
  }
  /// The bytes there that no state refers to, which collection can give back.
  public var garbageBlobBytes: Int { segments.reduce(0) { $0 + $1.garbageBlobBytes } }
  /// The bytes of all files.
  public var size: Int { segments.reduce(log.size) { $0 + $1.size } }
}

/// How much of a file of pages or blobs is used.
public struct SegmentUse: Hashable, Sendable {
  public enum Kind: String, Hashable, Sendable {
    case pages, blobs
  }

  public let kind: Kind
  /// As in the file's name.
  public let number: UInt32
  /// The bytes up to where it is published.
  public let size: Int
  /// The bytes that the present state reaches, as they were counted last.
  public let liveBytes: Int

  /// Of a file of blobs: without its header, what nothing refers to.
  fileprivate var garbageBlobBytes: Int {
    kind == .blobs ? max(0, size - BlobLayout.firstOffset - liveBytes) : 0
  }
}

/// How much of the log is used.
public struct LogUse: Hashable, Sendable {
  /// The bytes of both files.
  public let size: Int
  /// The bytes of the file in use up to the end of its last frame.
  public let usedBytes: Int
  /// How often a file of it was begun anew.
  public let use: UInt64
}
