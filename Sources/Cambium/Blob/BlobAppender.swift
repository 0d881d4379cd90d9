/// A segment that blobs are appended to, by one stream at a time, and synced in, by anybody.
final class BlobAppender: @unchecked Sendable {
  let segment: BlobSegment
  private let medium: any FileSystem
  private let gate: BlobGate
  private let lock = ThreadLock()
  /// Held while the file is synced. The system tells of a failure once: of two syncs at the same time the second
  /// would not hear of it, so that it waits for what the first has to say.
  private let syncLock = ThreadLock()
  // Under `lock`.
  private var endOffset: UInt64
  private var syncedEnd: UInt64
  private var hasFailedToSync = false
  /// Whether no stream writes to it any more.
  private var hasEnded = false
  /// The file once more, for output past the page cache. Used by the stream alone that has the segment.
  private var direct: (any File)?

  /// - Parameter end: Where the next blob begins. What is before is on the medium.
  init(_ segment: BlobSegment, in medium: any FileSystem, end: UInt64, through gate: BlobGate) {
    self.segment = segment
    self.medium = medium
    self.gate = gate
    endOffset = end
    syncedEnd = end
  }

  var number: UInt32 { segment.number }

  /// Where the next blob begins.
  var end: UInt64 {
    lock.lock()
    defer { lock.unlock() }
    return endOffset
  }

  /// Says that the stream that had the segment wrote up to there.
  func note(end: UInt64) {
    lock.lock()
    defer { lock.unlock() }
    endOffset = end
  }

  /// Writes through the page cache.
  ///
  /// - Throws: `.io`, `.full`, `.closed`, `.forked`.
  func write(_ bytes: RawSpan, at offset: UInt64) throws(StoreError) {
    try gate.enter()
    defer { gate.leave() }
    try segment.file.write(bytes, from: Int(offset), at: .blobWrite)
  }

  /// Writes past the page cache: whole blocks at a block's beginning, none of which has a byte written otherwise.
  ///
  /// - Throws: `.io`, `.full`, `.closed`, `.forked`.
  func writeDirect(_ bytes: RawSpan, at offset: UInt64) throws(StoreError) {
    try gate.enter()
    defer { gate.leave() }
    if direct == nil {
      direct = try medium.open(.blobs(number), .readWriteDirect, at: .blobSegmentOpen)
    }
    guard let direct else { return }
    try direct.write(bytes, from: Int(offset), at: .blobWrite)
  }

  /// Closes what only streams need, as there will be none any more.
  func endOutput() {
    direct = nil
    lock.lock()
    defer { lock.unlock() }
    hasEnded = true
  }

  /// Whether there is nothing left to write or to sync.
  var isDone: Bool {
    lock.lock()
    defer { lock.unlock() }
    return hasEnded && syncedEnd >= endOffset && !hasFailedToSync
  }

  /// Gives back what an abandoned stream wrote behind `end`.
  ///
  /// - Throws: `.io`, `.closed`, `.forked`.
  func cut(to end: UInt64) throws(StoreError) {
    try gate.enter()
    defer { gate.leave() }
    try segment.file.truncate(to: Int(end), at: .blobTruncate)
  }

  /// Forces what was written up to `end`, by streams that have finished, to the medium.
  ///
  /// - Throws: `.io`, `.full`; after that `.poisoned` for whatever was not synced then. Asking again would be told
  ///   of a success that is none.
  func sync(through end: UInt64) throws(StoreError) {
    syncLock.lock()
    defer { syncLock.unlock() }
    guard let written = try unsynced(through: end) else { return }
    do throws(StoreError) {
      try segment.file.sync(at: .blobSync)
    } catch {
      noteFailure()
      throw error
    }
    noteSynced(written)
  }

  var isBroken: Bool {
    lock.lock()
    defer { lock.unlock() }
    return hasFailedToSync
  }

  /// Where blobs end that a sync would force to the medium now; nil if all up to `end` is there.
  private func unsynced(through end: UInt64) throws(StoreError) -> UInt64? {
    lock.lock()
    defer { lock.unlock() }
    if end <= syncedEnd { return nil }
    if hasFailedToSync {
      throw .poisoned(path: medium.path, reason: "an earlier flush of blobs failed")
    }
    return endOffset
  }

  private func noteSynced(_ end: UInt64) {
    lock.lock()
    defer { lock.unlock() }
    syncedEnd = max(syncedEnd, end)
  }

  private func noteFailure() {
    lock.lock()
    defer { lock.unlock() }
    hasFailedToSync = true
  }
}
