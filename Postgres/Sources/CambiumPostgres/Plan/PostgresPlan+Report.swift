import Cambium
import FoundationEssentials

extension PostgresPlan {
  /// The plan as a script for `psql`, with the limits of the move as comments.
  package func text(_ scan: ValueScan?) -> String {
    var lines = [
      "-- Version \(schema.version)" + (schema.label.map { ", \($0)" } ?? "")
        + ", fingerprint \(schema.fingerprint)"
    ]
    lines += noteLines + (scan.map { $0.lines } ?? [])
    lines.append(
      "-- The history, metadata, expiry, bounds of relations, hooks and validations stay in the store and its program."
    )
    for statement in statements { lines += ["", statement + ";"] }
    lines += divisionLines
    return lines.joined(separator: "\n") + "\n"
  }

  /// The statements for the other servers, and the calls of Citus, as comments.
  private var divisionLines: [String] {
    guard let division = options.division else { return [] }
    var lines: [String] = []
    for (number, server) in division.servers.enumerated() {
      lines += ["", "-- On \(server):"]
      let statements = partStatements(onServer: number) + partKeyStatements(onServer: number)
      for statement in statements { lines += ["--"] + "\(statement);".asComment }
    }
    lines += ["", "-- Citus would divide tables that are not partitioned by:"]
    return lines + citusStatements.map { "--   \($0);" }
  }

  private var noteLines: [String] {
    notes.isEmpty
      ? ["-- Everything in the schema goes over."]
      : ["--", "-- Not as in the store:"] + notes.map { "--   \($0)".inOneLine }
  }

  /// The plan for programs.
  package func json(_ scan: ValueScan?) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    let data = try encoder.encode(PlanReport(self, scan))
    return String(decoding: data, as: UTF8.self) + "\n"
  }
}

extension PlanNote: CustomStringConvertible {
  package var description: String { "\(record)\(field.map { ".\($0)" } ?? "") \(text)." }
}

extension ValueScan {
  /// The findings as comments of SQL.
  fileprivate var lines: [String] {
    let count = "\(recordCount) record\(recordCount == 1 ? "" : "s") of commit \(sequence)"
    guard !findings.isEmpty else {
      return ["--", "-- Of \(count), every value goes over exactly."]
    }
    return ["--", "-- Of \(count), these do not go over exactly:"]
      + findings.map { "--   \($0)".inOneLine }
  }
}

extension ValueScan.Finding: CustomStringConvertible {
  package var description: String {
    "\(record)\(field.map { ".\($0)" } ?? "") \(reason): \(count) record\(count == 1 ? "" : "s")"
      + ", first \(firstKey)" + (isFatal ? " (cannot be moved)" : "")
  }
}

extension String {
  fileprivate var asComment: [String] {
    split(separator: "\n", omittingEmptySubsequences: false).map { "-- \($0)" }
  }

  fileprivate var inOneLine: String {
    String(map { $0.isNewline ? " " : $0 })
  }
}

/// The form of the plan in JSON.
private struct PlanReport: Encodable {
  let version: Int
  let label: String?
  let fingerprint: String
  let tables: [Table]
  let notes: [PlanNote]
  let statements: [String]
  /// The other servers, if records are divided.
  let servers: [Server]
  let scan: ValueScan?

  init(_ plan: PostgresPlan, _ scan: ValueScan?) {
    version = plan.schema.version
    label = plan.schema.label
    fingerprint = "\(plan.schema.fingerprint)"
    tables = plan.tables.map { Table($0) }
    notes = plan.notes
    statements = plan.statements
    servers = (plan.options.division?.servers ?? []).enumerated().map { number, address in
      Server(
        address: address,
        statements: plan.partStatements(onServer: number)
          + plan.partKeyStatements(onServer: number))
    }
    self.scan = scan
  }

  struct Server: Encodable {
    let address: String
    let statements: [String]
  }

  struct Table: Encodable {
    let record: String
    let table: String
    let columns: [Column]
    let key: [String]
    let lists: [String: String]

    init(_ plan: TablePlan) {
      record = plan.record.name
      table = plan.name
      columns = plan.columns.map { Column($0) }
      key = plan.key.map(\.name)
      lists = Dictionary(
        plan.lists.map { ($0.field, $0.name) }, uniquingKeysWith: { first, _ in first })
    }
  }

  struct Column: Encodable {
    let column: String
    let field: String?
    let type: String
    let nullable: Bool
    let generated: String?

    init(_ plan: ColumnPlan) {
      column = plan.name
      field = plan.field
      type = plan.typeText
      nullable = plan.isNullable
      generated = plan.generated
    }
  }
}
