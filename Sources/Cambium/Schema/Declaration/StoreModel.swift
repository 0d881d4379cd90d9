/// The record types of a program, and the version in which it describes them.
///
/// Either one set of types describes all versions, each type by `recordDescription(for:)`, or each ``ModelVersion`` has types
/// of its own.
public struct StoreModel: Sendable {
  /// The version, counted from 1.
  public private(set) var version: Int
  /// A name for the version, such as that of the program's release.
  public private(set) var label: String?
  /// The types of the model's version.
  public let records: [any Record.Type]
  /// The records that earlier versions had and that have no type any more.
  package let removed: [RemovedRecord]
  /// The types that each configuration has in the model's version, by the configuration's name.
  package let configurations: [String: [any Record.Type]]
  /// The versions up to the model's own, if each has types of its own; else empty.
  let versions: [ModelVersion]
  /// True if records without a type may be described in the model's own version too: then they are read and written
  /// without one.
  let isUntyped: Bool
  /// True if it is an earlier version of a model whose types name the properties that they have today.
  private var isOfEarlierVersion = false
  /// The records in a version that are in other configurations only, by stored name.
  var elsewhere: @Sendable (Int) -> [String: RecordDescription] = { _ in [:] }
  /// The steps that lead to each version by the lock that the model was made of, without their actions. A version of
  /// which the lock does not say that is missing. Nil if the model is not made of a lock.
  var statedSteps: [Int: [StatedStep]]?

  /// Creates a model whose types describe all versions.
  ///
  /// - Parameters:
  ///   - removed: The records of earlier versions for which the program no longer has types.
  ///   - configurations: Subsets of the types, each for a store of its own: see ``StoreGroup``.
  public init(
    version: Int = 1, label: String? = nil, records: [any Record.Type],
    removed: [RemovedRecord] = [], configurations: [String: [any Record.Type]] = [:]
  ) {
    self.init(version, label, records, removed, configurations)
  }

  /// Creates a model of versions that have types of their own. The last one's are the program's.
  ///
  /// ```swift
  /// let model = StoreModel([
  ///   ModelVersion(1, label: "First", records: [V1.Laundry.self]),
  ///   ModelVersion(2, label: "Items", records: [V2.Laundry.self, V2.Item.self]),
  /// ])
  /// ```
  ///
  /// - Parameter versions: All versions from 1 on, in order.
  public init(_ versions: [ModelVersion]) {
    let newest = versions.last
    self.init(
      newest?.number ?? 0, newest?.label, newest?.records ?? [], [],
      newest?.configurations ?? [:], versions: versions, isUntyped: true)
  }

  /// A model of records that no Swift type stands for.
  package init(version: Int, label: String? = nil, untyped records: [RemovedRecord]) {
    self.init(version, label, [], records, [:], isUntyped: true)
  }

  init(
    _ version: Int, _ label: String?, _ records: [any Record.Type], _ removed: [RemovedRecord],
    _ configurations: [String: [any Record.Type]], versions: [ModelVersion] = [],
    isUntyped: Bool = false
  ) {
    self.version = version
    self.label = label
    self.records = records
    self.removed = removed
    self.configurations = configurations
    self.versions = versions
    self.isUntyped = isUntyped
  }
}

extension StoreModel {
  /// Returns the model in a version that its types describe, without the label of another.
  ///
  /// - Throws: `.invalidDescription` if only some versions have descriptions, and this one is not the newest.
  func stating(_ version: Int) throws(StoreError) -> StoreModel {
    if version == self.version { return self }
    guard versions.isEmpty else {
      throw invalid(
        "each of its versions has types of its own, and the newest is \(self.version), not \(version)"
      )
    }
    var model = self
    (model.version, model.label) = (version, nil)
    return model
  }
}

/// A record of earlier versions for which there is no type any more.
public struct RemovedRecord: Sendable {
  let name: String
  let configurations: [String]
  let description: @Sendable (Int) -> RecordDescription

  /// - Parameters:
  ///   - name: Its stored name.
  ///   - configurations: The configurations in whose stores it was.
  ///   - description: Its description in a version; nothing for the current one.
  public init(
    _ name: String, configurations: [String] = [],
    @RecordDescription.ResultBuilder description: @escaping @Sendable (Int) -> RecordDescription
  ) {
    self.name = name
    self.configurations = configurations
    self.description = description
  }
}

// MARK: - Descriptions of a version

extension StoreModel {
  /// Returns the records of a version that are described at all.
  func statedRecords(in version: Int) -> [TypeDescription] {
    var all: [TypeDescription] = []
    if versions.isEmpty {
      for type in records {
        all.append((type.typedDescription(for: version), type, RecordDescription.name(of: type)))
      }
      for record in removed {
        all.append((record.description(version), nil, record.name))
      }
    } else if let stated = versions.first(version: version, by: \.number) {
      all = stated.statedRecords
    }
    all.removeAll { $0.description.elements.isEmpty }
    return all
  }

  /// Returns the label of a version.
  func label(of version: Int) -> String? {
    version == self.version ? label : versions.first(version: version, by: \.number)?.label
  }

  /// Returns the descriptions in a version without the types, and without validations of whole records, which need them.
  ///
  /// - Complexity: O(versions × fields).
  package func untyped(version: Int) -> StoreModel {
    var stated: [String: [Int: RecordDescription]] = [:]
    for version in 1...max(version, 1) {
      for record in statedRecords(in: version) where stated[record.name]?[version] == nil {
        stated[record.name, default: [:]][version] = record.description
      }
    }
    var model = StoreModel(
      version: version, label: label(of: version),
      untyped: stated.sortedRarely { $0.key.precedes($1.key) }.map { name, descriptions in
        RemovedRecord(name) { version in
          return RecordDescription(
            (descriptions[version]?.elements ?? []).filter {
              if case .validation = $0.kind { false } else { true }
            })
        }
      })
    model.isOfEarlierVersion = versions.isEmpty && version < self.version
    return model
  }
}

/// A model whose descriptions were checked: the schema of its version, and beside it the parts that are not stored.
struct CheckedModel: Sendable {
  let schema: Schema
  /// In the order of the schema's records, each with its kinds after it.
  let records: [CheckedRecord]
}

/// A type of a checked model: of a record, or of a kind of one.
struct CheckedRecord: Sendable {
  let type: any Record.Type
  let schema: RecordSchema
  /// In the order of the schema's fields; without those of kinds that values of the type are not of.
  var fields: [DescribedField]
  let transients: [DescribedTransient]
  let validations: [RecordDescription.Validation]
  /// The name of the kind's composite; nil for the record itself.
  var kind: String? = nil
  /// Its own struct, and those of its ancestors in it.
  let levels: [TypeLevel]
  /// The computed properties of its own struct, and those of its ancestors.
  var computed: [DescribedComputed] = []

  /// The names of the properties that are not stored and whose changes are tracked.
  var trackedNames: [String] { transients.filter(\.transient.isTracked).map(\.name) }
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
      schema = try numbering.schema(label: label(of: described.version))
    }
    guard let schema, let described = versions.last else {
      throw invalid("a model without versions")
    }
    var records: [CheckedRecord] = []
    for record in schema.records {
      records += try described.record(named: record.name)?.checked(record, version: version) ?? []
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

  static var versionMax: Int { Schema.versionMax }

  /// Every version, checked by itself and against the one before, with the numbers of the one before.
  ///
  /// - Throws: `.invalidDescription`.
  func numberedVersions() throws(StoreError) -> [(described: DescribedVersion, schema: Schema)] {
    guard version >= 1 else {
      throw invalid("versions start at 1; 0 stands for no version in a store's files")
    }
    guard version <= Self.versionMax else {
      throw invalid("versions count up to \(Self.versionMax); a date, say, is a label")
    }
    try checkStatements()
    var versions: [(described: DescribedVersion, schema: Schema)] = []
    for version in 1...version {
      let last = versions.last
      let elsewhere = elsewhere(version)
      var described = try DescribedVersion(
        version: version, records: try describedRecords(in: version, elsewhere),
        after: last?.described)
      // Types of all versions name the properties that they have today.
      try described.findInverses(
        mayBeMissing: self.versions.isEmpty && (version < self.version || isOfEarlierVersion),
        elsewhere: elsewhere)
      var numbering = Numbering(described, after: last?.schema)
      let schema = try numbering.schema(label: label(of: version))
      versions.append((described, schema))
    }
    return versions
  }

  private func describedRecords(
    in version: Int, _ elsewhere: [String: RecordDescription]
  ) throws(StoreError) -> [DescribedRecord] {
    let all = statedRecords(in: version)
    if version == self.version, !isUntyped, let record = all.first(where: { $0.type == nil }) {
      throw .invalidDescription(
        record: record.name, field: nil, version: version,
        reason: "it was removed, so its description for the current version is empty")
    }
    let joined = try KindJoining.joined(all, version: version)
    let destinations = Destinations(
      version: version,
      Dictionary(
        joined.map { ($0.description.statedName ?? $0.name, $0.description) },
        uniquingKeysWith: { first, _ in first }),
      elsewhere: elsewhere)
    var described: [DescribedRecord] = []
    for (description, type, name) in joined {
      described.append(try Self.describe(description, type, name, among: destinations))
    }
    return described
  }

  /// Refuses faults of a model before its records are looked at.
  private func checkStatements() throws(StoreError) {
    for (index, version) in versions.enumerated() where version.number != index + 1 {
      throw invalid(
        "the versions are given in order and none is left out, and \(index + 1) is not where it belongs"
      )
    }
    for version in versions { try check(version.records, version.configurations, version.label) }
    if versions.isEmpty { try check(records, configurations, label) }
    for record in removed {
      if let name = record.configurations.first(where: { configurations[$0] == nil }) {
        throw invalid("\(record.name) was in the configuration “\(name)”, which is not there")
      }
    }
  }

  private func check(
    _ types: [any Record.Type], _ configurations: [String: [any Record.Type]], _ label: String?
  ) throws(StoreError) {
    if let count = label?.utf8.count, count > StoreError.Limit.nameLength.bound {
      throw .limitExceeded(.nameLength, found: count)
    }
    var seen: Set<ObjectIdentifier> = []
    for type in types where !seen.insert(ObjectIdentifier(type)).inserted {
      throw invalid("\(type) is in the model twice")
    }
    for (name, members) in configurations {
      if let type = members.first(where: { !seen.contains(ObjectIdentifier($0)) }) {
        throw invalid(
          "the configuration “\(name)” has \(type), which is not among the records of its version")
      }
    }
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

  func invalid(_ reason: String) -> StoreError {
    .invalidDescription(record: "StoreModel", field: nil, version: version, reason: reason)
  }
}

extension DescribedRecord {
  /// The types of the record and of its kinds beside its schema; empty if they have none.
  ///
  /// - Throws: `.invalidDescription` for a type whose parent has none.
  func checked(_ schema: RecordSchema, version: Int) throws(StoreError) -> [CheckedRecord] {
    var byName: [String: DescribedField] = [:]
    for field in fields { byName[field.name] = field }
    let fields = schema.fields.compactMap { byName[$0.name] }
    var types: [CheckedRecord] = []
    if let type {
      types.append(
        CheckedRecord(
          type: type, schema: schema, fields: fields, transients: transients,
          validations: validations, levels: levels))
    }
    for kind in kinds {
      guard let type = kind.type else { continue }
      types.append(
        CheckedRecord(
          type: type, schema: schema, fields: fields, transients: transients,
          validations: kind.validations, kind: kind.name, levels: kind.levels))
    }
    for type in types where type.levels.contains(where: { $0.type == nil }) {
      throw .invalidDescription(
        record: schema.name, field: type.kind, version: version,
        reason:
          "\(type.type) contains its parent, but that has no type in the model; add it to the model's records"
      )
    }
    return types.map { type in
      var type = type.withoutOtherKinds(kinds.map(\.name))
      let own = Set(type.levels.map(\.composite))
      type.computed = computed.filter { own.contains($0.kind) }
      return type
    }
  }
}

extension CheckedRecord {
  /// The type without the fields of kinds that its values are not of.
  fileprivate func withoutOtherKinds(_ kinds: [String]) -> CheckedRecord {
    if kinds.isEmpty { return self }
    let own = Set(levels.compactMap(\.composite))
    let others = kinds.filter { !own.contains($0) }
    func isOfOther(_ name: String?) -> Bool {
      name.map { name in others.contains { name == $0 || name.hasPrefix($0 + ".") } } ?? false
    }
    return CheckedRecord(
      type: type, schema: schema, fields: fields.filter { !isOfOther($0.name) },
      transients: transients.filter { !isOfOther($0.composite) }, validations: validations,
      kind: kind, levels: levels)
  }
}

extension Schema {
  /// Swift types for records of this version, which may be an old one: their descriptions for the version have
  /// to agree with the schema.
  ///
  /// - Throws: `.invalidDescription`, with the differences.
  func checked(types: [any Record.Type]) throws(StoreError) -> CheckedModel {
    var records: [CheckedRecord] = []
    let types = KindJoining.withAncestors(types, version: version)
    let descriptions = try KindJoining.joined(
      types.map { ($0.typedDescription(for: version), $0, RecordDescription.name(of: $0)) },
      version: version, areAll: false)
    for (description, type, name) in descriptions {
      let described = try StoreModel.describe(
        description, type, name, among: Destinations(self))
      let alone = try DescribedVersion(version: version, records: [described.alone], after: nil)
      var numbering = Numbering(alone, after: nil)
      var schema = try numbering.schema(label: nil)
      guard let record = self.record(named: described.name) else {
        throw .invalidDescription(
          record: described.name, field: nil, version: version,
          reason: "the type \(name) stands for it, but the version has no such record")
      }
      schema.records[0].addRelations(of: described, as: record, in: self)
      let own = Schema(
        version: storedVersion, label: nil,
        records: [record.withKinds(Set(described.kinds.map(\.name))).withoutMadeIndexes])
      schema.records[0] = schema.records[0].withoutMadeIndexes
      let differences = own.differences(to: schema)
      guard differences.isEmpty else {
        throw .invalidDescription(
          record: described.name, field: nil, version: version,
          reason: "the type \(name) describes it differently than the store: "
            + differences.map(\.description).joined(separator: "; "))
      }
      records += try described.checked(record, version: version)
    }
    return CheckedModel(schema: self, records: records)
  }
}

extension RecordDescription {
  /// Returns the stored name of a record that states none: its type's name without its module and the types around it.
  // Inlined where the type is known, the optimizer writes the name itself, and those of private types otherwise.
  @inline(never)
  static func name(of type: any Record.Type) -> String { String(describing: type) }

  /// Returns the stored name of a type's records in a version.
  static func name(of type: any Record.Type, in version: Int) -> String {
    type.recordDescription(for: version).statedName ?? name(of: type)
  }

  /// The name that it states for its records.
  var statedName: String? {
    for case .name(let name) in elements.lazy.map(\.kind) { return name.name }
    return nil
  }
}
