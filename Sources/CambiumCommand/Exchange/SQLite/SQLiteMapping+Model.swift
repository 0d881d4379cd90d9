import Cambium

extension SQLiteMapping {
  /// The model of the store.
  var model: StoreModel {
    let descriptions = Dictionary(
      records.map { ($0.name, $0.description) }, uniquingKeysWith: { first, _ in first })
    return StoreModel([ModelVersion(1, describing: descriptions)])
  }
}

extension SQLiteMapping.Record {
  @RecordDescription.ResultBuilder
  fileprivate var description: RecordDescription {
    for field in fields {
      Field(
        name: field.name, type: field.fieldType,
        storage: field.isExternal ? .external() : .inline, optional: field.isOptional)
    }
    for list in lists {
      Field(
        name: list.name,
        type: .references(to: list.destination, deleteRule: list.deleteRule))
    }
    RecordDescription.PrimaryKey(fields: key.map { .ascending($0) })
    for index in indexes {
      if index.isUnique {
        RecordDescription.Unique(fields: index.parts, named: index.name)
      } else {
        RecordDescription.Index(fields: index.parts, named: index.name)
      }
    }
    for inverse in inverses {
      UntypedInverse(
        inverse.name, of: inverse.reference, in: inverse.related, deleteRule: inverse.deleteRule)
    }
  }
}

extension SQLiteMapping.Field {
  fileprivate var fieldType: FieldType {
    if let destination {
      return .reference(to: destination.record, checked: destination.isChecked)
    }
    return switch type {
    case .boolean: .boolean
    case .double: .double
    case .string: .string
    case .date: .date
    case .uuid: .uuid
    case .binaryData: .binaryData
    default: .integer
    }
  }
}
