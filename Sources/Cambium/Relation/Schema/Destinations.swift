/// The descriptions among which references look for the records that they lead to.
struct Destinations {
  let version: Int
  /// By stored name.
  private var descriptions: [String: RecordDescription] = [:]
  /// Those of other configurations, by stored name.
  private var elsewhere: [String: RecordDescription] = [:]
  private var schema: Schema?

  init(
    version: Int, _ descriptions: [String: RecordDescription],
    elsewhere: [String: RecordDescription] = [:]
  ) {
    self.version = version
    self.descriptions = descriptions
    self.elsewhere = elsewhere
  }

  /// Those of a schema, for types that describe some of its records.
  init(_ schema: Schema) {
    version = schema.version
    self.schema = schema
  }

  /// The type of the column of a reference: that of the primary key that it leads to.
  func column(of reference: ReferenceDeclaration) throws(DescriptionFault) -> ColumnType {
    if reference.isChecked, leadsElsewhere(reference) {
      throw DescriptionFault(
        "it leads to \(reference.destination.name(in: version)), which is in another configuration and"
          + " so in another store, where nothing can check it: declare it with checked: false")
    }
    var elsewhere: RecordDescription?
    if schema != nil, leadsElsewhere(reference), case .type(let type) = reference.destination {
      elsewhere = type.typedDescription(for: version)
    }
    let key = try keyType(of: reference.destination.name(in: version), elsewhere, depth: 0)
    return reference.isList ? .array(of: key) : .scalar(key)
  }

  /// Returns true if a reference leads to a record of another configuration: here it is a plain key.
  func leadsElsewhere(_ reference: ReferenceDeclaration) -> Bool {
    let name = reference.destination.name(in: version)
    // A schema does not tell what is in other stores.
    if let schema { return !reference.isChecked && schema.place(named: name) == nil }
    return descriptions[name] == nil && elsewhere[name] != nil
  }

  /// Returns the stored names of the record that a name stands for, and of the composite of the kind if it is one; a record
  /// that is not there has its name.
  func place(of name: String) -> (record: String, kind: String?) {
    if let schema {
      guard let place = schema.place(named: name) else { return (name, nil) }
      return (place.record.name, place.kind?.name)
    }
    if descriptions[name] != nil { return (name, nil) }
    var found: [(record: String, kind: String?)] = []
    for (record, description) in descriptions {
      for kind in description.kinds
      where kind == name || kind.hasSuffix(".\(name)") || "\(record).\(kind)" == name {
        found.append((record, kind))
      }
    }
    return found.count == 1 ? found[0] : (name, nil)
  }

  /// - Parameter stated: The description of a record that neither the schema nor the model has.
  private func keyType(
    of name: String, _ stated: RecordDescription? = nil, depth: Int
  ) throws(DescriptionFault) -> ScalarType {
    if let record = schema?.record(named: name) {
      guard record.primaryKey.count == 1,
        let type = record.field(record.primaryKey[0].field)?.type.scalar
      else { throw Self.manyFields(name) }
      return type
    }
    let place = place(of: name)
    if place.kind != nil { return try keyType(of: place.record, depth: depth) }
    guard let description = descriptions[name] ?? elsewhere[name] ?? stated else {
      throw DescriptionFault("it leads to \(name), which is not in this version of the model")
    }
    guard depth <= descriptions.count + elsewhere.count else {
      throw DescriptionFault("the primary key of \(name) is a reference that leads back to itself")
    }
    guard let type = try description.keyField(of: name)?.type.kind else {
      throw Self.manyFields(name)
    }
    switch type {
    case .scalar(let scalar): return scalar
    case .reference(let reference) where !reference.isList:
      return try keyType(of: reference.destination.name(in: version), depth: depth + 1)
    case .unknown(let reason):
      throw DescriptionFault("it leads to \(name), whose primary key has no type: \(reason)")
    default: throw Self.manyFields(name)
    }
  }

  private static func manyFields(_ name: String) -> DescriptionFault {
    DescriptionFault(
      "it leads to \(name), whose primary key is not one field; keep the parts as fields of their own,"
        + " or give \(name) a key of one field")
  }
}

extension RecordDescription {
  /// The names of the composites of all kinds.
  fileprivate var kinds: [String] {
    elements.flatMap { element -> [String] in
      guard case .kind(let kind) = element.kind else { return [] }
      let name = kind.description.statedName ?? kind.name
      return [name] + kind.description.kinds.map { "\(name).\($0)" }
    }
  }

  /// The field that is the primary key; nil if there is more than one.
  fileprivate func keyField(of name: String) throws(DescriptionFault) -> Field? {
    var flagged: [Field] = []
    var stated: [KeyField]?
    for element in elements {
      switch element.kind {
      case .field(let field) where field.isPrimaryKey: flagged.append(field)
      case .primaryKey(let key): stated = key.fields
      default: break
      }
    }
    guard let stated else { return flagged.count == 1 ? flagged[0] : nil }
    guard stated.count == 1 else { return nil }
    for case .field(let field) in elements.lazy.map(\.kind) where field.name == stated[0].name {
      return field
    }
    throw DescriptionFault("the primary key of \(name) is of \(stated[0].name), which is not there")
  }
}
