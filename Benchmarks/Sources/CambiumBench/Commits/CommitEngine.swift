/// A store after one engine, in an empty directory of its own, as its writers use it.
///
/// Calls come from one thread, but for `commit`. The lists outlive the call.
protocol CommitEngine: AnyObject, Sendable {
  /// The library's own version.
  static var version: String { get }

  /// The promise of a commit when it returns.
  static func promise(of durability: CommitDurability) -> String

  /// Prepares without touching the disk.
  init(directory: String, options: CommitOptions) throws

  /// Opens the store, and creates it if there is none.
  func open() throws

  /// Puts the entries at `positions`, whose keys are new, in one transaction, and returns when the promise of
  /// the durability is true.
  ///
  /// - Parameter thread: Of the one that calls: `0..<options.threadCount`, each one call at a time.
  func commit(_ entries: EntryList, at positions: Range<Int>, by thread: Int) throws

  /// Puts all entries into an empty store in one transaction, which survives a power cut, in the way that
  /// is the engine's fastest.
  func load(_ entries: EntryList, arriving order: Arrival) throws

  /// Removes the keys, all of which are there, in one transaction that survives a power cut.
  func remove(_ keys: ByteList) throws

  /// Pays all debts: when it returns, everything would survive a power cut, and nothing is left to be
  /// done in the background.
  func settle() throws

  /// Releases all that `open` took, after `settle`. Also when nothing is open.
  func close()

  /// The bytes written since it was made, by the engine's own count, if it has one.
  var bytesWritten: Int? { get }

  /// The number of entries, counted one by one or read where the engine keeps it.
  func count() throws -> Int

  /// The values of the keys, or misses, in their order.
  func read(_ keys: ByteList) throws -> Digest
}

extension CommitEngine {
  var bytesWritten: Int? { nil }
}

/// The facts that an engine may know beforehand, for its settings.
struct CommitOptions: Sendable {
  let durability: CommitDurability
  let threadCount: Int
  /// Of all keys and values that will ever be in it.
  let byteCount: Int
  /// How long a relaxed commit may wait for its flush, where an engine lets one say so.
  let relaxedDelay: Duration
}
