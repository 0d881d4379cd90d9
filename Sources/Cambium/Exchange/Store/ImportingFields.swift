extension WriteTransaction {
  /// Imports records without their Swift type, one after the other: each is merged into the one with its identifier. Fields
  /// that it does not name stay as they are, or get their defaults if it is new.
  ///
  /// - Parameters:
  ///   - name: The stored name of the type.
  ///   - sources: The values of fields by their stored names.
  ///   - uniqueID: The unique field by which records are found; nil for the primary key.
  ///   - refuse: Called with the number of each source that cannot be imported, and the error; if it returns, the source is
  ///     passed over.
  /// - Throws: `StoreError.unknownRecord`, `.invalidQuery` if the field is not unique; errors of `refuse`: then nothing
  ///   is imported. `.corrupt`, `.full`, `.io`.
  package mutating func importRecords(
    record name: String, from sources: [[String: FieldValue]], uniqueID: String? = nil,
    refuse: (Int, StoreError) throws -> Void
  ) throws -> ImportReport {
    let entity = try entities.entity(named: name)
    let run = try ImportRun(entity, writer, by: uniqueID)
    var numbers: [Int] = []
    for (number, fields) in sources.enumerated() {
      do throws(StoreError) {
        try run.append(fields, by: uniqueID, buffers)
        numbers.append(number)
      } catch {
        if case .invalidQuery = error { throw error }
        try refuse(number, error)
      }
    }
    _ = run.begin(.all)
    return try savepoint { transaction in
      var report = ImportReport()
      let buffers = transaction.buffers
      while let place = try run.next() {
        do throws(StoreError) {
          try run.merge(sources[numbers[place]], over: entity, to: buffers.row, key: buffers.key)
          try run.write(buffers, &report)
        } catch {
          try refuse(numbers[place], error)
        }
      }
      return report
    }
  }
}

extension ImportRun {
  fileprivate func append(
    _ fields: [String: FieldValue], by uniqueID: String?, _ buffers: WriteBuffers
  ) throws(StoreError) {
    if let uniqueID {
      guard let value = fields[uniqueID], value != .null else {
        throw .invalidValue(
          record: recordName, field: uniqueID, reason: "it has no value to find the record by")
      }
      try append(value)
    } else {
      try append(keyOf: fields, buffers)
    }
  }
}
