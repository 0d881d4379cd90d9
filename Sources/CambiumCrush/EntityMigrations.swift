public import Cambium

/// A change of entities: `AddEntity`, `UpdateEntity`, `CopyEntity` or `RemoveEntity`.
public protocol EntityMigration: Sendable {
  var change: EntityChange { get }
}

/// A change of entities, as a migration makes it.
public struct EntityChange: Sendable {
  let apply: @Sendable (inout ModelState) throws(MigrationModelingError) -> Void
}

/// Adds an entity.
///
/// Its first uniqueness constraint whose attributes are not optional is its primary key. An entity without one has the
/// primary key `objectID`, a UUID.
public struct AddEntity: EntityMigration {
  private var entity: EntityState
  private let properties: [PropertyChange]

  /// - Parameters:
  ///   - parent: The entity that it is a kind of.
  ///   - storage: `.shared` for single-table inheritance, `.copied` for multi-table inheritance.
  ///   - isAbstract: True if only its kinds have objects.
  ///   - configurations: The configurations that it is in.
  ///   - uniquenessConstraints: The attributes of each constraint.
  public init(
    _ name: String, parent: String? = nil, storage: KindStorage = .shared, isAbstract: Bool = false,
    configurations: [String] = [], uniquenessConstraints: [[String]] = [],
    @ListBuilder<any PropertyMigration> _ properties: () -> [any PropertyMigration] = { [] }
  ) {
    entity = EntityState(
      name: name, parent: parent, storage: storage, isAbstract: isAbstract,
      configurations: Set(configurations), constraints: uniquenessConstraints)
    self.properties = properties().map(\.change)
  }

  /// Returns the entity with a text that is part of its fingerprint.
  public func versionHashModifier(_ text: String) -> AddEntity {
    var copy = self
    copy.entity.modifier = text
    return copy
  }

  public var change: EntityChange {
    EntityChange { model throws(MigrationModelingError) in
      try model.add(entity)
      try model.change(entity.name, by: properties)
    }
  }
}

/// Changes an entity. Properties that it does not name stay as they are.
public struct UpdateEntity: EntityMigration {
  private let origin: String
  private let name: String?
  private let properties: [PropertyChange]
  private var changes: [@Sendable (inout EntityState) -> Void] = []

  /// - Parameters:
  ///   - origin: The name that it has in the version before.
  ///   - name: Its name from now on, if it is another one.
  ///   - isAbstract: True if only its kinds have objects; nil if that stays as it is.
  ///   - configurations: The configurations that it is in; nil if they stay.
  public init(
    _ origin: String, name: String? = nil, isAbstract: Bool? = nil,
    configurations: [String]? = nil,
    @ListBuilder<any PropertyMigration> _ properties: () -> [any PropertyMigration] = { [] }
  ) {
    self.origin = origin
    self.name = name
    self.properties = properties().map(\.change)
    changes = [
      { entity in
        if let isAbstract { entity.isAbstract = isAbstract }
        if let configurations { entity.configurations = Set(configurations) }
      }
    ]
  }

  /// Adds a constraint that no two objects have the same values in these attributes.
  public func addUniquenessConstraint(_ attributes: String...) -> UpdateEntity {
    adding { $0.constraints.append(attributes) }
  }

  /// Removes the constraint of these attributes.
  public func removeUniquenessConstraint(_ attributes: String...) -> UpdateEntity {
    adding { entity in entity.constraints.removeAll { $0 == attributes } }
  }

  /// Sets a text that is part of the entity's fingerprint.
  public func versionHashModifier(_ text: String) -> UpdateEntity {
    adding { $0.modifier = text }
  }

  private func adding(_ change: @escaping @Sendable (inout EntityState) -> Void) -> UpdateEntity {
    var copy = self
    copy.changes.append(change)
    return copy
  }

  public var change: EntityChange {
    EntityChange { model throws(MigrationModelingError) in
      if let name, name != origin { try model.rename(origin, to: name) }
      try model.change(name ?? origin, by: properties)
      var entity = try model.entity(name ?? origin)
      for change in changes { change(&entity) }
      model.update(entity)
    }
  }
}

/// States that an entity stays as it is, as each does that a migration does not name.
public struct CopyEntity: EntityMigration {
  private let name: String

  /// - Parameter name: Its name in the version before.
  public init(_ name: String) {
    self.name = name
  }

  public var change: EntityChange {
    EntityChange { model throws(MigrationModelingError) in _ = try model.entity(name) }
  }
}

/// Removes an entity with all of its objects.
public struct RemoveEntity: EntityMigration {
  private let name: String

  /// - Parameter name: Its name in the version before.
  public init(_ name: String) {
    self.name = name
  }

  public var change: EntityChange {
    EntityChange { model throws(MigrationModelingError) in try model.remove(name) }
  }
}
