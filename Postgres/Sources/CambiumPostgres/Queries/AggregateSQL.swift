import Cambium
import FoundationEssentials

/// An aggregate of the rows of a statement.
struct AggregateSQL {
  let kind: ComputedKind
  let sql: String
  /// As of a `ComputedSQL`.
  var isFloat = false
  /// True for the sum of a field of the record's own, which is of 64 bits with a sign.
  var isSigned = false
}

extension QueryTranslation {
  /// Returns an aggregate of a group. Null is left out, and NaN of the lowest and the highest.
  ///
  /// - Parameter over: The window of the rows up to one; empty for all of the group.
  mutating func aggregate(
    _ kind: AggregateKind, of whole: FieldExpression, in scope: TableScope, over: String = ""
  ) throws -> AggregateSQL {
    if kind == .records { return AggregateSQL(kind: .integer, sql: "count(*)\(over)::numeric") }
    if kind == .count, case .field(let name) = whole {
      let field = try field(name, in: scope)
      let value =
        if case .presence = field.content { "nullif(\(field.sql), false)" } else { field.sql }
      return AggregateSQL(kind: .integer, sql: "count(\(value))\(over)::numeric")
    }
    let value = try expression(whole, in: scope, isStrict: true)
    switch kind {
    case .count: return AggregateSQL(kind: .integer, sql: "count(\(value.sql))\(over)::numeric")
    case .distinct:
      guard over.isEmpty else {
        throw unsupported(
          scope, "\(whole)", "different values are counted only of all records of a group there")
      }
      return AggregateSQL(kind: .integer, sql: "count(DISTINCT \(value.sql))::numeric")
    case .sum:
      guard value.kind.isNumber else { throw noSum(whole, scope) }
      var isOwn = false
      if case .field(let name) = whole { isOwn = scope.table.record.field(named: name) != nil }
      return AggregateSQL(
        kind: value.kind, sql: "coalesce(sum(\(value.sql))\(over), 0)", isSigned: isOwn)
    case .average:
      switch value.kind {
      case .integer:
        return AggregateSQL(
          kind: .double,
          sql:
            "(sum(\(value.sql))\(over))::double precision / nullif(count(\(value.sql))\(over), 0)")
      case .double:
        return AggregateSQL(
          kind: .double, sql: "sum(\(value.sql))\(over) / nullif(count(\(value.sql))\(over), 0)")
      case .decimal:
        throw unsupported(
          scope, "the average of \(whole)", "quotients of decimals have other digits there")
      default: throw noSum(whole, scope)
      }
    case .lowest, .highest:
      let name = kind == .lowest ? "min" : "max"
      let isNumber = value.kind.hasNaN ? " FILTER (WHERE \(value.sql) <> 'NaN')" : ""
      return AggregateSQL(
        kind: value.kind, sql: try ordered(name, value, isNumber + over, whole, scope),
        isFloat: value.isFloat)
    case .records: return AggregateSQL(kind: .integer, sql: "count(*)\(over)::numeric")
    }
  }

  private func noSum(_ value: FieldExpression, _ scope: TableScope) -> StoreError {
    .invalidQuery(
      record: scope.table.record.name, field: nil, reason: "\(value) has no sum")
  }
}

extension ValueDecoder {
  /// The result of a computation.
  ///
  /// - Parameter isSigned: True for an integer that must have a sign in 64 bits.
  /// - Throws: `StoreError.invalidQuery` for an integer beyond 64 bits, or a decimal beyond 38 digits.
  func result(
    _ bytes: [UInt8]?, _ kind: ComputedKind, isFloat: Bool = false, isSigned: Bool = false,
    of record: String
  ) throws -> FieldValue {
    guard let bytes else { return .null }
    if isFloat, case .double(let value)? = value(bytes, of: .double) { return .float(Float(value)) }
    if kind == .integer {
      let value = Self.numeric(bytes)?.integer
      if let value = value.flatMap({ Int64(exactly: $0) }) { return .integer(value) }
      if !isSigned, let value = value.flatMap({ UInt64(exactly: $0) }) { return .unsigned(value) }
      throw StoreError.invalidQuery(
        record: record, field: nil, reason: "a sum of integers is beyond 64 bits")
    }
    if let value = value(bytes, of: kind.scalar) { return value }
    throw StoreError.invalidQuery(
      record: record, field: nil, reason: "a result has more digits than a decimal")
  }
}
