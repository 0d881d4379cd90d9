internal import Synchronization

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Keeps the files of a store's blobs, on a disk.
final class BlobKeeper: Sendable {
  private let files: BlobFiles
  private let removals = Atomic(0)
  /// By segment, the number of bytes that blobs which a collection has moved there leave unused at the ends of blocks: moving
  /// them again would not reclaim these.
  private let padding = Mutex<[UInt32: UInt64]>([:])
  private let random: @Sendable () -> UInt64

  /// - Parameters:
  ///   - number: Of the first segment to be made: above all that there ever were.
  ///   - random: Where identities come from.
  init(_ files: BlobFiles, random: @escaping @Sendable () -> UInt64) {
    self.files = files
    self.random = random
  }

  var seed: BlobSeed { files.seed }
  /// The threads that compress and decompress.
  var crew: BlobCrew { files.crew }
  /// How many segments were removed, or begun to be.
  var removalCount: Int { removals.load(ordering: .acquiring) }
  /// The segments with something that is not committed yet.
  var pinnedSegments: [UInt32] { files.pinnedSegments }
  /// All that are open, ascending.
  var openSegments: [UInt32] { files.openSegments.map(\.number) }

  /// True if the last write of a blob found the disk full, and there is no space yet.
  var isFull: Bool { files.isFull }

  /// Sees to it that nothing is written to a segment any more. False if something in it is not committed yet.
  func retire(_ segment: UInt32) -> Bool { files.retire(segment) }

  /// Calls `body` with a task that makes a frame, and that others use afterwards.
  ///
  /// - Throws: `.io` where there is no memory.
  func withSpareTask<Result>(
    _ body: (FrameCompression) -> Result
  ) throws(StoreError) -> Result {
    let task = try files.spares.takeTask()
    defer { files.spares.give(task) }
    return body(task)
  }

  /// The readers of the segments that are open now, also when they have been removed.
  func located() -> LocatedSegments { LocatedSegments(files) }

  /// Begins a blob with an identity of its own.
  func makeStream(
    _ compression: BlobCompression, isHashed: Bool, in batch: BlobBatch? = nil
  ) -> BlobStream {
    let identity = BlobIdentity(low: random(), high: random())
    return files.makeStream(identity, compression, isHashed: isHashed, in: batch)
  }

  /// Throws `.closed` or `.forked` if no more blobs may be written.
  func checkOpen() throws(StoreError) { try files.gate.check() }
  /// Refuses all further writes, waits for those under way, and releases the store's lock.
  func close() { files.gate.close() }

  func sync(_ places: [BlobPlace]) throws(StoreError) { try files.sync(places) }

  func copy(
    _ identity: BlobIdentity, from place: BlobPlace, in batch: BlobBatch
  ) throws(StoreError) -> BlobContent {
    try files.copy(identity, from: place, in: batch)
  }

  /// Keeps segments open for their readers, and no others.
  func open(_ segments: [UInt32]) throws(StoreError) { try files.open(segments) }
  /// The same for those that are there and whole.
  func openReadable(_ segments: [UInt32]) throws(StoreError) { try files.openReadable(segments) }
  func release(but segments: [UInt32]) { files.release(but: segments) }
  func size(of segment: UInt32) throws(StoreError) -> UInt64 { try files.size(of: segment) }

  /// Lets the next blobs continue in a segment that ends where the accounts say.
  func goOn(in segment: UInt32, end: UInt64) throws(StoreError) {
    try files.goOn(in: segment, end: end)
  }

  /// Returns when the removal of segments is on the disk, so that they do not reappear after a crash.
  func syncRemovals() throws(StoreError) {
    try files.medium.syncDirectory(at: .blobDirectorySync)
  }

  /// Notes the places of blobs that were moved, in the order in which they were written.
  func noteMoved(_ places: [BlobPlace]) {
    padding.withLock { padding in
      for (index, place) in places.enumerated() {
        let before = index > 0 ? places[index - 1] : nil
        let isBehind = before.map { $0.segment == place.segment && $0.end <= place.offset } ?? false
        let gap = isBehind ? place.offset - (before?.end ?? 0) : UInt64(Layout.blockSize - 1)
        padding[place.segment, default: 0] += gap
      }
    }
  }

  /// The number of bytes of a segment that are reclaimed if its blobs are moved, including those of live blobs.
  ///
  /// - Throws: `.missing`, `.io`.
  func movableBytes(of segment: UInt32) throws(StoreError) -> UInt64 {
    let room = try files.size(of: segment)
    let lost = UInt64(BlobLayout.firstOffset) + padding.withLock { $0[segment] ?? 0 }
    return room > lost ? room - lost : 0
  }

  /// Removes a segment that nothing refers to. False if something in it is not committed yet.
  func remove(_ segment: UInt32) throws(StoreError) -> Bool {
    guard files.retire(segment) else { return false }
    // Said before: a reader that takes a state meanwhile takes it again.
    removals.add(1, ordering: .acquiringAndReleasing)
    padding.withLock { $0[segment] = nil }
    try files.remove(segment)
    return true
  }
}

extension BlobKeeper {
  /// Compresses a value that is to lie in its row.
  ///
  /// - Returns: nil if that gains little.
  /// - Throws: `.io` if there is no memory.
  func pack(_ content: Data, _ compression: BlobCompression) throws(StoreError) -> PackedValue? {
    guard (1...PackedValue.lengthMax).contains(content.count), compression.method != .raw else {
      return nil
    }
    return try withSpareTask { task in
      _ = task.take(content.bytes)
      task.method = compression.method
      task.perform()
      return task.isHardlyCompressed ? nil : PackedValue(task.bytes, length: content.count)
    }
  }
}

extension FileSystem {
  /// The blob segments that have files, ascending.
  func blobSegments() throws(StoreError) -> [UInt32] {
    var numbers: [UInt32] = []
    for name in try list(at: .directoryList) {
      if case .blobs(let number) = name.kind, !name.isTemporary { numbers.append(number) }
    }
    return numbers.sortedRarely()
  }
}

/// The segments that were open when a state was taken.
final class LocatedSegments: Sendable {
  private let files: BlobFiles
  /// Ascending by number.
  private let segments: [BlobSegment]

  fileprivate init(_ files: BlobFiles) {
    self.files = files
    segments = files.openSegments
  }

  /// The threads that decompress.
  var crew: BlobCrew { files.crew }

  func reader(
    of identity: BlobIdentity, at place: BlobPlace
  ) throws(StoreError) -> BlobFrameReader {
    if let segment = segment(place.segment) {
      return BlobFrameReader(
        identity, at: place, in: segment, of: files.medium, seed: files.seed, crew: files.crew)
    }
    return try files.reader(of: identity, at: place)
  }

  /// Copies the bytes of a segment before `end` into another directory.
  ///
  /// - Throws: as `BlobSegment.copy`; `.missing`.
  func copy(
    _ number: UInt32, through end: UInt64, to target: any FileSystem,
    _ monitor: BackupMonitor
  ) throws(StoreError) {
    guard let segment = segment(number) else {
      throw .missing(path: "\(files.medium.path)/\(FileName.blobs(number))")
    }
    try segment.copy(through: end, to: target, monitor)
  }

  /// The bytes of a segment's file.
  ///
  /// - Throws: `.missing` if it was not open; `.io`.
  func size(of number: UInt32) throws(StoreError) -> UInt64 {
    guard let segment = segment(number) else {
      throw .missing(path: "\(files.medium.path)/\(FileName.blobs(number))")
    }
    return UInt64(clamping: try segment.file.size(at: .blobSegmentOpen))
  }

  private func segment(_ number: UInt32) -> BlobSegment? {
    var (low, high) = (0, segments.count)
    while low < high {
      let middle = (low + high) / 2
      if segments[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return low < segments.count && segments[low].number == number ? segments[low] : nil
  }
}
