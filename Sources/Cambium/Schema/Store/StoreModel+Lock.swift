#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension StoreModel {
  /// Creates the model that a lock describes, without Swift types: records are read and written as `DynamicRecord`s.
  ///
  /// Its version is the lock's last. A version that the lock lacks is described like the one before it; versions before
  /// the first, like the first.
  ///
  /// A store is not migrated by the model to a version that a step of the program leads to by the lock, unless that step is
  /// given with the model; nor, if the lock does not state the steps to a version, by a step that would remove something.
  ///
  /// - Throws: `StoreError.invalidDescription` if the lock's description of a record is not valid, or does not have the
  ///   fingerprint that the lock states.
  public init(_ lock: SchemaLock) throws(StoreError) {
    guard let newest = lock.versions.last else {
      throw .invalidDescription(
        record: "SchemaLock", field: nil, version: 0, reason: "there is no version in it")
    }
    var versions: [Int: [String: RecordDescription]] = [:]
    var old = lock.versions.first.map { Set($0.renamings) } ?? []
    for version in lock.versions {
      old.formIntersection(version.renamings)
      var records: [String: RecordDescription] = [:]
      for record in version.records {
        records[record.name] = try record.description(in: version.number, forgetting: old)
      }
      versions[version.number] = records
    }
    let (numbers, described) = (lock.versions.map(\.number), versions)
    let names = Set(described.values.flatMap(\.keys)).sortedRarely { $0.precedes($1) }
    self.init(
      version: newest.number, label: newest.label,
      untyped: names.map { name in
        RemovedRecord(name) { version in
          let number = numbers.last(upTo: version) ?? numbers.first
          number.flatMap { described[$0]?[name] } ?? RecordDescription()
        }
      })
    statedSteps = Dictionary(
      lock.versions.compactMap { version in version.steps.map { (version.number, $0) } },
      uniquingKeysWith: { first, _ in first })
    try checkFingerprints(of: lock)
  }

  private func checkFingerprints(of lock: SchemaLock) throws(StoreError) {
    let schemas = try schemas()
    for version in lock.versions {
      let schema = schemas[version.number - 1]
      for record in version.records {
        let described = schema.record(named: record.name).map { "\($0.fingerprint)" }
        guard described != record.fingerprint else { continue }
        throw .invalidDescription(
          record: record.name, field: nil, version: version.number,
          reason: "its fingerprint is \(described ?? "none"), the lock says \(record.fingerprint)")
      }
    }
  }
}

// MARK: - From the versions of a store

extension StoreModel {
  /// Creates a model of the versions that a store has had, as the store itself describes them, and of newer ones: a program
  /// migrates a store whose versions it does not know.
  ///
  /// ```swift
  /// let schemas = try PersistentStore.inspect(at: path).schemas
  /// let newer = ModelVersion((schemas.last?.version ?? 0) + 1, records: [Item.self])
  /// let store = try PersistentStore(at: path, model: StoreModel(continuing: schemas, with: [newer]))
  /// ```
  ///
  /// - Parameters:
  ///   - schemas: The descriptions of the store's versions, in ascending order. A version that is missing between two is
  ///     described like the one before it; versions before the first, like the first.
  ///   - newer: The versions after them, in order. If the first has the number of a version of the store, it takes its place.
  /// - Throws: `StoreError.invalidDescription`.
  public init(
    continuing schemas: [Schema], with newer: [ModelVersion]
  ) throws(StoreError) {
    var versions: [ModelVersion] = []
    var locked = LockedVersion(Schema(version: 0, label: nil, records: []), nil)
    for (place, schema) in schemas.enumerated() {
      let number = schema.version
      guard number > versions.count, number <= Self.versionMax else {
        throw .invalidDescription(
          record: "StoreModel", field: nil, version: number,
          reason: "versions of a store ascend, up to \(Self.versionMax)")
      }
      locked = LockedVersion(
        schema, since: place == 0 ? nil : schemas[place - 1], described: locked)
      var records: [String: RecordDescription] = [:]
      for record in locked.records {
        records[record.name] = try record.description(in: number, forgetting: [])
      }
      let described = ModelVersion(number, label: schema.label, describing: records)
      let missing = versions.last ?? described
      versions += (versions.count + 1..<number).map { missing.repeated(as: $0) }
      versions.append(described)
    }
    let first = newer.first?.number ?? .max
    self.init(versions.filter { $0.number < first } + newer)
  }
}

extension LockedVersion {
  /// A version of a store, with the renamings since the version before, by numbers. Declarations stored under their
  /// names as before states what that stated, so that newer versions may state it, too.
  fileprivate init(_ schema: Schema, since before: Schema?, described: LockedVersion) {
    self.init(schema, nil)
    for place in records.indices {
      let name = records[place].name
      guard let record = schema.record(named: name), let old = before?.record(number: record.number)
      else {
        continue
      }
      let stated = described[old.name]
      records[place].renamingID = old.name == name ? stated?.renamingID : old.name
      for field in record.fields {
        guard let earlier = old.field(field.number) else { continue }
        let renamingID =
          earlier.lastName == field.lastName
          ? stated?.fields[earlier.name]?.renamingID : earlier.lastName
        if let renamingID {
          records[place].fields[field.name, default: LockedField()].renamingID = renamingID
        }
      }
    }
  }
}

// MARK: - From locked records to descriptions

/// A `renamingID` that a locked version states.
private struct LockedRenaming: Hashable {
  let record: String
  /// Nil if it is the record's own.
  let field: String?
  let old: String
}

extension LockedVersion {
  fileprivate var renamings: [LockedRenaming] { records.flatMap(\.renamings) }
}

extension LockedRecord {
  fileprivate var renamings: [LockedRenaming] {
    let own = renamingID.map { LockedRenaming(record: name, field: nil, old: $0) }
    let others = fields.compactMap { field, stated in
      stated.renamingID.map { LockedRenaming(record: name, field: field, old: $0) }
    }
    return [own].compactMap(\.self) + others
  }

  /// - Parameter old: Renamings that every version states from the lock's first on: they acted before it.
  fileprivate func description(
    in version: Int, forgetting old: Set<LockedRenaming>
  ) throws(StoreError) -> RecordDescription {
    var elements: [RecordDescription.Element] = []
    let kept = Set(renamings).subtracting(old)
    let renamingID = kept.first { $0.field == nil }?.old
    elements.append(.init(kind: .name(RecordName(name, renamingID: renamingID))))
    if let modifier = schema.modifier {
      elements.append(.init(kind: .modifier(RecordModifier(modifier))))
    }
    if schema.isAbstract { elements.append(.init(kind: .abstract)) }
    elements.append(.init(kind: .userInfo(.init(schema.userInfo))))
    if let expiry = schema.declaredExpiry { elements.append(.init(kind: .expiry(expiry))) }
    elements += try self.fields(of: nil, in: version, kept)
    elements.append(
      .init(kind: .primaryKey(.init(fields: schema.keyFields(schema.primaryKey)))))
    for index in schema.indexes {
      elements.append(
        .init(
          kind: .index(
            .init(
              fields: schema.keyFields(index.parts), name: index.name, isUnique: index.isUnique,
              condition: index.condition))))
    }
    for inverse in schema.inverses {
      elements.append(
        .init(
          kind: .inverse(
            InverseDeclaration(
              name: inverse.name, related: .name(inverse.related),
              reference: .field(inverse.reference), deleteRule: inverse.deleteRule,
              bounds: inverse.bounds,
              renamingID: kept.first { $0.field == inverse.name }?.old))))
    }
    return RecordDescription(elements)
  }

  private func fields(
    of composite: UInt32?, in version: Int, _ renamings: Set<LockedRenaming>
  ) throws(StoreError) -> [RecordDescription.Element] {
    var elements: [RecordDescription.Element] = []
    for field in schema.fields where field.composite == composite {
      let parts =
        field.type == .composite
        ? RecordDescription(try self.fields(of: field.number, in: version, renamings)) : nil
      let old = renamings.first { $0.field == field.name }?.old
      if let kind = schema.kind(field.number), let parts {
        let kind = KindDeclaration(
          name: field.lastName, type: nil, property: "",
          description: parts.ofKind(kind, field, renamingID: old))
        elements.append(.init(kind: .kind(kind)))
        continue
      }
      let stated = fields[field.name] ?? LockedField()
      do throws(ConditionSyntaxError) {
        let described = try field.described(parts, stated, schema, renamingID: old)
        elements.append(.init(kind: .field(described)))
      } catch {
        throw .invalidDescription(
          record: name, field: field.name, version: version, reason: "its default, \(error)")
      }
    }
    return elements
  }
}

extension RecordDescription {
  /// The description of a kind with these fields.
  fileprivate func ofKind(
    _ kind: KindSchema, _ composite: FieldSchema, renamingID: String?
  ) -> RecordDescription {
    var description = self
    description.elements.append(
      .init(kind: .name(RecordName(composite.lastName, renamingID: renamingID))))
    if kind.isAbstract { description.elements.append(.init(kind: .abstract)) }
    description.elements.append(.init(kind: .userInfo(.init(composite.userInfo))))
    if let modifier = composite.modifier {
      description.elements.append(.init(kind: .modifier(RecordModifier(modifier))))
    }
    return description
  }
}

extension FieldSchema {
  fileprivate func described(
    _ parts: RecordDescription?, _ stated: LockedField, _ record: RecordSchema,
    renamingID: String?
  ) throws(ConditionSyntaxError) -> Field {
    let migrated = try stated.migrationDefault.map { text throws(ConditionSyntaxError) in
      declared(try FieldValue(parsing: text))
    }
    var migration: MigrationInfo?
    if migrated != nil || renamingID != nil || stated.choice != nil {
      migration = MigrationInfo(
        defaultValue: migrated, renamingID: renamingID, choice: stated.choice)
    }
    let (type, options) = declared(parts)
    var field = Field(
      name: lastName, type: type, storage: FieldStorage(options: options), optional: isOptional,
      modifier: modifier, migrationInfo: migration, userInfo: userInfo,
      derived: declaredDerivation(in: record))
    field.defaultValue = defaultValue.map { declared($0) }
    return field
  }

  private func declared(_ parts: RecordDescription?) -> (FieldType, BlobOptions?) {
    if let reference {
      let declaration = ReferenceDeclaration(
        destination: .name(reference.destinationText), isList: type.scalar == nil,
        deleteRule: reference.deleteRule, bounds: reference.bounds,
        isChecked: reference.isChecked)
      return (FieldType(kind: .reference(declaration)), nil)
    }
    return switch type {
    case .transformable(let codec): (.transformable(using: StoredCodec(identifier: codec)), nil)
    case .array(let element): (.array(of: FieldType(element)), nil)
    case .external(let type, let options): (FieldType(type), options)
    case .composite: (FieldType(kind: .composite(parts ?? RecordDescription())), nil)
    case .scalar(let type): (FieldType(type), nil)
    }
  }

  /// A default as a program would state it.
  private func declared(_ value: FieldValue) -> FieldDefault {
    if case .transformable = type, case .data(let bytes) = value {
      return FieldDefault(encodable: StoredBytes(bytes: [UInt8](bytes)))
    }
    return FieldDefault(value)
  }
}

/// Stands for a codec that only the program has whose store it is: bytes pass through unread.
struct StoredCodec: FieldCodec {
  let identifier: String

  func encode<Value: Encodable>(_ value: Value) throws -> [UInt8] {
    guard let stored = value as? StoredBytes else { throw NotHere(codec: identifier) }
    return stored.bytes
  }

  func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
    throw NotHere(codec: identifier)
  }

  private struct NotHere: Error {
    let codec: String
  }
}

/// The bytes that a codec has made of a value.
struct StoredBytes: Encodable, Sendable {
  let bytes: [UInt8]
}
