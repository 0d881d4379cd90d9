import Cambium

/// Derived fields as expressions of SQL, where the server computes the same.
///
/// That goes for integers: with `numeric`, no step between overflows, quotients are cut towards zero and remainders have the
/// sign of the dividend, and a result that does not fit the column is refused, as by the store. It goes for parts of dates, and for
/// values of one type that are only chosen. It does not go for computations of floats, of which PostgreSQL refuses those that get too
/// small; nor of decimals, which it does not round to 38 digits; nor of text, since its lowercase is that of a locale.
struct ExpressionSQL {
  let table: TablePlan

  init(_ table: TablePlan) {
    self.table = table
  }

  /// Returns the expression of a generated column; nil if the server cannot compute it exactly.
  func generated(_ derivation: DerivationSchema, as column: ColumnPlan) -> String? {
    guard case .value(_, let scalar) = column.source else { return nil }
    switch derivation.kind {
    case .value where !scalar.isWholeNumber:
      // The store gives a zero no sign.
      let zero =
        column.type == .double || column.type == .real ? " + '0'::\(column.type.rawValue)" : ""
      return derivation.expression.flatMap { chosen($0, of: scalar, as: column) }
        .map { "(\($0)\(zero))" }
    case .value:
      return derivation.expression.flatMap { integer($0) }.map {
        "(\($0))::\(column.type.rawValue)"
      }
    case .count where derivation.related == nil && scalar.isWholeNumber:
      return derivation.reference.flatMap { cardinality(of: $0) }.map {
        "coalesce(\($0), 0)::\(column.type.rawValue)"
      }
    default: return nil
    }
  }

  /// A value of the column's type, which is one of a field or a constant.
  private func chosen(
    _ expression: FieldExpression, of scalar: ScalarType, as column: ColumnPlan
  ) -> String? {
    switch expression {
    case .field(let name):
      for other in table.columns where other.field == name && other.type == column.type {
        if case .value(_, scalar) = other.source { return SQL.name(other.name) }
      }
      return nil
    case .value(let value):
      let dates: DateForm = column.type == .double ? .double : .timestamp
      return RecordMapping.operand(value, comparedWith: .scalar(scalar))
        .flatMap { $0.literal(of: scalar, dates: dates) }
    case .coalesced(let one, let other):
      guard let one = chosen(one, of: scalar, as: column),
        let other = chosen(other, of: scalar, as: column)
      else { return nil }
      return "coalesce(\(one), \(other))"
    default: return nil
    }
  }

  private func cardinality(of list: String) -> String? {
    table.columns.first { $0.field == list && $0.isArray }.map {
      "cardinality(\(SQL.name($0.name)))"
    }
  }

  private func length(of name: String) -> String? {
    for column in table.columns where column.field == name {
      if case .value(_, .binaryData) = column.source {
        return "octet_length(\(SQL.name(column.name)))"
      }
    }
    return cardinality(of: name)
  }

  private func integer(_ expression: FieldExpression) -> String? {
    switch expression {
    case .field(let name):
      for column in table.columns where column.field == name {
        guard case .value(_, let scalar) = column.source, scalar.isWholeNumber else { continue }
        return "\(SQL.name(column.name))::numeric"
      }
      return nil
    case .value(.integer(let value)): return "\(value)::numeric".inParentheses
    case .value(.unsigned(let value)): return "\(value)::numeric"
    case .arithmetic(let one, let operation, let other):
      guard let one = integer(one), let other = integer(other) else { return nil }
      return switch operation {
      case .plus: "(\(one) + \(other))"
      case .minus: "(\(one) - \(other))"
      case .times: "(\(one) * \(other))"
      case .divided: "div(\(one), \(other))"
      case .remainder: "mod(\(one), \(other))"
      }
    case .negated(let operand): return integer(operand).map { "(-\($0))" }
    case .coalesced(let one, let other):
      guard let one = integer(one), let other = integer(other) else { return nil }
      return "coalesce(\(one), \(other))"
    case .length(.field(let name)): return length(of: name).map { "\($0)::numeric" }
    case .function(.part(let part, in: let offset), .field(let name)):
      for column in table.columns where column.field == name && column.type == .timestamp {
        guard case .value = column.source else { continue }
        return "(\(part.sql(of: SQL.name(column.name), in: offset)))::numeric"
      }
      return nil
    default: return nil
    }
  }
}

extension DatePart {
  /// The part of a timestamp; an infinite one has none.
  func sql(of date: String, in offset: UTCOffset) -> String {
    let local = "((\(date)) AT TIME ZONE 'UTC' + interval '\(offset.minutes) minutes')"
    let part =
      switch self {
      // The year before 1 is -1 there.
      case .year:
        "extract(year FROM \(local)) + (extract(year FROM \(local)) < 0)::integer"
      case .month: "extract(month FROM \(local))"
      case .day: "extract(day FROM \(local))"
      case .weekday: "extract(dow FROM \(local)) + 1"
      case .hour: "extract(hour FROM \(local))"
      }
    return "CASE WHEN isfinite(\(date)) THEN \(part) END"
  }
}

extension ScalarType {
  var isWholeNumber: Bool {
    switch self {
    case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64: true
    default: false
    }
  }
}

extension String {
  fileprivate var inParentheses: String { "(\(self))" }
}
