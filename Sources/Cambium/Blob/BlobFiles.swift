/// The files of a store's blobs: writes new ones, and reads, syncs, copies and removes.
///
/// May be used by many threads at once. It knows nothing of which blobs are alive: the keeper of the map says
/// which segments there are, and which may go.
final class BlobFiles: @unchecked Sendable {
  let medium: any FileSystem
  let seed: BlobSeed
  let crew: BlobCrew
  let spares: BlobSpares
  /// The gate that every write passes.
  let gate: BlobGate
  private let segmentSize: UInt64
  let lock = ThreadLock()

  // Under `lock`:

  /// Those that are open, ascending by number.
  var segments: [BlobSegment] = []
  /// Those that were removed, as long as they are in use.
  var removed: [UInt32: RemovedSegment] = [:]
  /// Those that are written to, by number, also full ones that are not synced yet.
  var appenders: [UInt32: BlobAppender] = [:]
  /// Those of them in which the next stream may continue; the last one does.
  var free: [BlobAppender] = []
  /// How many open streams and blobs that are not released are in a segment.
  var pins: [UInt32: Int] = [:]
  private var nextNumber: UInt64

  /// - Parameters:
  ///   - seed: The seed that the store keeps for its blobs.
  ///   - number: The first segment to make, above all that have a file.
  ///   - segmentSize: The size in bytes after which a segment takes no further blob.
  ///   - bufferSize: How many bytes of a large blob are written at once.
  ///   - crew: The threads that compress and decompress.
  ///   - gate: The gate that ends all writing with the store; nil for one of their own.
  init(
    in medium: any FileSystem, seed: BlobSeed, from number: UInt32,
    segmentSize: Int = BlobLayout.segmentSize, bufferSize: Int = 1 << 20,
    crew: BlobCrew = BlobCrew(), gate: BlobGate? = nil
  ) {
    precondition(
      bufferSize >= 2 * Layout.blockSize && bufferSize % Layout.blockSize == 0,
      "a buffer is of whole blocks")
    self.medium = medium
    self.seed = seed
    self.segmentSize = UInt64(max(segmentSize, 0))
    self.crew = crew
    self.gate = gate ?? BlobGate(medium.path)
    spares = BlobSpares(for: crew, bufferSize: bufferSize)
    nextNumber = UInt64(number)
  }
}

/// A segment that was removed and may be open.
struct RemovedSegment {
  weak var segment: BlobSegment?
}

// MARK: - Writing

extension BlobFiles {
  /// Begins a blob. No system call is made until there is something to write.
  ///
  /// - Parameters:
  ///   - isHashed: True if the content's hash is wanted, for deduplication.
  ///   - batch: The batch with whose blobs it may share a block.
  func makeStream(
    _ identity: BlobIdentity, _ compression: BlobCompression, isHashed: Bool = false,
    in batch: BlobBatch? = nil
  ) -> BlobStream {
    BlobStream(identity, compression, isHashed: isHashed, to: self, in: batch)
  }

  /// Copies a blob to another segment, byte for byte, and checks all checksums on the way.
  ///
  /// - Throws: `.corrupt`, `.missing`, `.io`, `.full`.
  func copy(
    _ identity: BlobIdentity, from place: BlobPlace, in batch: BlobBatch? = nil
  ) throws(StoreError) -> BlobContent {
    let reader = try reader(of: identity, at: place)
    let output = BlobOutput(to: self, in: batch)
    try reader.copy(to: output)
    let ended = try output.finish()
    var moved = place
    moved.segment = ended.segment
    moved.offset = ended.range.lowerBound
    return BlobContent(identity: identity, place: moved, hash: nil, pin: ended.pin)
  }

  /// Forces these blobs to the disk, segment by segment in order of numbers; those that are there already cost
  /// nothing. Bytes that were in a file before this process opened it count as synced.
  ///
  /// - Throws: `.io`, `.full`, `.poisoned`. A segment whose sync failed fails for all that was not synced in it, for
  ///   ever.
  func sync(_ places: [BlobPlace]) throws(StoreError) {
    var ends: [UInt32: UInt64] = [:]
    for place in places { ends[place.segment] = max(ends[place.segment] ?? 0, place.end) }
    for (number, end) in ends.sortedRarely(by: { $0.key < $1.key }) {
      guard let appender = appender(number) else { continue }
      do throws(StoreError) {
        try appender.sync(through: end)
      } catch {
        leave(appender)
        throw error
      }
      dropIfDone(appender)
    }
  }

  /// Lets streams continue in a segment from before, if it ends in the block that the map says, since then no writer was
  /// interrupted there, and if it has no features that only a newer program can write.
  ///
  /// - Throws: `.missing`, `.corrupt`, `.newerFormat`, `.io`.
  func goOn(in number: UInt32, end: UInt64) throws(StoreError) {
    let segment = try BlobSegment(opening: number, .readWrite, seed: seed, in: medium)
    let size = try segment.file.size(at: .blobSegmentOpen)
    lock.lock()
    defer { lock.unlock() }
    insert(segment)
    guard UInt64(size) >= end, UInt64(size) <= BlobLayout.blockEnd(of: end), end < segmentSize,
      segment.isWritable, appenders[number] == nil
    else { return }
    let appender = BlobAppender(segment, in: medium, end: end, through: gate)
    appenders[number] = appender
    free.append(appender)
  }
}

// MARK: - Streams and their segments

extension BlobFiles {
  /// A segment to write to, and the pin that keeps it from being collected.
  ///
  /// - Throws: `.io`, `.full`, `.limitExceeded`.
  func takeAppender() throws(StoreError) -> (BlobAppender, BlobPin) {
    if let appender = popFree() { return (appender, makePin(appender.number)) }
    let appender = try makeAppender()
    lock.lock()
    pins[appender.number, default: 0] += 1
    appenders[appender.number] = appender
    insert(appender.segment)
    lock.unlock()
    return (appender, makePin(appender.number))
  }

  /// Takes a segment back from its stream.
  ///
  /// - Parameter isWhole: True if others may continue after the last blob in it.
  func giveBack(_ appender: BlobAppender, isWhole: Bool) {
    guard isWhole, appender.end < segmentSize, !appender.isBroken else {
      appender.endOutput()
      return dropIfDone(appender)
    }
    lock.lock()
    defer { lock.unlock() }
    free.append(appender)
  }

  private func popFree() -> BlobAppender? {
    lock.lock()
    defer { lock.unlock() }
    guard let appender = free.popLast() else { return nil }
    pins[appender.number, default: 0] += 1
    return appender
  }

  /// An object that releases one of the segment's pins.
  private func makePin(_ number: UInt32) -> BlobPin {
    BlobPin(number) { [self] in unpin(number) }
  }

  private func unpin(_ number: UInt32) {
    lock.lock()
    defer { lock.unlock() }
    let count = (pins[number] ?? 1) - 1
    pins[number] = count > 0 ? count : nil
  }

  private func appender(_ number: UInt32) -> BlobAppender? {
    lock.lock()
    defer { lock.unlock() }
    return appenders[number]
  }

  /// Lets no stream continue there.
  private func leave(_ appender: BlobAppender) {
    lock.lock()
    defer { lock.unlock() }
    free.removeAll { $0 === appender }
  }

  /// Drops an appender that takes no further blob, when all that was written to it is on the disk.
  private func dropIfDone(_ appender: BlobAppender) {
    lock.lock()
    defer { lock.unlock() }
    if appender.isDone { appenders[appender.number] = nil }
  }

  /// Makes the next segment. It gets its name once its header is on the disk.
  private func makeAppender() throws(StoreError) -> BlobAppender {
    let number = try takeNumber()
    let file = try gate.admit { () throws(StoreError) in try makeFile(number) }
    return BlobAppender(
      BlobSegment(number: number, file: file), in: medium, end: UInt64(BlobLayout.firstOffset),
      through: gate)
  }

  private func makeFile(_ number: UInt32) throws(StoreError) -> any File {
    let name = FileName.blobs(number)
    let file = try medium.open(name.temporary, .create, at: .blobSegmentCreate)
    do throws(StoreError) {
      try file.write(BlobSegmentHeader(seed: seed, number: number), at: .blobHeaderWrite)
      try file.sync(at: .blobHeaderSync)
      try medium.rename(name.temporary, to: name, at: .blobSegmentRename)
    } catch {
      // On a full disk each further write would leave one more of them, until the store is opened again.
      try? medium.unlink(name.temporary, at: .blobUnlink)
      throw error
    }
    try medium.syncDirectory(at: .blobDirectorySync)
    return file
  }

  /// True if the last write of a blob found the disk full, and there is no space yet.
  var isFull: Bool { gate.isFull(medium.bytesFree) }

  /// Whatever comes of it, the number is not tried again.
  private func takeNumber() throws(StoreError) -> UInt32 {
    lock.lock()
    defer { lock.unlock() }
    guard let number = UInt32(exactly: nextNumber) else {
      throw .limitExceeded(.segmentNumber, found: Int(clamping: nextNumber))
    }
    nextNumber += 1
    return number
  }
}
