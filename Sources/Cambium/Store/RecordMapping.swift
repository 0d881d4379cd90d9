/// The records of a model as values of fields, for stores that keep them elsewhere than in a `PersistentStore`.
///
/// It checks and converts records and queries exactly as a store does: validations run, hooks after loading run, and an error is the
/// same `StoreError`. Records are made and taken apart without a store.
///
/// ```swift
/// let mapping = try RecordMapping(model)
/// let values = try mapping.values(of: order)         // DynamicRecord
/// let same = try mapping.record(Order.self, of: values)
/// ```
package struct RecordMapping: Sendable {
  let entities: Entities

  /// Creates the mapping of the model's newest version.
  ///
  /// - Throws: `StoreError.invalidDescription`.
  package init(_ model: StoreModel) throws(StoreError) {
    let checked = try model.checked()
    entities = try Entities(checked.schema, model: checked, names: TreeNames())
  }

  /// The description of the records.
  package var schema: Schema { entities.schema }

  /// A feature of a model that code in the process of a `PersistentStore` carries out.
  package enum Duty: Hashable, Sendable {
    /// Hooks are called before records are written or deleted.
    case hooks
    /// Changes of properties are tracked.
    case trackedProperties
    /// Records are deleted some time after a date.
    case expiry
    /// The number of records at one end of a relation is bounded.
    case relationBounds
  }

  /// Returns the features of a record, and of its kinds, that the process of a store carries out. A store elsewhere that does not
  /// has to refuse the model.
  package func duties(ofRecord name: String) throws(StoreError) -> Set<Duty> {
    let entity = try entities.entity(named: name)
    let kinds: [Int?] = [nil] + Array(0..<(entity.layout.kinds?.all.count ?? 0))
    let types = kinds.compactMap { entities.type(ofKind: $0, of: entity) }
    var duties: Set<Duty> = []
    if entity.hasDeletionHook || types.contains(where: \.preparesRecords) { duties.insert(.hooks) }
    if entity.isTracked { duties.insert(.trackedProperties) }
    if entity.record.expiry != nil { duties.insert(.expiry) }
    if entity.record.inverses.contains(where: { $0.bounds != nil })
      || entity.record.fields.contains(where: { $0.reference?.bounds != nil })
    {
      duties.insert(.relationBounds)
    }
    return duties
  }
}

// MARK: - Records

extension RecordMapping {
  /// Returns the stored name of the record that a type stands for.
  ///
  /// - Throws: `StoreError.unknownRecord`.
  package func name<Subject: Record>(of type: Subject.Type) throws(StoreError) -> String {
    try entities.type(type).record.name
  }

  /// Returns the composite of the kind that a type stands for; nil if it stands for records of any kind.
  ///
  /// - Throws: `StoreError.unknownRecord`.
  package func kind<Subject: Record>(
    of type: Subject.Type
  ) throws(StoreError) -> FieldSchema? {
    let entity = try entities.type(type)
    guard let kind = entity.kind, let kinds = entity.layout.kinds else { return nil }
    return entity.layout.columns[kinds.all[kind].column].field
  }

  /// Returns the values of a record's fields, after its validations.
  ///
  /// - Throws: `StoreError.unknownRecord`, `.invalidValue`, `.limitExceeded`.
  package func values<Subject: Record>(
    of record: Subject
  ) throws(StoreError) -> DynamicRecord {
    let type = try entities.type(Subject.self)
    let (row, key) = (RowWriter(), KeyEncoder())
    try type.encode(record, to: row, key: key)
    return try values(key, row, row.waiting, type)
  }

  /// Returns the values of a record's fields as they are written over others: a record that is of a kind of the type stays of
  /// that, with its fields.
  ///
  /// - Parameter old: The values of the record with its primary key; nil if there is none.
  /// - Throws: as `values(of:)`; `StoreError.invalidValue` if the record would be of an abstract kind alone.
  package func values<Subject: Record>(
    of record: Subject, over old: DynamicRecord?
  ) throws(StoreError) -> DynamicRecord {
    let type = try entities.type(Subject.self)
    let (row, key) = (RowWriter(), KeyEncoder())
    try type.encode(record, to: row, key: key)
    guard let kinds = type.layout.kinds else { return try values(key, row, row.waiting, type) }
    if let old {
      let oldRow = RowWriter()
      try old.encode(to: oldRow, key: KeyEncoder(), layout: type.layout)
      if let kept = kinds.kind(of: oldRow.row, below: type.kind) {
        let whole = RowWriter()
        let (layout, keySpan) = (type.layout, key.key)
        let newReader = try RowReader(key: keySpan, row: row.row, layout: layout, blobs: nil)
        let oldReader = try RowReader(key: keySpan, row: oldRow.row, layout: layout, blobs: nil)
        try newReader.copy(to: whole, keeping: kinds.all[kept], of: oldReader)
        return try values(key, whole, row.waiting, type)
      }
    }
    try type.checkKinds(of: row.row, key: key.key)
    return try values(key, row, row.waiting, type)
  }

  private func values(
    _ key: KeyEncoder, _ row: RowWriter, _ waiting: [Blob], _ entity: Entity
  ) throws(StoreError) -> DynamicRecord {
    let blobs = BlobFinder(waiting) { _ in UnstoredEntry() }
    let (keyBytes, rowBytes) = (key.key.array(), row.row.array())
    return try DynamicRecord(
      try entity.row(key: keyBytes.rawSpan, row: rowBytes.rawSpan, blobs: blobs))
  }

  /// Returns the record with these values, after the type's hook after loading.
  ///
  /// - Throws: `StoreError.unknownRecord`; `.invalidValue` for values that the record cannot have; `.unreadableRecord` if the type
  ///   has no such value; errors of the type's hook after loading.
  package func record<Subject: Record>(
    _ type: Subject.Type, of values: DynamicRecord
  ) throws -> Subject {
    let type = try entities.type(type)
    let (row, key) = (RowWriter(), KeyEncoder())
    try values.encode(to: row, key: key, layout: type.layout)
    let blobs = BlobFinder(row.waiting) { _ in UnstoredEntry() }
    let (keyBytes, rowBytes) = (key.key.array(), row.row.array())
    return try type.load(key: keyBytes.rawSpan, row: rowBytes.rawSpan, blobs: blobs)
  }

  /// Returns the values of a primary key's parts, each as its field has it.
  ///
  /// - Throws: `StoreError.unknownRecord`; `.invalidQuery` for a wrong number of parts, or one of another type than its field's.
  package func key<Subject: Record>(
    of type: Subject.Type, _ parts: [any FieldValueConvertible]
  ) throws(StoreError) -> [FieldValue] {
    let entity = try entities.type(type)
    let key = KeyEncoder()
    try key.encode(primaryKey: parts, of: entity)
    let (bytes, layout) = (key.key.array(), entity.layout)
    var reader = KeyReader(bytes.rawSpan, layout: layout)
    var values: [FieldValue] = []
    for column in layout.key.columns { values.append(try reader.value(column)) }
    return values
  }
}

// MARK: - Queries

/// A query of records by the stored names of their fields.
package struct StoredQuery: Hashable, Sendable {
  /// The stored name of the record.
  package let record: String
  /// The condition; nil for all records. It was not checked against the types of the fields.
  package let condition: FieldCondition?
  /// The values by which records are sorted, before their primary key.
  package let order: [FieldOrder]
  /// The highest number of records; nil for all.
  package let limit: Int?
  /// The number of records that are left out at the beginning.
  package let offset: Int
  /// The primary key of the record after which the query begins; nil for all.
  package let after: [FieldValue]?
}

extension RecordMapping {
  /// Returns a query by the stored names of its fields.
  ///
  /// - Throws: `StoreError.unknownRecord`; `.invalidQuery` if a property is not stored, or a limit or offset is negative.
  package func stored<Subject: Record>(
    _ query: Query<Subject>
  ) throws(StoreError) -> StoredQuery {
    let type = try entities.type(Subject.self)
    let resolved = try query.resolved(in: type, entities)
    return StoredQuery(
      record: type.record.name, condition: resolved.condition, order: resolved.order,
      limit: resolved.limit, offset: resolved.offset, after: query.after)
  }

  /// Returns the stored name of the field that a property is in.
  ///
  /// - Throws: `StoreError.unknownRecord`; `.invalidQuery` if it is in none.
  package func field<Subject: Record, Value>(
    of property: KeyPath<Subject, Value>
  ) throws(StoreError) -> String {
    try entities.type(Subject.self).field(of: PropertyReference(property))
  }

  /// Returns a value as a field of a type is compared with it: a literal in the type of the field, a date of its text.
  ///
  /// - Returns: nil if they cannot be compared.
  package static func operand(_ value: FieldValue, comparedWith type: ColumnType) -> FieldValue? {
    value.compared(as: type)
  }
}
