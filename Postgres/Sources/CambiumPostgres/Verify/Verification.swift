package import Cambium
import FoundationEssentials

/// The records in which a database differs from a store.
package struct Verification: Sendable, Hashable, Encodable {
  /// The commit of the store that was compared.
  package let sequence: UInt64
  /// The commit that was moved.
  package let movedSequence: UInt64
  package private(set) var recordCount = 0
  /// Ranges of keys whose hashes differ.
  package private(set) var ranges: [Range] = []
  /// The records that differ, at most as many as were asked for.
  package private(set) var differences: [Difference] = []
  package private(set) var differenceCount = 0
  /// The number of records that commits have changed which the database does not have yet. They are not compared.
  package private(set) var pendingCount = 0

  /// Records from one key to another, in the order of keys.
  package struct Range: Sendable, Hashable, Encodable {
    package let record: String
    /// The first and the last key of the store in it; nil if it has none.
    package let first: String?
    package let last: String?
    package let differenceCount: Int
  }

  package struct Difference: Sendable, Hashable, Encodable {
    package enum Kind: String, Sendable, Encodable {
      /// The database does not have the record.
      case missing
      /// Only the database has the record.
      case extra
      /// Both have it, with other values.
      case different
    }

    package let record: String
    package let key: String
    package let kind: Kind
  }

  package var isSame: Bool { differenceCount == 0 }

  /// Compares a state of a store with the tables that it was moved into, at one moment of the database. Ranges of records
  /// are hashed on either side, and only those that differ are compared record by record.
  ///
  /// Records that commits have changed since the one that the database has are left out, if the store keeps a history: so a
  /// store can be compared while it is written and followed.
  ///
  /// - Parameters:
  ///   - snapshot: The state, taken after that of the database.
  ///   - limit: The largest number of differences to list.
  ///   - rangeSize: The number of records of a range.
  /// - Throws: `MoveError`, `PostgresError`; errors of reading the store.
  package init(
    of snapshot: @autoclosure () throws -> StoreSnapshot, identity: String, in address: String,
    listing limit: Int = 20, rangeSize: Int = 1_000
  ) throws {
    let connection = try Connection(address)
    try connection.checkServer()
    try connection.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    guard let state = try MoveState(from: connection) else { throw MoveError.noMove }
    guard state.identity == identity else { throw MoveError.otherStore(found: state.identity) }
    guard state.stage != .copying else { throw MoveError.unfinished }
    let snapshot = try snapshot()
    guard state.fingerprint == "\(snapshot.schema.fingerprint)" else { throw MoveError.otherPlan }
    sequence = snapshot.sequence
    movedSequence = state.sequence
    let plan = PostgresPlan(snapshot.schema, options: state.options)
    var changed = ChangedKeys()
    do {
      if let cursor = state.cursor { changed = try ChangedKeys(since: cursor, in: snapshot) }
    } catch is MoveError {
      // Without a history every difference is one.
    }
    for table in plan.tables {
      let pending = Set(
        (changed.keys[table.record.name] ?? []).map {
          table.keyBytes($0, dates: plan.options.dates)
        })
      pendingCount += pending.count
      var side = StoreRange(table, dates: plan.options.dates)
      let hashes = ServerHashes(table, of: plan, connection)
      func end(isLast: Bool) throws {
        recordCount += side.records.count
        try compare(side, hashes, isLast: isLast, without: pending, limit)
        side.begin()
      }
      try snapshot.forEach(record: table.record.name, stringsAsBlobs: true) { record in
        try side.add(record, without: pending)
        if side.records.count == rangeSize { try end(isLast: false) }
      }
      try end(isLast: true)
    }
    try connection.run("COMMIT")
  }

  private mutating func compare(
    _ side: StoreRange, _ hashes: ServerHashes, isLast: Bool, without pending: Set<[UInt8]>,
    _ limit: Int
  ) throws {
    let condition = hashes.condition(after: side.before, through: isLast ? nil : side.last)
    if try hashes.hash(where: condition) == side.hash { return }
    let found = try hashes.records(where: condition)
    var seen: Set<[UInt8]> = []
    var count = 0
    func add(_ key: String, _ kind: Difference.Kind) {
      count += 1
      guard differences.count < limit else { return }
      differences.append(Difference(record: side.table.record.name, key: key, kind: kind))
    }
    for record in side.records {
      seen.insert(record.key)
      if let hash = found[record.key]?.hash {
        if hash != record.hash { add(record.text, .different) }
      } else {
        add(record.text, .missing)
      }
    }
    let others = found.filter { !seen.contains($0.key) && !pending.contains($0.key) }.map(
      \.value.text
    ).sorted()
    for text in others { add(text, .extra) }
    if count == 0 { return }
    differenceCount += count
    ranges.append(
      Range(
        record: side.table.record.name, first: side.records.first?.text,
        last: side.records.last?.text, differenceCount: count))
  }
}

/// Records of the store that follow one another, each as a hash.
private struct StoreRange {
  let table: TablePlan
  private var encoder: RowEncoder
  private(set) var records: [(key: [UInt8], text: String, hash: [UInt8])] = []
  /// The key before the range, and its last one, as literals.
  private(set) var before: [String]?
  private(set) var last: [String]?
  private let dates: DateForm

  init(_ table: TablePlan, dates: DateForm) {
    self.table = table
    self.dates = dates
    encoder = RowEncoder(table, dates: dates, includingGenerated: true)
  }

  /// Begins the next range.
  mutating func begin() {
    records.removeAll(keepingCapacity: true)
    before = last ?? before
  }

  /// The hash of the hashes of all records.
  var hash: [UInt8] { SHA256.hash(records.flatMap(\.hash)) }

  /// Adds a record, unless its key is in `pending`: such a record may be one that cannot go over.
  mutating func add(_ record: DynamicRecord, without pending: Set<[UInt8]>) throws {
    // The hashes of the parts of each long value.
    var contents: [[UInt8]] = []
    try encoder.encode(record) { _, number, bytes in
      if number == 0 { contents.append([]) }
      contents[contents.count - 1] += SHA256.hash(Array(bytes))
    }
    if pending.contains(encoder.key.bytes) { return }
    for (field, loss) in encoder.losses where loss.isFatal {
      throw MoveError.impossible(
        record: table.record.name, key: table.keyText(of: record), field: field, loss: loss)
    }
    var bytes = encoder.fields.bytes
    for hashes in contents { bytes += SHA256.hash(hashes) }
    for list in table.lists {
      var value = list.path.value(in: record)
      if value == .null { value = .array([]) }
      var elements = ValueEncoder(dates: dates)
      elements.append(array: value, of: list.scalar)
      bytes += elements.bytes
    }
    records.append((encoder.key.bytes, table.keyText(of: record), SHA256.hash(bytes)))
    last = table.columns.prefix(table.key.count).compactMap { column in
      guard case .value(let path, let scalar) = column.source else { return nil }
      return path.value(in: record).literal(of: scalar, dates: dates, rounding: true)
    }
  }
}

/// The same hashes, which the server computes of the binary forms of its values.
private struct ServerHashes {
  private let table: TablePlan
  private let connection: Connection
  private let name: String
  /// The expression of a row's hash.
  private let row: String
  private let keyColumns: [ColumnPlan]

  init(_ table: TablePlan, of plan: PostgresPlan, _ connection: Connection) {
    self.table = table
    self.connection = connection
    name = plan.qualified(table.name)
    keyColumns = Array(table.columns.prefix(table.key.count))
    let columns = RowEncoder(table, dates: plan.options.dates, includingGenerated: true).columns
    var terms = columns.map { Self.sized($0) }
    for column in columns {
      guard case .parts = column.source else { continue }
      terms.append(
        "coalesce((SELECT sha256(string_agg(sha256(b.bytes), ''::bytea ORDER BY b.part))"
          + " FROM \(PostgresPlan.stateSchema).blob b WHERE b.identity = t.\(SQL.name(column.name))),"
          + " ''::bytea)")
    }
    for list in table.lists {
      let keys = zip(list.keyColumns, table.key).map {
        "l.\(SQL.name($0.name)) = t.\(SQL.name($1.name))"
      }
      let array =
        "array_send(coalesce((SELECT array_agg(l.\(SQL.name(list.elementColumn))"
        + " ORDER BY l.\(SQL.name(list.positionColumn))) FROM \(plan.qualified(list.name)) l"
        + " WHERE \(keys.joined(separator: " AND "))), '{}'::\(list.type.rawValue)[]))"
      terms.append(Self.sized(array))
    }
    row = "sha256(\(terms.joined(separator: " || ")))"
  }

  /// The bytes of a value with their number, as COPY has them.
  private static func sized(_ value: String) -> String {
    "int4send(octet_length(\(value))) || \(value)"
  }

  private static func sized(_ column: ColumnPlan) -> String {
    let name = "t.\(SQL.name(column.name))"
    let value = column.isArray ? "array_send(\(name))" : "\(column.type.sendFunction)(\(name))"
    guard column.isNullable else { return sized(value) }
    return "CASE WHEN \(name) IS NULL THEN '\\xffffffff'::bytea ELSE \(sized(value)) END"
  }

  /// The condition of the keys in a range.
  func condition(after lower: [String]?, through upper: [String]?) -> String {
    let terms = [
      lower.map { comparison(with: $0) },
      upper.map { "NOT (\(comparison(with: $0)))" },
    ].compactMap { $0 }
    return terms.isEmpty ? "true" : terms.map { "(\($0))" }.joined(separator: " AND ")
  }

  private func comparison(with key: [String]) -> String {
    // A server does not pass a comparison of rows on to that of a part.
    if !table.key.contains(where: \.isDescending), table.division == nil || key.count == 1 {
      return "(\(SQL.names(table.key.map(\.name)))) > (\(key.joined(separator: ", ")))"
    }
    // Equal in the parts before, and after in one.
    let terms = table.key.indices.map { place in
      let equal = (0..<place).map { "\(SQL.name(table.key[$0].name)) = \(key[$0])" }
      let part = table.key[place]
      return (equal + ["\(SQL.name(part.name)) \(part.isDescending ? "<" : ">") \(key[place])"])
        .joined(separator: " AND ")
    }
    return terms.map { "(\($0))" }.joined(separator: " OR ")
  }

  private var order: String {
    table.key.map { SQL.name($0.name) + ($0.isDescending ? " DESC" : "") }.joined(separator: ", ")
  }

  func hash(where condition: String) throws -> [UInt8] {
    let rows = try connection.run(
      "SELECT encode(sha256(coalesce(string_agg(\(row), ''::bytea ORDER BY \(order)), ''::bytea)), 'hex')"
        + " FROM \(name) t WHERE \(condition)")
    return Self.bytes(rows.first?.first.flatMap { $0 } ?? "")
  }

  /// The hashes of the records in a range, by their keys.
  func records(where condition: String) throws -> [[UInt8]: (text: String, hash: [UInt8])] {
    let key = keyColumns.map { Self.sized($0) }.joined(separator: " || ")
    let text = keyColumns.map { "\(SQL.name($0.name))::text" }.joined(separator: " || ', ' || ")
    let rows = try connection.run(
      "SELECT encode(\(key), 'hex'), \(text), encode(\(row), 'hex') FROM \(name) t WHERE \(condition)"
    )
    var found: [[UInt8]: (text: String, hash: [UInt8])] = [:]
    for row in rows {
      found[Self.bytes(row[0] ?? "")] = (row[1] ?? "", Self.bytes(row[2] ?? ""))
    }
    return found
  }

  private static func bytes(_ hex: String) -> [UInt8] {
    let digits = hex.utf8.map { $0 < 0x60 ? $0 - 0x30 : $0 - 0x57 }
    return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }
}
