import ArgumentParser
import BenchmarkReport

/// The work on a store of records while the clock runs. Times are per record.
enum RecordWorkload: String, CaseIterable, ExpressibleByArgument, Codable {
  /// New records into an empty store, each in a transaction of its own.
  case insertEach = "insert-each"
  /// The same where the engine does not have to look whether they are new.
  case saveEach = "save-each"
  /// New records into an empty store, in one transaction.
  case insertOnce = "insert-once"
  /// New records into an empty store, so many in a transaction.
  case insertBatches = "insert-batches"
  /// Records by key, in random order, all from one state.
  case fetch = "fetch"
  /// Records by key, in random order, each from the newest state.
  case fetchEach = "fetch-each"
  case scan = "scan"
  /// Half of the records, in random order, so many in a transaction.
  case update = "update"
  /// The same.
  case delete = "delete"

  /// True if it begins with an empty store.
  var isInsertion: Bool {
    switch self {
    case .insertEach, .saveEach, .insertOnce, .insertBatches: true
    case .fetch, .fetchEach, .scan, .update, .delete: false
    }
  }

  var isReading: Bool { self == .fetch || self == .fetchEach || self == .scan }

  /// True if all debts are paid within the clock: where many records are written.
  var isClosing: Bool { !isReading }

  func summary(batch: Int) -> String {
    let size = Figures.grouped(batch)
    return switch self {
    case .insertEach: "insert, one by one"
    case .saveEach: "save, one by one"
    case .insertOnce: "insert, one transaction"
    case .insertBatches: "insert, \(size) a transaction"
    case .fetch: "fetch by key"
    case .fetchEach: "fetch by key, each its own read"
    case .scan: "scan, typed"
    case .update: "update half, \(size) a transaction"
    case .delete: "delete half, \(size) a transaction"
    }
  }
}

/// How much of it there is.
struct RecordWorkloadSize: Sendable {
  /// Records in a transaction.
  let batch: Int
  /// Records that are written one by one, at most.
  let singles: Int
}

extension RecordWorkload {
  func operationCount(in dataset: ItemDataset, _ size: RecordWorkloadSize) -> Int {
    switch self {
    case .insertEach, .saveEach: min(dataset.items.count, size.singles)
    case .insertOnce, .insertBatches, .scan: dataset.items.count
    case .fetch, .fetchEach: dataset.fetched.count
    case .update: dataset.updates.count
    case .delete: dataset.deletions.count
    }
  }

  /// Does it, on a store that is open; returns the records read, if any.
  func run(
    _ dataset: ItemDataset, _ size: RecordWorkloadSize, on engine: any RecordEngine
  ) throws -> ItemDigest? {
    switch self {
    case .insertEach: try engine.insertEach(dataset.items.prefix(size.singles))
    case .saveEach: try engine.saveEach(dataset.items.prefix(size.singles))
    case .insertOnce: try engine.insert(dataset.items[...])
    case .insertBatches: try dataset.items.inBatches(of: size.batch) { try engine.insert($0) }
    case .fetch: return try engine.fetch(dataset.fetched)
    case .fetchEach: return try engine.fetchEach(dataset.fetched)
    case .scan:
      var digest = ItemDigest()
      try engine.scan { item in digest.add(item) }
      return digest
    case .update: try dataset.updates.inBatches(of: size.batch) { try engine.update($0) }
    case .delete: try dataset.deletions.inBatches(of: size.batch) { try engine.delete($0) }
    }
    return nil
  }

  /// The digest of the right answers; for writes, of all records afterwards, with every byte.
  func expected(in dataset: ItemDataset, _ size: RecordWorkloadSize) -> ItemDigest {
    switch self {
    case .fetch, .fetchEach: return dataset.expected.fetched
    case .scan: return dataset.expected.scanned
    case .insertOnce, .insertBatches: return dataset.expected.inserted
    case .update: return dataset.expected.updated
    case .delete: return dataset.expected.remaining
    case .insertEach, .saveEach:
      var digest = ItemDigest()
      for item in dataset.items.prefix(size.singles) { digest.addAll(of: item) }
      return digest
    }
  }
}

extension [Item] {
  fileprivate func inBatches(of size: Int, _ body: (ArraySlice<Item>) throws -> Void) rethrows {
    for start in stride(from: 0, to: count, by: size) {
      try body(self[start..<Swift.min(start + size, count)])
    }
  }
}
