/// The rules of a new version's description for records that a closure emits without a Swift type.
struct EmissionRules: Sendable {
  private let defaults: [Default]
  private let rules: RowRules

  private struct Default: Sendable {
    let field: String
    let value: FieldValue
    let isOptional: Bool

    /// Returns true if the default replaces a value: a closure may state that an optional field has none.
    func stands(for value: FieldValue?) -> Bool {
      value == nil || value == .null && !isOptional
    }
  }

  init(_ described: DescribedRecord, _ layout: RowLayout) {
    defaults = described.fields.compactMap { field in
      guard field.composite == nil, let value = field.migrationDefault ?? field.defaultValue
      else { return nil }
      return Default(field: field.name, value: value, isOptional: field.isOptional)
    }
    rules = RowRules(described.fields, layout)
  }

  /// The record with its defaults, where it does not say what a field is.
  func completing(_ record: DynamicRecord) -> DynamicRecord {
    var record = record
    for given in defaults where given.stands(for: record.fields[given.field]) {
      record[given.field] = given.value
    }
    return record
  }

  /// - Throws: as `RowRules.check`.
  func check(_ row: RowWriter, _ key: KeyEncoder, _ layout: RowLayout) throws(StoreError) {
    try rules.check(row, key, layout)
  }
}
