public import Cambium

/// A change of an entity's properties: of an attribute, a relationship or a fetched property.
public protocol PropertyMigration: Sendable {
  var change: PropertyChange { get }
}

/// A change of an entity's properties, as a migration makes it.
public struct PropertyChange: Sendable {
  /// - Parameter place: Above those of all earlier changes.
  let apply:
    @Sendable (_ entity: inout EntityState, _ place: Int) throws(MigrationModelingError) -> Void
}

// MARK: - Attributes

/// Adds an attribute.
public struct AddAttribute: PropertyMigration {
  private let name: String
  private var property: PropertyState
  private var source: (@Sendable (String) -> UpdateField)?

  /// - Parameter isOptional: True if objects may have no value.
  public init(_ name: String, type: FieldType, isOptional: Bool = false) {
    self.name = name
    property = PropertyState(kind: .attribute(type), isOptional: isOptional)
  }

  /// Adds an attribute with a type in Core Data's words. As in Crush, it is optional unless that is said to be false.
  ///
  /// ```swift
  /// AddAttribute("note", attributeType: .stringAttributeType)
  /// ```
  public init(_ name: String, attributeType: FieldType, isOptional: Bool = true) {
    self.init(name, type: attributeType, isOptional: isOptional)
  }

  /// Returns the attribute with a value for the objects that exist.
  public func `default`(_ value: FieldValue) -> AddAttribute {
    var copy = self
    copy.property.migrationDefault = value
    return copy
  }

  /// Returns the attribute with a value that is computed of each object that exists.
  public func valueForExistingObject<Value: FieldValueConvertible>(
    _ value: @escaping @Sendable (_ source: OldRecord) throws -> Value
  ) -> AddAttribute {
    var copy = self
    copy.source = { [name] prefix in UpdateField(prefix + name, from: value) }
    return copy
  }

  /// Returns the attribute with a text that is part of its fingerprint.
  public func versionHashModifier(_ text: String) -> AddAttribute {
    var copy = self
    copy.property.modifier = text
    return copy
  }

  public var change: PropertyChange {
    PropertyChange { entity, place throws(MigrationModelingError) in
      var property = property
      property.place = place
      try entity.add(name, property)
      if let source { entity.sources.append(source) }
    }
  }
}

/// Changes an attribute, or makes one of a value that a relationship leads to.
public struct UpdateAttribute: PropertyMigration {
  private let origin: String
  private let name: String?
  private let type: FieldType?
  private let isOptional: Bool?
  private var modifier: String?
  private var migrationDefault: FieldValue?
  private let source: (@Sendable (String) -> UpdateField)?

  private init(
    _ origin: String, _ name: String?, _ type: FieldType?, _ isOptional: Bool?,
    _ source: (@Sendable (String) -> UpdateField)?
  ) {
    self.origin = origin
    self.name = name
    self.type = type
    self.isOptional = isOptional
    self.source = source
  }

  /// - Parameters:
  ///   - origin: Its name in the version before. With a dot in it, `author.name`, the value is taken across a relationship;
  ///     then `name` and `type` say what is added.
  ///   - name: Its name from now on, if it is another one.
  ///   - type: Its type from now on, if it is another one. Types that are wider follow by themselves.
  ///   - isOptional: True if it may have no value; nil if that stays as it is.
  public init(
    _ origin: String, name: String? = nil, type: FieldType? = nil, isOptional: Bool? = nil
  ) {
    let path: (@Sendable (String) -> UpdateField)? = { prefix in
      UpdateField(prefix + (name ?? origin), path: origin)
    }
    self.init(origin, name, type, isOptional, origin.contains(".") ? path : nil)
  }

  /// Changes an attribute, and its values by a function.
  public init<Value: FieldValueConvertible>(
    _ origin: String, name: String? = nil, type: FieldType? = nil, isOptional: Bool? = nil,
    transform: @escaping @Sendable (FieldValue) throws -> Value
  ) {
    self.init(origin, name, type, isOptional) { prefix in
      UpdateField(prefix + (name ?? origin), by: transform)
    }
  }

  /// Changes an attribute, and computes its values of the old objects.
  public init<Value: FieldValueConvertible>(
    _ origin: String, name: String? = nil, type: FieldType? = nil, isOptional: Bool? = nil,
    objectTransform: @escaping @Sendable (OldRecord) throws -> Value
  ) {
    self.init(origin, name, type, isOptional) { prefix in
      UpdateField(prefix + (name ?? origin), from: objectTransform)
    }
  }

  /// Returns the change with a value for objects that have none, if it is no longer optional.
  public func `default`(_ value: FieldValue) -> UpdateAttribute {
    var copy = self
    copy.migrationDefault = value
    return copy
  }

  /// Returns the change with a text that is part of the attribute's fingerprint.
  public func versionHashModifier(_ text: String) -> UpdateAttribute {
    var copy = self
    copy.modifier = text
    return copy
  }

  public var change: PropertyChange {
    PropertyChange { entity, place throws(MigrationModelingError) in
      if let source { entity.sources.append(source) }
      guard !origin.contains(".") else { return try add(to: &entity, place) }
      try entity.update(origin, name: name) { property in
        if let type { property.kind = .attribute(type) }
        if let isOptional { property.isOptional = isOptional }
        property.modifier = modifier ?? property.modifier
        property.migrationDefault = migrationDefault
      }
    }
  }

  private func add(
    to entity: inout EntityState, _ place: Int
  ) throws(MigrationModelingError) {
    guard let name, let type else {
      throw MigrationModelingError("\(entity.name) takes \(origin); say under which name and type")
    }
    let property = PropertyState(
      kind: .attribute(type), isOptional: isOptional ?? false, modifier: modifier, place: place,
      migrationDefault: migrationDefault)
    if entity.properties[name] != nil { try entity.remove(name) }
    try entity.add(name, property)
  }
}

/// Removes an attribute with its values.
public struct RemoveAttribute: PropertyMigration {
  private let name: String

  /// - Parameter name: Its name in the version before.
  public init(_ name: String) {
    self.name = name
  }

  public var change: PropertyChange {
    PropertyChange { entity, _ throws(MigrationModelingError) in try entity.remove(name) }
  }
}

extension EntityState {
  fileprivate mutating func remove(_ name: String) throws(MigrationModelingError) {
    _ = try property(name)
    properties[name] = nil
    constraints.removeAll { $0.contains(name) }
  }
}

// MARK: - Relationships

/// Adds a relationship.
///
/// One of its two ends stores it: an ordered list, else the end that leads to one object, else the one that was added first.
/// The other end is an `Inverse` of its type.
public struct AddRelationship: PropertyMigration {
  private let name: String
  private let property: PropertyState

  /// Adds a relationship to one object.
  ///
  /// - Parameters:
  ///   - destination: The entity that it leads to.
  ///   - inverse: Its other end, a relationship of that entity.
  ///   - deleteRule: What happens to the object that it leads to when its own is deleted.
  public init(
    _ name: String, toOne destination: String, inverse: String? = nil, isOptional: Bool = true,
    deleteRule: DeleteRule = .nullify
  ) {
    self.name = name
    property = PropertyState(
      kind: .relationship(
        Relationship(
          destination: destination, isList: false, isOrdered: false, inverse: inverse,
          deleteRule: deleteRule)), isOptional: isOptional)
  }

  /// Adds a relationship to many objects.
  ///
  /// - Parameters:
  ///   - destination: The entity that it leads to.
  ///   - inverse: Its other end, a relationship of that entity.
  ///   - maxCount: The greatest number of objects; nil for any.
  ///   - isOrdered: True to keep the order of the objects.
  ///   - deleteRule: What happens to the objects that it leads to when its own is deleted.
  public init(
    _ name: String, toMany destination: String, inverse: String? = nil, minCount: Int = 0,
    maxCount: Int? = nil, isOrdered: Bool = false, deleteRule: DeleteRule = .nullify
  ) {
    self.name = name
    property = PropertyState(
      kind: .relationship(
        Relationship(
          destination: destination, isList: true, isOrdered: isOrdered, inverse: inverse,
          least: minCount, most: maxCount, deleteRule: deleteRule)))
  }

  public var change: PropertyChange {
    PropertyChange { entity, place throws(MigrationModelingError) in
      var property = property
      property.place = place
      try entity.add(name, property)
    }
  }
}

/// Changes a relationship. A list that becomes a reference to one has to have at most one object, or a function says which.
public struct UpdateRelationship: PropertyMigration {
  private let origin: String
  private let name: String?
  private let changed: @Sendable (inout PropertyState, inout Relationship) -> Void
  private var source: (@Sendable (String) -> UpdateField)?

  /// - Parameters:
  ///   - origin: Its name in the version before.
  ///   - name: Its name from now on, if it is another one.
  ///   - toOne: The entity that it leads to from now on, to one object.
  ///   - toMany: The entity that it leads to from now on, to many objects.
  ///   - inverse: Its other end from now on. What else is nil stays as it is.
  public init(
    _ origin: String, name: String? = nil, toOne: String? = nil, toMany: String? = nil,
    inverse: String? = nil, isOptional: Bool? = nil, isOrdered: Bool? = nil, minCount: Int? = nil,
    maxCount: Int? = nil, deleteRule: DeleteRule? = nil
  ) {
    self.origin = origin
    self.name = name
    changed = { property, end in
      if let destination = toOne ?? toMany {
        (end.destination, end.isList) = (destination, toOne == nil)
      }
      if let inverse { end.inverse = inverse }
      if let isOptional { property.isOptional = isOptional }
      if let isOrdered { end.isOrdered = isOrdered }
      if let minCount { end.least = minCount }
      if let maxCount { end.most = maxCount }
      if let deleteRule { end.deleteRule = deleteRule }
    }
  }

  /// Returns the change with references that are computed of the old objects.
  public func objectTransform<Value: FieldValueConvertible>(
    _ transform: @escaping @Sendable (OldRecord) throws -> Value
  ) -> UpdateRelationship {
    var copy = self
    copy.source = { [name, origin] prefix in UpdateField(prefix + (name ?? origin), from: transform)
    }
    return copy
  }

  public var change: PropertyChange {
    PropertyChange { entity, _ throws(MigrationModelingError) in
      if let source { entity.sources.append(source) }
      try entity.update(origin, name: name) { property in
        guard case .relationship(var end) = property.kind else { return }
        changed(&property, &end)
        property.kind = .relationship(end)
      }
    }
  }
}

/// Removes a relationship.
public struct RemoveRelationship: PropertyMigration {
  private let name: String

  /// - Parameter name: Its name in the version before.
  public init(_ name: String) {
    self.name = name
  }

  public var change: PropertyChange {
    PropertyChange { entity, _ throws(MigrationModelingError) in try entity.remove(name) }
  }
}

// MARK: - Fetched properties

/// Adds a fetched property: a query of the entity's objects that the store keeps under a name.
public struct AddFetchedProperty: PropertyMigration {
  private let name: String
  private let query: FetchedProperty

  /// - Parameters:
  ///   - name: The name under which `query(_:named:)` returns it.
  ///   - condition: On attributes by their names; nil for all objects.
  public init(
    _ name: String, where condition: FieldCondition? = nil, sortedBy order: [FieldOrder] = [],
    limit: Int? = nil
  ) {
    self.name = name
    query = FetchedProperty(condition: condition, order: order, limit: limit)
  }

  public var change: PropertyChange {
    PropertyChange { entity, _ throws(MigrationModelingError) in
      guard entity.fetched[name] == nil else {
        throw MigrationModelingError("\(entity.name) has a fetched property \(name) already")
      }
      entity.fetched[name] = query
      entity.changedQueries.insert(name)
    }
  }
}

/// Replaces a fetched property. Where fields are renamed, fetched properties follow by themselves.
public struct UpdateFetchedProperty: PropertyMigration {
  private let origin: String
  private let name: String
  private let query: FetchedProperty

  /// - Parameters:
  ///   - origin: Its name in the version before.
  ///   - name: Its name from now on, if it is another one.
  public init(
    _ origin: String, name: String? = nil, where condition: FieldCondition? = nil,
    sortedBy order: [FieldOrder] = [], limit: Int? = nil
  ) {
    self.origin = origin
    self.name = name ?? origin
    query = FetchedProperty(condition: condition, order: order, limit: limit)
  }

  public var change: PropertyChange {
    PropertyChange { entity, place throws(MigrationModelingError) in
      try RemoveFetchedProperty(origin).change.apply(&entity, place)
      entity.fetched[name] = query
      entity.changedQueries.insert(name)
    }
  }
}

/// Removes a fetched property.
public struct RemoveFetchedProperty: PropertyMigration {
  private let name: String

  /// - Parameter name: Its name in the version before.
  public init(_ name: String) {
    self.name = name
  }

  public var change: PropertyChange {
    PropertyChange { entity, _ throws(MigrationModelingError) in
      guard entity.fetched.removeValue(forKey: name) != nil else {
        throw MigrationModelingError("\(entity.name) has no fetched property \(name)")
      }
      entity.removedQueries.append(name)
    }
  }
}
