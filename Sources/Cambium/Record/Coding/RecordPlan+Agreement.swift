extension RecordPlan {
  /// Makes sure that a record is the same by way of its type's own `encode(to:)` and `init(from:)`.
  ///
  /// A plan passes them by. Where they do more than the compiler's do, what is stored would not be what
  /// their author meant, so the first save of a type in a debug build looks. Bytes of codecs are not
  /// compared: two encodings of one value may differ.
  ///
  /// - Throws: `.invalidDescription`, naming the field.
  func checkAgreement<Subject: Record>(of record: Subject) throws(StoreError) {
    guard coding == nil else { return }
    let way = try CodingPlan(self.record, layout: layout)
    let (row, key) = (RowWriter(), KeyEncoder())
    try write(record, to: row, key: key)
    let (keyBytes, rowBytes, waiting) = (key.key.array(), row.row.array(), row.waiting)
    do throws(StoreError) {
      try way.write(record, to: row, key: key)
    } catch { throw disagreement(error) }
    try compare(keyBytes, rowBytes, key, row, "encode(to:)")
    do throws(StoreError) {
      let back = try way.read(
        Subject.self, key: keyBytes.rawSpan, row: rowBytes.rawSpan, blobs: BlobFinder(waiting))
      try write(back, to: row, key: key)
    } catch { throw disagreement(error) }
    try compare(keyBytes, rowBytes, key, row, "init(from:)")
  }

  private func compare(
    _ keyBytes: [UInt8], _ rowBytes: [UInt8], _ key: KeyEncoder, _ row: RowWriter, _ what: String
  ) throws(StoreError) {
    let layout = layout
    let planned = try RowReader(key: keyBytes.rawSpan, row: rowBytes.rawSpan, layout: layout)
    let (otherKey, otherRow) = (key.key.array(), row.row.array())
    let other = try RowReader(key: otherKey.rawSpan, row: otherRow.rawSpan, layout: layout)
    for column in layout.columns {
      let place = column.place
      var isSame = planned.isNull(place) == other.isNull(place)
      switch column.field.type {
      case .transformable, .external: break
      default: isSame = isSame && planned.hasSameBytes(as: other, column)
      }
      guard isSame else {
        throw disagreement(field: column.field.name, "by way of \(what) it is another")
      }
    }
  }

  private func disagreement(_ error: StoreError) -> StoreError {
    guard case .invalidValue(_, let field, let reason) = error else { return error }
    return disagreement(field: field, reason)
  }

  private func disagreement(field: String?, _ reason: String) -> StoreError {
    .invalidDescription(
      record: layout.record.name, field: field, version: Int(layout.version),
      reason:
        "the type does not encode and decode what its properties are: \(reason). Let it, or let"
        + " its coding be `.codable`")
  }
}

extension RowReader {
  /// Returns true if two records have the same in a column; also what is not a number is the same as itself.
  fileprivate func hasSameBytes(as other: RowReader, _ column: Column) -> Bool {
    let index = column.place.index
    switch column.place.kind {
    case .composite: return true
    case .key: return key.compare(other.key) == 0
    case .fixed:
      let width = column.field.type.fixedWidth ?? 0
      return row.part(index, width).compare(other.row.part(index, width)) == 0
    case .variable: return bytes(index).compare(other.bytes(index)) == 0
    }
  }
}
