/// A condition on a record's fields, bound to where its rows have them: it is decided without decoding
/// what it does not look at.
///
/// What it means is `FieldCondition`'s; doubles and floats compare as such, so what is not a number
/// differs from everything.
indirect enum RowCondition: Sendable {
  case isNull(ColumnPlace)
  case comparison(RowComparison)
  case and([RowCondition])
  case or([RowCondition])
  case not(RowCondition)
  case never
}

extension RowCondition {
  /// - Throws: `.invalidValue` where the record has no such field, or the field's values cannot be
  ///   compared so, or not with the value.
  init(_ condition: FieldCondition, in layout: RowLayout) throws(StoreError) {
    switch condition {
    case .and(let terms): self = .and(try Self.all(terms, in: layout))
    case .or(let terms): self = .or(try Self.all(terms, in: layout))
    case .not(let term): self = .not(try RowCondition(term, in: layout))
    case .comparison(let name, let comparison, let value):
      guard let column = layout.column(named: name) else {
        throw .invalidValue(
          record: layout.record.name, field: name, reason: "there is no such field")
      }
      if value == .null {
        self = Self.withNull(column.place, comparison)
      } else {
        self = .comparison(try RowComparison(column, comparison, value, in: layout))
      }
    case .isIn(let name, let values):
      var terms: [RowCondition] = []
      for value in values {
        terms.append(
          try RowCondition(.comparison(field: name, .equal, value), in: layout))
      }
      self = .or(terms)
    case .match(let name, _), .contains(let name, _):
      throw .invalidValue(
        record: layout.record.name, field: name, reason: "rows are not yet asked so: \(condition)")
    case .computed:
      throw .invalidValue(
        record: layout.record.name, field: nil, reason: "rows are not yet asked so: \(condition)")
    }
  }

  private static func all(
    _ terms: [FieldCondition], in layout: RowLayout
  ) throws(StoreError) -> [RowCondition] {
    var bound: [RowCondition] = []
    for term in terms { bound.append(try RowCondition(term, in: layout)) }
    return bound
  }

  private static func withNull(
    _ place: ColumnPlace, _ comparison: FieldCondition.Comparison
  ) -> RowCondition {
    switch comparison {
    case .equal: .isNull(place)
    case .notEqual: .not(.isNull(place))
    case .less, .lessOrEqual, .greater, .greaterOrEqual: .never
    }
  }

  /// Whether a record meets it.
  ///
  /// - Throws: `.corrupt` where a value that it looks at is damaged.
  func holds(for record: RowReader) throws(StoreError) -> Bool {
    switch self {
    case .isNull(let place): return record.isNull(place)
    case .comparison(let comparison): return try comparison.holds(for: record)
    case .and(let terms):
      for term in terms where try !term.holds(for: record) { return false }
      return true
    case .or(let terms):
      for term in terms where try term.holds(for: record) { return true }
      return false
    case .not(let term): return try !term.holds(for: record)
    case .never: return false
    }
  }
}
