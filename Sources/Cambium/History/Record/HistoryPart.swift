/// A part of a commit in the history, put together: the first says when the commit was made and by whom, and
/// all have changes, one after the other. `FORMAT.md`, “History”, has it byte by byte.
struct HistoryPart {
  private(set) var bytes: [UInt8] = []

  /// The size from which on the next change goes into a part of its own.
  static var sizeMax: Int { 64 << 10 }
  /// Old rows that are longer follow in parts of their own, in pieces of this size: with the rest of a part, a row could be
  /// longer than a value may be.
  static var oldRowMax: Int { 8 << 20 }
  /// The first byte of a piece, where other parts have the kind of a change.
  static var piece: UInt8 { 4 }

  /// The beginning of a commit.
  ///
  /// - Parameter date: In seconds since 2001-01-01 00:00:00 UTC.
  init(date: Double, author: String?) {
    bytes.append(integer: date.bitPattern)
    bytes.append(author == nil ? 0 : 1)
    if let author { bytes.append(bytes32: Array(author.utf8).rawSpan) }
  }

  /// A part after the first.
  init() {}

  /// Creates a part that is a piece of the old row of the change before.
  init(piece: ArraySlice<UInt8>) {
    bytes.reserveCapacity(piece.count + 1)
    bytes.append(Self.piece)
    bytes.append(contentsOf: piece)
  }

  /// Appends a change.
  ///
  /// - Parameter old: The row that is not there any more, if it is to be kept.
  /// - Returns: The pieces of the old row that have to follow this part; none if the row is in it.
  @discardableResult
  mutating func append(
    _ kind: HistoryKind, record: UInt32, version: UInt32, key: [UInt8], old: [UInt8]?
  ) -> [HistoryPart] {
    let isApart = (old?.count ?? 0) > Self.oldRowMax
    bytes.append(kind.rawValue)
    bytes.append(old == nil ? 0 : isApart ? 2 : 1)
    bytes.append(integer: UInt16(key.count))
    bytes.append(integer: record)
    bytes.append(integer: version)
    bytes.append(contentsOf: key)
    guard let old else { return [] }
    guard isApart else {
      bytes.append(bytes32: old.rawSpan)
      return []
    }
    bytes.append(integer: UInt32(old.count))
    return stride(from: 0, to: old.count, by: Self.oldRowMax).map { start in
      HistoryPart(piece: old[start..<Swift.min(start + Self.oldRowMax, old.count)])
    }
  }
}

extension [UInt8] {
  /// Appends bytes after their length.
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

  /// Returns the bytes of a piece of an old row, if that is what the part is.
  @_lifetime(copy self)
  mutating func piece() throws(StoreError) -> RawSpan? {
    var piece = reader
    guard piece.remaining > 0, try piece.integer(UInt8.self) == HistoryPart.piece else {
      return nil
    }
    reader = piece
    return try reader.run(reader.remaining)
  }

  /// The next change; nil after the last.
  mutating func next() throws(StoreError) -> StoredChange? {
    if reader.remaining == 0 { return nil }
    let code = try reader.integer(UInt8.self)
    guard let kind = HistoryKind(rawValue: code) else { throw reader.fault("a change is \(code)") }
    let hasOld = try reader.integer(UInt8.self)
    guard hasOld <= 2, kind != .inserted || hasOld == 0 else {
      throw reader.fault("a byte that says whether there is an old row is \(hasOld)")
    }
    let keyCount = Int(try reader.integer(UInt16.self))
    let record = try reader.integer(UInt32.self)
    let version = try reader.integer(UInt32.self)
    let key = try reader.run(keyCount).array()
    var change = StoredChange(kind: kind, record: record, version: version, key: key, old: nil)
    if hasOld == 0 { return change }
    let count = Int(try reader.integer(UInt32.self))
    if hasOld == 1 {
      change.old = try reader.run(count).array()
    } else {
      guard reader.remaining == 0 else {
        throw reader.fault("something follows a change whose old row is in other parts")
      }
      change.sizeApart = count
    }
    return change
  }
}

/// A part of a commit as it is stored, with the pieces of an old row after it.
struct StoredHistoryPart {
  /// Those of the part, and of the pieces.
  var keys: [HistoryKey]
  /// The date, in seconds since 2001-01-01 00:00:00 UTC, and the author of the commit, of which this is the first part.
  var commit: (date: Double, author: String?)?
  var changes: [StoredChange] = []
}

extension CursorAccess {
  /// Reads a part of a commit from a history, with the pieces of an old row that follow it, and moves on to the next part.
  ///
  /// - Parameter isOn: True if the cursor is at an entry; false after the last.
  /// - Throws: `.corrupt` (H1), `.io`.
  func readHistoryPart(_ isOn: inout Bool) throws(StoreError) -> StoredHistoryPart {
    let key = try HistoryKey(self.key)
    var part = try storedPart(key)
    isOn = try next()
    guard let size = part.changes.last?.sizeApart else { return part }
    var old: [UInt8] = []
    var last = key
    while old.count < size {
      guard isOn, let piece = try piece(behind: last) else {
        throw .historyFault(last.bytes.rawSpan, "an old row lacks some of its pieces")
      }
      last = HistoryKey(sequence: last.sequence, part: last.part &+ 1)
      part.keys.append(last)
      old += piece
      isOn = try next()
    }
    guard old.count == size else {
      throw .historyFault(last.bytes.rawSpan, "an old row is longer than its change says")
    }
    part.changes[part.changes.count - 1].old = old
    return part
  }

  private func storedPart(_ key: HistoryKey) throws(StoreError) -> StoredHistoryPart {
    var part = StoredHistoryPart(keys: [key])
    var reader = HistoryPartReader(try value(), key: key)
    if key.part == 0 {
      part.commit = try reader.commit()
    } else if try reader.piece() != nil {
      return part
    }
    while let change = try reader.next() { part.changes.append(change) }
    return part
  }

  /// Returns the bytes of the part at the cursor, if it is the next piece of an old row.
  private func piece(behind last: HistoryKey) throws(StoreError) -> [UInt8]? {
    let key = try HistoryKey(self.key)
    guard key.sequence == last.sequence, key.part == last.part &+ 1 else { return nil }
    var reader = HistoryPartReader(try value(), key: key)
    return try reader.piece()?.array()
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
  var old: [UInt8]?
  /// The size of the old row, if it is in parts of its own.
  var sizeApart: Int?
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
