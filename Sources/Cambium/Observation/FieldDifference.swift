extension RowLayout {
  /// The stored names of the fields whose values differ between two rows of one key: of a composite the
  /// parts that differ, as “address.street”; the composite's own where there is one only on one side.
  ///
  /// - Throws: `.corrupt` where the frame of a row is damaged.
  func changedFields(
    key: RawSpan, from old: RawSpan, to new: RawSpan
  ) throws(StoreError) -> Set<String> {
    let one = try RowReader(key: key, row: old, layout: self)
    let other = try RowReader(key: key, row: new, layout: self)
    var names: Set<String> = []
    for column in columns where differs(column, one, other) { names.insert(column.field.name) }
    return names
  }

  private func differs(_ column: Column, _ one: RowReader, _ other: RowReader) -> Bool {
    if one.isNull(column.place) != other.isNull(column.place) { return true }
    let place = column.place.index
    switch column.place.kind {
    case .key, .composite: return false
    case .fixed:
      let width = column.field.type.fixedWidth ?? 0
      return !one.row.part(place, width).equals(other.row.part(place, width))
    case .variable: return !one.bytes(place).equals(other.bytes(place))
    }
  }
}
