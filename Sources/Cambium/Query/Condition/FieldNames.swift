// The names of fields in conditions: those that they are stored by, and those of a type's properties.

/// The stored names of the properties of a type, and of those that its references lead to.
struct StoredNames: FieldNaming {
  private let entity: Entity
  private let entities: Entities
  /// The number of relations that led to the record.
  private let steps: Int

  init(_ entity: Entity, _ entities: Entities, steps: Int = 0) {
    self.entity = entity
    self.entities = entities
    self.steps = steps
  }

  /// - Throws: `.invalidQuery` for a property that is not stored.
  func name(of property: PropertyReference) throws(StoreError) -> String {
    if let field = entity.field(ofProperty: property) { return field }
    // Of one that others lead to, it depends on them whether it leads too far.
    if steps == 0, let name = entities.sides.name(of: property, of: entity) { return name }
    if let (relation, rest) = divided(property) {
      _ = try entity.steps(after: steps, relation.name)
      let name = "\(relation.name).\(try relation.fields.name(of: rest))"
      if steps == 0 { entities.sides.note(name, of: property, of: entity) }
      return name
    }
    // A field of a kind has no property in the type of its parent, and one of the parent another path in that of the kind.
    if entity.layout.kinds != nil, let path = property.path,
      let field = entity.record.field(named: path), field.composite != nil || entity.kind != nil
    {
      return path
    }
    throw refusal(of: property)
  }

  /// - Throws: `.invalidQuery` for a type that is neither a kind of the record nor the record itself.
  func kind(_ kind: PropertyReference) throws(StoreError) -> String {
    let name = kind.path ?? ""
    if let found = entities.name(ofKind: name, of: entity) { return found }
    guard entity.record.condition(ofKind: name, isExact: false) != nil else {
      throw entity.layout.refusal(ofKind: name)
    }
    return name
  }

  /// - Throws: `.invalidQuery` for a property that is no reference, and no name of an inverse.
  func relation(_ property: PropertyReference) throws(StoreError) -> (name: String, fields: Self) {
    if let relation = ownRelation(property) { return relation }
    guard let (relation, rest) = divided(property) else { throw refusal(of: property) }
    _ = try entity.steps(after: steps, relation.name)
    let inner = try relation.fields.relation(rest)
    return ("\(relation.name).\(inner.name)", inner.fields)
  }

  /// - Throws: `.unknownRecord` for a type that is no record of the store.
  func record(
    _ property: PropertyReference
  ) throws(StoreError) -> (name: String, kind: String?, fields: StoredNames) {
    let other = try entities.queried(property)
    let kind = other.kind.flatMap { other.layout.kinds?.all[$0].name }
    return (other.record.name, kind, StoredNames(other, entities))
  }

  private func ownRelation(_ property: PropertyReference) -> (name: String, fields: Self)? {
    let names = [entity.field(ofProperty: property), property.path].compactMap { $0 }
    for name in names {
      guard let other = entities.related(by: name, from: entity) else { continue }
      return (name, StoredNames(other, entities, steps: steps + 1))
    }
    return nil
  }

  /// Divides the path of a property of another record after the first reference.
  private func divided(
    _ property: PropertyReference
  ) -> (relation: (name: String, fields: Self), rest: PropertyReference)? {
    guard let path = property.path else { return nil }
    let make = property.isField ? PropertyReference.init(field:) : PropertyReference.init(path:)
    for dot in path.relationDots {
      if let relation = ownRelation(make(String(path[..<dot]))) {
        return (relation, make(String(path[path.index(after: dot)...])))
      }
    }
    return nil
  }

  private func refusal(of property: PropertyReference) -> StoreError {
    let properties = entity.properties
    return .invalidQuery(
      record: entity.record.name, field: properties?.path(of: property) ?? property.path,
      reason: properties?.reasonForNone(of: property) ?? "there is no such field")
  }
}

/// The names of properties, for people.
struct PropertyNames: FieldNaming {
  /// Nil for a type that only the store knows: then properties have names themselves.
  let paths: PropertyPaths?

  func name(of property: PropertyReference) -> String {
    paths?.path(of: property) ?? property.path ?? "offset \(property.offset)"
  }

  func kind(_ kind: PropertyReference) -> String { kind.path ?? "" }

  func relation(_ property: PropertyReference) -> (name: String, fields: Self) {
    (name(of: property), PropertyNames(paths: PropertyPaths.of(property.type)))
  }

  func record(
    _ property: PropertyReference
  ) -> (name: String, kind: String?, fields: PropertyNames) {
    (property.path ?? "", nil, PropertyNames(paths: PropertyPaths.of(property.type)))
  }
}

/// The properties that names stand for. A name without a property is an error when the condition is checked.
struct NamedProperties: FieldNaming {
  private let type: (any Any.Type)?

  init(of type: (any Any.Type)?) {
    self.type = type
  }

  func name(of name: String) -> PropertyReference {
    type.flatMap { PropertyPaths.of($0).reference(to: name) } ?? PropertyReference(path: name)
  }

  func kind(_ name: String) -> PropertyReference { PropertyReference(path: name) }

  func relation(_ name: String) -> (name: PropertyReference, fields: Self) {
    guard let type, let related = PropertyPaths.of(type).target(of: name) else {
      return (PropertyReference(path: name), NamedProperties(of: nil))
    }
    return (self.name(of: name).relation(of: type, to: related), NamedProperties(of: related))
  }

  func record(
    _ name: String
  ) -> (name: PropertyReference, kind: PropertyReference?, fields: NamedProperties) {
    (PropertyReference(path: name), nil, NamedProperties(of: nil))
  }
}

/// The properties of fields, by their stored names.
struct StoredProperties: FieldNaming {
  let entity: Entity
  let entities: Entities
  /// The number of relations that led to the record.
  var steps = 0

  /// - Throws: `.invalidQuery` if there is no such field.
  func name(of field: String) throws(StoreError) -> PropertyReference {
    if let property = entity.properties?.property(ofField: field) { return property }
    guard let (name, rest) = entity.record.divided(field) else { throw refusal(of: field) }
    _ = try relation(name).fields.name(of: rest)
    return PropertyReference(field: field)
  }

  func kind(_ name: String) throws(StoreError) -> PropertyReference {
    PropertyReference(path: name)
  }

  func relation(
    _ name: String
  ) throws(StoreError) -> (name: PropertyReference, fields: StoredProperties) {
    if let other = entities.related(by: name, from: entity) {
      return (
        PropertyReference(field: name),
        StoredProperties(
          entity: other, entities: entities, steps: try entity.steps(after: steps, name))
      )
    }
    guard let (first, rest) = entity.record.divided(name) else { throw refusal(of: name) }
    return (PropertyReference(field: name), try relation(first).fields.relation(rest).fields)
  }

  func record(
    _ name: String
  ) throws(StoreError) -> (
    name: PropertyReference, kind: PropertyReference?, fields: StoredProperties
  ) {
    let other = try entities.entity(named: name)
    return (
      PropertyReference(field: name), nil, StoredProperties(entity: other, entities: entities)
    )
  }

  private func refusal(of field: String) -> StoreError {
    .invalidQuery(
      record: entity.record.name, field: field,
      reason: "the query was kept when there was such a field, and now there is none")
  }
}

extension RecordSchema {
  /// Divides a name that leads over a relation after the first one: `author.country.name`. Nil if it leads over none.
  func divided(_ name: String) -> (relation: String, rest: String)? {
    for dot in name.relationDots {
      let relation = String(name[..<dot])
      if related(by: relation) != nil {
        return (relation, String(name[name.index(after: dot)...]))
      }
    }
    return nil
  }
}

extension String {
  /// The dots of a name before which a relation's name may end. One that is within composites has few; after more, a name
  /// leads nowhere.
  fileprivate var relationDots: some Sequence<String.Index> {
    utf8.indices.lazy.filter { self.utf8[$0] == UInt8(ascii: ".") }.prefix(FieldType.depthMax)
  }
}
