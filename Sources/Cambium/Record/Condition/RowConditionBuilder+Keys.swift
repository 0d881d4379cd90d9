// How terms find the parts of primary keys, and what they compare them with.

extension RowConditionBuilder {
  func keyBytes(
    _ value: FieldValue, _ part: KeyColumn
  ) throws(StoreError) -> [UInt8] {
    let encoder = KeyEncoder()
    encoder.begin()
    try encoder.append(value, part, of: layout)
    return encoder.key.array()
  }

  /// The part's bytes go to the end of the key and have no end of their own.
  func isRaw(_ part: KeyColumn) -> Bool {
    part.form.isRaw && part.type.fixedWidth == nil && part.type != .decimal
  }

  func keyAction(_ part: KeyColumn) -> RowTerm.Action {
    guard keyOffset(part) != RowTerm.varyingOffset else { return .keyBytes }
    return switch part.type.fixedWidth {
    case 1: .key1
    case 2: .key2
    case 4: .key4
    case 8: .key8
    default: .keyBytes
    }
  }

  func keyOffset(_ part: KeyColumn) -> UInt32 {
    var offset = 0
    for before in layout.key.columns.prefix(part.place.index) {
      guard let width = before.type.fixedWidth else { return RowTerm.varyingOffset }
      offset += width
    }
    return UInt32(offset)
  }

  static func word(_ bytes: [UInt8]) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }
}
