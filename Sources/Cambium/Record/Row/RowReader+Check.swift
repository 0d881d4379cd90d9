extension RowReader {
  /// Checks all of a record: that every field has a value of its type, that what is null has no bytes but
  /// zeros, and that nothing follows the key.
  ///
  /// - Throws: `.corrupt` (K1, R3, R4).
  /// - Complexity: O(bytes); it takes several times what reading does.
  func check() throws(StoreError) {
    for (index, column) in layout.columns.enumerated() {
      if isNull(column.place) {
        try checkNull(column)
      } else if column.field.type.isExternal {
        try checkExternal(column.place.index)
      } else if column.place.kind != .composite {
        _ = try value(index)
      }
    }
  }

  /// Checks that an external column has a value or refers to one, without asking whether that is there.
  func checkExternal(_ column: Int) throws(StoreError) {
    if case .waiting = try external(column) {
      throw fault(.rowExternal, "an external value waits to be stored")
    }
  }

  private func checkNull(_ column: Column) throws(StoreError) {
    let isEmpty =
      switch column.place.kind {
      case .fixed: row.part(column.place.index, column.field.type.fixedWidth ?? 0).isZero
      case .variable: bytes(column.place.index).byteCount == 0
      case .key, .composite: true
      }
    guard isEmpty else { throw fault(.rowNulls, "\(column.field.name) is null and has bytes") }
  }
}
