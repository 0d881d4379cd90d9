import Cambium

/// A computed value as an expression of SQL.
struct ComputedSQL {
  /// The kind of its values. Integers are `numeric`, so that no step between overflows; floats are doubles.
  let kind: ComputedKind
  let sql: String
  /// The number of bits that an integer may have without its sign.
  var bits = 0
  /// A literal, which takes the type that it is compared with.
  var literal: FieldValue?
  /// True for a field of floats, whose values as they are have fewer bits than a double.
  var isFloat = false
}

extension ComputedKind {
  var hasNaN: Bool { self == .double || self == .decimal }

  /// The type that a result of the kind is read as.
  var scalar: ScalarType {
    switch self {
    case .null, .string: .string
    case .boolean: .boolean
    case .integer, .decimal: .decimal
    case .double: .double
    case .date: .date
    case .url: .url
    case .data: .binaryData
    case .uuid: .uuid
    }
  }
}

extension ComputedSQL {
  /// The value as a key of groups. The server takes any value of a group as its key; so that this is always the same, zeros have no sign.
  func groupKey(_ dates: DateForm) -> String {
    kind == .double || kind == .date && dates == .double ? "(\(sql) + 0)" : sql
  }
}

extension FieldValue {
  /// The number of bits of an integer without its sign; of other values that of the largest.
  fileprivate var bits: Int {
    switch self {
    case .integer(let number): 64 - number.magnitude.leadingZeroBitCount
    case .unsigned(let number): 64 - number.leadingZeroBitCount
    default: 64
    }
  }
}

extension ScalarType {
  /// The number of bits of an integer type without its sign.
  fileprivate var bits: Int {
    switch self {
    case .int8: 7
    case .int16: 15
    case .int32: 31
    case .int64: 63
    case .uint8: 8
    case .uint16: 16
    case .uint32: 32
    case .uint64: 64
    default: 0
    }
  }
}

extension QueryTranslation {
  /// Returns an expression on the records of a table.
  ///
  /// - Parameter isStrict: True if a computation without a result is an error of the server; else it is null.
  mutating func expression(
    _ expression: FieldExpression, in scope: TableScope, isStrict: Bool
  ) throws -> ComputedSQL {
    try nested(scope) { try $0.translate(expression, scope, isStrict) }
  }

  private mutating func translate(
    _ expression: FieldExpression, _ scope: TableScope, _ isStrict: Bool
  ) throws -> ComputedSQL {
    switch expression {
    case .field(let name): return try computedField(try field(name, in: scope), in: scope)
    case .value(let value): return try constant(value, scope)
    case .arithmetic(let one, let operation, let other):
      return try combined(
        try self.expression(one, in: scope, isStrict: isStrict), operation,
        try self.expression(other, in: scope, isStrict: isStrict), expression, scope, isStrict)
    case .negated(let operand):
      let operand = try self.expression(operand, in: scope, isStrict: isStrict)
      guard operand.kind.isNumber else { throw cannotBeComputed(expression, scope) }
      return ComputedSQL(
        kind: operand.kind, sql: finite("(-\(operand.sql))", operand.kind), bits: operand.bits + 1)
    case .length(let operand): return try length(operand, scope, expression)
    case .coalesced(let one, let other):
      let pair = (
        try self.expression(one, in: scope, isStrict: isStrict),
        try self.expression(other, in: scope, isStrict: isStrict)
      )
      let (one, other) = try unified(pair.0, pair.1, expression, scope)
      return ComputedSQL(
        kind: one.kind == .null ? other.kind : one.kind, sql: "coalesce(\(one.sql), \(other.sql))",
        bits: max(one.bits, other.bits))
    case .count(let relation, let condition):
      if let (first, rest) = divided(relation, in: scope) {
        return try self.expression(
          .aggregate(
            .sum, relation: first, of: .count(relation: rest, where: condition), where: .and([])),
          in: scope, isStrict: isStrict)
      }
      let (related, isRelated) = try self.relation(relation, of: scope)
      let inner = try self.condition(condition, in: related)
      return ComputedSQL(
        kind: .integer,
        sql: "(SELECT count(*)::numeric FROM \(plan.qualified(related.table.name)) AS"
          + " \(related.alias) WHERE \(isRelated) AND (\(inner)))", bits: 63)
    case .aggregate(let aggregate, let relation, let operand, let condition):
      if let (first, rest) = divided(relation, in: scope) {
        return try self.expression(
          .aggregate(
            aggregate, relation: first,
            of: .aggregate(aggregate, relation: rest, of: operand, where: condition),
            where: .and([])), in: scope, isStrict: isStrict)
      }
      let (related, isRelated) = try self.relation(relation, of: scope)
      let inner = try self.condition(condition, in: related)
      let value = try self.expression(operand, in: related, isStrict: isStrict)
      let function: QueryAggregate =
        switch aggregate {
        case .sum: .sum
        case .minimum: .minimum
        case .maximum: .maximum
        }
      return try self.aggregate(
        function, value,
        from: "\(plan.qualified(related.table.name)) AS \(related.alias)"
          + " WHERE \(isRelated) AND (\(inner))", expression, scope)
    case .query(let aggregate, let operand, let query):
      let (rows, inner) = try subquery(query, scope)
      if aggregate == .count {
        return ComputedSQL(kind: .integer, sql: "(SELECT count(*)::numeric FROM \(rows))", bits: 63)
      }
      let value = try self.expression(operand, in: inner, isStrict: isStrict)
      return try self.aggregate(aggregate, value, from: rows, expression, scope)
    case .lowercased:
      throw unsupported(
        scope, "\(expression)", "lowercase goes by Unicode, and by a locale on the server")
    case .function(let function, let operand):
      return try self.function(
        function, of: try self.expression(operand, in: scope, isStrict: isStrict), expression,
        scope)
    }
  }

  /// A field as an operand of computations.
  func computedField(_ field: FieldSQL, in scope: TableScope) throws -> ComputedSQL {
    guard let scalar = field.scalar else {
      throw unsupported(scope, field.field.name, "nothing is computed of \(field.field.type)")
    }
    let kind = ComputedKind(scalar)
    let sql =
      switch kind {
      case .integer: "\(field.sql)::numeric"
      case .double where scalar == .float: "\(field.sql)::double precision"
      default: field.sql
      }
    return ComputedSQL(kind: kind, sql: sql, bits: scalar.bits, isFloat: scalar == .float)
  }

  private mutating func constant(
    _ value: FieldValue, _ scope: TableScope
  ) throws -> ComputedSQL {
    guard let kind = ComputedKind(value) else {
      throw unsupported(scope, "\(value)", "nothing is computed of it")
    }
    if kind == .null { return ComputedSQL(kind: .null, sql: "NULL", literal: .null) }
    return try constant(value, kind, scope)
  }

  private mutating func constant(
    _ value: FieldValue, _ kind: ComputedKind, _ scope: TableScope
  ) throws -> ComputedSQL {
    let sql: String
    switch value {
    case .integer(let number): sql = "(\(number))::numeric"
    case .unsigned(let number): sql = "\(number)::numeric"
    case .float(let number):
      sql = try add(.double(Double(number)), of: .double, scope, "\(value)")
    case .boolean: sql = try add(value, of: .boolean, scope, "\(value)")
    default: sql = try add(value, of: kind.scalar, scope, "\(value)")
    }
    return ComputedSQL(kind: kind, sql: sql, bits: value.bits, literal: value)
  }

  /// Two values of one kind.
  private mutating func unified(
    _ one: ComputedSQL, _ other: ComputedSQL, _ whole: FieldExpression, _ scope: TableScope
  ) throws -> (ComputedSQL, ComputedSQL) {
    if one.kind == other.kind || one.kind == .null || other.kind == .null { return (one, other) }
    if let adapted = try adapted(one, to: other.kind, scope) { return (adapted, other) }
    if let adapted = try adapted(other, to: one.kind, scope) { return (one, adapted) }
    switch (one.kind, other.kind) {
    case (.integer, .double): return (one.cast(to: "double precision", .double), other)
    case (.double, .integer): return (one, other.cast(to: "double precision", .double))
    case (.integer, .decimal): return (one.cast(to: "numeric", .decimal), other)
    case (.decimal, .integer): return (one, other.cast(to: "numeric", .decimal))
    default: throw cannotBeComputed(whole, scope)
    }
  }

  /// A literal as a value of another kind; nil if it is none.
  private mutating func adapted(
    _ value: ComputedSQL, to kind: ComputedKind, _ scope: TableScope
  ) throws -> ComputedSQL? {
    guard let literal = value.literal else { return nil }
    let type: ScalarType
    switch (value.kind, kind) {
    case (.double, .decimal): type = .decimal
    case (.string, .date): type = .date
    case (.string, .uuid): type = .uuid
    case (.string, .url): type = .url
    default: return nil
    }
    guard let adapted = RecordMapping.operand(literal, comparedWith: .scalar(type)) else {
      return nil
    }
    return try constant(adapted, kind, scope)
  }

  private func cannotBeComputed(
    _ expression: FieldExpression, _ scope: TableScope
  ) -> StoreError {
    .invalidQuery(
      record: scope.table.record.name, field: nil, reason: "\(expression) cannot be computed")
  }

  private mutating func length(
    _ operand: FieldExpression, _ scope: TableScope, _ whole: FieldExpression
  ) throws -> ComputedSQL {
    guard case .field(let name) = operand else {
      throw unsupported(scope, "\(whole)", "only fields have a length there")
    }
    let field = try field(name, in: scope)
    switch field.content {
    case .array:
      return ComputedSQL(kind: .integer, sql: "cardinality(\(field.sql))::numeric", bits: 31)
    case .scalar(.binaryData):
      return ComputedSQL(kind: .integer, sql: "octet_length(\(field.sql))::numeric", bits: 31)
    default:
      throw unsupported(scope, "\(whole)", "characters are counted by Unicode")
    }
  }
}

// MARK: - Functions

extension QueryTranslation {
  private func function(
    _ function: FieldFunction, of operand: ComputedSQL, _ whole: FieldExpression,
    _ scope: TableScope
  ) throws -> ComputedSQL {
    guard case .part(let part, in: let offset) = function else {
      throw unsupported(scope, "\(whole)", "the function has no translation")
    }
    guard operand.kind == .date else { throw cannotBeComputed(whole, scope) }
    guard dates == .timestamp else {
      throw unsupported(scope, "\(whole)", "dates are kept as numbers in this database")
    }
    let sql = part.sql(of: operand.sql, in: offset)
    return ComputedSQL(kind: .integer, sql: "(\(sql))::numeric", bits: 31)
  }
}

// MARK: - Arithmetic

extension QueryTranslation {
  private mutating func combined(
    _ one: ComputedSQL, _ operation: FieldArithmetic, _ other: ComputedSQL,
    _ whole: FieldExpression, _ scope: TableScope, _ isStrict: Bool
  ) throws -> ComputedSQL {
    if one.kind == .date || other.kind == .date {
      return try moved(one, operation, other, whole, scope)
    }
    let (one, other) = try unified(one, other, whole, scope)
    guard one.kind.isNumber, other.kind == one.kind else {
      throw unsupported(scope, "\(whole)", "only numbers are computed there")
    }
    let divisor = isStrict ? other.sql : "nullif(\(other.sql), 0)"
    let sql: String
    var bits = max(one.bits, other.bits) + 1
    switch (operation, one.kind) {
    case (.plus, _): sql = "(\(one.sql) + \(other.sql))"
    case (.minus, _): sql = "(\(one.sql) - \(other.sql))"
    case (.times, _):
      sql = "(\(one.sql) * \(other.sql))"
      bits = one.bits + other.bits
    case (.divided, .integer):
      sql = "div(\(one.sql), \(divisor))"
      bits = one.bits
    case (.remainder, .integer):
      sql = "mod(\(one.sql), \(divisor))"
      bits = other.bits
    case (.divided, .double): sql = "(\(one.sql) / \(divisor))"
    case (.divided, _):
      throw unsupported(scope, "\(whole)", "quotients of decimals have other digits there")
    case (.remainder, _):
      throw unsupported(scope, "\(whole)", "remainders are of integers there")
    }
    if one.kind == .integer, bits > 127 {
      throw unsupported(scope, "\(whole)", "it may exceed 128 bits")
    }
    return ComputedSQL(kind: one.kind, sql: finite(sql, one.kind), bits: bits)
  }

  /// The seconds between two dates.
  private mutating func moved(
    _ one: ComputedSQL, _ operation: FieldArithmetic, _ other: ComputedSQL,
    _ whole: FieldExpression, _ scope: TableScope
  ) throws -> ComputedSQL {
    let (one, other) = try unified(one, other, whole, scope)
    guard operation == .minus, other.kind == .date else {
      throw unsupported(scope, "\(whole)", "dates are moved by whole microseconds there")
    }
    let sql = "(\(seconds(one)) - \(seconds(other)))"
    return ComputedSQL(kind: .double, sql: finite(sql, .double))
  }

  /// The seconds of a date since 2001, as a store has them.
  private func seconds(_ date: ComputedSQL) -> String {
    if date.kind == .null { return "NULL::double precision" }
    if dates == .double { return date.sql }
    return "((round(extract(epoch FROM \(date.sql)) * 1000000) - 978307200000000)"
      + "::double precision / 1000000)"
  }

  /// A result of doubles, or null if it is not finite.
  private func finite(_ sql: String, _ kind: ComputedKind) -> String {
    guard kind == .double else { return sql }
    return "nullif(nullif(nullif(\(sql), 'NaN'), 'Infinity'), '-Infinity')"
  }

  private func aggregate(
    _ aggregate: QueryAggregate, _ value: ComputedSQL, from rows: String,
    _ whole: FieldExpression, _ scope: TableScope
  ) throws -> ComputedSQL {
    func select(_ sql: String, _ kind: ComputedKind, bits: Int = 0) -> ComputedSQL {
      ComputedSQL(kind: kind, sql: "(SELECT \(sql) FROM \(rows))", bits: bits)
    }
    let isNumber = value.kind.hasNaN ? " FILTER (WHERE \(value.sql) <> 'NaN')" : ""
    switch aggregate {
    case .count: return select("count(*)::numeric", .integer, bits: 63)
    case .sum:
      guard value.kind.isNumber else { throw cannotBeComputed(whole, scope) }
      // A sum of as many as there can be is within 128 bits.
      return select("coalesce(sum(\(value.sql)), 0)", value.kind, bits: min(127, value.bits + 48))
    case .average:
      switch value.kind {
      case .integer:
        return select(
          "sum(\(value.sql))::double precision / nullif(count(\(value.sql)), 0)", .double)
      case .double: return select("sum(\(value.sql)) / nullif(count(\(value.sql)), 0)", .double)
      default:
        throw unsupported(scope, "\(whole)", "quotients of decimals have other digits there")
      }
    case .minimum, .maximum:
      let name = aggregate == .minimum ? "min" : "max"
      return try select(ordered(name, value, isNumber, whole, scope), value.kind, bits: value.bits)
    }
  }

  /// The lowest or the highest of values.
  func ordered(
    _ name: String, _ value: ComputedSQL, _ filter: String, _ whole: FieldExpression,
    _ scope: TableScope
  ) throws -> String {
    switch value.kind {
    case .integer, .double, .decimal, .date, .string, .url: "\(name)(\(value.sql))\(filter)"
    case .uuid, .data, .boolean, .null:
      throw unsupported(scope, "\(whole)", "PostgreSQL has no \(name) of its values")
    }
  }
}

extension ComputedSQL {
  fileprivate func cast(to type: String, _ kind: ComputedKind) -> ComputedSQL {
    ComputedSQL(kind: kind, sql: "(\(sql))::\(type)")
  }
}

// MARK: - Comparisons

extension QueryTranslation {
  /// The condition that two computed values compare so. Null equals null; NaN differs from everything.
  mutating func computed(
    _ one: FieldExpression, _ comparison: FieldComparison, _ other: FieldExpression,
    _ scope: TableScope
  ) throws -> String {
    let pair = (
      try expression(one, in: scope, isStrict: false),
      try expression(other, in: scope, isStrict: false)
    )
    let (left, right) = try unified(pair.0, pair.1, one, scope)
    let (a, b) = (left.sql, right.sql)
    let hasNaN = left.kind.hasNaN || right.kind.hasNaN
    func isNumber(_ sql: String) -> String { hasNaN ? " AND \(sql) <> 'NaN'" : "" }
    switch comparison {
    case .equal:
      let guarded = hasNaN ? " AND (\(a) <> 'NaN') IS NOT FALSE" : ""
      return "(\(a) IS NOT DISTINCT FROM \(b)\(guarded))"
    case .notEqual:
      return "(\(a) IS DISTINCT FROM \(b)\(hasNaN ? " OR (\(a) = 'NaN') IS TRUE" : ""))"
    case .less: return "(\(a) < \(b)\(isNumber(b)))"
    case .lessOrEqual: return "(\(a) <= \(b)\(isNumber(b)))"
    case .greater: return "(\(a) > \(b)\(isNumber(a)))"
    case .greaterOrEqual: return "(\(a) >= \(b)\(isNumber(a)))"
    }
  }
}
