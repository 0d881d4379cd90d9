/// The record types of a program, and the version in which it describes them.
public struct StoreModel: Sendable {
  /// The version, counted from 1.
  public let version: Int
  /// A name for the version, such as that of the program's release.
  public let label: String?
  public let records: [any Record.Type]
  public let removed: [RemovedRecord]
  /// True if what has no type may be described in the model's own version too: then it is read and written without
  /// one.
  let isUntyped: Bool

  /// - Parameter removed: The records of earlier versions for which the program no longer has types.
  public init(
    version: Int = 1, label: String? = nil, records: [any Record.Type],
    removed: [RemovedRecord] = []
  ) {
    self.version = version
    self.label = label
    self.records = records
    self.removed = removed
    isUntyped = false
  }

  /// A model of records that no Swift type stands for.
  package init(version: Int, label: String? = nil, untyped records: [RemovedRecord]) {
    self.version = version
    self.label = label
    self.records = []
    removed = records
    isUntyped = true
  }

  /// Returns the descriptions in a version without the types, and without validations of whole records, which need them.
  package func untyped(version: Int) -> StoreModel {
    let typed = records.map { type in
      RemovedRecord(String(describing: type)) { version in
        RecordDescription(
          type.recordDescription(for: version).elements.filter {
            if case .validation = $0.kind { false } else { true }
          })
      }
    }
    return StoreModel(
      version: version, label: version == self.version ? label : nil, untyped: typed + removed)
  }
}

/// A record of earlier versions for which there is no type any more.
public struct RemovedRecord: Sendable {
  let name: String
  let description: @Sendable (Int) -> RecordDescription

  /// - Parameters:
  ///   - name: Its stored name.
  ///   - description: Its description in a version; nothing for the current one.
  public init(
    _ name: String,
    @RecordDescription.ResultBuilder description: @escaping @Sendable (Int) -> RecordDescription
  ) {
    self.name = name
    self.description = description
  }
}

/// A model whose descriptions were checked: the schema of its version, and beside it what is not stored.
struct CheckedModel: Sendable {
  let schema: Schema
  /// In step with the schema's records.
  let records: [CheckedRecord]
}

/// A record of a checked model.
struct CheckedRecord: Sendable {
  let type: any Record.Type
  let schema: RecordSchema
  /// In step with the schema's fields.
  let fields: [DescribedField]
  let transients: [DescribedTransient]
  let validations: [RecordDescription.Validation]
}

extension StoreModel {
  /// Checks the descriptions of all versions up to the model's own, and makes its schema.
  ///
  /// - Parameter previous: The schema that the store has, of this version or an older one. Its numbers are
  ///   kept; whether it describes its version as the model does is not looked at.
  /// - Throws: `.invalidDescription`; `.newerSchema` if the store's is newer.
  /// - Complexity: O(versions × fields).
  func checked(after previous: Schema? = nil) throws(StoreError) -> CheckedModel {
    let versions = try describedVersions()
    if let previous, previous.version > version {
      throw .newerSchema(found: previous.version, supported: version)
    }
    var schema = previous
    for described in versions.dropFirst((previous?.version ?? version) - 1) {
      var numbering = Numbering(described, after: schema)
      schema = try numbering.schema(label: described.version == version ? label : nil)
    }
    guard let schema, let described = versions.last else {
      throw invalid("a model without versions")
    }
    var records: [CheckedRecord] = []
    for record in schema.records {
      if let record = described.record(named: record.name)?.checked(record) {
        records.append(record)
      }
    }
    return CheckedModel(schema: schema, records: records)
  }

  /// Returns the schemas of all versions up to the model's own, each with the numbers of the one before, as a store has
  /// them that was migrated through all versions.
  ///
  /// - Throws: `StoreError.invalidDescription`.
  public func schemas() throws(StoreError) -> [Schema] {
    try numberedVersions().map(\.schema)
  }

  /// - Throws: `.invalidDescription`.
  func describedVersions() throws(StoreError) -> [DescribedVersion] {
    try numberedVersions().map(\.described)
  }

  /// The descriptions of all versions are asked for at every open.
  private static let versionMax = 65_535

  /// Every version, checked by itself and against the one before, with the numbers of the one before.
  ///
  /// - Throws: `.invalidDescription`.
  func numberedVersions() throws(StoreError) -> [(described: DescribedVersion, schema: Schema)] {
    guard version >= 1 else { throw invalid("versions start at 1") }
    guard version <= Self.versionMax else {
      throw invalid("versions count up to \(Self.versionMax); a date, say, is a label")
    }
    if let count = label?.utf8.count, count > StoreError.Limit.nameLength.bound {
      throw .limitExceeded(.nameLength, found: count)
    }
    var seen: [any Record.Type] = []
    for type in records {
      if seen.contains(where: { $0 == type }) {
        throw invalid("\(type) is in the model twice")
      }
      seen.append(type)
    }
    var versions: [(described: DescribedVersion, schema: Schema)] = []
    for version in 1...version {
      let last = versions.last
      var described = try DescribedVersion(
        version: version, records: try describedRecords(in: version), after: last?.described)
      try described.findInverses(isNewest: version == self.version)
      var numbering = Numbering(described, after: last?.schema)
      let schema = try numbering.schema(label: version == self.version ? label : nil)
      versions.append((described, schema))
    }
    return versions
  }

  private func describedRecords(in version: Int) throws(StoreError) -> [DescribedRecord] {
    var all: [(description: RecordDescription, type: (any Record.Type)?, name: String)] = []
    for type in records {
      all.append((type.recordDescription(for: version), type, RecordDescription.name(of: type)))
    }
    for record in removed {
      let description = record.description(version)
      guard version < self.version || isUntyped || description.elements.isEmpty else {
        throw .invalidDescription(
          record: record.name, field: nil, version: version,
          reason: "it was removed, so its description for the current version is empty")
      }
      all.append((description, nil, record.name))
    }
    all.removeAll { $0.description.elements.isEmpty }
    let destinations = Destinations(
      version: version,
      Dictionary(
        all.map { ($0.description.statedName ?? $0.name, $0.description) },
        uniquingKeysWith: { first, _ in first }))
    var described: [DescribedRecord] = []
    for (description, type, name) in all {
      described.append(try Self.describe(description, type, name, among: destinations))
    }
    return described
  }

  /// A description taken apart.
  ///
  /// - Throws: `.invalidDescription`.
  static func describe(
    _ description: RecordDescription, _ type: (any Record.Type)?, _ name: String,
    among destinations: Destinations
  ) throws(StoreError) -> DescribedRecord {
    do throws(DescriptionFault) {
      return try DescribedRecord(description, of: type, name: name, among: destinations)
    } catch {
      throw .invalidDescription(
        record: name, field: error.field, version: destinations.version, reason: error.reason)
    }
  }

  private func invalid(_ reason: String) -> StoreError {
    .invalidDescription(record: "StoreModel", field: nil, version: version, reason: reason)
  }
}

extension DescribedRecord {
  /// The record beside its schema; nil if it has no type.
  func checked(_ schema: RecordSchema) -> CheckedRecord? {
    guard let type else { return nil }
    var byName: [String: DescribedField] = [:]
    for field in fields { byName[field.name] = field }
    return CheckedRecord(
      type: type, schema: schema, fields: schema.fields.compactMap { byName[$0.name] },
      transients: transients, validations: validations)
  }
}

extension Schema {
  /// Swift types for records of this version, which may be an old one: what each describes for the version has
  /// to be what the schema says.
  ///
  /// - Throws: `.invalidDescription`, with the differences.
  func checked(types: [any Record.Type]) throws(StoreError) -> CheckedModel {
    var records: [CheckedRecord] = []
    for type in types {
      let described = try StoreModel.describe(
        type.recordDescription(for: version), type, RecordDescription.name(of: type),
        among: Destinations(self))
      let alone = try DescribedVersion(version: version, records: [described.alone], after: nil)
      var numbering = Numbering(alone, after: nil)
      var schema = try numbering.schema(label: nil)
      guard let record = self.record(named: described.name) else {
        throw .invalidDescription(
          record: described.name, field: nil, version: version,
          reason: "the type \(type) stands for it, but the version has no such record")
      }
      schema.records[0].addReferences(of: described, as: record)
      let own = Schema(
        version: storedVersion, label: nil, records: [record.withoutMadeIndexes])
      schema.records[0] = schema.records[0].withoutMadeIndexes
      let differences = own.differences(to: schema)
      guard differences.isEmpty, let checked = described.checked(record) else {
        throw .invalidDescription(
          record: described.name, field: nil, version: version,
          reason: "the type \(type) describes it differently than the store: "
            + differences.map(\.description).joined(separator: "; "))
      }
      records.append(checked)
    }
    return CheckedModel(schema: self, records: records)
  }
}

extension RecordDescription {
  /// Returns the stored name of a record that states none: its type's name without its module and the types around it.
  static func name(of type: any Record.Type) -> String { String(describing: type) }

  /// Returns the stored name of a type's records in a version.
  static func name(of type: any Record.Type, in version: Int) -> String {
    type.recordDescription(for: version).statedName ?? name(of: type)
  }

  /// The name that it states for its records.
  fileprivate var statedName: String? {
    for case .name(let name) in elements.lazy.map(\.kind) { return name.name }
    return nil
  }
}
