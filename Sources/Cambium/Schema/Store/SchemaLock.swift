/// The released versions of a model, as a readable text to commit beside the program. Stores in use may have them, so no
/// later change may describe them differently.
///
/// ```swift
/// @Test func `no released version has changed`() throws {
///   try SchemaLock.check(.app, at: "Schema.lock")
/// }
/// ```
///
/// For each version it contains the fingerprint and everything that the fingerprint is made of, so that a difference can
/// be named; and defaults and `renamingID`s, which are in no fingerprint although migrations depend on them. If the
/// program's steps are passed, it also states which of them lead to the version, by label and revision: the actions of
/// a step are in the program alone, and `cambium migrate` does not infer another step in its place. A version that is
/// not in the lock is still being developed.
public struct SchemaLock: Hashable, Sendable {
  /// The versions, in ascending order.
  package internal(set) var versions: [LockedVersion]

  /// Creates a lock of all versions that a model describes.
  ///
  /// - Parameter steps: All steps of the program. Without them the lock does not say which versions steps lead to.
  /// - Throws: `StoreError.invalidDescription`.
  public init(_ model: StoreModel, steps: [MigrationStep]? = nil) throws(StoreError) {
    versions = try model.numberedVersions().map { LockedVersion($0.schema, $0.described) }
    guard let steps else { return }
    var stated: [StatedStep] = []
    for step in steps { stated.append(try step.resolved(in: model).stated) }
    for index in versions.indices {
      versions[index].steps = stated.filter { $0.to == versions[index].number }
        .sortedRarely { ($0.from.lowerBound, $0.from.count) < ($1.from.lowerBound, $1.from.count) }
    }
  }

  /// Creates a lock of the versions of a store, without renamings, defaults of migrations, validations and steps, which no
  /// store keeps.
  package init(_ schemas: [Schema]) {
    versions = schemas.map { LockedVersion($0, nil) }
  }

  init(versions: [LockedVersion]) {
    self.versions = versions
  }

  /// Returns the lock with those versions of another lock that it does not have.
  ///
  /// A store may have had versions that a program no longer knows. With those of the store, a model of the lock can migrate it:
  ///
  /// ```swift
  /// let schemas = try PersistentStore.inspect(at: path).schemas
  /// let model = try StoreModel(try SchemaLock(contentsOf: "Schema.lock").completed(by: SchemaLock(schemas)))
  /// let plan = try PersistentStore.migration(at: path, to: model).plan
  /// ```
  ///
  /// - Parameter other: The lock with further versions. Its description of a version that both have is ignored.
  package func completed(by other: SchemaLock) -> SchemaLock {
    let missing = other.versions.filter { !contains(version: $0.number) }
    return SchemaLock(versions: (versions + missing).sortedRarely { $0.number < $1.number })
  }

  /// Returns the lock with only the versions that meet a condition.
  package func filter(_ isKept: (LockedVersion) -> Bool) -> SchemaLock {
    SchemaLock(versions: versions.filter(isKept))
  }

  /// Returns the lock with the statement that no steps of the program lead to a version, for each version whose steps it does
  /// not state.
  ///
  /// Use it when you give a migration all steps that there are: a step that removes something is refused otherwise.
  package func withoutOtherSteps() -> SchemaLock {
    var lock = self
    for index in versions.indices where versions[index].steps == nil {
      lock.versions[index].steps = []
    }
    return lock
  }

  /// Returns true if a version is in the lock.
  package func contains(version: Int) -> Bool { self[version] != nil }

  package subscript(version: Int) -> LockedVersion? {
    versions.first(version: version, by: \.number)
  }
}

/// One version in a lock.
package struct LockedVersion: Hashable, Sendable {
  package let number: Int
  /// Its label when it was locked.
  package internal(set) var label: String?
  /// The fingerprint of all records, as 32 hexadecimal digits.
  package internal(set) var fingerprint: String
  /// In the order of their names.
  var records: [LockedRecord] {
    didSet { recordNames.renew(for: records.count) }
  }
  var recordNames = NameTable()
  /// The program's steps that lead to it; nil if the lock does not state them.
  var steps: [StatedStep]?
}

/// One record of a version in a lock: its schema as any store keeps it, and beside it the parts that no store keeps.
struct LockedRecord: Hashable, Sendable {
  /// The fields are numbered in the order of their names, the indexes in that of their lines, and after the fields the
  /// inverses in the order of their names. Without the indexes that references make; the numbers of other records and
  /// their fields are 0.
  var schema: RecordSchema
  /// The fingerprint that the lock states, as 32 hexadecimal digits.
  var fingerprint: String
  /// The name that the version before has for it, as stated.
  var renamingID: String?
  /// The parts of fields and inverses that only their descriptions have, by their names; nil for a field or inverse without any.
  var fields: [String: LockedField] = [:]
  /// The rules of records that are written, in words, in the order of their text.
  var validations: [String] = []

  var name: String { schema.name }
}

/// The parts of a field's description that are in no schema.
struct LockedField: Hashable, Sendable {
  /// The default of its `MigrationInfo`, as values are written in conditions.
  var migrationDefault: String?
  var choice: ElementChoice?
  var renamingID: String?
}

// MARK: - From schemas and descriptions

extension LockedVersion {
  init(_ schema: Schema, _ described: DescribedVersion?) {
    number = schema.version
    label = schema.label
    fingerprint = "\(schema.fingerprint)"
    records = schema.records.sortedRarely { $0.name.precedes($1.name) }.map { record in
      LockedRecord(record, described?.record(named: record.name))
    }
  }

  /// - Complexity: O(1); the first time, O(records).
  subscript(name: String) -> LockedRecord? {
    recordNames.place(of: name, in: records) { $0.name }.map { records[$0] }
  }
}

extension LockedRecord {
  fileprivate init(_ schema: RecordSchema, _ described: DescribedRecord?) {
    self.schema = schema.inOrderOfText
    fingerprint = "\(schema.fingerprint)"
    renamingID = described?.renamingID
    for field in described?.fields ?? [] {
      let locked = LockedField(
        migrationDefault: field.migrationDefault?.literal, choice: field.choice,
        renamingID: field.renamingID)
      if locked != LockedField() { fields[field.name] = locked }
    }
    for inverse in described?.inverses ?? [] where inverse.renamingID != nil {
      fields[inverse.name] = LockedField(renamingID: inverse.renamingID)
    }
    let rules = (described?.fields ?? []).flatMap { field in
      field.rules.map { "\(field.name) \($0.text)" }
    }
    validations =
      (rules + (described?.validations ?? []).map(\.text)
      + (described?.kinds ?? []).flatMap { $0.validations.map(\.text) })
      .sortedRarely { $0.precedes($1) }
  }
}

extension RecordSchema {
  /// The record with its fields in the order of their names and its indexes in that of their lines, numbered from 1.
  fileprivate var inOrderOfText: RecordSchema {
    var record = RecordSchema(
      number: 1, name: name, fields: fields.sortedRarely { $0.name.precedes($1.name) },
      primaryKey: primaryKey,
      indexes: indexes.filter { !isMade($0) }.map { index in (line(of: index), index) }
        .sortedRarely { $0.0.precedes($1.0) }.map(\.1),
      modifier: modifier, nextField: UInt32(fields.count) + 1)
    let numbers = Dictionary(
      zip(record.fields.map(\.number), UInt32(1)...), uniquingKeysWith: { first, _ in first })
    func renumbered(_ part: KeyPart) -> KeyPart {
      var part = part
      part.field = numbers[part.field] ?? 0
      return part
    }
    for index in record.fields.indices {
      record.fields[index].number = UInt32(index) + 1
      record.fields[index].composite = record.fields[index].composite.flatMap { numbers[$0] }
      record.fields[index].reference?.record = 0
      record.fields[index].derivation?.forgetNumbers()
      record.fields[index].reference?.composite = nil
    }
    record.order = record.fields.map(\.number)
    record.userInfo = userInfo
    record.expiry = expiry.map {
      ExpirySchema(field: numbers[$0.field] ?? 0, milliseconds: $0.milliseconds)
    }
    record.isAbstract = isAbstract
    record.kinds =
      kinds
      .map { KindSchema(composite: numbers[$0.composite] ?? 0, isAbstract: $0.isAbstract) }
      .sortedRarely { $0.composite < $1.composite }
    for inverse in inverses.sortedRarely(by: { $0.name.precedes($1.name) }) {
      record.add(inverse)
    }
    record.primaryKey = primaryKey.map(renumbered)
    for index in record.indexes.indices {
      record.indexes[index].number = UInt32(index) + 1
      record.indexes[index].parts = record.indexes[index].parts.map(renumbered)
      record.indexes[index].condition = record.indexes[index].condition?.canonical
    }
    return record
  }

  /// Adds an inverse as a lock has it.
  mutating func add(_ inverse: InverseSchema) {
    var inverse = inverse
    inverse.number = nextField
    (inverse.record, inverse.field) = (0, 0)
    inverses.append(inverse)
    nextField += 1
  }
}

/// A mismatch between a model and a lock. Its `description` says what to write.
@nonexhaustive public enum SchemaLockError: Error, Hashable, Sendable {
  /// The file does not exist.
  case missing(path: String)
  /// The file is not a lock, from this place on. Lines and columns are counted from 1.
  case malformed(line: Int, column: Int, reason: String)
  /// The model describes a version of the lock differently; the lock's description is the older one. `advice` says what to write instead.
  case changed(version: Int, differences: [SchemaDifference], advice: String)
  /// The model has versions that are not in the lock.
  case notLocked(versions: [Int], path: String)
  /// The lock has a version that the model does not have.
  case newer(version: Int, model: Int)
  /// The lock differs in a part on which no store depends: a label, a step, an annotation, a validation, or a rule or the
  /// other end of a reference.
  case outdated(version: Int, differences: [SchemaDifference], path: String)
  /// The file cannot be read or written.
  case io(path: String, reason: String)
}

extension SchemaLockError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .missing(let path):
      "There is no \(path). Make it when the first version is released, and commit it:\n\n"
        + "  try SchemaLock.write(model, at: \(path.quoted))"
    case .malformed(let line, let column, let reason):
      "The lock is damaged in line \(line), column \(column): \(reason). Take it from the version control."
    case .changed(let version, let differences, let advice):
      "Version \(version) was released, and is described differently now:\n\n"
        + differences.map { "  \($0)\n" }.joined() + "\n" + advice
    case .notLocked(let versions, let path):
      "The lock has no version \(versions.map { "\($0)" }.joined(separator: ", ")). When that is released, add"
        + " it, and commit the file:\n\n  try SchemaLock.write(model, at: \(path.quoted))"
    case .newer(let version, let model):
      "The lock has version \(version), the model only versions up to \(model). Use the model that the lock"
        + " was written with, or a later one."
    case .outdated(let version, let differences, let path):
      "The lock is not up to date. No store depends on the differences in version \(version):\n\n"
        + differences.map { "  \($0)\n" }.joined() + "\nWrite it again, and commit the file:\n\n"
        + "  try SchemaLock.write(model, at: \(path.quoted))"
    case .io(let path, let reason): "\(path) cannot be read or written: \(reason)."
    }
  }
}
