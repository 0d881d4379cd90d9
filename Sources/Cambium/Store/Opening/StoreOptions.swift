public import Logging

/// How a store is opened.
public struct StoreOptions: Sendable {
  /// What is done where there is no store yet, and whether it is written to.
  public var access = Access.writing
  /// When commits are acknowledged that do not say otherwise.
  public var durability = Durability.durable
  /// How pages are read.
  public var readMode = ReadMode.mapped
  /// The bytes of changes that one transaction keeps in memory; more goes to a temporary file. From 512 bytes to
  /// 16 GiB: what is less or more counts as these.
  public var transactionBudget = EngineOptions().transactionBudget
  /// The bytes of committed changes in memory from which on they are folded into the trees. From 1 byte to 1 GiB:
  /// what is less or more counts as these. They are folded sooner if the log has no space for more.
  public var foldThreshold = EngineOptions().foldThreshold
  /// Which commits the store's history keeps; nil to keep none. Of a store that is only read, what its
  /// writer keeps can be read all the same.
  public var history: HistoryOptions?
  /// When room that nothing needs is given back in the background; nil for only when asked for.
  public var automaticCompaction: AutomaticCompaction? = AutomaticCompaction()
  /// What is allowed of migrations, and how they are run.
  public var migration = MigrationOptions()
  /// Is told what a migration does, part by part; of levels `info` and `debug`, and `error` where it fails.
  public var logger: Logger?
  /// Whether a directory on a network file system is accepted, where locks and flushes may not hold.
  public var allowsNetworkFileSystems = false

  /// Whether a store that was rolled back from the model's version, or from a later one, is migrated to it again.
  /// Without it, opening such a store throws `StoreError.rolledBack`.
  public var migratesAgain = false

  /// What is done about a store whose records the model describes otherwise in the same version.
  public var onMismatch = MismatchPolicy.refuse

  /// The size in bytes after which a file of blobs takes no further blob.
  package var blobSegmentSize = EngineOptions().blobSegmentSize

  public init() {}

  public enum Access: Hashable, Sendable {
    /// Writes to the store, or makes it.
    case writing
    /// Writes to a store that must be there.
    case writingExisting
    /// Reads a store, which another process may be writing to: see `PersistentStore.refresh()`. The directory
    /// need not be writable.
    case reading
  }

  var engine: EngineOptions {
    var engine = EngineOptions()
    engine.readMode = readMode
    engine.transactionBudget = min(max(transactionBudget, 512), 16 << 30)
    engine.foldThreshold = min(max(foldThreshold, 1), 1 << 30)
    engine.blobSegmentSize = blobSegmentSize
    engine.automaticCompaction = automaticCompaction?.bounded
    return engine
  }
}
