extension SchemaChange {
  /// True if rows of the new version may refer to other blobs than those of the old one, or to the same a different number
  /// of times.
  var changesReferences: Bool { from.externalFields != to.externalFields }
}

extension MigrationTasks {
  /// True if any of the work may change references to blobs.
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
