import Cambium

/// A statement of a migration, and the part of the model that it is for.
struct MigrationStatement: Sendable, Hashable {
  let sql: String
  /// The stored name of the record; nil if it is for no single one.
  var record: String?
  var field: String?
  /// True if the server reads or writes all rows of the table for it.
  var readsRows = false

  init(_ sql: String, _ record: String? = nil, field: String? = nil, readsRows: Bool = false) {
    self.sql = sql
    self.record = record
    self.field = field
    self.readsRows = readsRows
  }
}

extension PostgresError {
  /// The error of a statement of a migration, as an embedded store throws it for the same records.
  func ofMigration(_ statement: MigrationStatement, to version: Int) -> any Error {
    // It may succeed when it is run again.
    if isLoss || isTransient { return self }
    let record = statement.record ?? ""
    switch state {
    case "23502", "23514", "22003":
      return StoreError.invalidValue(
        record: record, field: statement.field,
        reason: "\(message); the database still has the version before \(version)")
    case "23505":
      return StoreError.uniqueConflict(
        record: record, constraint: constraint ?? statement.field ?? "", key: detail ?? message)
    case "23503":
      return StoreError.danglingReference(
        record: record, key: "", field: statement.field ?? "", destination: detail ?? message)
    default: return ofStore
    }
  }
}

/// The reason for which the server cannot take a step by statements.
struct StepObstacle: Error {
  let reason: String
}
