import Cambium

/// Derived fields as expressions of SQL, where the server computes the same.
///
/// That goes for integers: with `numeric`, no step between overflows, quotients are cut towards zero and remainders have the
/// sign of the dividend, and a result that does not fit the column is refused, as by the store. It does not go for floats, of
/// which PostgreSQL refuses those that get too small; for decimals, which it does not round to 38 digits; nor for text,
/// since its lowercase is that of a locale.
struct ExpressionSQL {
  let table: TablePlan

  init(_ table: TablePlan) {
    self.table = table
  }

  /// Returns the expression of a generated column; nil if the server cannot compute it exactly.
  func generated(_ derivation: DerivationSchema, as column: ColumnPlan) -> String? {
    guard case .value(_, let scalar) = column.source, scalar.isWholeNumber else { return nil }
    switch derivation.kind {
    case .value:
      return derivation.expression.flatMap { integer($0) }.map {
        "(\($0))::\(column.type.rawValue)"
      }
    case .count where derivation.related == nil:
      return derivation.reference.flatMap { cardinality(of: $0) }.map {
        "coalesce(\($0), 0)::\(column.type.rawValue)"
      }
    default: return nil
    }
  }

  private func cardinality(of list: String) -> String? {
    table.columns.first { $0.field == list && $0.isArray }.map {
      "cardinality(\(SQL.name($0.name)))"
    }
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
    case .length(.field(let name)): return cardinality(of: name).map { "\($0)::numeric" }
    default: return nil
    }
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
