/// How far a compaction is.
public struct CompactionProgress: Hashable, Sendable {
  /// The bytes of pages that were written.
  public internal(set) var writtenBytes = 0
  /// About how many there are to be written.
  public internal(set) var expectedBytes = 0
  /// The bytes of files that were given back.
  public internal(set) var releasedBytes = 0
  public internal(set) var elapsed = Duration.zero

  /// From 0 to 1.
  public var fraction: Double {
    expectedBytes > 0 ? min(1, Double(writtenBytes) / Double(expectedBytes)) : 1
  }

  /// Bytes a second; nil at the beginning.
  public var rate: Double? {
    let seconds = elapsed / .seconds(1)
    return seconds > 0 && writtenBytes > 0 ? Double(writtenBytes) / seconds : nil
  }

  /// About how long it still takes; nil where nothing can be said yet.
  public var remaining: Duration? {
    rate.map { .seconds(Double(max(0, expectedBytes - writtenBytes)) / $0) }
  }
}

/// What a compaction has done.
public struct CompactionReport: Hashable, Sendable {
  /// The bytes of the store's files of pages before, and after.
  public internal(set) var sizeBefore = 0
  public internal(set) var sizeAfter = 0
  /// The bytes of pages that were written.
  public internal(set) var writtenBytes = 0
  /// The entries of trees that were moved: rows, index entries, and the store's own.
  public internal(set) var entries = 0
  /// The parts in which it was done, each there as a whole or not at all.
  public internal(set) var slices = 0
  /// Files that were given back.
  public internal(set) var releasedFiles = 0
  public internal(set) var elapsed = Duration.zero
}
