/// A store after one engine, in an empty directory of its own, on one thread.
///
/// A workload is one call, so calling through the protocol costs nothing that an operation would
/// notice. Results go into a `Digest`, in the order asked; the caller compares it. The
/// lists outlive the call, and the store is open, except where said.
protocol Engine: AnyObject {
  /// The library's own version.
  static var version: String { get }

  /// Prepares without touching the disk.
  init(directory: String, shape: StoreShape) throws

  /// Creates the store, puts all entries in, and returns once they would survive a power cut.
  func load(_ entries: EntryList, arriving order: Arrival) throws

  /// Opens the loaded store for reading, in one snapshot. The first reads after it are measured
  /// together with it.
  func open() throws

  /// Releases all that `load` or `open` took. Nothing needs to be written any more. Also when
  /// nothing is open.
  func close()

  /// Looks up each key by itself, and adds its value or a miss.
  func pointReads(_ keys: ByteList) throws -> Digest

  /// Looks up `size` keys at a time (the last batch may be smaller) and adds, for each key, its
  /// value or a miss. An engine without such a call looks them up one by one.
  func batchReads(_ keys: ByteList, of size: Int) throws -> Digest

  /// Adds the `length` entries, keys and values, from each key on, or as many as there are.
  func ranges(from keys: ByteList, of length: Int) throws -> Digest

  /// Adds all entries, keys and values, in key order.
  func scan() throws -> Digest
}

/// The facts that an engine may know beforehand, for its settings.
struct StoreShape: Sendable {
  let keys: KeyShape
  /// Of all keys and values together.
  let byteCount: Int
}

/// The order in which entries come.
enum Arrival: Sendable {
  case sorted
  case shuffled
}

/// An engine refused.
struct EngineError: Error, CustomStringConvertible {
  let engine: EngineName
  let call: String
  let message: String

  var description: String { "\(engine.rawValue): \(call): \(message)" }
}
