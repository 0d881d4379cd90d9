/// The descriptions among which references look for the records that they lead to.
struct Destinations {
  let version: Int
  /// By stored name.
  private var descriptions: [String: RecordDescription] = [:]
  private var schema: Schema?

  init(version: Int, _ descriptions: [String: RecordDescription]) {
    self.version = version
    self.descriptions = descriptions
  }

  /// Those of a schema, for types that describe some of its records.
  init(_ schema: Schema) {
    version = schema.version
    self.schema = schema
  }

  /// The type of the column of a reference: that of the primary key that it leads to.
  func column(of reference: ReferenceDeclaration) throws(DescriptionFault) -> ColumnType {
    let key = try keyType(of: reference.destination.name(in: version), depth: 0)
    return reference.isList ? .array(of: key) : .scalar(key)
  }

  private func keyType(of name: String, depth: Int) throws(DescriptionFault) -> ScalarType {
    if let record = schema?.record(named: name) {
      guard record.primaryKey.count == 1,
        let type = record.field(record.primaryKey[0].field)?.type.scalar
      else { throw Self.manyFields(name) }
      return type
    }
    guard let description = descriptions[name] else {
      throw DescriptionFault("it leads to \(name), which is not in this version of the model")
    }
    guard depth <= descriptions.count else {
      throw DescriptionFault("the primary key of \(name) is a reference that leads back to itself")
    }
    guard let type = try description.keyField(of: name)?.type.kind else {
      throw Self.manyFields(name)
    }
    switch type {
    case .scalar(let scalar): return scalar
    case .reference(let reference) where !reference.isList:
      return try keyType(of: reference.destination.name(in: version), depth: depth + 1)
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
