public import Logging

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The options of opening a store.
public struct StoreOptions: Sendable {
  /// Opens the store for writing or for reading, and creates it or not.
  public var access = Access.writing
  /// The treatment of a store that is open for writing already, in this process or another.
  ///
  /// ```swift
  /// options.lock = .wait(for: .seconds(30))
  /// ```
  public var lock = Lock.refuse
  /// The durability of commits that do not state one.
  public var durability = Durability.durable
  /// The way in which pages are read.
  public var readMode = ReadMode.mapped
  /// The bytes of changes that one transaction keeps in memory; more goes to a temporary file. Lower and higher values
  /// count as 512 bytes and 16 GiB.
  public var transactionBudget = EngineOptions().transactionBudget
  /// The bytes of committed changes in memory at which they are folded into the trees; nil for 16 MiB, and up to 128 MiB while folds
  /// write more than four times as much as they fold, as records with random keys in a large store make them do. Lower and higher values count as
  /// 1 byte and 1 GiB. Changes are folded sooner if the log has no space for more.
  public var foldThreshold: Int?
  /// The commits that the store's history keeps; nil to keep none. In a store opened for reading, the history that its
  /// writer keeps can be read in any case.
  public var history: HistoryOptions?
  /// The most that each query may take; nil for no bound. Set it where the text of queries comes from outside: see
  /// ``QueryBudget``.
  public var queryBudget: QueryBudget?
  /// The conditions of compaction in the background; nil to compact only on request, and not when the store is closed either.
  public var automaticCompaction: AutomaticCompaction? = AutomaticCompaction()
  /// The time from one collection of expired records to the next, in the background, of types with an ``Expiry``; nil to collect only on
  /// request, by ``PersistentStore/collectExpired()``. The first begins when the store is opened. Less than 10 ms counts as that. A store that is
  /// opened without Swift types collects on request alone, since hooks belong to the program.
  public var expiryInterval: Duration? = .seconds(60)
  /// The clock that tells which records have expired; another one for tests.
  ///
  /// ```swift
  /// options.currentDate = { Date(timeIntervalSinceNow: 86_400) }
  /// ```
  public var currentDate: @Sendable () -> Date = { Date() }
  /// Collations that the store's indexes may be sorted by, besides those that the model's indexes name: for a store that is
  /// opened without Swift types, or with a model from a lock. Without its collation, records with an index that has one
  /// can be read and not written.
  public var collations: [Collation] = []
  /// The options of migrations.
  public var migration = MigrationOptions()
  /// A logger for what happens to the store as a whole: opening and migrating it, compactions and backups at the levels `info`
  /// and `debug`; repairs, omissions and stores put aside at `warning`; failures at `error`, also those of a compaction
  /// in the background.
  public var logger: Logger?
  /// Follows transactions, flushes, folds and migrations, for traces and timers; nil to follow none. The figures of a store need
  /// no tracer: see ``PersistentStore/metrics()``.
  public var tracer: (any StoreTracer)?
  /// Receives the progress of a migration that opening the store runs, at most ten times a second and at its end, on the thread
  /// that migrates.
  ///
  /// ```swift
  /// options.migrationProgress = { progress in print(progress.fraction) }
  /// ```
  public var migrationProgress: (@Sendable (MigrationProgress) -> Void)?
  /// Accepts a directory on a network file system, where locks and flushes may not hold.
  public var allowsNetworkFileSystems = false

  /// Migrates a store again that was rolled back from the model's version or a later one.
  /// Without it, opening such a store throws `StoreError.rolledBack`.
  public var allowsMigrationAfterRollback = false

  /// The treatment of a store that the model does not fit.
  public var schemaMismatchPolicy = SchemaMismatchPolicy.refuse

  /// The size in bytes after which a file of blobs takes no further blob.
  package var blobSegmentSize = EngineOptions().blobSegmentSize

  /// Creates the default options.
  public init() {}

  /// The access to a store: writing, which one process has at a time, or reading.
  public enum Access: Hashable, Sendable {
    /// Opens the store for writing, and creates it if it does not exist.
    case writing
    /// Opens a store for writing that must exist.
    case writingExisting
    /// Opens a store for reading, also while another process writes to it: see `PersistentStore.refresh()`. The directory
    /// need not be writable.
    case reading
  }

  /// The treatment of a store that is open for writing already.
  public enum Lock: Hashable, Sendable {
    /// Throws `StoreError.locked` at once.
    case refuse
    /// Waits until the writer has closed the store, or its process has ended, for no longer than a duration: for a new process that
    /// takes over from one that is about to end. Then, or if the task is cancelled, `StoreError.locked` is thrown.
    case wait(for: Duration)
  }

  /// How many times as large overlays may become where no size is set.
  static var overlayScaleMax: Int { 8 }

  /// The bytes of pages for each byte of changes from which on a large tree gets a level.
  static var levelRatio: Double { 6 }

  var engine: EngineOptions {
    var engine = EngineOptions()
    engine.levelRatio = Self.levelRatio
    engine.readMode = readMode
    engine.transactionBudget = min(max(transactionBudget, 512), 16 << 30)
    if let foldThreshold {
      engine.foldThreshold = min(max(foldThreshold, 1), 1 << 30)
    } else {
      engine.overlayScaleMax = Self.overlayScaleMax
    }
    engine.blobSegmentSize = blobSegmentSize
    engine.listener = StoreLog(logger).listener(tracer)
    engine.automaticCompaction = automaticCompaction?.bounded
    return engine
  }
}

extension StoreOptions.Lock {
  /// The time from one attempt to the next.
  private static var pause: Duration { .milliseconds(20) }
  /// The longest wait: thirty years.
  private static var longest: Duration { .seconds(1_000_000_000) }

  /// Calls `open` until it no longer throws `.locked`, as long as there is time.
  ///
  /// - Throws: what `open` throws.
  func waiting<Result>(_ open: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    guard case .wait(let limit) = self else { return try open() }
    let deadline = ContinuousClock.now + min(max(limit, .zero), Self.longest)
    let pause = Pause()
    while true {
      do throws(StoreError) {
        return try open()
      } catch {
        guard case .locked = error, ContinuousClock.now < deadline, !Task.isCancelled else {
          throw error
        }
      }
      try? pause.wait(Self.pause)
    }
  }
}

/// The treatment of a store that the model does not fit: it describes the records of the same version differently, because
/// that version is still being developed.
public struct SchemaMismatchPolicy: Hashable, Sendable {
  /// The versions that a store is never put aside for; nil if none ever is.
  private let kept: Set<Int>?
  /// True if a store that cannot be migrated is put aside, too.
  private var isForAll = false

  /// Throws `StoreError.schemaMismatch`. For programs in use.
  public static let refuse = SchemaMismatchPolicy(kept: nil)

  /// Renames the store to its name followed by the date, and creates a new one. Nothing is deleted:
  /// `OpenReport.setAside` has the path.
  ///
  /// Only for development. A store that another process has open is not renamed.
  public static let setAside = SchemaMismatchPolicy(kept: [])

  /// Renames the store and creates a new one, unless its version is in a lock: such versions were released, so their
  /// stores stay where they are, and are refused.
  public static func setAside(unlessIn lock: SchemaLock) -> SchemaMismatchPolicy {
    SchemaMismatchPolicy(kept: Set(lock.versions.map(\.number)))
  }

  /// Renames the store and creates a new one if it is described differently, or cannot be migrated: there is no migration
  /// path, migration is refused, a step fails, or the store has a newer version or was rolled back. For stores that can be
  /// made again, such as caches.
  public static let setAsideUnlessMigrated = SchemaMismatchPolicy(kept: [], isForAll: true)

  /// Returns true if a store is renamed that cannot be opened for a reason.
  func setsAside(after error: StoreError) -> Bool {
    switch error {
    case .schemaMismatch(let version, _): kept.map { !$0.contains(version) } ?? false
    case .needsMigration, .cannotMigrate, .stepFailed, .newerSchema, .rolledBack: isForAll
    default: false
    }
  }
}
