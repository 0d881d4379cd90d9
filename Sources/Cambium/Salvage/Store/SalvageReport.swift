/// The choices of a salvage.
public struct SalvageOptions: Sendable {
  /// Which records are copied.
  public enum Extent: Hashable, Sendable {
    /// The newest state. In place of pages that are damaged or gone, records with keys in the same ranges are taken from any
    /// other pages. Some may be older versions of records, or records that were deleted; the report says how many were found.
    case everything
    /// The newest state, without its damaged parts.
    case newestState
    /// The newest state of which nothing is damaged. Later commits are lost.
    case wholeState
  }

  /// The records that are copied.
  public var extent = Extent.everything
  /// The descriptions of the store's versions, used if those in the store are lost.
  public var schema: SchemaLock?
  /// The collations by which the store's indexes are sorted.
  public var collations: [Collation] = []

  /// Creates options that copy everything there is.
  public init() {}
}

/// The parts that a salvage copied, and those that are missing in the copy.
public struct SalvageReport: Hashable, Sendable {
  /// The number of the last commit that is in the copy as a whole, if nothing was lost.
  public internal(set) var sequence: UInt64 = 0
  /// The number of the last commit that was found to have existed.
  package internal(set) var newestSequence: UInt64 = 0
  /// The number of records in the copy, by stored name.
  public internal(set) var records: [String: Int] = [:]
  /// Ranges of keys whose pages are damaged or gone, by tree and in the order of keys.
  public internal(set) var losses: [Loss] = []
  /// Records that were read, but cannot be in a store.
  public internal(set) var omissions: [Omission] = []
  /// Records that do not exist in the copy although others lead to them, at most a thousand. The references are kept: the
  /// copy knows that these records are lost.
  public internal(set) var missing: [MissingRecord] = []
  /// How many blobs records have that cannot be read. All others were copied.
  package internal(set) var damagedBlobs = 0
  /// The part of the log after its damage, which has commits that may be missing in the copy; nil if there is none.
  public internal(set) var unreadLog: UnreadLog?
  /// All other faults of the damaged store, which did not hinder the salvage: of logs, headers, the history.
  public internal(set) var faults: [StoreError] = []
  /// The faults that the deep check finds in the copy.
  public internal(set) var remainingFaults: [StoreError] = []

  /// True if the copy has everything that the newest state had.
  public var isWhole: Bool {
    losses.isEmpty && omissions.isEmpty && missing.isEmpty && damagedBlobs == 0
      && remainingFaults.isEmpty && sequence >= newestSequence
      && !(unreadLog?.wasFlushed ?? false)
  }

  /// Keys whose pages are damaged or gone.
  public struct Loss: Hashable, Sendable {
    /// The stored name of the record; nil if the keys are of something else that the store keeps.
    public let record: String?
    /// The name of the tree, as in `FORMAT.md`.
    public let tree: String
    /// The lowest key that may be lost, as text; nil for the first of all.
    public let from: String?
    /// The first key above those that may be lost, as text; nil if there is none.
    public let to: String?
    /// The number of records that were there; nil if that is not known.
    public let count: Int?
    /// How many of them were found in pages to which nothing leads. They may be older versions, and some may have been deleted.
    public let found: Int
    /// The fault of the page.
    public let error: StoreError
  }

  /// The part of the log after a damaged frame. A commit means something only after those before it, so none of its commits
  /// is in the copy.
  public struct UnreadLog: Hashable, Sendable {
    /// The number of bytes from the damage to the end of the last commit.
    public let byteCount: Int
    /// The number of commits that are missing, as far as the undamaged ones among them tell by their numbers; 0 if none of
    /// them is undamaged.
    public let commitCount: Int
    /// True if the damaged bytes were flushed, so that durable commits are missing. Otherwise a process that was killed may
    /// have left them, and opening the store would have cut them off.
    package let wasFlushed: Bool
  }

  /// A record that was read and is not in the copy.
  public struct Omission: Hashable, Sendable {
    /// The stored name of the record.
    public let record: String
    /// Its primary key as text.
    public let key: String
    /// The reason for which it is not in the copy.
    public let error: StoreError
  }

  /// A record that others lead to, and that is lost.
  public struct MissingRecord: Hashable, Sendable {
    /// The stored name of the record.
    public let record: String
    /// Its primary key as text.
    public let key: String
  }
}

extension SalvageReport.Loss: CustomStringConvertible {
  /// The loss as a sentence.
  public var description: String {
    let name = record ?? "the tree \(tree)"
    let range: String =
      switch (from, to) {
      case (nil, nil): "all keys"
      case (let from?, nil): "keys from \(from) on"
      case (nil, let to?): "keys below \(to)"
      case (let from?, let to?): "keys from \(from) up to, not including, \(to)"
      }
    let there = count.map { "\($0) were there" } ?? "how many were there is not known"
    return "\(name), \(range): \(there), \(found) found in pages by themselves: \(error)"
  }
}

extension SalvageReport.UnreadLog: CustomStringConvertible {
  /// The unread part as a sentence.
  public var description: String {
    "the log cannot be read for its last \(byteCount) bytes: \(commitCount) commits or more"
      + (wasFlushed ? " are missing" : ", which were not flushed, may be missing")
  }
}

extension SalvageReport.Omission: CustomStringConvertible {
  /// The record and the reason, as a sentence.
  public var description: String { "\(record) \(key) was left out: \(error)" }
}

extension SalvageReport.MissingRecord: CustomStringConvertible {
  /// The record, as a sentence.
  public var description: String { "\(record) \(key) is lost, and others lead to it" }
}
