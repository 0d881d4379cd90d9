// Adding many records without their Swift type.

/// The values of the record that is loaded next, by the places of the fields that a load names.
package struct LoadedValues {
  /// One for each column.
  fileprivate var columns: [FieldValue]
  fileprivate let places: [Int]

  package subscript(field: Int) -> FieldValue {
    get { columns[places[field]] }
    set { columns[places[field]] = newValue }
  }
}

extension WriteTransaction {
  /// Adds records without their Swift type, as a source gives them. Fields that are not named get their defaults.
  ///
  /// If the type has no records yet, no blobs, hierarchies, derived fields or sequences, and no lists of references or bounds, nothing
  /// is looked up while records come: their rows and index entries are sorted, and unique values are compared in the
  /// end. References are checked when the transaction commits, in one pass. Otherwise each record is inserted.
  ///
  /// - Parameters:
  ///   - name: The stored name of the type.
  ///   - fields: The stored names of the fields that the source gives; parts of composites are within the composite's value.
  ///   - count: About how many records there are.
  ///   - next: Gives each of the fields its value in the next record; returns false if there are no more.
  /// - Returns: The number of records.
  /// - Throws: `StoreError.unknownRecord`, `.invalidValue`, `.duplicateKey`, `.uniqueConflict`, `.relationCount`,
  ///   `.limitExceeded`, errors of `next`: then none is added. `.corrupt`, `.full`, `.io`.
  package mutating func load(
    record name: String, fields: [String], expecting count: Int,
    from next: (inout LoadedValues) throws -> Bool
  ) throws -> Int {
    let entity = try entities.entity(named: name)
    var values = try entity.loadedValues(fields)
    return try savepoint { transaction in
      guard
        let load = try RecordLoad(of: entity, in: transaction.writer, expecting: count)
      else { return try transaction.insert(entity, fields, &values, from: next) }
      while try next(&values) { try load.add(values.columns) }
      try load.finish()
      return load.count
    }
  }

  private func insert(
    _ entity: Entity, _ fields: [String], _ values: inout LoadedValues,
    from next: (inout LoadedValues) throws -> Bool
  ) throws -> Int {
    let names = FieldNameList(fields)
    let columns = ColumnValues(entity.layout)
    var count = 0
    while try next(&values) {
      let fields = RecordFields(names, values.places.map { values.columns[$0] })
      try columns.take(fields, defaults: entity.defaults)
      try entity.layout.encode(columns.all, to: buffers.row, key: buffers.key)
      try writeRow(of: entity, .isNew, .refuse)
      count += 1
    }
    return count
  }
}

extension Entity {
  /// The values of a record that has only defaults.
  fileprivate func loadedValues(_ fields: [String]) throws(StoreError) -> LoadedValues {
    var columns = [FieldValue](repeating: .null, count: layout.columns.count)
    for (place, value) in defaults { columns[place] = value }
    var places: [Int] = []
    for field in fields {
      guard let place = layout.index(named: field), layout.outermost.contains(place) else {
        throw .invalidValue(record: record.name, field: field, reason: "there is no such field")
      }
      places.append(place)
    }
    return LoadedValues(columns: columns, places: places)
  }
}
