extension Workload {
  /// Does one round of reading on a loaded store.
  func read(_ dataset: Dataset, from engine: any Engine) throws -> Digest {
    switch self {
    case .loadSorted, .loadShuffled:
      preconditionFailure("a load is measured on an empty directory")
    case .firstReads:
      try engine.open()
      return try engine.pointReads(dataset.hits.keys)
    case .pointReadHits:
      return try engine.pointReads(dataset.hits.keys)
    case .pointReadMisses:
      return try engine.pointReads(dataset.misses.keys)
    case .batchReads:
      return try engine.batchReads(dataset.hits.keys, of: Dataset.batchSize)
    case .ranges:
      return try engine.ranges(from: dataset.ranges.keys, of: Dataset.rangeLength)
    case .scan:
      return try engine.scan()
    }
  }

  /// Brings the store into the state that a round of reading is measured from: closed for the first
  /// reads, warm for all others.
  func prepare(_ dataset: Dataset, _ engine: any Engine) throws {
    if self == .firstReads {
      engine.close()
    } else {
      _ = try read(dataset, from: engine)
    }
  }
}
