extension SchemaChange {
  /// Whether rows of the new version may refer to other blobs than those of the old one, or to the same more or less
  /// often.
  var changesReferences: Bool { from.externalFields != to.externalFields }
}

extension MigrationTasks {
  /// The same of all that is done.
  var changesReferences: Bool {
    route.from.externalFields != route.to.externalFields
      || tasks.contains { task in
        switch task {
        case .arrange, .convert, .build, .check: false
        case .remake, .run: true
        }
      }
  }
}

extension Schema {
  fileprivate var externalFields: Set<[UInt32]> {
    var fields: Set<[UInt32]> = []
    for record in records {
      for field in record.fields where field.type.isExternal {
        fields.insert([record.number, field.number])
      }
    }
    return fields
  }
}
