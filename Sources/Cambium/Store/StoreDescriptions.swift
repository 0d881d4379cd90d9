// Descriptions of stores, models and records in logs and debuggers.

extension Schema: CustomStringConvertible {
  /// The version, its label, and the names of the records.
  public var description: String {
    "version \(version)\(label.map { " “\($0)”" } ?? ""): \(records.map(\.name).joined(separator: ", "))"
  }
}

extension RecordSchema: CustomStringConvertible {
  /// The name, and the fields with their types.
  public var description: String {
    let described = fields.map { "\($0.name): \($0.type)\($0.isOptional ? "?" : "")" }
    return "\(name)(\(described.joined(separator: ", ")))"
  }
}

extension StoreModel: CustomStringConvertible {
  /// The version, its label, and the types.
  public var description: String {
    let types = records.map { "\($0)" }
    return
      "version \(version)\(label.map { " “\($0)”" } ?? ""): \(types.joined(separator: ", "))"
  }
}

extension MigrationStep: CustomStringConvertible {
  /// The versions that it leads between, and its label.
  public var description: String { text }
}

extension PendingMigration: CustomStringConvertible {
  /// The versions, and the work that is left: `version 1 → 2, pending: 50 of Note, index name`.
  public var description: String {
    let left =
      records.sortedRarely { $0.key.precedes($1.key) }.map { "\($0.value) of \($0.key)" }
      + indexes.map { "index \($0)" }
    return "version \(from) → \(to), pending: "
      + (left.isEmpty ? "to say that it is done" : left.joined(separator: ", "))
  }
}

extension DynamicRecord: CustomStringConvertible {
  /// The name, and the values by field name, as they are written in conditions.
  public var description: String {
    let values = fields.sortedRarely { $0.key.precedes($1.key) }.map {
      "\($0.key): \($0.value.literal)"
    }
    return "\(name)(\(values.joined(separator: ", ")))"
  }
}

extension PersistentStore: CustomStringConvertible {
  /// The path, the version and the names of the records.
  public var description: String { "store at \(path), \(schema)" }
}

extension StoreSnapshot: CustomStringConvertible {
  /// The number of the last commit, the version and the names of the records.
  public var description: String { "snapshot of commit \(sequence), \(schema)" }
}

extension MigrationProgress: CustomStringConvertible {
  /// The version, the work under way, how much of it is done, and the time that is left.
  public var description: String {
    let percent = Int(fraction * 100)
    let left = remaining.map { ", \($0) left" } ?? ""
    let read = records > 0 ? "\(recordsDone) of about \(records) records, " : ""
    return
      "to version \(version), part \(min(task + 1, max(tasks, 1))) of \(tasks): \(work), \(read)\(percent) %\(left)"
  }
}

extension StoreInspection: CustomStringConvertible {
  /// The path, the version and the names of the records, and the last commit.
  public var description: String {
    "store at \(path), \(schemas.last.map { "\($0)" } ?? "without a schema"), commit \(sequence)"
  }
}

extension OpenReport: CustomStringConvertible {
  /// The faults that opening found and repaired.
  public var description: String {
    var parts = [isNew ? "a new store" : "commit \(sequence), \(replayedCommits) commits replayed"]
    if let discardedTail { parts.append("the end of the log was discarded: \(discardedTail)") }
    parts += healed.map { "repaired: \($0)" }
    if !removedFiles.isEmpty { parts.append("removed \(removedFiles.joined(separator: ", "))") }
    if let setAside { parts.append("the store that was there is at \(setAside)") }
    return parts.joined(separator: "; ")
  }
}

extension ChangeSet: CustomStringConvertible {
  /// How many records were inserted, updated and deleted, and in which commit.
  public var description: String {
    "\(inserted.count) inserted, \(updated.count) updated, \(deleted.count) deleted of \(Subject.self), up to commit \(sequence)"
  }
}
