public import Cambium

/// The entities of a version as properties, with modifiers that say how each is stored and in which configurations it is.
///
/// ```swift
/// class CurrentEntityMap: EntityMap {
///   @Configuration("CONF")
///   @Abstract(inheritance: .singleTable)
///   var animal = Animal()
///
///   @Concrete
///   @Configuration("CONF")
///   var dog = Dog()
/// }
///
/// let model = try DataModel("V1", CurrentEntityMap())
/// ```
///
/// A property stands for the type of its value. A property without a modifier is a concrete entity, and the entities of a
/// superclass are in the map, too. How a record is stored is stated by its description; a store is opened only if the map
/// states the same.
open class EntityMap {
  public init() {}
}

/// The place of the objects of an abstract entity's kinds.
public enum EntityInheritance: Hashable, Sendable {
  /// Among those of the abstract entity: `Parent(Animal.self, property: "animal")` in the description of each kind.
  case singleTable
  /// In an entity of their own: `Parent(Animal.self, property: "animal", storage: .copied)`.
  case multiTable
}

/// A modifier of an entity in a map.
public protocol EntityModifier {
  /// The entity with this modifier, and with those that are written after it.
  var entity: ModifiedEntity { get }
}

/// An entity of a map with its modifiers.
public struct ModifiedEntity: Sendable {
  let type: any Record.Type
  /// How it is stored, as each modifier says it. The first one holds.
  private(set) var storages: [EntityStorage] = []
  private(set) var configurations: [String] = []

  init(_ type: any Record.Type) {
    self.type = type
  }

  fileprivate func stored(_ storage: EntityStorage) -> ModifiedEntity {
    var copy = self
    copy.storages.insert(storage, at: 0)
    return copy
  }

  fileprivate func configured(_ name: String) -> ModifiedEntity {
    var copy = self
    if !configurations.contains(name) { copy.configurations.insert(name, at: 0) }
    return copy
  }
}

/// The storage that a modifier states for an entity.
enum EntityStorage: Hashable, Sendable {
  case abstract(EntityInheritance)
  case concrete
}

extension EntityStorage: CustomStringConvertible {
  var description: String {
    switch self {
    case .abstract(let inheritance): "@Abstract(inheritance: .\(inheritance))"
    case .concrete: "@Concrete"
    }
  }
}

// MARK: - The modifiers

extension EntityMap {
  /// Makes an entity abstract: only its kinds have objects.
  ///
  /// Of several modifiers that say how an entity is stored, the first one holds. The others are ignored, with a warning to the
  /// logger of `StoreOptions` when a store is opened.
  @propertyWrapper public struct Abstract<Value>: EntityModifier {
    public let wrappedValue: Value
    public let entity: ModifiedEntity

    /// - Parameter inheritance: The place of the objects of its kinds.
    public init(wrappedValue: Value, inheritance: EntityInheritance) where Value: Record {
      self.wrappedValue = wrappedValue
      entity = ModifiedEntity(Value.self).stored(.abstract(inheritance))
    }

    /// - Parameter inheritance: The place of the objects of its kinds.
    public init(wrappedValue: Value, inheritance: EntityInheritance) where Value: EntityModifier {
      self.wrappedValue = wrappedValue
      entity = wrappedValue.entity.stored(.abstract(inheritance))
    }
  }

  /// Makes an entity concrete, as one without a modifier is.
  @propertyWrapper public struct Concrete<Value>: EntityModifier {
    public let wrappedValue: Value
    public let entity: ModifiedEntity

    public init(wrappedValue: Value) where Value: Record {
      self.wrappedValue = wrappedValue
      entity = ModifiedEntity(Value.self).stored(.concrete)
    }

    public init(wrappedValue: Value) where Value: EntityModifier {
      self.wrappedValue = wrappedValue
      entity = wrappedValue.entity.stored(.concrete)
    }
  }

  /// Puts an entity into a configuration; several modifiers put it into several.
  @propertyWrapper public struct Configuration<Value>: EntityModifier {
    public let wrappedValue: Value
    public let entity: ModifiedEntity

    /// - Parameter name: The name of the configuration.
    public init(wrappedValue: Value, _ name: String) where Value: Record {
      self.wrappedValue = wrappedValue
      entity = ModifiedEntity(Value.self).configured(name)
    }

    /// - Parameter name: The name of the configuration.
    public init(wrappedValue: Value, _ name: String) where Value: EntityModifier {
      self.wrappedValue = wrappedValue
      entity = wrappedValue.entity.configured(name)
    }
  }
}

// MARK: - As a data model

extension EntityMap {
  /// The entities in the order of their properties, those of superclasses first.
  ///
  /// - Throws: `StoreError.invalidDescription`.
  var entities: [ModifiedEntity] {
    get throws(StoreError) {
      var entities: [ModifiedEntity] = []
      var mirror: Mirror? = Mirror(reflecting: self)
      while let level = mirror {
        var own: [ModifiedEntity] = []
        for property in level.children { own.append(try entity(of: property)) }
        entities = own + entities
        mirror = level.superclassMirror
      }
      guard !entities.isEmpty else {
        throw fault(
          nil,
          "it has no properties that can be found; a program that is compiled without reflection metadata lists its types:"
            + " DataModel(\"V1\", [Note.self])")
      }
      return entities
    }
  }

  private func entity(of property: Mirror.Child) throws(StoreError) -> ModifiedEntity {
    if let modified = property.value as? any EntityModifier { return modified.entity }
    if let type = type(of: property.value) as? any Record.Type { return ModifiedEntity(type) }
    throw fault(property.label, "it is not a record, so it is not an entity")
  }

  private func fault(_ property: String?, _ reason: String) -> StoreError {
    .invalidDescription(
      record: "\(type(of: self))", field: property, version: 1, reason: reason)
  }
}

extension Schema {
  /// Refuses a modifier that says something else of how an entity is stored than its description.
  ///
  /// - Throws: `StoreError.invalidDescription`.
  func check(_ entity: ModifiedEntity) throws(StoreError) {
    let name = entity.type.recordName(in: version)
    guard let storage = entity.storages.first, let stored = hierarchy(of: name) else { return }
    let advice: String? =
      switch storage {
      case .abstract(.singleTable) where !stored.isAbstract:
        "is not abstract; add `Abstract()` to it"
      case .abstract(.singleTable) where !stored.hasKinds:
        "has only kinds with storage: .copied; leave that out of their `Parent`"
      case .abstract(.multiTable) where stored.hasKinds:
        "has kinds that share its table; add storage: .copied to their `Parent`"
      case .concrete where stored.isAbstract:
        "is abstract; leave `Abstract()` out of it"
      case .abstract, .concrete: nil
      }
    guard let advice else { return }
    throw .invalidDescription(
      record: name, field: nil, version: version,
      reason: "the map says \(storage), but the record \(advice), or change the modifier")
  }

  /// Returns whether an entity is abstract, and whether objects of other kinds are among its own.
  private func hierarchy(of name: String) -> (isAbstract: Bool, hasKinds: Bool)? {
    if let record = record(named: name) { return (record.isAbstract, !record.kindNames.isEmpty) }
    for record in records {
      for kind in record.kindNames where kind.lastPart == name {
        let hasKinds = record.kindNames.contains { $0.hasPrefix(kind + ".") }
        return (record.isAbstract(kind: kind), hasKinds)
      }
    }
    return nil
  }
}
