internal import Synchronization

/// Keeps the files of a store's blobs, on a medium.
final class BlobKeeper<Medium: FileSystem>: BlobKeeping {
  private let files: BlobFiles<Medium>
  private let removals = Atomic(0)
  private let random: @Sendable () -> UInt64

  /// - Parameters:
  ///   - number: Of the first segment to be made: above all that there ever were.
  ///   - random: Where identities come from.
  init(_ files: BlobFiles<Medium>, random: @escaping @Sendable () -> UInt64) {
    self.files = files
    self.random = random
  }

  var seed: BlobSeed { files.seed }
  var removalCount: Int { removals.load(ordering: .acquiring) }
  var pinnedSegments: [UInt32] { files.pinnedSegments }
  var openSegments: [UInt32] { files.openSegments.map(\.number) }

  func retire(_ segment: UInt32) -> Bool { files.retire(segment) }

  func located() -> any BlobLocating { LocatedSegments(files) }

  func makeStream(_ compression: BlobCompression, isHashed: Bool) -> any BlobWriting {
    let identity = BlobIdentity(low: random(), high: random())
    return files.makeStream(identity, compression, isHashed: isHashed)
  }

  func checkOpen() throws(StoreError) { try files.gate.check() }
  func close() { files.gate.close() }

  func sync(_ places: [BlobPlace]) throws(StoreError) { try files.sync(places) }

  func copy(_ identity: BlobIdentity, from place: BlobPlace) throws(StoreError) -> BlobContent {
    try files.copy(identity, from: place)
  }

  func open(_ segments: [UInt32]) throws(StoreError) { try files.open(segments) }
  func release(but segments: [UInt32]) { files.release(but: segments) }
  func size(of segment: UInt32) throws(StoreError) -> UInt64 { try files.size(of: segment) }

  func goOn(in segment: UInt32, end: UInt64) throws(StoreError) {
    try files.goOn(in: segment, end: end)
  }

  func remove(_ segment: UInt32) throws(StoreError) -> Bool {
    guard files.retire(segment) else { return false }
    // Said before: who takes a state meanwhile takes it again.
    removals.add(1, ordering: .acquiringAndReleasing)
    try files.remove(segment)
    return true
  }
}

extension FileSystem {
  /// The blob segments that have files, ascending.
  func blobSegments() throws(StoreError) -> [UInt32] {
    var numbers: [UInt32] = []
    for name in try list(at: .directoryList) {
      if case .blobs(let number) = name.kind, !name.isTemporary { numbers.append(number) }
    }
    return numbers.sorted()
  }
}

/// The segments that were open when a state was taken.
private final class LocatedSegments<Medium: FileSystem>: BlobLocating {
  private let files: BlobFiles<Medium>
  /// Ascending by number.
  private let segments: [BlobSegment<Medium>]

  init(_ files: BlobFiles<Medium>) {
    self.files = files
    segments = files.openSegments
  }

  func reader(
    of identity: BlobIdentity, at place: BlobPlace
  ) throws(StoreError) -> any CheckedBlobReading {
    if let segment = segment(place.segment) {
      return BlobFrameReader(
        identity, at: place, in: segment, of: files.medium, seed: files.seed, crew: files.crew)
    }
    return try files.reader(of: identity, at: place)
  }

  func copy<Target: FileSystem>(
    _ number: UInt32, through end: UInt64, to target: Target,
    _ monitor: BackupMonitor
  ) throws(StoreError) {
    guard let segment = segment(number) else {
      throw .missing(path: "\(files.medium.path)/\(FileName.blobs(number))")
    }
    try segment.copy(through: end, in: files.medium, to: target, monitor)
  }

  private func segment(_ number: UInt32) -> BlobSegment<Medium>? {
    var (low, high) = (0, segments.count)
    while low < high {
      let middle = (low + high) / 2
      if segments[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return low < segments.count && segments[low].number == number ? segments[low] : nil
  }
}
