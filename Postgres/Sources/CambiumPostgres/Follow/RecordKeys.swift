import Cambium
import FoundationEssentials

extension TablePlan {
  /// The columns of the primary key.
  var keyColumns: [ColumnPlan] { Array(columns.prefix(key.count)) }

  /// Returns a key as the rows of the table have it: each part with its length.
  func keyBytes(_ key: [FieldValue], dates: DateForm) -> [UInt8] {
    var encoder = ValueEncoder(dates: dates)
    for (column, value) in zip(keyColumns, key) {
      guard case .value(_, let scalar) = column.source else { continue }
      encoder.append(value, of: scalar)
    }
    return encoder.bytes
  }
}

extension StoreSnapshot {
  /// Returns the record with a key; nil if there is none.
  func fetch(record name: String, keyParts key: [FieldValue]) throws -> DynamicRecord? {
    switch key.count {
    case 1: try fetch(record: name, key: key[0])
    case 2: try fetch(record: name, key: key[0], key[1])
    case 3: try fetch(record: name, key: key[0], key[1], key[2])
    case 4: try fetch(record: name, key: key[0], key[1], key[2], key[3])
    default: try find(record: name, keyParts: key)
    }
  }

  /// As `fetch`, for keys of any number of parts.
  private func find(record name: String, keyParts key: [FieldValue]) throws -> DynamicRecord? {
    guard let schema = schema.record(named: name) else { return nil }
    let terms = zip(schema.primaryKey, key).compactMap { part, value in
      schema.field(part.field).map { FieldCondition.comparison(field: $0.name, .equal, value) }
    }
    var found: DynamicRecord?
    try forEach(record: name, where: .and(terms), limit: 1) { found = $0 }
    return found
  }
}

/// The records that commits have changed, by the stored names of their types.
struct ChangedKeys {
  private(set) var keys: [String: Set<[FieldValue]>] = [:]
  /// The number of commits, and of changes in them.
  private(set) var commitCount = 0
  private(set) var changeCount = 0
  /// The time of the first commit, in seconds since 2001.
  private(set) var firstDate: Double?

  init() {}

  /// Reads the history after a place.
  ///
  /// - Throws: `MoveError.historyExpired`, `.storeIsOlder`; errors of reading.
  init(since start: HistoryCursor, in snapshot: StoreSnapshot) throws {
    guard snapshot.sequence >= start.sequence else {
      throw MoveError.storeIsOlder(moved: start.sequence, now: snapshot.sequence)
    }
    // The mark of a fence is a commit of its own, the last one, and changes no record: it needs no history.
    if snapshot.sequence == start.sequence + 1, try snapshot.movedTo != nil { return }
    guard let extent = try snapshot.historyExtent, extent.start <= start else {
      throw MoveError.historyExpired(
        sequence: start.sequence, kept: try snapshot.historyExtent?.start.sequence)
    }
    let history = try snapshot.history(since: start)
    var last = start.sequence
    while let commit = try history.next() {
      if firstDate == nil { firstDate = commit.date.timeIntervalSinceReferenceDate }
      commitCount += 1
      last = commit.sequence
      for change in commit.changes {
        changeCount += 1
        keys[change.record, default: []].insert(change.key)
      }
    }
    // A commit that is not in it was made by a process that keeps no history.
    guard last == snapshot.sequence else {
      throw MoveError.historyExpired(sequence: start.sequence, kept: snapshot.sequence)
    }
  }
}
