#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension SchemaLock {
  /// Reads the lock at `path`.
  ///
  /// - Throws: `SchemaLockError.missing`, `.malformed`, `.io`.
  public init(contentsOf path: String) throws(SchemaLockError) {
    let text: String
    do throws(TextFile.Fault) {
      text = try TextFile.text(at: path)
    } catch {
      switch error {
      case .missing: throw .missing(path: path)
      case .notUTF8: throw .malformed(line: 1, column: 1, reason: "it is not in UTF-8")
      case .io(let reason): throw .io(path: path, reason: reason)
      }
    }
    try self.init(parsing: text)
  }

  /// Checks that a model describes every version as it was released, and that all versions are in the lock at `path`. Call
  /// it in a test that runs with every change.
  ///
  /// - Parameters:
  ///   - steps: All steps of the program, to check that the lock states the same; without them its steps are not compared.
  ///   - allowsUnreleased: True to accept that the model's own version is missing while it is developed.
  /// - Throws: `SchemaLockError`, whose description names the changes and what to write; `StoreError.invalidDescription`.
  public static func check(
    _ model: StoreModel, steps: [MigrationStep]? = nil, at path: String,
    allowsUnreleased: Bool = false
  ) throws {
    let described = try SchemaLock(model, steps: steps)
    let lock = try SchemaLock(contentsOf: path)
    try lock.refuseChanges(in: described)
    let missing = described.versions.map(\.number).filter {
      !lock.contains(version: $0) && !(allowsUnreleased && $0 == model.version)
    }
    if !missing.isEmpty { throw SchemaLockError.notLocked(versions: missing, path: path) }
    for version in described.versions {
      let differences = lock[version.number]?.harmlessDifferences(to: version) ?? []
      if !differences.isEmpty {
        throw SchemaLockError.outdated(
          version: version.number, differences: differences, path: path)
      }
    }
  }

  /// Adds the versions of a model to the lock at `path` that it does not have, and creates the file if there is none. The
  /// versions in it stay as they are, except for parts on which no store depends.
  ///
  /// To unlock a version that was locked too early, delete its lines.
  ///
  /// - Parameter steps: All steps of the program, so that the lock states which of them lead to each version: `cambium
  ///   migrate` then does not infer a step that the program states. Without them, those that the lock states stay.
  /// - Throws: `SchemaLockError.changed` and `.newer`, as `check`; `.malformed`, `.io`;
  ///   `StoreError.invalidDescription`. The file is then unchanged.
  public static func write(
    _ model: StoreModel, steps: [MigrationStep]? = nil, at path: String
  ) throws {
    var described = try SchemaLock(model, steps: steps)
    do throws(SchemaLockError) {
      let lock = try SchemaLock(contentsOf: path)
      try lock.refuseChanges(in: described)
      for index in described.versions.indices {
        let locked = lock[described.versions[index].number]
        // Only the newest version's label is in the model.
        if described.versions[index].label == nil {
          described.versions[index].label = locked?.label
        }
        if steps == nil { described.versions[index].steps = locked?.steps }
      }
    } catch .missing {}
    do {
      try Data("\(described)".utf8).write(to: URL(filePath: path), options: .atomic)
    } catch { throw SchemaLockError.io(path: path, reason: "\(error)") }
  }

  /// - Throws: `.changed`, `.newer`.
  private func refuseChanges(in described: SchemaLock) throws(SchemaLockError) {
    let newest = described.versions.last?.number ?? 0
    for version in versions {
      guard let now = described[version.number] else {
        throw .newer(version: version.number, model: newest)
      }
      let differences = version.differences(to: now)
      if differences.isEmpty { continue }
      throw .changed(
        version: version.number, differences: differences,
        advice: version.advice(now, isNewest: version.number == newest))
    }
  }
}

// MARK: - Differences

extension LockedVersion {
  private var schema: Schema {
    Schema(version: UInt32(clamping: number), label: label, records: records.map(\.schema))
  }

  /// Returns the differences to `other` on which stores or migrations depend.
  func differences(to other: LockedVersion) -> [SchemaDifference] {
    var differences = schema.differences(to: other.schema)
    for record in records {
      if let now = other[record.name] { differences += record.statedDifferences(to: now) }
    }
    if differences.isEmpty,
      let change = SchemaDifference.Change.changed(
        .fingerprint, fingerprint, other.fingerprint)
    {
      differences.append(SchemaDifference(change, of: nil))
    }
    return differences
  }

  /// Returns the differences to `other` on which no store depends.
  func harmlessDifferences(to other: LockedVersion) -> [SchemaDifference] {
    let label = SchemaDifference.Change.changed(.label, label, other.label ?? label)
    // If no step leads to a version, a lock without steps and one that says "steps none" mean the same.
    let isStated = other.steps.map { !($0.isEmpty && steps == nil) } ?? false
    let step = SchemaDifference.Change.changed(
      .step, stepsText, isStated ? other.stepsText : stepsText)
    return [label, step].compactMap(\.self).map { SchemaDifference($0, of: nil) }
      + records.flatMap { record in
        other[record.name].map { record.harmlessDifferences(to: $0) } ?? []
      }
  }
}

extension LockedVersion {
  /// The steps that lead to it in words; nil if there are none.
  private var stepsText: String? {
    guard let steps else { return "not stated" }
    return steps.isEmpty ? nil : steps.map(\.text).joined(separator: "; ")
  }
}

extension LockedRecord {
  /// Returns true if stores and migrations of both are the same.
  func isDescribed(as other: LockedRecord) -> Bool {
    schema.differences(to: other.schema, by: .name).isEmpty
      && statedDifferences(to: other).isEmpty
  }

  /// Returns the differences of statements on which migrations depend, but which are in no fingerprint.
  fileprivate func statedDifferences(to other: LockedRecord) -> [SchemaDifference] {
    let own = SchemaDifference.Change.changed(.renamingID, renamingID, other.renamingID)
    var differences = [own].compactMap(\.self).map { SchemaDifference($0, of: name) }
    for field in schema.fields {
      guard let now = other.schema.field(named: field.name) else { continue }
      let old = fields[field.name] ?? LockedField()
      let new = other.fields[field.name] ?? LockedField()
      let changes: [SchemaDifference.Change?] = [
        .changed(.defaultValue, field.defaultValue?.literal, now.defaultValue?.literal),
        .changed(.migrationDefault, old.migrationDefault, new.migrationDefault),
        .changed(.choice, old.choice?.description, new.choice?.description),
        .changed(.renamingID, old.renamingID, new.renamingID),
      ]
      differences += changes.compactMap(\.self).map {
        SchemaDifference($0, of: name, field: field.name)
      }
    }
    return differences
  }

  fileprivate func harmlessDifferences(to other: LockedRecord) -> [SchemaDifference] {
    var changes: [(change: SchemaDifference.Change?, field: String?)] = []
    for field in schema.fields {
      guard case .external(_, let old) = field.type,
        case .external(_, let new)? = other.schema.field(named: field.name)?.type
      else { continue }
      changes.append((.changed(.storage, old.lockText, new.lockText), field.name))
    }
    for field in schema.fields {
      guard let old = field.reference, let new = other.schema.field(named: field.name)?.reference
      else { continue }
      changes.append((.changed(.deleteRule, "\(old.deleteRule)", "\(new.deleteRule)"), field.name))
      let bounds = (old.bounds.map { "\($0)" }, new.bounds.map { "\($0)" })
      changes.append((.changed(.bounds, bounds.0, bounds.1), field.name))
    }
    changes.append(
      (.changed(.userInfo, schema.userInfo.lockText, other.schema.userInfo.lockText), nil))
    changes.append(
      (.changed(.expiry, schema.expiryLockText, other.schema.expiryLockText), nil))
    for field in schema.fields {
      guard let new = other.schema.field(named: field.name) else { continue }
      changes.append(
        (.changed(.userInfo, field.userInfo.lockText, new.userInfo.lockText), field.name))
    }
    let inverses = Set((schema.inverses + other.schema.inverses).map(\.name))
    for name in inverses.sortedRarely(by: { $0.precedes($1) }) {
      let (old, new) = (schema.inverse(named: name), other.schema.inverse(named: name))
      changes.append((.changed(.inverse, old?.lockText, new?.lockText), name))
      changes.append(
        (
          .changed(.renamingID, fields[name]?.renamingID, other.fields[name]?.renamingID), name
        ))
    }
    for text in validations where !other.validations.contains(text) {
      changes.append((.ruleRemoved(text), nil))
    }
    for text in other.validations where !validations.contains(text) {
      changes.append((.ruleAdded(text), nil))
    }
    for index in schema.indexes {
      let text = schema.text(of: index)
      guard let named = other.schema.indexes.first(where: { other.schema.text(of: $0) == text })
      else { continue }
      changes.append((.changed(.indexName, index.name, named.name), nil))
    }
    return changes.compactMap { change, field in
      change.map { SchemaDifference($0, of: name, field: field) }
    }
  }
}

// MARK: - Advice

extension LockedVersion {
  /// Returns the advice for the change that `other` makes: to restore the description, and to make the change in a new
  /// version.
  func advice(_ other: LockedVersion, isNewest: Bool) -> String {
    let next = number + 1
    var text =
      isNewest
      ? "Describe version \(number) as it was, and what is new as version \(next):\n\n"
        + "  StoreModel(version: \(next), …)\n"
      : "Describe version \(number) as it was. What is new belongs into a version that is not released.\n"
    let names = Set(records.map(\.name)).union(other.records.map(\.name))
    for name in names.sortedRarely(by: { $0.precedes($1) }) {
      let (locked, now) = (self[name], other[name])
      if let locked, let now, locked.isDescribed(as: now) { continue }
      text += "\n  // \(name)\n"
      if let now, isNewest {
        text +=
          "  if version <= \(number) {\n" + (locked?.swiftStatements(by: "    ", in: schema) ?? "")
        text += "  } else {\n" + now.swiftStatements(by: "    ", in: other.schema) + "  }\n"
      } else if isNewest {
        text +=
          "  if version <= \(number) {\n" + (locked?.swiftStatements(by: "    ", in: schema) ?? "")
          + "  }\n"
      } else {
        text += locked?.swiftStatements(by: "  ", in: schema) ?? "  // not in version \(number)\n"
      }
    }
    return text
  }
}
