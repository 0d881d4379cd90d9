/// A segment that blobs are appended to, by one stream at a time, and synced, by any thread.
final class BlobAppender: @unchecked Sendable {
  let segment: BlobSegment
  private let medium: any FileSystem
  private let gate: BlobGate
  private let lock = ThreadLock()
  /// Held while the file is synced. The system tells of a failure once: of two syncs at the same time the second
  /// would not hear of it, so that it waits for the result of the first.
  private let syncLock = ThreadLock()
  // Under `lock`.
  private var endOffset: UInt64
  /// The batch of the last blob; nil if it may have been synced.
  private var batch: BlobBatch?
  private var syncedEnd: UInt64
  private var hasFailedToSync = false
  /// True if no stream writes to it any more.
  private var hasEnded = false

  /// - Parameter end: Where the next blob begins. Bytes before it are on the disk.
  init(_ segment: BlobSegment, in medium: any FileSystem, end: UInt64, through gate: BlobGate) {
    self.segment = segment
    self.medium = medium
    self.gate = gate
    endOffset = end
    syncedEnd = end
  }

  var number: UInt32 { segment.number }

  /// Where the last blob ends.
  var end: UInt64 {
    lock.lock()
    defer { lock.unlock() }
    return endOffset
  }

  /// Returns where the next blob begins: right after the last one if that belongs to the same batch, otherwise at the next block.
  func start(in batch: BlobBatch?) -> UInt64 {
    lock.lock()
    defer { lock.unlock() }
    if let batch, batch === self.batch { return endOffset }
    return BlobLayout.blockEnd(of: endOffset)
  }

  /// Notes the end of the blob that a stream has just written.
  func note(end: UInt64, of batch: BlobBatch?) {
    lock.lock()
    defer { lock.unlock() }
    endOffset = end
    self.batch = batch
  }

  /// Writes through the same open file that is synced: a sync covers only writes through that file.
  ///
  /// - Throws: `.io`, `.full`, `.closed`, `.forked`.
  func write(_ bytes: RawSpan, at offset: UInt64) throws(StoreError) {
    try gate.admit { () throws(StoreError) in
      try segment.file.write(bytes, from: Int(offset), at: .blobWrite)
    }
  }

  /// Notes that no further stream will write to the segment.
  func endOutput() {
    lock.lock()
    defer { lock.unlock() }
    hasEnded = true
  }

  /// True if there is nothing left to write or to sync.
  var isDone: Bool {
    lock.lock()
    defer { lock.unlock() }
    return hasEnded && syncedEnd >= endOffset && !hasFailedToSync
  }

  /// Releases the bytes that an abandoned stream wrote after `end`.
  ///
  /// - Throws: `.io`, `.closed`, `.forked`.
  func cut(to end: UInt64) throws(StoreError) {
    try gate.enter()
    defer { gate.leave() }
    try segment.file.truncate(to: Int(end), at: .blobTruncate)
  }

  /// Forces the bytes up to `end`, of streams that have finished, to the disk.
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
      gate.note(error)
      throw error
    }
    noteSynced(written)
  }

  var isBroken: Bool {
    lock.lock()
    defer { lock.unlock() }
    return hasFailedToSync
  }

  /// Where blobs end that a sync would force to the disk now; nil if all up to `end` is there.
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
