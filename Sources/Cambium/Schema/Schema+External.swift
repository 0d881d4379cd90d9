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
    var schema = self
    for record in records.indices {
      for field in records[record].fields.indices {
        let own = records[record].fields[field]
        guard let type = types[records[record].number]?[own.number],
          type.stored == own.type.stored
        else { continue }
        schema.records[record].fields[field].type = type
      }
    }
    return schema
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
