public import Cambium

/// The servers that a query is sent to, and the plan of the server of the address.
public struct PostgresExplanation: Sendable, Hashable, CustomStringConvertible {
  /// The addresses of the servers with parts of divided records that the query reads. It is answered without others if it names the
  /// field by which its records are divided.
  public let servers: [String]
  /// The plan, as `EXPLAIN` prints it.
  public let plan: String

  public var description: String {
    let places =
      switch servers.count {
      case 0: "on the server of the address"
      case 1: "on one server: \(servers[0])"
      default: "on \(servers.count) servers: \(servers.joined(separator: "; "))"
      }
    return places + "\n" + plan
  }
}

extension PostgresStore {
  /// Returns how a query is run: on which servers, where records are divided over several, and by which plan.
  ///
  /// ```swift
  /// let explanation = try await store.explain(Line.where { $0.order == id })
  /// print(explanation.servers.count)  // 1
  /// ```
  ///
  /// - Throws: as `fetch(_:)`. Nothing is fetched.
  @concurrent
  public func explain<Subject: Record>(
    _ query: Query<Subject>
  ) async throws -> PostgresExplanation {
    try await read { snapshot in try snapshot.reader.server.explain(query) }
  }
}

extension ServerTransaction {
  fileprivate func explain<Subject: Record>(
    _ query: Query<Subject>
  ) throws -> PostgresExplanation {
    let rows = try rows(try mapping.stored(query))
    let columns = RecordColumns(rows.scope.table, dates: dates)
    let found = try run(
      "EXPLAIN (VERBOSE, COSTS OFF) SELECT \(columns.list(in: rows.scope, rows.translation))\(rows.from)\(rows.order)",
      rows.translation.parameters)
    let lines = found.rows.map { String(decoding: $0[0] ?? [], as: UTF8.self) }
    let words = Set(lines.flatMap { $0.split { " (),;".contains($0) } }.map(String.init))
    let servers = (plan.options.division?.servers ?? []).enumerated().filter { number, _ in
      plan.dividedTables.contains { table in
        table.division.map { words.contains(plan.qualified($0.parts[number])) } ?? false
      }
    }
    return PostgresExplanation(
      servers: servers.map(\.element), plan: lines.joined(separator: "\n"))
  }
}
