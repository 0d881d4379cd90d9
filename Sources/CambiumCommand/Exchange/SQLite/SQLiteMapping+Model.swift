import Cambium

extension SQLiteMapping {
  /// The model of the store.
  var model: StoreModel {
    var descriptions: [String: RecordDescription] = [:]
    for record in records {
      descriptions[record.name] = record.description(of: nil)
      for kind in record.kinds.indices {
        descriptions[record.kinds[kind].name] = record.description(of: kind)
      }
    }
    return StoreModel([ModelVersion(1, describing: descriptions)])
  }
}

extension SQLiteMapping.Record {
  /// Describes a kind, or the record itself.
  @RecordDescription.ResultBuilder
  fileprivate func description(of kind: Int?) -> RecordDescription {
    if let kind { RecordDescription.Parent(name(of: kinds[kind].parent)) }
    for field in fields.filter({ $0.kind == kind }) {
      Field(
        name: field.name, type: field.fieldType,
        storage: field.isExternal ? .external(threshold: SQLiteMapping.threshold) : .inline,
        optional: field.isOptional,
        default: field.defaultValue)
    }
    for list in lists.filter({ $0.kind == kind }) {
      Field(
        name: list.name,
        type: .references(to: list.destination, deleteRule: list.deleteRule))
    }
    if kind == nil { RecordDescription.PrimaryKey(fields: key.map { .ascending($0) }) }
    for index in indexes.filter({ $0.kind == kind }) {
      if index.isUnique {
        RecordDescription.Unique(fields: index.parts, named: index.name)
      } else {
        RecordDescription.Index(fields: index.parts, named: index.name)
      }
    }
    for inverse in inverses.filter({ $0.kind == kind }) {
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
    return FieldType(type)
  }
}
