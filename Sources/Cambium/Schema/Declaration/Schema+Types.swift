extension Schema {
  /// Swift types for records of this version, which may be an old one: what each describes for the version has
  /// to be what the schema says.
  ///
  /// - Throws: `.invalidDescription`, with the differences.
  func checked(types: [any Record.Type]) throws(StoreError) -> CheckedModel {
    var records: [CheckedRecord] = []
    for type in types {
      let described = try StoreModel.describe(
        type.recordDescription(for: Int(version)), type, RecordDescription.name(of: type),
        Int(version)
      ).alone
      let alone = try DescribedVersion(version: Int(version), records: [described], after: nil)
      var numbering = Numbering(alone, after: nil)
      let schema = try numbering.schema(label: nil)
      guard let record = self.record(named: described.name) else {
        throw .invalidDescription(
          record: described.name, field: nil, version: Int(version),
          reason: "the type \(type) stands for it, but the version has no such record")
      }
      let own = Schema(version: version, label: nil, records: [record])
      let differences = own.differences(to: schema)
      guard differences.isEmpty, let checked = described.checked(record) else {
        throw .invalidDescription(
          record: described.name, field: nil, version: Int(version),
          reason: "the type \(type) describes it differently than the store: "
            + differences.map(\.description).joined(separator: "; "))
      }
      records.append(checked)
    }
    return CheckedModel(schema: self, records: records)
  }
}

extension RecordDescription {
  /// Returns the stored name of a record that states none: its type's name without its module and the types around it.
  static func name(of type: any Record.Type) -> String { String(describing: type) }

  /// Returns the stored name of a type's records in a version.
  static func name(of type: any Record.Type, in version: Int) -> String {
    for element in type.recordDescription(for: version).elements {
      if case .name(let name) = element.kind { return name.name }
    }
    return name(of: type)
  }
}
