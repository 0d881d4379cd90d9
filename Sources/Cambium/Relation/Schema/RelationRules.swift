// The rules for relations of every schema, whether described by a program or read from a store.

extension Schema {
  /// Throws the first fault found in references and inverses.
  func validateRelations() throws(SchemaFault) {
    for record in records {
      for field in record.fields {
        if let reference = field.reference { try validate(reference, field, of: record) }
      }
      var taken: Set<[UInt32]> = []
      for inverse in record.inverses {
        try validate(inverse, of: record)
        guard taken.insert([inverse.record, inverse.field]).inserted else {
          throw record.fault(
            "\(inverse.related).\(inverse.reference) has another inverse already",
            field: inverse.name)
        }
      }
    }
  }

  private func validate(
    _ reference: ReferenceSchema, _ field: FieldSchema, of record: RecordSchema
  ) throws(SchemaFault) {
    func fault(_ reason: String) -> SchemaFault { record.fault(reason, field: field.name) }
    guard let destination = self.record(number: reference.record) else {
      throw fault("it leads to a record that is not there")
    }
    if let kind = reference.composite, destination.kind(kind) == nil {
      throw fault("it leads to a kind of \(destination.name) that is not there")
    }
    guard destination.primaryKey.count == 1,
      let key = destination.field(destination.primaryKey[0].field)?.type.scalar
    else {
      throw fault(
        "it leads to \(destination.name), whose primary key is not one field; keep the parts as fields of"
          + " their own, or give \(destination.name) a key of one field")
    }
    guard field.type == .scalar(key) || field.type == .array(of: key) else {
      throw fault("it is \(field.type), and the primary key of \(destination.name) is \(key)")
    }
    guard reference.deleteRule != .noAction else {
      throw fault("a reference with a rule of its own has one that does something")
    }
    if let bounds = reference.bounds {
      guard field.type.scalar == nil else { throw fault("only a list has bounds") }
      if let reason = bounds.fault { throw fault(reason) }
    }
    if !reference.isChecked {
      guard reference.deleteRule == .nullify else {
        throw fault("it is not checked, so nothing can happen with its destination")
      }
      return
    }
    guard record.wayBack(of: field) != nil else {
      throw fault("it is checked, and no index leads back")
    }
  }

  private func validate(
    _ inverse: InverseSchema, of record: RecordSchema
  ) throws(SchemaFault) {
    func fault(_ reason: String) -> SchemaFault { record.fault(reason, field: inverse.name) }
    guard let related = self.record(number: inverse.record),
      let field = related.field(inverse.field),
      let reference = field.reference, reference.record == record.number
    else { throw fault("it is the other end of no reference that leads here") }
    let name = "\(related.name).\(field.name)"
    guard reference.isChecked == (inverse.deleteRule != .noAction) else {
      throw fault(
        "\(name) is \(reference.isChecked ? "checked" : "not checked"), so its inverse has"
          + " \(reference.isChecked ? "a" : "no") delete rule")
    }
    if inverse.deleteRule == .nullify, !related.canCut(field) {
      throw fault(
        "\(name) cannot be cut, since it is \(related.isKey(field) ? "in the primary key" : "not optional");"
          + " let the delete rule be .cascade or .deny")
    }
    guard let bounds = inverse.bounds else { return }
    if let reason = bounds.fault { throw fault(reason) }
    guard reference.isChecked else { throw fault("\(name) is not checked, so there are no bounds") }
    if bounds.least > 1, case .index(let place) = related.wayBack(of: field),
      related.indexes[place].isUnique, related.indexes[place].parts.count == 1
    {
      throw fault("\(name) is unique, so there are never \(bounds.least) of them")
    }
  }
}

extension RecordSchema {
  /// Returns true if a reference can be taken out of a record: if it is an optional one, or one of a list.
  func canCut(_ field: FieldSchema) -> Bool {
    !isKey(field) && (field.isOptional || field.type.scalar == nil)
  }

  /// Returns true if a field is in the primary key.
  fileprivate func isKey(_ field: FieldSchema) -> Bool {
    primaryKey.contains { $0.field == field.number }
  }
}
