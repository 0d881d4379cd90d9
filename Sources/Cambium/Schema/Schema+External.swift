extension Schema {
  /// Returns the schema with the options of external values of another one that describes the same.
  ///
  /// Those options are no part of the stored description: a program may change them at any time.
  func writing(as other: Schema) -> Schema {
    var types: [UInt32: [UInt32: ColumnType]] = [:]
    for record in other.records {
      for field in record.fields where field.type.isExternal {
        types[record.number, default: [:]][field.number] = field.type
      }
    }
    if types.isEmpty { return self }
    return Schema(
      version: version, label: label,
      records: records.map { $0.writing(as: types[$0.number] ?? [:]) }, nextNumber: nextNumber)
  }
}

extension RecordSchema {
  fileprivate func writing(as types: [UInt32: ColumnType]) -> RecordSchema {
    let fields = fields.map { field in
      guard let type = types[field.number], type.stored == field.type.stored else { return field }
      return FieldSchema(
        number: field.number, name: field.name, type: type, isOptional: field.isOptional,
        composite: field.composite, modifier: field.modifier)
    }
    return RecordSchema(
      number: number, name: name, fields: fields, primaryKey: primaryKey, indexes: indexes,
      modifier: modifier, nextField: nextField)
  }
}

extension BlobOptions {
  /// Why there can be no such options; nil if there can.
  var fault: String? {
    guard (0...StoreError.Limit.valueLength.bound / 2).contains(threshold) else {
      return "a threshold is 0 to \(StoreError.Limit.valueLength.bound / 2) bytes"
    }
    if case .zstd(let level) = compression, !BlobCompression.levels.contains(level) {
      return "the levels of zstd are \(BlobCompression.levels.lowerBound) to"
        + " \(BlobCompression.levels.upperBound)"
    }
    return nil
  }
}
