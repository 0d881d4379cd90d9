/// A part of a commit in the history, put together: the first says when the commit was made and by whom, and
/// all have changes, one behind the other. `FORMAT.md`, “History”, has it byte by byte.
struct HistoryPart {
  private(set) var bytes: [UInt8] = []

  /// The size from which on the next change goes into a part of its own.
  static var sizeMax: Int { 64 << 10 }
  /// Rows that are longer are not kept: with what belongs to them they would be longer than a value may be.
  static var oldRowMax: Int { 8 << 20 }

  /// The beginning of a commit.
  ///
  /// - Parameter date: In seconds since 2001-01-01 00:00:00 UTC.
  init(date: Double, author: String?) {
    bytes.append(integer: date.bitPattern)
    bytes.append(author == nil ? 0 : 1)
    if let author { bytes.append(bytes32: Array(author.utf8).rawSpan) }
  }

  /// A part behind the first.
  init() {}

  /// - Parameter old: The row that is not there any more, if it is to be kept.
  mutating func append(
    _ kind: HistoryKind, record: UInt32, version: UInt32, key: [UInt8], old: [UInt8]?
  ) {
    let kept = old.flatMap { $0.count <= Self.oldRowMax ? $0 : nil }
    bytes.append(kind.rawValue)
    bytes.append(kept == nil ? 0 : 1)
    bytes.append(integer: UInt16(key.count))
    bytes.append(integer: record)
    bytes.append(integer: version)
    bytes.append(contentsOf: key)
    if let kept { bytes.append(bytes32: kept.rawSpan) }
  }
}

extension [UInt8] {
  /// Appends bytes behind their length.
  fileprivate mutating func append(bytes32 run: RawSpan) {
    append(integer: UInt32(run.byteCount))
    append(run)
  }
}

/// Reads a part of a commit, front to back.
struct HistoryPartReader: ~Escapable {
  private var reader: ByteReader

  @_lifetime(copy bytes)
  init(_ bytes: RawSpan, key: HistoryKey) {
    reader = ByteReader(
      bytes, at: .entry(tree: HistoryKey.treeName, key: key.bytes), invariant: .history)
  }

  /// Reads the date and author, with which the first part begins.
  ///
  /// - Throws: `.corrupt` (H1), as all do.
  mutating func commit() throws(StoreError) -> (date: Double, author: String?) {
    let date = Double(bitPattern: try reader.integer(UInt64.self))
    switch try reader.integer(UInt8.self) {
    case 0: return (date, nil)
    case 1: break
    case let other: throw reader.fault("a byte that says whether there is an author is \(other)")
    }
    let count = Int(try reader.integer(UInt32.self))
    guard let author = String(utf8: try reader.run(count)) else {
      throw reader.fault("an author is not UTF-8")
    }
    return (date, author)
  }

  /// The next change; nil after the last.
  mutating func next() throws(StoreError) -> StoredChange? {
    if reader.remaining == 0 { return nil }
    let code = try reader.integer(UInt8.self)
    guard let kind = HistoryKind(rawValue: code) else { throw reader.fault("a change is \(code)") }
    let hasOld = try reader.integer(UInt8.self)
    guard hasOld <= 1, kind != .inserted || hasOld == 0 else {
      throw reader.fault("a byte that says whether there is an old row is \(hasOld)")
    }
    let keyCount = Int(try reader.integer(UInt16.self))
    let record = try reader.integer(UInt32.self)
    let version = try reader.integer(UInt32.self)
    let key = try reader.run(keyCount).array()
    var old: [UInt8]?
    if hasOld == 1 {
      let count = Int(try reader.integer(UInt32.self))
      old = try reader.run(count).array()
    }
    return StoredChange(kind: kind, record: record, version: version, key: key, old: old)
  }
}

/// A change as the history has it.
struct StoredChange: Hashable {
  let kind: HistoryKind
  /// The record's number.
  let record: UInt32
  /// The schema version that key and row are of.
  let version: UInt32
  let key: [UInt8]
  /// The row that was there, where it is kept.
  let old: [UInt8]?
}

/// The key of a part of a commit in the history: its number and the part's, big-endian.
///
/// The entry with the empty key says up to which commit the history is not there.
struct HistoryKey: Hashable {
  let sequence: UInt64
  let part: UInt32

  static var size: Int { 12 }

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(integer: sequence.byteSwapped)
    bytes.append(integer: part.byteSwapped)
    return bytes
  }

  init(sequence: UInt64, part: UInt32) {
    self.sequence = sequence
    self.part = part
  }

  /// - Throws: `.corrupt` (H1).
  init(_ bytes: RawSpan) throws(StoreError) {
    guard bytes.byteCount == Self.size else {
      throw .historyFault(bytes, "its key is \(bytes.byteCount) bytes")
    }
    sequence = bytes.load(0, as: UInt64.self).byteSwapped
    part = bytes.load(8, as: UInt32.self).byteSwapped
    guard sequence > 0 else { throw .historyFault(bytes, "it is of commit 0") }
  }

  /// The tree of the history.
  static var treeName: String { "history" }
}

extension StoreError {
  /// Returns the error for an entry of the history that breaks a rule.
  static func historyFault(_ key: RawSpan, _ reason: String) -> StoreError {
    .corrupt(
      .entry(tree: HistoryKey.treeName, key: key.array()), invariant: .history, reason: reason)
  }
}

/// The change of a record by a commit.
enum HistoryKind: UInt8 {
  case inserted = 1
  case updated = 2
  case deleted = 3
}
