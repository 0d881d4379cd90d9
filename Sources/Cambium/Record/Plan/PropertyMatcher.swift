/// Finds the property of each field, and the field of each property.
///
/// Everything that a plan relies on is checked here: the properties, their places and their types, and
/// that each of them is filled from exactly one field, or named as transient.
struct PropertyMatcher {
  let record: CheckedRecord
  let layout: RowLayout

  /// Matches the properties of the record's type, in the order of the fields.
  ///
  /// - Throws: `.invalidDescription`, naming the field or property that is wrong.
  func match() throws(StoreError) -> [PropertyMatch] {
    guard !Reflection.isClass(record.type) else {
      throw refusal(
        nil,
        "\(record.type) is a class, and only structs are filled in place. Let its coding be"
          + " `.codable`")
    }
    return try match(record.type, at: 0, levels: record.levels[...])
  }

  /// - Parameter levels: Those of `type`, and of the parents that it contains.
  private func match(
    _ type: any Any.Type, at offset: Int, levels: ArraySlice<TypeLevel>
  ) throws(StoreError) -> [PropertyMatch] {
    guard let level = levels.first else { return [] }
    var parent: (property: String, type: any Any.Type)?
    if let property = level.property, let type = levels.dropFirst().first?.type {
      parent = (property, type)
    }
    var inner: [PropertyMatch] = []
    let own = try match(type, at: offset, in: level.composite, of: level.generation, parent) {
      part throws(StoreError) in
      inner = try match(part.type, at: offset + part.offset, levels: levels.dropFirst())
    }
    return inner + own
  }

  /// - Parameters:
  ///   - composite: The stored name of the composite that `type` is the type of.
  ///   - generation: That of the type, if it is one of a hierarchy; nil for the struct of a composite.
  ///   - parent: The property that contains the parent.
  ///   - matchParent: Matches the properties in that one.
  private func match(
    _ type: any Any.Type, at offset: Int, in composite: String?, of generation: Int? = nil,
    _ parent: (property: String, type: any Any.Type)? = nil,
    _ matchParent: (StoredProperty) throws(StoreError) -> Void = { _ throws(StoreError) in }
  ) throws(StoreError) -> [PropertyMatch] {
    var properties = try UnmatchedProperties(of: type, in: composite, matcher: self)
    var matches: [PropertyMatch] = []
    if let parent {
      let property = try properties.take(
        parent.property, for: composite.map { "\($0).\(parent.property)" } ?? parent.property)
      guard property.type == parent.type else {
        throw refusal(
          parent.property,
          "the property is \(aOrAn(property.type)), but the parent is \(aOrAn(parent.type))")
      }
      try matchParent(property)
    }
    func isOwn(_ owner: Int) -> Bool { generation.map { $0 == owner } ?? true }
    for field in record.fields
    where field.composite == composite && field.role == .field && isOwn(field.generation) {
      let property = try properties.take(field.property, for: field.name)
      matches.append(try match(property, at: offset + property.offset, with: field))
    }
    for described in record.transients
    where described.composite == composite && isOwn(described.generation) {
      let transient = described.transient
      let name = described.name
      let property = try properties.take(transient.property, for: name)
      guard !Reflection.isClosure(property.type) else {
        throw refusal(
          name,
          "the property is a closure, which is not filled in place. Put it into a struct or class of its own"
        )
      }
      guard let filler = Accesses.filler(of: property.type, with: transient.value) else {
        throw refusal(
          name, "the property is \(aOrAn(property.type)), but is set to \(aOrAn(transient.type))")
      }
      var use = PropertyMatch.Use.transient(filler)
      if transient.isTracked {
        guard
          let tracked = Accesses.tracked(name, of: property.type, with: transient.value)
        else {
          throw refusal(
            name,
            "the property is \(aOrAn(property.type)), which is not Equatable, so its changes cannot be tracked"
          )
        }
        use = .tracked(tracked)
      }
      matches.append(
        PropertyMatch(offset: offset + property.offset, isOptional: false, use: use))
    }
    try properties.finish()
    return matches
  }

  func refusal(_ field: String?, _ reason: String) -> StoreError {
    .invalidDescription(
      record: layout.record.name, field: field, version: Int(layout.version), reason: reason)
  }
}

// MARK: Fields

extension PropertyMatcher {
  private func match(
    _ property: StoredProperty, at offset: Int, with field: DescribedField
  ) throws(StoreError) -> PropertyMatch {
    guard let column = layout.index(named: field.name) else {
      throw refusal(field.name, "the schema does not have it")
    }
    let type = try unwrapped(property, field)
    return PropertyMatch(
      offset: offset, isOptional: field.isOptional,
      use: try use(of: type, at: offset, as: field, column))
  }

  /// The type that has to fit the column: an optional's wrapped type.
  private func unwrapped(_ property: StoredProperty, _ field: DescribedField) throws(StoreError)
    -> any Any.Type
  {
    let wrapped = Reflection.wrapped(property.type)
    guard (wrapped != nil) == field.isOptional else {
      throw refusal(
        field.name,
        field.isOptional
          ? "the field is optional, but the property is \(aOrAn(property.type))"
          : "the field is not optional, but the property is \(aOrAn(property.type))")
    }
    guard let wrapped else { return property.type }
    guard Reflection.wrapped(wrapped) == nil else {
      throw refusal(
        field.name, "the property is \(aOrAn(property.type)), and a row has only one kind of nil")
    }
    return wrapped
  }

  private func use(
    of type: any Any.Type, at offset: Int, as field: DescribedField, _ column: Int
  ) throws(StoreError) -> PropertyMatch.Use {
    if field.type == .composite {
      let parts = try match(type, at: offset, in: field.name)
      return .composite(
        parts, field.isOptional ? Accesses.composite(of: type) : nil, column: column)
    }
    try check(type, leadsAsIn: field)
    // A reference is the very bytes of its key, and an optional one those of an optional key.
    let stored = References.key(of: type)
    if let scalar = ScalarType.swiftType(stored)?.scalarType, field.type == .scalar(scalar) {
      return .scalar(scalar, column: column)
    }
    guard let access = Accesses(of: field, in: layout.record.name).access(of: stored) else {
      throw refusal(
        field.name, "the property is \(aOrAn(type)), which does not fit a field of \(field.type)")
    }
    return .access(access, column: column)
  }

  /// Throws if a property is a reference to records of another type than its field leads to.
  private func check(
    _ type: any Any.Type, leadsAsIn field: DescribedField
  ) throws(StoreError) {
    guard let target = References.target(of: type) else { return }
    let name = RecordDescription.name(of: target, in: Int(layout.version))
    let destination = field.reference.map { $0.kind ?? $0.destination } ?? field.elsewhere
    guard let destination else {
      throw refusal(
        field.name,
        "the property is \(aOrAn(type)), but the field is \(field.type). Let its type be"
          + " `.reference(to: \(target).self)`, or `.references`; with `checked: false` if it may lead nowhere"
      )
    }
    guard destination == name || destination.hasSuffix("." + name) else {
      throw refusal(
        field.name,
        "the property is \(aOrAn(type)), but the field leads to \(destination)")
    }
  }

  fileprivate func aOrAn(_ type: any Any.Type) -> String {
    let name = String(describing: type)
    return "AEIOUaeiou".contains(name.prefix(1)) ? "an \(name)" : "a \(name)"
  }
}

/// The properties of a struct that are not yet known to be filled.
private struct UnmatchedProperties {
  private let type: any Any.Type
  private let composite: String?
  private let matcher: PropertyMatcher
  private let all: [StoredProperty]
  private var taken: Set<String> = []

  init(of type: any Any.Type, in composite: String?, matcher: PropertyMatcher) throws(StoreError) {
    self.type = type
    self.composite = composite
    self.matcher = matcher
    all = Reflection.storedProperties(of: type)
    guard !all.isEmpty else {
      throw matcher.refusal(
        composite,
        "\(type) shows no stored properties: it is no struct, or was compiled without reflection"
          + " metadata. Compile it with them, or let the record's coding be `.codable`")
    }
    if let fault = PropertyPaths.of(type).observedFault(of: type) {
      throw matcher.refusal(
        composite.map { "\($0).\(fault.property)" } ?? fault.property, fault.reason)
    }
  }

  /// The property of a field or transient, which is asked for once.
  mutating func take(_ name: String, for field: String) throws(StoreError) -> StoredProperty {
    guard let property = all.first(where: { $0.name == name }) else {
      throw matcher.refusal(
        field,
        PropertyPaths.of(type).isHidden(name)
          ? "the property “\(name)” of \(type) is wrapped or lazy, so it is not stored itself"
          : "\(type) has no stored property “\(name)”")
    }
    guard property.isStrong else {
      throw matcher.refusal(
        field,
        "the property “\(name)” of \(type) is weak or unowned, and only those that own their values are filled in"
          + " place. Let the record's coding be `.codable`")
    }
    taken.insert(name)
    return property
  }

  /// Throws unless all properties were taken.
  func finish() throws(StoreError) {
    guard let left = all.first(where: { !taken.contains($0.name) }) else { return }
    throw matcher.refusal(
      composite.map { "\($0).\(left.name)" } ?? left.name,
      "the property “\(left.name)” of \(type) is neither a field nor named as transient")
  }
}

/// A stored property of a record's struct, or of a composite in it, and its treatment in a plan.
struct PropertyMatch {
  /// In bytes, from the start of the record's struct; also for properties in an optional composite, since the value
  /// that an optional wraps is where the optional is.
  let offset: Int
  let isOptional: Bool
  let use: Use

  enum Use {
    /// Stored as it is, in the column at this place of the layout.
    case scalar(ScalarType, column: Int)
    /// Stored by way of its type.
    case access(any PropertyAccess, column: Int)
    /// A struct whose properties are stored; `access` where it is optional.
    case composite([PropertyMatch], (any CompositeAccess)?, column: Int)
    /// Not stored.
    case transient(any PropertyFiller)
    /// Not stored, but its changes are tracked.
    case tracked(any TrackedProperty)
  }
}
