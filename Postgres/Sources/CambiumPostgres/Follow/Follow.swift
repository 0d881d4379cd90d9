package import Cambium
import FoundationEssentials

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Keeps a database up to date with a store that is written meanwhile.
///
/// Of the commits since the last time it collects the keys of the records that they changed, and replaces these records by those
/// of the newest state: in one transaction of the server, with the number of the commit. So the database always shows the state
/// of one commit of the store, and whatever interrupts this, the number says where it resumes.
package struct Follow {
  let store: PersistentStore
  let identity: String
  let address: String
  /// For how long a lost connection, or a server without space, is tried again before the error is thrown.
  package var patience: Duration = .seconds(86_400)
  /// The time between two looks at the store, if nothing is new.
  package var pause: Duration = .milliseconds(50)
  /// The bytes of rows that are copied at once.
  package var batchSize = 4 << 20
  /// Called after each transaction, and when there was nothing to do for the first time.
  package var progress: (FollowProgress) -> Void = { _ in }
  /// Called with an error after which it tries again.
  package var trouble: (any Error) -> Void = { _ in }

  /// - Parameters:
  ///   - store: The store, open for reading beside its writer, or for writing.
  ///   - identity: Its identity, as an inspection has it.
  ///   - address: The database, as libpq takes it.
  package init(_ store: PersistentStore, identity: String, to address: String) {
    self.store = store
    self.identity = identity
    self.address = address
  }

  /// Follows until `isEnough` returns true for the progress.
  ///
  /// - Throws: `MoveError`; `PostgresError` of the server, or of a connection that cannot be made again; errors of reading the
  ///   store.
  @discardableResult
  package func run(until isEnough: (FollowProgress) throws -> Bool) throws -> FollowProgress {
    var last = FollowProgress()
    var session = MoveSession(address: address, patience: patience)
    session.trouble = trouble
    return try session.run { connection, progressed in
      let run = try FollowRun(self, connection, last)
      while true {
        let isNew = try run.step()
        if isNew || last.sequence == 0 {
          last = run.progress
          progress(last)
        }
        progressed()
        if try isEnough(run.progress) { return run.progress }
        if !isNew { pause.sleep() }
      }
    }
  }

  /// The time after which a commit is shown to readers in other processes, with some to spare: its writer says that it was
  /// flushed with the next commit, or a tenth of a second later.
  package static let settling = Duration.milliseconds(500)

  /// Follows until the database has the newest commit, and every one that another process made before this was called.
  @discardableResult
  package func catchUpWithWriter() throws -> FollowProgress {
    let clock = ContinuousClock()
    let start = clock.now
    var isSettled = false
    return try run { progress in
      // What this step has seen of the store was settled only if the time had passed when it began.
      defer { isSettled = clock.now - start >= Self.settling }
      return isSettled && progress.isCaughtUp
    }
  }

  /// Follows until the database has the newest commit that the store shows.
  @discardableResult
  package func catchUp() throws -> FollowProgress { try run { $0.isCaughtUp } }
}

extension Duration {
  func sleep() {
    usleep(UInt32(clamping: Int64(self / .microseconds(1))))
  }
}

/// How far a database has followed.
package struct FollowProgress: Sendable, Encodable {
  /// The commit that the database has.
  package internal(set) var sequence: UInt64 = 0
  /// The last commit of the store when it was looked at.
  package internal(set) var storeSequence: UInt64 = 0
  /// The commits and changes that were applied, and the transactions that did it, since it was begun.
  package internal(set) var commitCount = 0
  package internal(set) var changeCount = 0
  package internal(set) var transactionCount = 0
  /// The seconds from the oldest commit of the last transaction to the time when the database had it.
  package internal(set) var lag = 0.0
  /// The seconds that the last transaction took.
  package internal(set) var duration = 0.0

  package var isCaughtUp: Bool { sequence == storeSequence }
}

/// Following over one connection.
private final class FollowRun {
  private let follow: Follow
  private let connection: Connection
  private let plan: PostgresPlan
  private(set) var progress: FollowProgress
  private var cursor: HistoryCursor
  private var stage: MoveStage
  /// The tables whose temporary table of keys exists in this connection.
  private var hasKeyTable: Set<String> = []
  private let state = PostgresPlan.stateSchema

  init(_ follow: Follow, _ connection: Connection, _ progress: FollowProgress) throws {
    self.follow = follow
    self.connection = connection
    self.progress = progress
    let found = try MoveState(from: connection, of: follow.identity, follow.store.schema)
    switch found.stage {
    case .copying: throw MoveError.unfinished
    case .finished: throw MoveError.finished
    case .abandoned: throw MoveError.abandoned
    case .moved, .following: break
    }
    plan = PostgresPlan(follow.store.schema, options: found.options)
    guard let place = found.cursor else { throw MoveError.finished }
    (cursor, stage) = (place, found.stage)
    // Those between parts are there if finishing was begun before.
    if let division = plan.options.division {
      try PartServers(division, of: follow.identity).dropForeignKeys(of: plan)
    }
    self.progress.sequence = found.sequence
  }

  /// Applies what is new. Returns false if nothing is.
  func step() throws -> Bool {
    do {
      try follow.store.refresh()
    } catch StoreError.newerSchema, StoreError.needsMigration {
      // It was migrated, or rolled back: the tables are those of another version.
      throw MoveError.otherPlan
    }
    let snapshot = try follow.store.snapshot()
    // The database gets no commit that a crash of the store can still lose.
    try follow.store.flush()
    progress.storeSequence = snapshot.sequence
    if snapshot.sequence == cursor.sequence { return false }
    let changed = try ChangedKeys(since: cursor, in: snapshot)
    let clock = ContinuousClock()
    let start = clock.now
    try apply(changed, of: snapshot)
    progress.duration = (clock.now - start) / .seconds(1)
    if let first = changed.firstDate {
      progress.lag = max(0, Date.now.timeIntervalSinceReferenceDate - first)
    }
    progress.sequence = snapshot.sequence
    progress.commitCount += changed.commitCount
    progress.changeCount += changed.changeCount
    progress.transactionCount += 1
    return true
  }

  private func apply(_ changed: ChangedKeys, of snapshot: StoreSnapshot) throws {
    let next = snapshot.historyCursor
    // Foreign keys act at once when rows are replaced, and would delete others with them.
    let begins = stage == .moved && changed.changeCount > 0
    try connection.run("BEGIN")
    let count = try connection.change(
      "UPDATE \(state).store SET sequence = \(next.sequence),"
        + " cursor = \(SQL.literal(try MoveState.text(of: next))), changed_at = now()"
        + (begins ? ", stage = '\(MoveStage.following.rawValue)'" : "")
        + " WHERE sequence = \(cursor.sequence) AND stage = '\(stage.rawValue)'")
    guard count == 1 else {
      throw PostgresError.overtaken("Another connection has applied commits of the store.")
    }
    if begins {
      for key in plan.foreignKeyNames {
        try connection.run("ALTER TABLE \(key.table) DROP CONSTRAINT \(key.name)")
      }
    }
    for (place, table) in plan.tables.enumerated() {
      guard let keys = changed.keys[table.record.name] else { continue }
      try delete(keys, from: table, by: "pg_temp.cambium_keys_\(place)")
      let rows = RowCopy(table, of: plan, connection, partsMax: follow.batchSize)
      for key in keys {
        guard let record = try snapshot.fetch(record: table.record.name, keyParts: key) else {
          continue
        }
        try rows.add(record)
        if rows.byteCount >= follow.batchSize { try rows.flush() }
      }
      try rows.flush()
    }
    try connection.run("COMMIT")
    cursor = next
    if begins { stage = .following }
  }

  /// Deletes the rows with keys, and those of their lists and long values.
  ///
  /// - Parameter name: That of a temporary table for the keys.
  private func delete(
    _ keys: Set<[FieldValue]>, from table: TablePlan, by name: String
  ) throws {
    let columns = table.keyColumns
    if hasKeyTable.insert(table.name).inserted {
      let definitions = columns.map { "\(SQL.name($0.name)) \($0.typeText)" }
      // It lasts as long as the connection, unless its transaction fails, and so does this.
      try connection.run(
        "CREATE TEMPORARY TABLE IF NOT EXISTS \(name) (\(definitions.joined(separator: ", ")))"
          + " ON COMMIT DELETE ROWS")
    }
    var rows = ValueEncoder(dates: plan.options.dates)
    for key in keys {
      rows.append(Int16(columns.count))
      rows.bytes += table.keyBytes(key, dates: plan.options.dates)
    }
    try connection.copy(into: "\(name) (\(SQL.names(columns.map(\.name))))", rows.bytes)
    // The server takes an unknown table for a small one.
    if keys.count > 10_000 { try connection.run("ANALYZE \(name)") }
    func match(_ names: [String]) -> String {
      zip(names, columns).map { "t.\(SQL.name($0)) = k.\(SQL.name($1.name))" }
        .joined(separator: " AND ")
    }
    let ownKey = match(columns.map(\.name))
    for column in table.columns {
      guard case .parts = column.source else { continue }
      try connection.run(
        "DELETE FROM \(state).blob b USING \(plan.qualified(table.name)) t, \(name) k"
          + " WHERE \(ownKey) AND b.identity = t.\(SQL.name(column.name))")
    }
    for list in table.lists {
      try connection.run(
        "DELETE FROM \(plan.qualified(list.name)) t USING \(name) k"
          + " WHERE \(match(list.keyColumns.map(\.name)))")
    }
    try connection.run(
      "DELETE FROM \(plan.qualified(table.name)) t USING \(name) k WHERE \(ownKey)")
  }
}
