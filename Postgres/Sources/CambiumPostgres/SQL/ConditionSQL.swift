import Cambium

/// Conditions of partial indexes as SQL, where SQL has the same meaning.
///
/// In the store, null equals null and a comparison of order with it is false; NaN differs from everything. In SQL, a comparison
/// with null is null, which a condition of an index takes for false, and NaN equals NaN and is above all others.
struct ConditionSQL {
  let table: TablePlan
  let options: PlanOptions

  init(_ table: TablePlan, _ options: PlanOptions) {
    self.table = table
    self.options = options
  }

  /// Returns the condition; nil if SQL has none that is sure to be the same.
  func text(_ condition: FieldCondition) -> String? {
    switch condition {
    case .comparison(let name, let comparison, let value):
      return self.comparison(name, comparison, value)
    case .isIn(let name, let values):
      if values.isEmpty { return "false" }
      return joined(values.map { comparison(name, .equal, $0) }, by: " OR ")
    case .match(let name, let match): return self.match(name, match)
    case .contains(let name, let value): return contains(name, value)
    case .and(let operands):
      if operands.isEmpty { return "true" }
      return joined(operands.map { text($0) }, by: " AND ")
    case .or(let operands):
      if operands.isEmpty { return "false" }
      return joined(operands.map { text($0) }, by: " OR ")
    case .not(let operand): return text(operand).map { "(\($0)) IS NOT TRUE" }
    default: return nil
    }
  }

  private func joined(_ terms: [String?], by word: String) -> String? {
    let texts = terms.compactMap { $0 }
    guard texts.count == terms.count else { return nil }
    return texts.count == 1 ? texts[0] : texts.map { "(\($0))" }.joined(separator: word)
  }

  private func comparison(
    _ name: String, _ comparison: FieldComparison, _ value: FieldValue
  ) -> String? {
    if value == .null { return self.comparisonWithNull(name, comparison) }
    guard let (column, scalar) = scalarColumn(name),
      let literal = value.literal(of: scalar, dates: options.dates)
    else { return nil }
    let left = SQL.name(column.name)
    let mayBeNaN = scalar.hasNaN || column.type == .double
    let isNumber = mayBeNaN ? " AND \(left) <> 'NaN'" : ""
    return switch comparison {
    case .equal: "\(left) = \(literal)"
    case .notEqual: "\(left) IS DISTINCT FROM \(literal)"
    case .less: "\(left) < \(literal)"
    case .lessOrEqual: "\(left) <= \(literal)"
    case .greater: "\(left) > \(literal)\(isNumber)"
    case .greaterOrEqual: "\(left) >= \(literal)\(isNumber)"
    }
  }

  private func comparisonWithNull(_ name: String, _ comparison: FieldComparison) -> String? {
    guard let present = presence(of: name) else { return nil }
    return switch comparison {
    case .equal: "NOT (\(present))"
    case .notEqual: present
    // Null is neither below nor above anything; `<=` and `>=` would be true of null alone.
    default: nil
    }
  }

  /// The condition that a field is not null.
  private func presence(of name: String) -> String? {
    for column in table.columns where column.field == name {
      switch column.source {
      case .isSet: return SQL.name(column.name)
      case .value, .array: return "\(SQL.name(column.name)) IS NOT NULL"
      default: continue
      }
    }
    return nil
  }

  private func scalarColumn(_ name: String) -> (ColumnPlan, ScalarType)? {
    for column in table.columns where column.field == name {
      if case .value(_, let scalar) = column.source { return (column, scalar) }
    }
    return nil
  }

  private func match(_ name: String, _ match: TextMatch) -> String? {
    guard match.options.isEmpty, !match.text.unicodeScalars.contains("\0"),
      let (column, scalar) = scalarColumn(name), scalar == .string || scalar == .url
    else { return nil }
    let (left, literal) = (SQL.name(column.name), SQL.literal(match.text))
    return switch match.kind {
    case .prefix: "starts_with(\(left), \(literal))"
    case .suffix: "right(\(left), \(match.text.unicodeScalars.count)) = \(literal)"
    case .contains: "strpos(\(left), \(literal)) > 0"
    case .equals: "\(left) = \(literal)"
    case .like, .words: nil
    @unknown default: nil
    }
  }

  private func contains(_ name: String, _ value: FieldValue) -> String? {
    for column in table.columns where column.field == name {
      guard case .array(_, let scalar) = column.source, !scalar.hasNaN,
        let literal = value.literal(of: scalar, dates: options.dates), value != .null
      else { continue }
      return "\(literal) = ANY (\(SQL.name(column.name)))"
    }
    return nil
  }
}
