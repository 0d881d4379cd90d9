extension KeyEncoder {
  /// Puts a primary key together from values that programs give: those of another type, as literals may be, where
  /// they are exactly values of the field's.
  ///
  /// - Throws: `.invalidQuery` for a wrong number of parts, or a value that is none of its field's type.
  func encode(primaryKey parts: [any FieldValueConvertible], of entity: Entity)
    throws(StoreError)
  {
    let layout = entity.layout
    guard parts.count == layout.key.columns.count else {
      throw .invalidQuery(
        record: layout.record.name, field: nil,
        reason: "the primary key has \(layout.key.columns.count) parts, not \(parts.count)")
    }
    begin()
    do throws(StoreError) {
      for (part, column) in zip(parts, layout.key.columns) {
        let value = part.fieldValue
        let type = layout.columns[Int(column.column)].field.type
        try append(value.converted(to: type) ?? value, column, of: layout)
      }
      try finishPrimaryKey(of: layout)
    } catch {
      throw error.ofQuery
    }
  }
}
