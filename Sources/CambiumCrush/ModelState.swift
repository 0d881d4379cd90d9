internal import Cambium

/// The entities after some migrations, with the statements of the last one about the version before.
struct ModelState: Sendable {
  var name = ""
  private(set) var entities: [String: EntityState] = [:]
  /// The number of properties that were ever added.
  private var count = 0
}

/// An entity after some migrations.
struct EntityState: Sendable {
  var name: String
  var parent: String?
  var storage = KindStorage.shared
  var isAbstract = false
  var configurations: Set<String> = []
  var properties: [String: PropertyState] = [:]
  var constraints: [[String]] = []
  var modifier: String?
  var fetched: [String: FetchedProperty] = [:]

  // Stated by the last migration.
  var renamingID: String?
  var sources: [@Sendable (_ prefix: String) -> UpdateField] = []
  var removedQueries: [String] = []
  var changedQueries: Set<String> = []
  var isTouched = false
  /// The new names of properties by the old ones, until the other ends of relationships follow.
  var renamed: [String: String] = [:]
}

struct PropertyState: Sendable {
  enum Kind: Sendable {
    case attribute(FieldType)
    case relationship(Relationship)
    /// Of a store's version: all that matters is that it is there.
    case stored
  }

  var kind: Kind
  var isOptional = false
  var modifier: String?
  /// The order in which properties were added.
  var place = 0

  // Stated by the last migration.
  var renamingID: String?
  var migrationDefault: FieldValue?
  var isTouched = false
}

struct Relationship: Sendable {
  var destination: String
  var isList: Bool
  var isOrdered: Bool
  var inverse: String?
  var least = 0
  /// Nil for any number.
  var most: Int?
  var deleteRule: DeleteRule
}

/// A query that is kept with an entity.
struct FetchedProperty: Sendable {
  var condition: FieldCondition?
  var order: [FieldOrder] = []
  var limit: Int?
}

// MARK: - From one version to the next

extension ModelState {
  /// Creates the state of a version that a store has: only names.
  init(naming schema: Schema?) {
    for record in schema?.records ?? [] {
      entities[record.name] = EntityState(naming: record, kind: nil)
      for kind in record.kindNames {
        entities[kind.lastPart] = EntityState(naming: record, kind: kind)
      }
    }
  }

  /// The state before the next migration says anything.
  var begun: ModelState {
    var state = self
    for name in entities.keys { state.entities[name]?.begin() }
    return state
  }

  /// The entities of a configuration.
  func part(_ configuration: String?) -> ModelState {
    guard let configuration else { return self }
    var part = self
    part.entities = entities.filter { $0.value.configurations.contains(configuration) }
    return part
  }

  mutating func apply(_ changes: [EntityChange], of migration: String) throws {
    do throws(MigrationModelingError) {
      for change in changes { try change.apply(&self) }
      try checkInverses()
    } catch {
      throw MigrationModelingError(migration: migration, reason: error.reason)
    }
  }

  private func checkInverses() throws(MigrationModelingError) {
    for entity in entities.values {
      for (name, property) in entity.properties {
        guard case .relationship(let relationship) = property.kind,
          let inverse = relationship.inverse,
          entities[relationship.destination]?.properties[inverse] == nil
        else { continue }
        throw MigrationModelingError(
          "\(entity.name).\(name) has the inverse \(relationship.destination).\(inverse), which is not there"
        )
      }
    }
  }

  mutating func add(_ entity: EntityState) throws(MigrationModelingError) {
    guard entities[entity.name] == nil else {
      throw MigrationModelingError("there is an entity \(entity.name) already")
    }
    entities[entity.name] = entity
  }

  func entity(_ name: String) throws(MigrationModelingError) -> EntityState {
    guard let entity = entities[name] else {
      throw MigrationModelingError(
        "there is no entity \(name); there are: \(entities.keys.sorted().joined(separator: ", "))")
    }
    return entity
  }

  @discardableResult
  mutating func remove(_ name: String) throws(MigrationModelingError) -> EntityState {
    let entity = try entity(name)
    entities[name] = nil
    return entity
  }

  mutating func rename(_ old: String, to new: String) throws(MigrationModelingError) {
    var entity = try remove(old)
    (entity.name, entity.renamingID) = (new, old)
    try add(entity)
    for name in entities.keys { entities[name]?.follow(old, to: new) }
  }

  /// Changes the properties of an entity.
  mutating func change(
    _ name: String, by changes: [PropertyChange]
  ) throws(MigrationModelingError) {
    var entity = try entity(name)
    entity.isTouched = true
    for change in changes {
      count += 1
      try change.apply(&entity, count)
    }
    let renamed = entity.renamed
    entity.renamed = [:]
    entities[name] = entity
    for other in renamed.isEmpty ? [] : Array(entities.keys) {
      entities[other]?.follow(renamed, of: name)
    }
  }

  mutating func update(_ entity: EntityState) { entities[entity.name] = entity }

  /// Returns true if the last migration names an entity.
  func isTouched(_ name: String) -> Bool { entities[name]?.isTouched ?? false }
}

extension EntityState {
  fileprivate init(naming record: RecordSchema, kind: String?) {
    self.init(name: (kind ?? record.name).lastPart)
    let prefix = kind.map { $0 + "." } ?? ""
    let names = record.fields.map(\.name) + record.inverseNames
    for name in names where name.hasPrefix(prefix) && !name.dropFirst(prefix.count).contains(".") {
      properties[String(name.dropFirst(prefix.count))] = PropertyState(kind: .stored)
    }
  }

  fileprivate mutating func begin() {
    renamingID = nil
    (sources, removedQueries, changedQueries, isTouched) = ([], [], [], false)
    for name in properties.keys {
      properties[name]?.renamingID = nil
      properties[name]?.migrationDefault = nil
      properties[name]?.isTouched = false
    }
  }

  fileprivate mutating func follow(_ old: String, to new: String) {
    if parent == old { parent = new }
    for (name, property) in properties {
      guard case .relationship(var relationship) = property.kind,
        relationship.destination == old
      else { continue }
      relationship.destination = new
      properties[name]?.kind = .relationship(relationship)
    }
  }

  fileprivate mutating func follow(_ renamed: [String: String], of entity: String) {
    for (name, property) in properties {
      guard case .relationship(var relationship) = property.kind,
        relationship.destination == entity,
        let inverse = relationship.inverse.flatMap({ renamed[$0] })
      else { continue }
      relationship.inverse = inverse
      properties[name]?.kind = .relationship(relationship)
    }
  }

  func property(_ name: String) throws(MigrationModelingError) -> PropertyState {
    guard let property = properties[name] else {
      throw MigrationModelingError(
        "\(self.name) has no property \(name); it has: "
          + properties.keys.sorted().joined(separator: ", "))
    }
    return property
  }

  mutating func add(
    _ name: String, _ property: PropertyState
  ) throws(MigrationModelingError) {
    guard properties[name] == nil else {
      throw MigrationModelingError("\(self.name) has a property \(name) already")
    }
    properties[name] = property
    properties[name]?.isTouched = true
  }

  /// Changes a property, which may get another name.
  mutating func update(
    _ old: String, name: String?, _ change: (inout PropertyState) -> Void
  ) throws(MigrationModelingError) {
    var property = try property(old)
    change(&property)
    properties[old] = nil
    if let name, name != old {
      property.renamingID = old
      renamed[old] = name
      constraints = constraints.map { $0.map { $0 == old ? name : $0 } }
    }
    try add(name ?? old, property)
  }
}

extension MigrationModelingError {
  /// An error of a migration that is named later.
  init(_ reason: String) {
    self.init(migration: "", reason: reason)
  }
}

extension String {
  var lastPart: String { split(separator: ".").last.map(String.init) ?? self }
}

// MARK: - As versions and steps

extension ModelState {
  func version(_ number: Int) -> ModelVersion {
    ModelVersion(number, label: name, describing: descriptions)
  }

  /// The descriptions of all entities, with their origins in the version before.
  var descriptions: [String: RecordDescription] { entities.mapValues { description(of: $0) } }

  @RecordDescription.ResultBuilder
  private func description(of entity: EntityState) -> RecordDescription {
    RecordName(entity.name, renamingID: entity.renamingID)
    let key = entity.parent == nil ? entity.key : []
    if let parent = entity.parent {
      RecordDescription.Parent(parent, storage: entity.storage)
    } else if key.isEmpty {
      Field(primaryKey: true, name: "objectID", type: .uuid)
    }
    if entity.isAbstract { RecordDescription.Abstract() }
    if let modifier = entity.modifier { RecordModifier(modifier) }
    for name in key { field(name, of: entity, isKey: true) }
    for name in entity.ordered where !key.contains(name) { field(name, of: entity) }
    for constraint in entity.constraints where constraint != key {
      RecordDescription.Unique(fields: constraint.map { .ascending($0) })
    }
  }

  /// The field of a property, or the other end of a relationship that its own other end stores.
  @RecordDescription.ResultBuilder
  private func field(
    _ name: String, of entity: EntityState, isKey: Bool = false
  ) -> RecordDescription {
    if let property = entity.properties[name] {
      switch property.kind {
      case .attribute(let type): field(name, property, type, isKey: isKey)
      case .stored: field(name, property, .string)
      case .relationship(let end) where isStored(property):
        field(name, property, end.type, isKey: isKey, isList: end.isList)
      case .relationship(let end): end.otherEnd(name, property)
      }
    }
  }

  private func field(
    _ name: String, _ property: PropertyState, _ type: FieldType, isKey: Bool = false,
    isList: Bool = false
  ) -> Field {
    Field(
      primaryKey: isKey, name: name, type: type, optional: property.isOptional && !isList,
      unique: isUnique(property), modifier: property.modifier,
      migrationInfo: property.migrationInfo)
  }

  private func otherEnd(of property: PropertyState) -> PropertyState? {
    guard case .relationship(let end) = property.kind, let inverse = end.inverse else { return nil }
    return entities[end.destination]?.properties[inverse]
  }

  /// An ordered list stores its relationship, else the end that leads to one, else the one that was added first.
  private func isStored(_ property: PropertyState) -> Bool {
    guard case .relationship(let end) = property.kind, let other = otherEnd(of: property),
      case .relationship(let otherEnd) = other.kind
    else { return true }
    return (end.rank, property.place) <= (otherEnd.rank, other.place)
  }

  /// True if the other end of a relationship leads to one.
  private func isUnique(_ property: PropertyState) -> Bool {
    guard case .relationship(let other)? = otherEnd(of: property)?.kind else { return false }
    return !other.isList
  }
}

extension Relationship {
  fileprivate var rank: Int { isList ? isOrdered ? 0 : 2 : 1 }

  private var count: ClosedRange<Int> { least...max(least, most ?? .max) }

  fileprivate var type: FieldType {
    isList
      ? .references(to: destination, deleteRule: deleteRule, count: count)
      : .reference(to: destination, deleteRule: deleteRule)
  }

  /// The end that is not stored.
  fileprivate func otherEnd(_ name: String, _ property: PropertyState) -> UntypedInverse {
    UntypedInverse(
      name, of: inverse ?? "", in: destination, deleteRule: deleteRule,
      count: isList || property.isOptional ? count : 1...Int.max, renamingID: property.renamingID)
  }
}

extension PropertyState {
  fileprivate var migrationInfo: MigrationInfo? {
    if let migrationDefault { return .init(default: migrationDefault, renamingID: renamingID) }
    return renamingID.map { .init(renamingID: $0) }
  }
}

extension EntityState {
  /// The first constraint of attributes that always have a value: it is the primary key.
  fileprivate var key: [String] {
    constraints.first { $0.allSatisfy { properties[$0].map { !$0.isOptional } ?? false } } ?? []
  }

  fileprivate var ordered: [String] {
    properties.sorted { ($0.value.place, $0.key) < ($1.value.place, $1.key) }.map(\.key)
  }
}

extension ModelState {
  /// True if everything that the last migration says follows from the descriptions.
  var isInferred: Bool {
    entities.values.allSatisfy {
      $0.sources.isEmpty && $0.removedQueries.isEmpty && $0.changedQueries.isEmpty
    }
  }

  func step(from old: Int, to new: Int, label: String) -> MigrationStep {
    MigrationStep(from: old, to: new, label: label) {
      for entity in entities.values.sorted(by: { $0.name < $1.name }) where !entity.sources.isEmpty
      {
        let (record, prefix) = place(of: entity)
        UpdateRecord(record) {
          for source in entity.sources { source(prefix) }
        }
      }
      if entities.values.contains(where: {
        !$0.removedQueries.isEmpty || !$0.changedQueries.isEmpty
      }) {
        RunAfter { transaction in
          try removeQueries(in: &transaction)
          try writeQueries(in: &transaction) { $0.changedQueries.contains($1) }
        }
      }
    }
  }

  /// The record that has an entity's values, and the prefix of its fields there.
  private func place(of entity: EntityState) -> (record: String, prefix: String) {
    guard entity.storage == .shared, let parent = entity.parent.flatMap({ entities[$0] }) else {
      return (entity.name, "")
    }
    let (record, prefix) = place(of: parent)
    return (record, prefix + entity.name + ".")
  }

  private func removeQueries(in transaction: inout WriteTransaction) throws {
    for entity in entities.values {
      for name in entity.removedQueries {
        try transaction.removeQuery(record: entity.name, named: name)
      }
    }
  }

  /// Writes the fetched properties of all entities.
  @Sendable func writeQueries(in transaction: inout WriteTransaction) throws {
    try writeQueries(in: &transaction) { _, _ in true }
  }

  private func writeQueries(
    in transaction: inout WriteTransaction, where isWritten: (EntityState, String) -> Bool
  ) throws {
    for entity in entities.values {
      for (name, query) in entity.fetched where isWritten(entity, name) {
        try transaction.setQuery(
          record: entity.name, where: query.condition, sortedBy: query.order, limit: query.limit,
          named: name)
      }
    }
  }
}

// MARK: - Against the data model

extension ModelState {
  /// Refuses statements of the last migration that are not true of a data model.
  func check(against wanted: Schema, of migration: String) throws {
    let model = ModelState(naming: wanted)
    for entity in entities.values where entity.isTouched {
      guard let other = model.entities[entity.name] else {
        throw MigrationModelingError(
          migration: migration, reason: "the data model has no entity \(entity.name)")
      }
      for (name, property) in entity.properties where property.isTouched {
        guard other.properties[name] != nil else {
          throw MigrationModelingError(
            migration: migration, reason: "the data model has no property \(entity.name).\(name)")
        }
      }
    }
    for name in model.entities.keys where entities[name] == nil {
      throw MigrationModelingError(
        migration: migration, reason: "the data model has \(name), which is not added")
    }
  }
}
