internal import Synchronization

/// The use of files of blobs by one transaction.
///
/// It keeps the new blobs from being collected, has them on the disk before the commit is, and says afterwards
/// which segments may have become garbage.
final class BlobSession {
  let keeper: BlobKeeper
  /// Blobs that are in no map yet. They stay pinned until the commit is published.
  private(set) var contents: [BlobIdentity: BlobContent] = [:]
  /// In the order in which the map took them in.
  private var places: [BlobPlace] = []
  /// The entries of the blobs that the transaction removed from the map.
  var released: [BlobIdentity: BlobEntry] = [:]
  /// Segments without a blob of the map.
  private(set) var emptied: [UInt32] = []
  private let bin: BlobBin
  /// The blobs that the next sync forces to the disk.
  private(set) var batch = BlobBatch()

  init(_ keeper: BlobKeeper, _ bin: BlobBin) {
    self.keeper = keeper
    self.bin = bin
  }

  /// Takes a blob that was written and that no map has.
  func add(_ content: BlobContent) { contents[content.identity] = content }

  /// Notes that a commit is to refer to existing blobs.
  func use(_ place: BlobPlace) { places.append(place) }

  /// Notes that no blob of the map is left in a segment.
  func empty(_ segment: UInt32) { emptied.append(segment) }

  /// Forces the blobs of the commit to the disk.
  ///
  /// - Throws: `.io`, `.full`: then there must be no commit.
  func sync() throws(StoreError) {
    batch = BlobBatch()
    if !places.isEmpty { try keeper.sync(places) }
  }

  /// The commit was published.
  func end() {
    if !emptied.isEmpty { bin.add(emptied) }
    bin.noteWritten(places.reduce(0) { $0 &+ $1.size })
    bin.noteGarbage(released.values.reduce(0) { $0 &+ $1.place.size })
    contents = [:]
  }
}

/// The garbage of transactions: segments in which no committed state has a blob, and the number of bytes written.
final class BlobBin: @unchecked Sendable {
  private let lock = ThreadLock()
  private var segments: Set<UInt32> = []
  private var written: UInt64 = 0
  /// The bytes of blobs that left the map since it was looked at; nil if it was not looked at yet.
  private var garbage: UInt64?

  /// The bytes of all blobs that came into the map, or were moved.
  var bytesWritten: UInt64 {
    lock.lock()
    defer { lock.unlock() }
    return written
  }

  func noteWritten(_ bytes: UInt64) {
    if bytes == 0 { return }
    lock.lock()
    defer { lock.unlock() }
    written &+= bytes
  }

  func noteGarbage(_ bytes: UInt64) {
    lock.lock()
    defer { lock.unlock() }
    garbage = garbage.map { $0 &+ bytes }
  }

  /// Returns true if at least `bytes` of blobs have left the map since the last time, or if this is the first time. Then it
  /// begins to count again.
  func takeGarbage(atLeast bytes: UInt64) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    if let garbage, garbage < bytes { return false }
    garbage = 0
    return true
  }

  /// True if there are segments to remove, or blobs have left the map since it was looked at.
  var isUsed: Bool {
    lock.lock()
    defer { lock.unlock() }
    return !segments.isEmpty || garbage != 0
  }

  func add(_ numbers: [UInt32]) {
    lock.lock()
    defer { lock.unlock() }
    segments.formUnion(numbers)
  }

  /// Takes out all of them, ascending.
  func take() -> [UInt32] {
    lock.lock()
    defer { lock.unlock() }
    let taken = segments.sortedRarely()
    segments = []
    return taken
  }
}

/// The blobs of an open store, which its backend gives to readers and writers.
final class OpenedBlobs: Sendable {
  private let isOpen = Atomic(false)
  // Set once, before `isOpen` is.
  private nonisolated(unsafe) var opened: BlobKeeper?
  /// Segments that may be garbage.
  let bin = BlobBin()

  /// The keeper; nil if the store has no blobs and cannot get any.
  var keeper: BlobKeeper? {
    isOpen.load(ordering: .acquiring) ? unsafe opened : nil
  }

  /// Sets the keeper. Called once, while the store is opened.
  func open(_ keeper: BlobKeeper) {
    unsafe opened = keeper
    isOpen.store(true, ordering: .releasing)
  }

  /// Closes the engine by `closeEngine`, and ends all writing of blobs with it, unless the store stays open.
  ///
  /// The files of blobs keep the directory locked until the last write has ended.
  ///
  /// - Throws: errors of `closeEngine`.
  func close(with closeEngine: () throws(StoreError) -> Void) throws(StoreError) {
    do throws(StoreError) {
      try closeEngine()
    } catch {
      if case .reentrant = error { throw error }
      close()
      throw error
    }
    close()
  }

  func close() { keeper?.close() }

  /// Returns the session of a transaction with files of blobs.
  func session() -> BlobSession? {
    keeper.map { BlobSession($0, bin) }
  }
}

/// A blob that was written and is in no record yet. It is kept from being collected for as long as the object exists.
final class WrittenBlob: BlobSource {
  let content: BlobContent
  private let keeper: BlobKeeper
  private let reader: BlobFrameReader

  init(_ content: BlobContent, by keeper: BlobKeeper) throws(StoreError) {
    self.content = content
    self.keeper = keeper
    reader = try keeper.located().reader(of: content.identity, at: content.place)
  }

  var identity: BlobIdentity { content.identity }
  var count: Int { reader.count }
  func reading() -> BlobFrameReader { reader }

  /// Returns true if it lies in the files of this keeper.
  func isOf(_ keeper: BlobKeeper) -> Bool { self.keeper === keeper }
}
