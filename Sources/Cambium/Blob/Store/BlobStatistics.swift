/// The number and size of a store's blobs. Values that lie in their rows are none of them.
public struct BlobStatistics: Hashable, Sendable {
  /// The number of blobs that records refer to, or that are kept with states from before migrations.
  public internal(set) var count = 0
  /// The bytes of their contents.
  public internal(set) var contentBytes = 0
  /// The bytes that they take on disk, compressed.
  public internal(set) var storedBytes = 0
  /// The bytes of contents that are saved by storing equal blobs once.
  package internal(set) var sharedBytes = 0
  /// The files of blobs, by number.
  package internal(set) var segments: [Segment] = []

  /// One file of blobs.
  package struct Segment: Hashable, Sendable {
    /// The number of the file, which is in its name.
    package let number: Int
    /// The size of the file in bytes.
    package let size: Int
    /// The bytes in it that blobs take.
    package let storedBytes: Int

    /// The bytes that collection would reclaim: of blobs that are deleted, or that were never put into a record.
    package var garbageBytes: Int { max(0, size - BlobLayout.firstOffset - storedBytes) }
  }

  /// The bytes that collection would reclaim in all files.
  public var garbageBytes: Int { segments.reduce(0) { $0.clampedSum($1.garbageBytes) } }
}

extension PersistentStore {
  /// Returns the number and size of the store's blobs.
  ///
  /// ```swift
  /// print(try store.blobStatistics().garbageBytes)
  /// ```
  ///
  /// - Complexity: O(blobs).
  /// - Throws: `StoreError.corrupt`, `.io`, `.closed`, `.forked`.
  public func blobStatistics() throws(StoreError) -> BlobStatistics {
    let trees = try backend.trees()
    var statistics = BlobStatistics()
    guard let keeper = backend.blobs.keeper else { return statistics }
    try entities.blobs.forEach(in: trees) { _, entry in
      statistics.add(entry)
      return true
    }
    var stored: [UInt32: UInt64] = [:]
    for (segment, account) in try entities.blobs.accounts(in: trees) {
      stored[segment] = account.live
    }
    for segment in Set(keeper.openSegments).union(stored.keys).sortedRarely() {
      statistics.segments.append(
        BlobStatistics.Segment(
          number: Int(segment), size: Int(clamping: try keeper.size(of: segment)),
          storedBytes: Int(clamping: stored[segment] ?? 0)))
    }
    return statistics
  }
}

extension BlobStatistics {
  fileprivate mutating func add(_ entry: BlobEntry) {
    count += 1
    let length = Int(clamping: entry.place.length)
    contentBytes = contentBytes.clampedSum(length)
    storedBytes = storedBytes.clampedSum(Int(clamping: entry.place.size))
    guard entry.references > 1 else { return }
    let (shared, overflows) = length.multipliedReportingOverflow(
      by: Int(clamping: entry.references - 1))
    sharedBytes = sharedBytes.clampedSum(overflows ? .max : shared)
  }
}

extension Int {
  /// The sum, or the highest number there is: damaged numbers may be anything.
  fileprivate func clampedSum(_ other: Int) -> Int {
    let (sum, overflows) = addingReportingOverflow(other)
    return overflows ? .max : sum
  }
}
