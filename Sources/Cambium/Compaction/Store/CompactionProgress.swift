/// The progress of a compaction.
public struct CompactionProgress: Hashable, Sendable {
  /// The bytes of pages that were written.
  public internal(set) var writtenBytes = 0
  /// The approximate number of bytes to be written in all.
  public internal(set) var expectedBytes = 0
  /// The bytes of files that were deleted.
  public internal(set) var releasedBytes = 0
  public internal(set) var elapsed = Duration.zero

  /// From 0 to 1.
  public var fraction: Double {
    expectedBytes > 0 ? min(1, Double(writtenBytes) / Double(expectedBytes)) : 1
  }

  /// The bytes written per second; nil at the beginning.
  public var rate: Double? {
    let seconds = elapsed / .seconds(1)
    return seconds > 0 && writtenBytes > 0 ? Double(writtenBytes) / seconds : nil
  }

  /// The approximate time that is left; nil if it is not known yet.
  public var remaining: Duration? {
    rate.map { .seconds(Double(max(0, expectedBytes - writtenBytes)) / $0) }
  }
}

/// The work that a compaction has done.
public struct CompactionReport: Hashable, Sendable {
  /// The bytes of the store's files of pages before, and after.
  public internal(set) var sizeBefore = 0
  public internal(set) var sizeAfter = 0
  /// The bytes of pages that were written.
  public internal(set) var writtenBytes = 0
  /// The entries of trees that were moved: rows, index entries, and the store's own.
  public internal(set) var entries = 0
  /// The number of commits that it was done in.
  public internal(set) var slices = 0
  /// The number of files that were deleted.
  public internal(set) var releasedFiles = 0
  public internal(set) var elapsed = Duration.zero
}
