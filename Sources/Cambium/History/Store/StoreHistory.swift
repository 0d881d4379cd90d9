#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The history of a store after a place, commit by commit.
///
/// ```swift
/// let history = try store.history(since: cursor)
/// while let commit = try history.next() {
///   …
///   cursor = commit.cursor
/// }
/// ```
///
/// It reads one state of the store, and keeps that state alive.
public final class StoreHistory {
  private let source: HistorySource
  private let start: UInt64
  private let entries: CursorAccess
  private var isOn: Bool
  private var layouts: HistoryLayouts

  /// - Throws: `.historyExpired`, `.corrupt`, `.io`.
  init(_ source: HistorySource, since start: HistoryCursor?) throws(StoreError) {
    let slot = source.entities.history
    let floor = try HistoryFloor.find(source.trees, slot) ?? source.sequence
    let since = start?.sequence ?? floor
    guard start?.isOf(source.identity) ?? true, since >= floor, since <= source.sequence else {
      throw .historyExpired(since: since, kept: floor)
    }
    self.source = source
    self.start = since
    layouts = HistoryLayouts(source)
    entries = try source.trees.cursor(in: slot)
    isOn = try entries.seek(to: HistoryKey(sequence: since + 1, part: 0).bytes.rawSpan)
  }

  /// Returns the next commit; nil after the last.
  ///
  /// - Throws: `StoreError.corrupt`, `.io`.
  public func next() throws(StoreError) -> HistoryCommit? {
    guard let commit = try nextStored() else { return nil }
    var changes: [HistoryChange] = []
    for change in commit.changes { changes.append(try read(change)) }
    return HistoryCommit(
      cursor: HistoryCursor(commit.sequence, of: source.identity),
      date: Date(timeIntervalSinceReferenceDate: commit.date), author: commit.author,
      changes: changes)
  }

  /// A commit whose changes were not made into values.
  struct StoredCommit {
    let sequence: UInt64
    var date = 0.0
    var author: String?
    var changes: [PlacedChange] = []
  }

  /// A change, and the entry in which it is.
  struct PlacedChange {
    let change: StoredChange
    let place: HistoryKey
  }

  /// Returns the next commit as it is stored; nil after the last.
  func nextStored() throws(StoreError) -> StoredCommit? {
    guard isOn else { return nil }
    let entries = entries
    var commit = StoredCommit(sequence: try HistoryKey(entries.key).sequence)
    while isOn {
      let key = try HistoryKey(entries.key)
      guard key.sequence == commit.sequence else { break }
      let part = try entries.readHistoryPart(&isOn)
      if let head = part.commit { (commit.date, commit.author) = head }
      commit.changes += part.changes.map { PlacedChange(change: $0, place: key) }
    }
    return commit
  }

  /// Makes the values of a change.
  func read(_ change: PlacedChange) throws(StoreError) -> HistoryChange {
    try layouts.read(change.change, change.place)
  }
}

extension StoreHistory: CustomStringConvertible {
  /// The place that it begins after, and the last commit that it may have.
  public var description: String {
    "history after commit \(start), up to commit \(source.sequence)"
  }
}

/// The state whose history is read.
struct HistorySource {
  let trees: TreeAccess
  let entities: Entities
  let identity: StoreIdentity
  /// The last commit in it.
  let sequence: UInt64
  /// Keeps the state alive.
  private let owner: StoreSnapshot?

  init(_ snapshot: StoreSnapshot) {
    trees = snapshot.trees
    entities = snapshot.entities
    identity = snapshot.identity
    sequence = snapshot.sequence
    owner = snapshot
  }

  /// The commits before a transaction.
  init(_ writer: RecordWriter) {
    trees = .transaction(writer.trees)
    entities = writer.entities
    identity = writer.trees.identity
    sequence = writer.trees.sequence - 1
    owner = nil
  }
}

/// The layouts of the keys and rows of a history, in each version of the model of which it has commits.
private struct HistoryLayouts {
  private let source: HistorySource
  private var layouts: [Place: RowLayout] = [:]

  private struct Place: Hashable {
    let version: UInt32
    let record: UInt32
  }

  init(_ source: HistorySource) {
    self.source = source
  }

  /// - Throws: `.corrupt` where it is of no record, or its key or row is damaged.
  mutating func read(
    _ change: StoredChange, _ place: HistoryKey
  ) throws(StoreError) -> HistoryChange {
    let layout = try layout(of: change, place)
    let kind: HistoryChange.Kind =
      switch change.kind {
      case .inserted: .inserted
      case .updated: .updated
      case .deleted: .deleted
      }
    var old: DynamicRecord?
    if let row = change.old {
      old = try DynamicRecord(
        try RowReader(
          key: change.key.rawSpan, row: row.rawSpan, layout: layout, blobs: blobs(of: layout)))
    }
    return HistoryChange(
      record: layout.record.name, kind: kind, key: try Self.parts(of: change.key, layout), old: old)
  }

  /// Returns a finder of the blobs of old rows, as far as they still exist.
  private func blobs(of layout: RowLayout) throws(StoreError) -> BlobFinder? {
    if layout.external.isEmpty { return nil }
    return source.trees.oldBlobFinder(source.entities.blobs)
  }

  private static func parts(
    of key: [UInt8], _ layout: RowLayout
  ) throws(StoreError) -> [FieldValue] {
    var reader = KeyReader(key.rawSpan, layout: layout)
    var parts: [FieldValue] = []
    for column in layout.key.columns { parts.append(try reader.value(column)) }
    try reader.finish()
    return parts
  }

  private mutating func layout(
    of change: StoredChange, _ place: HistoryKey
  ) throws(StoreError) -> RowLayout {
    let wanted = Place(version: change.version, record: change.record)
    if let known = layouts[wanted] { return known }
    guard let layout = try source.layout(of: change.record, version: change.version) else {
      throw .historyFault(
        place.bytes.rawSpan, "there is no record \(change.record) in version \(change.version)")
    }
    layouts[wanted] = layout
    return layout
  }
}

extension HistorySource {
  /// Returns the layout of a record's rows in a version of the model.
  fileprivate func layout(of record: UInt32, version: UInt32) throws(StoreError) -> RowLayout? {
    if version == entities.schema.version { return entities.entity(number: record)?.layout }
    let schemas = try StoredSchemas(trees, entities.schemas, path: "").all()
    let old = schemas.first { $0.version == version }?.records.first { $0.number == record }
    return try old.map { old throws(StoreError) in try RowLayout(old, version: version) }
  }
}

/// The changes of one commit, as the history has them.
public struct HistoryCommit: Hashable, Sendable {
  /// The place after this commit, to resume from later.
  public let cursor: HistoryCursor
  /// The time of the commit.
  public let date: Date
  /// The author given to `PersistentStore.write`.
  public let author: String?
  /// The changed records, each once, by type and primary key.
  public package(set) var changes: [HistoryChange]

  /// The commit's number.
  public var sequence: UInt64 { cursor.sequence }
}

/// The change of one record by one commit.
public struct HistoryChange: Hashable, Sendable {
  /// The record's stored name, in the version of the model that the commit was made with.
  public let record: String
  /// The kind of the change.
  public let kind: Kind
  /// The parts of the primary key, in its order.
  public let key: [FieldValue]
  /// The record as it was before, if the store keeps old values.
  public let old: DynamicRecord?

  /// The kind of a change of a record.
  public enum Kind: Hashable, Sendable {
    case inserted, updated, deleted
  }
}

/// A place in a store's history, after one commit. It stays valid across restarts, for as long as the history keeps
/// the commits after it.
public struct HistoryCursor: Hashable, Sendable, Codable, Comparable {
  /// The number of the commit before this place.
  public let sequence: UInt64
  /// Which store it is of.
  private let low: UInt64
  private let high: UInt64

  init(_ sequence: UInt64, of identity: StoreIdentity) {
    self.sequence = sequence
    low = identity.low
    high = identity.high
  }

  func isOf(_ identity: StoreIdentity) -> Bool { low == identity.low && high == identity.high }

  /// Compares places in one store.
  public static func < (one: HistoryCursor, other: HistoryCursor) -> Bool {
    one.sequence < other.sequence
  }
}
