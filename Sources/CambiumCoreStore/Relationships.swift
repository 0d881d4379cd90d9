public import Cambium

extension Field {
  /// A relationship of a ``KeyedObject``: a `Reference` or several at the end that is stored, an `Inverse` at the other.
  ///
  /// ```swift
  /// struct Laundry: KeyedObject {
  ///   typealias Item = Reference<V1.Item>
  ///   var objectID = UUID()
  ///
  ///   @Field.Relationship("items", inverse: \.$master)
  ///   var items: Array<Item>
  /// }
  ///
  /// struct Item: KeyedObject {
  ///   typealias Laundry = Inverse<Item, V1.Laundry>
  ///   var objectID = UUID()
  ///
  ///   @Field.Relationship("master")
  ///   var master: Laundry?
  /// }
  ///
  /// let items = try store.fetch(laundry.items)
  /// let master = try store.fetch(item.master, of: item)
  /// ```
  ///
  /// An object holds no others, so they are fetched. The end that is stored may name the other one; with an optional there, an
  /// object is at most in one list.
  @propertyWrapper
  public struct Relationship<Value: FieldRelationshipType>: Sendable {
    private var declaration = RelationshipDeclaration()
    /// Nil at the end that is not stored.
    private var value: Value?
    /// The name of the other end; nil if none is stated.
    private var inverseName: (@Sendable () -> String)?

    /// The references; at the end that is not stored, always the `Inverse`.
    public var wrappedValue: Value {
      get { value ?? Value(Value.End.end(of: declaration)) }
      set { if Value.End.isStored { value = newValue } }
    }

    /// The relationship itself, for the other end to name.
    public var projectedValue: Relationship { self }

    /// - Parameters:
    ///   - keyPath: The stored name.
    ///   - deleteRule: What happens to the related objects when the object is deleted; by default, they stay.
    ///   - versionHashModifier: Any text; if it changes, so does the version lock.
    ///   - previousVersionKeyPath: The stored name in the version before, if it was another.
    ///   - choice: The reference that is kept where several become one.
    public init(
      _ keyPath: String, deleteRule: DeleteRule? = nil, versionHashModifier: String? = nil,
      previousVersionKeyPath: String? = nil, choosing choice: ElementChoice? = nil
    ) {
      declaration.name = keyPath
      declaration.deleteRule = deleteRule
      declaration.modifier = versionHashModifier
      declaration.previousName = previousVersionKeyPath
      declaration.choice = choice
      if Value.End.isStored { value = Value(nil) }
    }

    /// Creates the end that is stored of a relationship, whose other end is a property of the related objects.
    ///
    /// - Parameters:
    ///   - keyPath: The stored name.
    ///   - inverse: The other end. If that is an optional, at most one object leads to each.
    ///   - deleteRule: What happens to the related objects when the object is deleted; by default, they stay.
    ///   - versionHashModifier: Any text; if it changes, so does the version lock.
    ///   - previousVersionKeyPath: The stored name in the version before, if it was another.
    ///   - choice: The reference that is kept where several become one.
    public init<Other: FieldRelationshipType>(
      _ keyPath: String,
      inverse: any KeyPath<Value.End.Destination, Field.Relationship<Other>> & Sendable,
      deleteRule: DeleteRule? = nil, versionHashModifier: String? = nil,
      previousVersionKeyPath: String? = nil, choosing choice: ElementChoice? = nil
    ) where Value.End.Destination: KeyedObject {
      self.init(
        keyPath, deleteRule: deleteRule, versionHashModifier: versionHashModifier,
        previousVersionKeyPath: previousVersionKeyPath, choosing: choice)
      declaration.isUnique = !Other.isList
      inverseName = { Value.End.Destination()[keyPath: inverse].name }
    }

    /// Creates the relationship of an object that was read.
    fileprivate init(read value: Value?, of property: String) {
      declaration.property = property
      self.value = value
    }
  }
}

/// The options of a relationship.
public struct RelationshipDeclaration: Sendable {
  /// The stored name; empty in an object that was read.
  var name = ""
  var property = ""
  var deleteRule: DeleteRule?
  var isList = false
  /// True if at most one object leads to each.
  var isUnique = false
  var modifier: String?
  var previousName: String?
  var choice: ElementChoice?

  /// The treatment of its references in a step; nil for the default.
  fileprivate var migrationInfo: MigrationInfo? {
    if let choice { return MigrationInfo(choosing: choice, renamingID: previousName) }
    return previousName.map { MigrationInfo(renamingID: $0) }
  }
}

/// A relationship of an object, as its mirror shows it.
private protocol DeclaredRelationship: DeclaredField {
  /// The objects that it leads to; nil at the end that is not stored.
  var destination: (any Record.Type)? { get }
  var isList: Bool { get }
  /// The name of the other end; nil if none is stated.
  var statedInverse: String? { get }
}

extension Field.Relationship: DeclaredRelationship {
  var name: String { declaration.name }
  fileprivate var isList: Bool { Value.isList }
  fileprivate var statedInverse: String? { inverseName?() }
  fileprivate var destination: (any Record.Type)? {
    Value.End.isStored ? Value.End.Destination.self : nil
  }

  func description(of property: String) -> RecordDescription {
    var declaration = declaration
    declaration.property = property
    declaration.isList = Value.isList
    return Value.End.description(of: declaration)
  }
}

// MARK: - Types of properties

/// A type of relationships: an optional end, or an array of ends.
public protocol FieldRelationshipType: Sendable {
  associatedtype End: RelationshipEnd
  static var isList: Bool { get }
  /// Creates the value with one end, or with none.
  init(_ end: End?)
}

extension Optional: FieldRelationshipType where Wrapped: RelationshipEnd {
  public static var isList: Bool { false }
  public init(_ end: Wrapped?) { self = end }
}

extension Array: FieldRelationshipType where Element: RelationshipEnd {
  public static var isList: Bool { true }
  public init(_ end: Element?) { self = end.map { [$0] } ?? [] }
}

/// One end of a relationship: a `Reference`, which is stored, or an `Inverse`, which is not.
public protocol RelationshipEnd: Sendable {
  /// The objects that it leads to.
  associatedtype Destination: Record

  /// False of the end that follows from the other one.
  static var isStored: Bool { get }
  /// Returns the end that is not stored; nil for a reference.
  static func end(of relationship: RelationshipDeclaration) -> Self?
  static func description(of relationship: RelationshipDeclaration) -> RecordDescription
}

extension Reference: RelationshipEnd {
  public typealias Destination = Target

  public static var isStored: Bool { true }

  public static func end(of relationship: RelationshipDeclaration) -> Reference? { nil }

  @RecordDescription.ResultBuilder
  public static func description(
    of relationship: RelationshipDeclaration
  ) -> RecordDescription {
    let deleteRule = relationship.deleteRule ?? .nullify
    Field(
      name: relationship.name,
      type: relationship.isList
        ? .references(to: Target.self, deleteRule: deleteRule)
        : .reference(to: Target.self, deleteRule: deleteRule),
      optional: !relationship.isList, property: relationship.property,
      unique: relationship.isUnique, modifier: relationship.modifier,
      migrationInfo: relationship.migrationInfo)
  }
}

extension Inverse: RelationshipEnd where Owner: KeyedObject, Related: KeyedObject {
  public typealias Destination = Related

  public static var isStored: Bool { false }

  /// Returns the other end of the relationship that states it, or else of the only one that leads to the owner.
  public static func end(of relationship: RelationshipDeclaration) -> Inverse? {
    let property = relationship.property
    let name =
      relationship.name.isEmpty
      ? Owner.declaredFields.first { $0.property == property }?.field.name ?? property
      : relationship.name
    let leading = Related.declaredFields.compactMap { $0.field as? any DeclaredRelationship }
      .filter { $0.destination == Owner.self }
    let stating = leading.filter { $0.statedInverse == name }
    let found = stating.isEmpty ? leading.filter { $0.statedInverse == nil } : stating
    guard let other = found.first, found.count == 1 else {
      return Inverse(
        name, of: "that alone leads to \(Owner.self): state the inverse of one of \(found.count)")
    }
    return Inverse(
      name, of: other.name, isList: other.isList, deleteRule: relationship.deleteRule,
      renamingID: relationship.previousName)
  }

  @RecordDescription.ResultBuilder
  public static func description(
    of relationship: RelationshipDeclaration
  ) -> RecordDescription {
    if let inverse = end(of: relationship) { inverse }
  }
}

// MARK: - Coding

extension Field.Relationship: Codable {
  public init(from decoder: any Decoder) throws {
    self.init(read: try Self.value { try $0.init(from: decoder) }, of: "")
  }

  public func encode(to encoder: any Encoder) throws {
    if let value = value as? any Encodable { try value.encode(to: encoder) }
  }

  /// Returns the value that is read; nil at the end that is not stored.
  fileprivate static func value(
    _ read: (any Decodable.Type) throws -> any Decodable
  ) rethrows -> Value? {
    guard Value.End.isStored, let type = Value.self as? any Decodable.Type else { return nil }
    return try read(type) as? Value
  }

  /// Its value, if that is stored.
  fileprivate var encodable: (any Encodable)? { value.flatMap { $0 as? any Encodable } }
}

extension KeyedDecodingContainer {
  public func decode<Value>(
    _ type: Field.Relationship<Value>.Type, forKey key: Key
  ) throws -> Field.Relationship<Value> {
    Field.Relationship(
      read: try Field.Relationship<Value>.value { try decode($0, forKey: key) },
      of: key.stringValue)
  }
}

extension KeyedEncodingContainer {
  public mutating func encode<Value>(
    _ relationship: Field.Relationship<Value>, forKey key: Key
  ) throws {
    if let value = relationship.encodable { try encode(value, forKey: key) }
  }
}

// MARK: - Following and setting

extension RecordReading where Self: ~Copyable {
  /// Returns the object at the other end of a relationship: `store.fetch(item.master, of: item)`.
  ///
  /// - Throws: As `fetch(_:)` of a query.
  public func fetch<Owner, Related>(
    _ inverse: Inverse<Owner, Related>?, of owner: Owner
  ) throws -> Related? {
    try inverse.flatMap { try first($0(of: owner)) }
  }

  /// Returns the objects at the other end of a relationship, by their primary keys.
  ///
  /// - Throws: As `fetch(_:)` of a query.
  public func fetch<Owner, Related>(
    _ inverse: [Inverse<Owner, Related>], of owner: Owner
  ) throws -> [Related] {
    try inverse.first.map { try fetch($0(of: owner)) } ?? []
  }
}

extension WriteTransaction {
  /// Sets a relationship from the end that is not stored: `transaction.set(\.master, of: item, to: laundry)`.
  ///
  /// - Parameter related: The object that is to lead to the owner; nil for none.
  /// - Throws: As `set(_:of:to:onConflict:)` of an inverse.
  public mutating func set<Owner, Related>(
    _ property: KeyPath<Owner, Inverse<Owner, Related>?>, of owner: Owner, to related: Related?
  ) throws {
    guard let inverse = owner[keyPath: property] else { return }
    try set(inverse, of: owner, to: related.map { [$0] } ?? [])
  }

  /// Sets a relationship from the end that is not stored, if several objects lead to each.
  ///
  /// - Parameter related: The objects that are to lead to the owner.
  /// - Throws: As `set(_:of:to:onConflict:)` of an inverse.
  public mutating func set<Owner, Related>(
    _ property: KeyPath<Owner, [Inverse<Owner, Related>]>, of owner: Owner,
    to related: some Sequence<Related>
  ) throws {
    guard let inverse = owner[keyPath: property].first else { return }
    try set(inverse, of: owner, to: related)
  }
}
