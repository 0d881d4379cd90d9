import ArgumentParser

/// The measured work. Times are per operation: an entry, a key that is looked up, or a range.
enum Workload: String, CaseIterable, ExpressibleByArgument, Codable {
  case loadSorted = "load-sorted"
  case loadShuffled = "load-shuffled"
  /// Opening, and the first pass of point reads after it: pages come into the address space and are
  /// verified where an engine does that.
  case firstReads = "first-reads"
  case pointReadHits = "point-read-hits"
  case pointReadMisses = "point-read-misses"
  /// 16 point reads asked at once.
  case batchReads = "batch-reads"
  /// Ten entries from a key on.
  case ranges = "ranges"
  case scan = "scan"

  var isLoad: Bool { self == .loadSorted || self == .loadShuffled }

  /// The promise that holds when the clock stops.
  var durability: Durability { isLoad ? .flushed : .read }

  var summary: String {
    switch self {
    case .loadSorted: "load sorted"
    case .loadShuffled: "load shuffled"
    case .firstReads: "first point reads"
    case .pointReadHits: "point read, hit"
    case .pointReadMisses: "point read, miss"
    case .batchReads: "point read, \(Dataset.batchSize) at a time"
    case .ranges: "range of \(Dataset.rangeLength)"
    case .scan: "full scan"
    }
  }
}

enum Durability: String, Codable {
  /// All of it would survive a power cut.
  case flushed
  /// Nothing is written.
  case read
}

extension Workload {
  /// How many operations one round of it has.
  func operationCount(in dataset: Dataset) -> Int {
    switch self {
    case .loadSorted, .loadShuffled, .scan: dataset.sorted.count
    case .firstReads, .pointReadHits, .batchReads: dataset.hits.keys.count
    case .pointReadMisses: dataset.misses.keys.count
    case .ranges: dataset.ranges.keys.count
    }
  }

  /// The digest of the right answers; for loads, of the entries that a scan must find afterwards.
  func expectedDigest(in dataset: Dataset) -> Digest {
    switch self {
    case .loadSorted, .loadShuffled, .scan: dataset.everything
    case .firstReads, .pointReadHits, .batchReads: dataset.hits.expected
    case .pointReadMisses: dataset.misses.expected
    case .ranges: dataset.ranges.expected
    }
  }
}
