/// Figures of an open store at one moment, for monitoring. They are all in memory: taking them reads no file.
///
/// Counts begin at zero whenever the store is opened.
public struct StoreMetrics: Hashable, Sendable {
  /// The state of a store as a whole.
  @nonexhaustive public enum State: Hashable, Sendable {
    /// Reading and writing work.
    case open
    /// The disk has no space for the trees, or had none for the last blob: everything that was committed can be read, and
    /// writing fails, without blobs once the log is full. It ends by itself when there is space.
    case full
    /// An earlier write failed, and nothing can be written until the store is opened again. It can be read.
    case failed(StoreError)
    /// The store was closed.
    case closed
  }

  /// The state of the store.
  public internal(set) var state = State.open
  /// The number of the last commit that can be read.
  public internal(set) var sequence: UInt64 = 0
  /// The number of commits since the store was opened, also those that are not on the disk yet.
  public internal(set) var commits = 0
  /// The commits that are not on the disk yet: those that wait for a flush, and relaxed ones.
  public internal(set) var unflushedCommits = 0
  /// The threads and tasks that wait for their turn to write.
  public internal(set) var waitingWriters = 0
  /// The flushes of the log. For a store in memory, none is counted.
  public internal(set) var flushes = WorkDurations()
  /// The folds in the background that were completed.
  public internal(set) var folds = WorkDurations()
  /// The bytes of committed changes that are in no tree yet. They are in memory and in the log.
  public internal(set) var foldBacklogBytes = 0
  /// The bytes of all files of the log.
  public internal(set) var logBytes = 0
  /// The bytes of the log's current file up to the end of its last frame.
  public internal(set) var usedLogBytes = 0
  /// The bytes of the files of pages, up to their published ends.
  public internal(set) var pageBytes = 0
  /// The bytes in them that the newest trees reach.
  public internal(set) var livePageBytes = 0
  /// The bytes of the files of blobs.
  public internal(set) var blobBytes = 0
  /// The age of the oldest snapshot of an earlier state; `nil` if none is held.
  public internal(set) var oldestSnapshotAge: Duration?
  /// The observers of the store: loops that wait for changes.
  public internal(set) var observers = 0

  /// The bytes of all files: the log, pages and blobs.
  public var totalBytes: Int { logBytes + pageBytes + blobBytes }
}

extension StoreMetrics {
  /// Takes the sizes of pages from the aggregates of a footer.
  mutating func setPages(_ footer: Footer) {
    var blocks: UInt64 = 0
    for extent in footer.segments where extent.kind == .pages { blocks.addClamping(extent.end) }
    pageBytes = Int(clamping: blocks).multipliedClamping(by: Layout.blockSize)
    livePageBytes = min(Int(clamping: footer.liveBytes), pageBytes)
  }
}

extension Int {
  /// The product, or the highest number there is: those of a damaged file may be anything.
  fileprivate func multipliedClamping(by factor: Int) -> Int {
    let (product, overflows) = multipliedReportingOverflow(by: factor)
    return overflows ? .max : product
  }
}
