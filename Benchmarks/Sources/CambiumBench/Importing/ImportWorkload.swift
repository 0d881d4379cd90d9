import ArgumentParser

/// An import of records of which every second one is in the store already. Times are per imported record.
enum ImportWorkload: String, CaseIterable, ExpressibleByArgument {
  /// Those that are stored differ from those that are imported, so each of them is written.
  case changed
  /// Those that are stored are as they are imported, as when a source is imported again.
  case unchanged

  /// The goal: the ratio of SQLite's time to Cambium's.
  static let goal = 2.0

  func items(_ dataset: ImportDataset) -> [Item] {
    switch self {
    case .changed: dataset.changed
    case .unchanged: dataset.unchanged
    }
  }

  /// The digest of all records after the import.
  func expected(_ dataset: ImportDataset) -> ItemDigest {
    switch self {
    case .changed: dataset.expectedChanged
    case .unchanged: dataset.expectedUnchanged
    }
  }
}

/// The records that are stored, and those that are imported: the same for each engine.
struct ImportDataset: Sendable {
  /// Half of the records, in random order.
  let stored: [Item]
  /// All of them, in another order; those that are stored have changed.
  let changed: [Item]
  /// The same without the changes.
  let unchanged: [Item]
  let expectedChanged: ItemDigest
  let expectedUnchanged: ItemDigest
  /// The bytes of the values of all records.
  let byteCount: Int

  init(count: Int, seed: UInt64) {
    let dataset = ItemDataset(.random, count: count, fetches: 0, seed: seed)
    let updates = Dictionary(
      dataset.updates.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    var random = SplitMix64(seed: seed &+ 1)
    unchanged = dataset.items.shuffled(using: &random)
    changed = unchanged.map { updates[$0.id] ?? $0 }
    stored = dataset.items.filter { updates[$0.id] != nil }
    expectedChanged = dataset.expected.updated
    expectedUnchanged = dataset.expected.inserted
    byteCount = dataset.byteCount
  }
}

enum ImportEngineName: String, CaseIterable, ExpressibleByArgument {
  case cambium
  case sqlite

  func makeEngine(directory: String, _ options: RecordOptions) -> any ImportEngine {
    switch self {
    case .cambium: CambiumRecordEngine(directory: directory, options: options)
    case .sqlite: SQLiteImportEngine(directory: directory, options: options)
    }
  }

  func promise(of durability: CommitDurability) -> String {
    switch self {
    case .cambium: CambiumRecordEngine.promise(of: durability)
    case .sqlite: GRDBRecordEngine.promise(of: durability)
    }
  }
}

/// An engine that imports records into a store in an empty directory of its own.
protocol ImportEngine: AnyObject {
  /// Opens the store, and creates it if there is none.
  func open() throws

  /// Pays all debts, and releases the resources of `open`.
  func close() throws

  /// Inserts new records in one transaction.
  func insert(_ items: ArraySlice<Item>) throws

  /// Inserts records, or replaces those with their keys, in one transaction.
  func importItems(_ items: [Item], _ workload: ImportWorkload) throws

  func scan(_ body: (Item) throws -> Void) throws
}
