import Cambium
import CambiumPostgres
import CambiumTesting
import FoundationEssentials
import Testing

/// The description of a record in a test.
func describe(@RecordDescription.ResultBuilder _ body: () -> RecordDescription) -> RecordDescription
{
  body()
}

/// The same records, migrated as a store and then moved into a database, and moved into a database that is migrated there.
struct MigrationTrial {
  let name: String
  let versions: [ModelVersion]
  var steps: [MigrationStep] = []
  var count = 40
  /// The first version that the records have.
  var first = 1
  /// Generators of values, as `RandomRecords` takes them.
  var values: [String: @Sendable (inout SeededGenerator) -> FieldValue] = [:]

  var model: StoreModel { StoreModel(versions) }

  /// Makes a store of the first version with random records, the same for each call.
  func fill(_ path: String) throws -> PersistentStore {
    let store = try PersistentStore(at: path, model: StoreModel(Array(versions.prefix(first))))
    var random = RandomRecords(seed: 46)
    // PostgreSQL has no U+0000, and fewer dates.
    for record in store.schema.records {
      for field in record.fields where field.typeName == "string" {
        random.values["\(record.name).\(field.name)"] = { .string("text \($0.next() % 100_000)") }
      }
      for field in record.fields where field.typeName == "date" {
        random.values["\(record.name).\(field.name)"] = {
          .date(Date(timeIntervalSinceReferenceDate: Double($0.next() % 1_000_000_000) / 8))
        }
      }
    }
    random.values.merge(values) { $1 }
    try random.fill(store, count: count)
    return store
  }

  /// Moves the records of the first version into a database, and returns its address.
  func database(_ suffix: String = "") throws -> String {
    let server = try #require(PostgresServer.shared)
    let address = try server.makeDatabase(name + suffix)
    let path = Workshop.directory(name)
    defer { try? PersistentStore.delete(at: path) }
    let store = try fill(path)
    defer { try? store.close() }
    try PostgresServer.move(store, at: path, to: address)
    return address
  }

  /// Migrates a store of the records, moves it into a database, and returns its address.
  func expected() throws -> String {
    let server = try #require(PostgresServer.shared)
    let address = try server.makeDatabase(name + "_expected")
    let path = Workshop.directory(name)
    defer { try? PersistentStore.delete(at: path) }
    try fill(path).close()
    try PersistentStore.migration(at: path, to: model, steps: steps).run()
    let store = try PersistentStore(at: path, model: model, steps: steps)
    defer { try? store.close() }
    try PostgresServer.move(store, at: path, to: address)
    return address
  }

  /// Migrates a database, and compares it with a migrated store that was moved.
  ///
  /// - Parameter byServer: True if it is to be made by statements, false if by the program; nil for either.
  /// - Returns: The migration, after its run.
  @discardableResult
  func run(byServer: Bool? = nil) async throws -> PostgresMigration {
    let address = try database()
    let migration = try await PostgresStore.migration(at: address, to: model, steps: steps)
    #expect(migration.plan.faults == [])
    if let byServer { #expect(migration.statements.isEmpty != byServer) }
    let before = try DatabaseContent(address)
    let rehearsal = try await migration.rehearse()
    #expect(try DatabaseContent(address) == before)
    let report = try await migration.run()
    #expect(report.from == first && report.to == versions.count)
    #expect(report.records == rehearsal.records)
    let (found, expected) = (try DatabaseContent(address), try DatabaseContent(try expected()))
    found.compare(with: expected)
    return migration
  }
}

/// The tables of a database with all of their rows, and everything that the server says of them.
struct DatabaseContent: Equatable {
  /// By tables and columns.
  let columns: [String]
  let indexes: [String]
  let constraints: [String]
  let map: [String]
  let versions: [String]
  let rows: [String: [String]]

  init(_ address: String) throws {
    let connection = try Connection(address)
    func lines(_ sql: String) throws -> [String] {
      try connection.run(sql).map { row in row.map { $0 ?? "∅" }.joined(separator: " | ") }
    }
    let from = "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
    columns = try lines(
      """
      SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity,
          a.attgenerated, a.attcollation::regcollation, pg_get_expr(d.adbin, d.adrelid)
        \(from) JOIN pg_attribute a ON a.attrelid = c.oid
        LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
        WHERE n.nspname = 'public' AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped ORDER BY 1, 2
      """)
    indexes = try lines(
      "SELECT pg_get_indexdef(i.indexrelid) \(from) JOIN pg_index i ON i.indrelid = c.oid WHERE n.nspname = 'public' ORDER BY 1"
    )
    constraints = try lines(
      """
      SELECT c.relname, k.conname, pg_get_constraintdef(k.oid), k.convalidated
        \(from) JOIN pg_constraint k ON k.conrelid = c.oid WHERE n.nspname = 'public' ORDER BY 1, 2
      """)
    map = try lines("SELECT * FROM cambium.map ORDER BY 1, 2 NULLS FIRST, 3, 4")
    versions = try lines("SELECT version, label, fingerprint, lock FROM cambium.schema ORDER BY 1")
    var rows: [String: [String]] = [:]
    let tables = try connection.run(
      "SELECT c.relname \(from) WHERE n.nspname = 'public' AND c.relkind = 'r' ORDER BY 1")
    for table in tables.compactMap({ $0[0] }) {
      let names = try connection.run(
        "SELECT quote_ident(attname) FROM pg_attribute WHERE attrelid = 'public.\(table)'::regclass"
          + " AND attnum > 0 AND NOT attisdropped ORDER BY 1"
      ).compactMap { $0[0] }
      rows[table] = try lines(
        "SELECT \(names.joined(separator: ", ")) FROM public.\(table) ORDER BY "
          + names.indices.map { "\($0 + 1)" }.joined(separator: ", "))
    }
    self.rows = rows
  }

  /// Expects both to be the same, and names the lines that differ.
  func compare(with other: DatabaseContent) {
    func compare(_ ours: [String], _ theirs: [String], _ part: String) {
      let (extra, missing) = (
        ours.filter { !theirs.contains($0) }, theirs.filter { !ours.contains($0) }
      )
      #expect(extra == [], "\(part)")
      #expect(missing == [], "\(part)")
      #expect(ours.count == theirs.count, "\(part)")
    }
    compare(columns, other.columns, "columns")
    compare(indexes, other.indexes, "indexes")
    compare(constraints, other.constraints, "constraints")
    compare(map, other.map, "map")
    compare(versions, other.versions, "versions")
    for name in Set(rows.keys).union(other.rows.keys).sorted() {
      compare(rows[name] ?? [], other.rows[name] ?? [], name)
    }
  }
}
