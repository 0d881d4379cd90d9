/// The rules of a record's fields, tested on its row.
struct RowRules: Sendable {
  private let rules: [(column: Int, rule: CheckedRule)]

  var isEmpty: Bool { rules.isEmpty }

  /// - Parameter fields: Those of the layout's record, as described.
  init(_ fields: [DescribedField], _ layout: RowLayout) {
    rules = fields.flatMap { field in
      let column = layout.index(named: field.name) ?? 0
      return field.rules.map { (column, $0) }
    }
  }

  /// - Throws: `.invalidValue` for the first rule that is broken; `.corrupt`.
  func check(_ row: RowWriter, _ key: KeyEncoder, _ layout: RowLayout) throws(StoreError) {
    if rules.isEmpty { return }
    let reader = try RowReader(key: key.key, row: row.row, layout: layout)
    for (column, rule) in rules {
      let value = try reader.value(column)
      if !rule.holds(for: value) {
        throw .invalidValue(
          record: layout.record.name, field: layout.columns[column].field.name,
          reason: "\(value) is not what it has to be: it \(rule.text)")
      }
    }
  }
}
