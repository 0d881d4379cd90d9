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
/// be named; and defaults and `renamingID`s, which are in no fingerprint although migrations depend on them. A version
/// that is not in it is still being developed.
public struct SchemaLock: Hashable, Sendable {
  /// The versions, in ascending order.
  public internal(set) var versions: [LockedVersion]

  /// Creates a lock of all versions that a model describes.
  ///
  /// - Throws: `StoreError.invalidDescription`.
  public init(_ model: StoreModel) throws(StoreError) {
    versions = []
    let schemas = try model.schemas()
    for (described, schema) in zip(try model.describedVersions(), schemas) {
      versions.append(LockedVersion(described, schema))
    }
  }

  /// Creates a lock of the versions of a store, without defaults, renamings and validations, which no store keeps.
  public init(_ schemas: [Schema]) {
    versions = schemas.map { LockedVersion($0) }
  }

  init(versions: [LockedVersion]) {
    self.versions = versions
  }

  /// Returns the lock with those versions of another lock that it does not have.
  public func completed(by other: SchemaLock) -> SchemaLock {
    let missing = other.versions.filter { !contains(version: $0.number) }
    return SchemaLock(versions: (versions + missing).sortedRarely { $0.number < $1.number })
  }

  /// Returns the lock with only the versions that meet a condition.
  public func filter(_ isKept: (LockedVersion) -> Bool) -> SchemaLock {
    SchemaLock(versions: versions.filter(isKept))
  }

  /// Returns true if a version is in the lock.
  public func contains(version: Int) -> Bool { self[version] != nil }

  public subscript(version: Int) -> LockedVersion? { versions.first { $0.number == version } }
}

/// One version in a lock.
public struct LockedVersion: Hashable, Sendable {
  public let number: Int
  /// Its label when it was locked.
  public internal(set) var label: String?
  /// The fingerprint of all records, as 32 hexadecimal digits.
  public let fingerprint: String
  /// In the order of their names.
  public internal(set) var records: [LockedRecord]
}

/// One record of a version in a lock, in words.
public struct LockedRecord: Hashable, Sendable {
  public let name: String
  /// Its fingerprint, as 32 hexadecimal digits.
  public let fingerprint: String
  /// The name that the version before has for it, as stated.
  var renamingID: String?
  var modifier: String?
  /// In the order of their names.
  var fields: [LockedField] = []
  var key: [LockedPart] = []
  /// In the order of their text.
  var indexes: [LockedIndex] = []
  /// The rules of records that are written, in words, in the order of their text.
  var validations: [String] = []
}

struct LockedField: Hashable, Sendable {
  /// The stored name; of a composite's part, after the composite's name and a dot.
  let name: String
  let type: LockedType
  var isOptional = false
  var modifier: String?
  /// The default, as values are written in conditions.
  var defaultValue: String?
  /// The default of its `MigrationInfo`, written likewise.
  var migrationDefault: String?
  var renamingID: String?
}

struct LockedType: Hashable, Sendable {
  /// "array" for one, else the column's.
  var name: String
  /// The type of an array's elements.
  var element: String?
  /// The codec of a transformable.
  var codec: String?
  /// The options of an external field.
  var options: BlobOptions?
}

struct LockedPart: Hashable, Sendable {
  let field: String
  var isDescending = false
  var isCaseInsensitive = false
}

struct LockedIndex: Hashable, Sendable {
  /// Nil if it is called by its parts. No store depends on it.
  var name: String?
  var isUnique: Bool
  var parts: [LockedPart]
  /// The condition, as text.
  var condition: String?
}

// MARK: - From descriptions

extension LockedVersion {
  fileprivate init(_ schema: Schema) {
    number = Int(schema.version)
    label = schema.label
    fingerprint = "\(schema.fingerprint)"
    records = schema.records.sortedRarely { $0.name.precedes($1.name) }.map {
      LockedRecord($0, nil)
    }
  }

  init(_ described: DescribedVersion, _ schema: Schema) {
    number = described.version
    label = schema.label
    fingerprint = "\(schema.fingerprint)"
    records = schema.records.sortedRarely { $0.name.precedes($1.name) }.map { record in
      LockedRecord(record, described.record(named: record.name))
    }
  }
}

extension LockedRecord {
  fileprivate init(_ schema: RecordSchema, _ described: DescribedRecord?) {
    name = schema.name
    fingerprint = "\(schema.fingerprint)"
    renamingID = described?.renamingID
    modifier = schema.modifier
    fields = schema.fields.sortedRarely { $0.name.precedes($1.name) }.map { field in
      LockedField(field, described?.fields.first { $0.name == field.name })
    }
    key = schema.locked(schema.primaryKey)
    indexes = schema.indexes.map { index in
      let parts = schema.locked(index.parts)
      return LockedIndex(
        name: index.name == parts.indexName ? nil : index.name, isUnique: index.isUnique,
        parts: parts, condition: index.condition.map { "\($0.canonical)" })
    }.sortedRarely { $0.line.precedes($1.line) }
    let rules = described?.fields.flatMap { field in
      field.rules.map { "\(field.name) \($0.text)" }
    }
    validations =
      ((rules ?? []) + (described?.validations.map(\.text) ?? [])).sortedRarely { $0.precedes($1) }
  }
}

extension RecordSchema {
  fileprivate func locked(_ parts: [KeyPart]) -> [LockedPart] {
    parts.map {
      LockedPart(
        field: field($0.field)?.name ?? "", isDescending: $0.isDescending,
        isCaseInsensitive: $0.isCaseInsensitive)
    }
  }
}

extension [LockedPart] {
  /// The name of an index that was given none.
  fileprivate var indexName: String {
    map { part in
      KeyField.indexName(
        of: part.field, isDescending: part.isDescending, isCaseInsensitive: part.isCaseInsensitive)
    }.joined(separator: ", ")
  }
}

extension LockedField {
  fileprivate init(_ schema: FieldSchema, _ described: DescribedField?) {
    name = schema.name
    type = LockedType(schema.type)
    isOptional = schema.isOptional
    modifier = schema.modifier
    defaultValue = described?.defaultValue?.literal
    migrationDefault = described?.migrationDefault?.literal
    renamingID = described?.renamingID
  }
}

extension LockedType {
  fileprivate init(_ type: ColumnType) {
    switch type {
    case .array(let element):
      name = "array"
      self.element = "\(element)"
    case .transformable(let codec):
      name = "transformable"
      self.codec = codec
    case .external(let type, let options):
      name = "\(type)"
      self.options = options
    default: name = "\(type)"
    }
  }

  /// The types that have a name only.
  static let plain: Set<String> = Set(
    ScalarType.allCases.map { "\($0)" } + ["\(ColumnType.composite)"])
}
