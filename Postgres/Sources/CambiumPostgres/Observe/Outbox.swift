import Cambium

/// The outbox: a table with a row for each record that a transaction has changed, written in the same transaction.
///
///     cambium.outbox        xid │ record │ key │ number │ change │ kinds
///     cambium.outbox_mark   xid │ at
///
/// Triggers of the records' tables write it. So it has everything that the server does to a record: also by a foreign key, when another
/// record is deleted, and for programs that do not use Cambium. A record that a transaction changes several times has one row: `change`
/// is the difference to the state before the transaction, `insert`, `update`, `delete`, or `none` for one that was added and deleted.
///
/// **Order and completeness.** Numbers of rows and of transactions become visible in any order, since a transaction with a lower
/// one may be committed later; so no number says how far an observer has come. Its place is a *snapshot* of the server instead,
/// and its next changes are the rows that are visible in a newer snapshot, and were not in the older one. That is every commit in
/// between, each once, whatever its numbers are, and the records that are read in the newer snapshot are exactly of that state.
///
/// Two alternatives were considered. With all rows below the oldest running transaction (`txid_snapshot_xmin`) alone, any long
/// transaction of the server, also of another database, would delay every observer until its end. With an advisory lock around the
/// commit, commits would have numbers in their order, but would be flushed one after the other, instead of together. The
/// price of the snapshot is that, while a transaction runs for long, observers pass over the rows since its beginning again and again.
///
/// For one record the numbers are in the order of its commits: a row is written while the transaction has the record's row locked.
///
/// **Removal.** A mark says that the transactions below a number had ended by a time. The rows below the newest mark that is older than
/// the time for which changes are kept are removed, and the oldest mark that is left says below which number rows are missing.
struct Outbox: Sendable {
  /// The channel on which writers notify observers.
  static let channel = "cambium_outbox"
  static let table = "\(PostgresPlan.stateSchema).outbox"
  static let marks = "\(PostgresPlan.stateSchema).outbox_mark"
  /// The marks that say which transactions had ended; and that of a renewal, with the number after its transaction, which has removed
  /// all rows: not those that older transactions write later.
  private static let isRenewal = "at = '-infinity'"

  /// The expression, over the marks, that is true if no row of a transaction that a place does not see was removed; null without marks.
  static func hasAll(since place: String) -> String {
    let first = "min(xid) FILTER (WHERE NOT \(isRenewal))"
    let seesRenewal =
      "bool_and(txid_visible_in_snapshot(xid - 1, \(place))) FILTER (WHERE \(isRenewal))"
    return "coalesce(\(first) <= txid_snapshot_xmin(\(place)), bool_and(\(isRenewal)))"
      + " AND coalesce(\(seesRenewal), true) FROM \(marks)"
  }

  /// The statements that set a mark, and remove rows that are older than an interval.
  static func trimming(_ age: String) -> [String] {
    [
      "INSERT INTO \(marks) SELECT txid_snapshot_xmin(txid_current_snapshot()), clock_timestamp()"
        + " ON CONFLICT DO NOTHING",
      "DELETE FROM \(marks) WHERE xid < (SELECT max(xid) FROM \(marks)"
        + " WHERE at < clock_timestamp() - \(age) AND NOT \(isRenewal))",
      "DELETE FROM \(table) WHERE xid < (SELECT min(xid) FROM \(marks) WHERE NOT \(isRenewal))",
    ]
  }

  /// The advisory lock that every listening connection shares: a writer that gets it alone knows that there are no observers.
  static let lock = "hashtext('cambium'), hashtext('observe')"

  /// The expression that is true if there are observers.
  static let isObserved =
    "CASE WHEN pg_try_advisory_lock(\(lock)) THEN NOT pg_advisory_unlock(\(lock)) ELSE true END"

  /// Notifies observers after a commit, if there are any.
  ///
  /// It is a transaction of its own, which does not wait for the disk. In that of the changes, a notification would lock the
  /// whole database until these are flushed, so that transactions are flushed one by one: with eight writers, 450 commits a second
  /// instead of 1,600. If the writer ends between the two, observers find its changes a second later.
  static let notifying =
    "SET LOCAL synchronous_commit = off; SELECT pg_notify('\(channel)', '')"

  /// Nil if the database has the outbox; otherwise the reason why not.
  let obstacle: String?

  /// Looks for the outbox in a database, and makes or renews it if it is not that of the plan.
  ///
  /// - Throws: `PostgresError`.
  init(_ connection: Connection, _ plan: PostgresPlan, _ options: PostgresOptions) throws {
    let text = Self.hash(plan.outboxStatements)
    let comment = "SELECT obj_description(to_regclass('\(Self.table)'), 'pg_class') = '\(text)'"
    if try connection.run(comment).first?.first == "t" {
      obstacle = nil
      return
    }
    guard options.createsTables else {
      obstacle = "the database has no outbox, and none may be made"
      return
    }
    do {
      try connection.run("BEGIN")
      try connection.run(
        "SELECT pg_advisory_xact_lock(hashtext('cambium'), hashtext('create'))")
      if try connection.run(comment).first?.first != "t" {
        for statement in Self.creation(plan) { try connection.run(statement) }
      }
      try connection.run("COMMIT")
      obstacle = nil
    } catch {
      _ = try? connection.run("ROLLBACK")
      // A program that may use the tables, but not change them, can do everything else.
      guard error.state == "42501" else { throw error }
      obstacle = "the outbox cannot be made: \(error.message)"
    }
  }
}

// MARK: - Making

extension Outbox {
  /// The statements that make the outbox of a plan, or renew it, and say so in a comment.
  static func creation(_ plan: PostgresPlan) -> [String] {
    let statements = plan.outboxStatements
    return statements + ["COMMENT ON TABLE \(table) IS '\(hash(statements))'"]
  }

  private static func hash(_ statements: [String]) -> String {
    let hash = SHA256.hash(Array(statements.joined(separator: ";").utf8))
    return hash.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  /// Drops the functions of the triggers, after the tables that have these.
  static let removal = """
    DO $cambium$
    DECLARE name regprocedure;
    BEGIN
      FOR name IN SELECT oid::regprocedure FROM pg_proc
        WHERE pronamespace = to_regnamespace('\(PostgresPlan.stateSchema)') AND proname LIKE 'outbox\\_%'
      LOOP EXECUTE 'DROP FUNCTION ' || name || ' CASCADE'; END LOOP;
    END $cambium$
    """
}

extension PostgresPlan {
  /// The statements that make the outbox, or renew it after a migration, and the triggers that write it.
  var outboxStatements: [String] {
    [
      """
      CREATE TABLE IF NOT EXISTS \(Outbox.table) (
        xid bigint NOT NULL DEFAULT txid_current(),
        record text COLLATE "C" NOT NULL,
        key bytea[] NOT NULL,
        number bigint GENERATED ALWAYS AS IDENTITY,
        change text COLLATE "C" NOT NULL,
        kinds text[],
        PRIMARY KEY (xid, record, key)
      )
      """,
      "CREATE TABLE IF NOT EXISTS \(Outbox.marks) (xid bigint PRIMARY KEY, at timestamp with time zone NOT NULL)",
      // Keys from before a migration may be of other types: observers from before are told that everything may have changed.
      "DELETE FROM \(Outbox.table)",
      """
      WITH old AS (DELETE FROM \(Outbox.marks) RETURNING xid)
      INSERT INTO \(Outbox.marks) SELECT CASE WHEN EXISTS (SELECT FROM old) THEN txid_current() + 1
        ELSE txid_snapshot_xmin(txid_current_snapshot()) END,
        CASE WHEN EXISTS (SELECT FROM old) THEN '-infinity' ELSE now() END
      """,
    ]
      + tables.enumerated().filter { $0.element.division == nil }.flatMap { place, table in
        OutboxTriggers(table, number: place, in: self).statements
      }
  }
}

/// The triggers that note the changes of one record.
private struct OutboxTriggers {
  private let table: TablePlan
  private let number: Int
  private let plan: PostgresPlan

  init(_ table: TablePlan, number: Int, in plan: PostgresPlan) {
    self.table = table
    self.number = number
    self.plan = plan
  }

  var statements: [String] {
    let name = "outbox_\(number)"
    let own =
      function(name, ofRow)
      + [
        trigger("cambium_outbox", "AFTER INSERT OR DELETE", on: table.name, "FOR EACH ROW", name),
        trigger(
          "cambium_outbox_update", "AFTER UPDATE", on: table.name,
          "FOR EACH ROW WHEN (OLD.* *<> NEW.*)", name),
      ].flatMap { $0 }
    return own
      + table.lists.enumerated().flatMap { place, list in
        statements(of: list, "\(name)_\(place)")
      }
  }

  private func statements(of list: ListPlan, _ name: String) -> [String] {
    let events = [("insert", "NEW"), ("update", "OLD"), ("delete", "OLD")]
    return function(name, ofList(list))
      + events.flatMap { event, transition in
        trigger(
          "cambium_outbox_\(event)", "AFTER \(event.uppercased())", on: list.name,
          "REFERENCING \(transition) TABLE AS changed FOR EACH STATEMENT", name)
      }
  }

  /// Runs with the rights of its owner, so that a program needs none for the outbox to write records.
  private func function(_ name: String, _ body: String) -> [String] {
    [
      """
      CREATE OR REPLACE FUNCTION \(PostgresPlan.stateSchema).\(name)() RETURNS trigger
        LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $cambium$
      BEGIN
      \(body)
        RETURN NULL;
      END $cambium$
      """
    ]
  }

  private func trigger(
    _ name: String, _ event: String, on table: String, _ rest: String, _ function: String
  ) -> [String] {
    let table = plan.qualified(table)
    return [
      "DROP TRIGGER IF EXISTS \(name) ON \(table)",
      "CREATE TRIGGER \(name) \(event) ON \(table) \(rest)"
        + " EXECUTE FUNCTION \(PostgresPlan.stateSchema).\(function)()",
    ]
  }

  private var ofRow: String {
    let old = table.key.map { "OLD.\(SQL.name($0.name))" }.joined(separator: ", ")
    let new = table.key.map { "NEW.\(SQL.name($0.name))" }.joined(separator: ", ")
    return """
        IF TG_OP = 'INSERT' THEN
          \(note("insert", "NEW"))
        ELSIF TG_OP = 'DELETE' THEN
          \(note("delete", "OLD"))
        ELSIF ROW(\(old)) IS NOT DISTINCT FROM ROW(\(new)) THEN
          \(note("update", "OLD"))
        ELSE
          \(note("delete", "OLD"))
          \(note("insert", "NEW"))
        END IF;
      """
  }

  private func note(_ change: String, _ row: String) -> String {
    let parts = table.key.map { part in bytes("\(row).\(SQL.name(part.name))", type(of: part)) }
    return "INSERT INTO \(Outbox.table) AS o (record, key, change, kinds) VALUES"
      + " (\(record), ARRAY[\(parts.joined(separator: ", "))], '\(change)',"
      + " \(change == "insert" ? "NULL" : kinds(of: row))) \(Self.merging);"
  }

  private func ofList(_ list: ListPlan) -> String {
    let parts = list.keyColumns.map { bytes("c.\(SQL.name($0.name))", $0.type) }
    return "  INSERT INTO \(Outbox.table) AS o (record, key, change)"
      + " SELECT DISTINCT \(record), ARRAY[\(parts.joined(separator: ", "))], 'update'"
      + " FROM changed AS c \(Self.merging);"
  }

  private var record: String { "\(SQL.literal(table.record.name))::text" }

  /// The kinds of which a row is; null for a record without kinds.
  private func kinds(of row: String) -> String {
    let names = table.record.kindNames.compactMap { name in
      table.presence(ofKind: name).map { column in
        "CASE WHEN \(row).\(SQL.name(column.name)) THEN \(SQL.literal(name))::text END"
      }
    }
    return names.isEmpty
      ? "NULL" : "array_remove(ARRAY[\(names.joined(separator: ", "))], NULL)"
  }

  private func type(of part: KeyColumn) -> SQLType {
    table.columns.first { $0.name == part.name }?.type ?? .text
  }

  /// A value in PostgreSQL's binary form, which no setting of a connection changes.
  private func bytes(_ value: String, _ type: SQLType) -> String {
    switch type {
    case .boolean: "boolsend(\(value))"
    case .smallint: "int2send(\(value))"
    case .integer: "int4send(\(value))"
    case .bigint: "int8send(\(value))"
    case .unsigned, .numeric: "numeric_send(\(value))"
    case .real: "float4send(\(value))"
    case .double: "float8send(\(value))"
    case .timestamp: "timestamptz_send(\(value))"
    case .uuid: "uuid_send(\(value))"
    case .text: "convert_to(\(value), 'UTF8')"
    case .bytea: value
    }
  }

  /// The difference of the transaction, after one more change of the same record. That of a list says nothing new about a record
  /// that was written; it may come after the record was deleted, by the foreign key of the list.
  private static let merging = """
    ON CONFLICT (xid, record, key) DO UPDATE SET kinds = coalesce(o.kinds, EXCLUDED.kinds), change = CASE
          WHEN o.change IN ('insert', 'none') AND EXCLUDED.change = 'delete' THEN 'none'
          WHEN o.change = 'none' AND EXCLUDED.change = 'insert' THEN 'insert'
          WHEN o.change = 'delete' AND EXCLUDED.change = 'insert' THEN 'update'
          WHEN o.change = 'update' AND EXCLUDED.change = 'delete' THEN 'delete'
          ELSE o.change END
          WHERE EXCLUDED.change <> 'update' OR o.kinds IS NULL AND EXCLUDED.kinds IS NOT NULL
    """
}
