/// Counts the bytes that a backup has copied, reports progress to the caller, and ends the backup if the callback
/// throws. For one thread.
final class BackupMonitor {
  private(set) var progress = BackupProgress()
  /// The error that the callback threw.
  private(set) var failure: (any Error)?
  private let tell: (BackupProgress) throws -> Void
  private let started = ContinuousClock.now

  /// How many entries are copied between two looks.
  private static var entriesPerLook: Int { 4096 }

  init(_ tell: @escaping (BackupProgress) throws -> Void = { _ in }) {
    self.tell = tell
  }

  func begin(_ count: Int) { progress.expectedEntries = count }

  /// An entry is about to be copied.
  ///
  /// - Throws: `.closed`, for want of a better word: `failure` says why.
  @inline(__always)
  func step() throws(StoreError) {
    progress.entries &+= 1
    if progress.entries & (Self.entriesPerLook - 1) == 0 { try look() }
  }

  func beginBlobs(_ bytes: Int) { progress.expectedBlobBytes = bytes }

  /// Bytes of blobs were copied.
  ///
  /// - Throws: as `step`.
  func stepBlob(_ bytes: Int) throws(StoreError) {
    progress.blobBytes += bytes
    try look()
  }

  @inline(never)
  private func look() throws(StoreError) {
    progress.elapsed = .now - started
    do {
      try tell(progress)
    } catch {
      failure = error
      throw .closed(path: "the backup")
    }
  }
}

/// The progress of a backup.
public struct BackupProgress: Hashable, Sendable {
  /// The entries of trees that were copied: rows, index entries, and the store's own.
  package internal(set) var entries = 0
  /// The number of entries to be copied in all.
  package internal(set) var expectedEntries = 0
  /// The bytes of files of blobs that were copied; those are copied first.
  package internal(set) var blobBytes = 0
  /// The bytes of files of blobs to be copied in all.
  package internal(set) var expectedBlobBytes = 0
  /// The time since the backup began.
  public internal(set) var elapsed = Duration.zero

  /// The progress from 0 to 1. Blobs, if there are any, count as half of it.
  public var fraction: Double {
    if blobBytes < expectedBlobBytes { return Double(blobBytes) / Double(expectedBlobBytes) / 2 }
    let share = expectedEntries > 0 ? min(1, Double(entries) / Double(expectedEntries)) : 1
    return expectedBlobBytes > 0 ? (1 + share) / 2 : share
  }
}
