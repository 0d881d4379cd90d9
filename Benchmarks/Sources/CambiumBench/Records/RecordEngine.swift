import FoundationEssentials

/// A store of records after one engine, in an empty directory of its own, as its users write for it. Calls
/// come from one thread.
protocol RecordEngine: AnyObject {
  static var version: String { get }

  /// The promise of a write when it returns.
  static func promise(of durability: CommitDurability) -> String

  /// Prepares without touching the disk.
  init(directory: String, options: RecordOptions) throws

  /// Opens the store, and creates it if there is none.
  func open() throws

  /// Pays all debts, so that everything would survive a power cut and nothing is left to be done, and releases
  /// all that `open` took. Also when nothing is open.
  func close() throws

  /// Inserts new records, each in a transaction of its own.
  func insertEach(_ items: ArraySlice<Item>) throws

  /// Saves records, each in a transaction of its own, whether or not there is one with its key: there is none.
  func saveEach(_ items: ArraySlice<Item>) throws

  /// Inserts new records in one transaction.
  func insert(_ items: ArraySlice<Item>) throws

  /// Replaces records in one transaction.
  func update(_ items: ArraySlice<Item>) throws

  /// Deletes records in one transaction.
  func delete(_ items: ArraySlice<Item>) throws

  /// Fetches records by key, all from one state.
  func fetch(_ ids: [UUID]) throws -> ItemDigest

  /// Fetches records by key, each from the newest state.
  func fetchEach(_ ids: [UUID]) throws -> ItemDigest

  /// Calls `body` with every record, in the order that is the engine's fastest.
  func scan(_ body: (Item) throws -> Void) throws
}

/// How a store of records is made.
struct RecordOptions: Sendable {
  let durability: CommitDurability
  let indexes: RecordIndexes
  /// Of the records' values, that will ever be in it.
  let byteCount: Int
  /// How long a relaxed write may wait for its flush, where an engine lets one say so.
  let relaxedDelay: Duration
}
