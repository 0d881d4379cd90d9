import Cambium
import FoundationEssentials

/// A query as a statement with parameters. Conditions have the meaning that they have in the store: a part that is true
/// there is true, and one that is false there is false or null; so *not* is `IS NOT TRUE`.
struct QueryTranslation {
  let plan: PostgresPlan
  private(set) var parameters: [SQLParameter] = []
  /// The stored names of the records whose tables the statement reads.
  private(set) var records: Set<String> = []
  private var aliasCount = 0
  /// The depth to which conditions may still be nested.
  private var depth = 100

  init(_ plan: PostgresPlan) {
    self.plan = plan
  }

  var dates: DateForm { plan.options.dates }

  func table(named record: String) -> TablePlan? {
    plan.tables.first { $0.record.name == record }
  }

  /// A scope of a table with an alias of its own.
  mutating func scope(of table: TablePlan) -> TableScope {
    aliasCount += 1
    records.insert(table.record.name)
    return TableScope(table: table, alias: "t\(aliasCount)")
  }

  /// Adds a parameter, and returns it as the statement has it.
  mutating func add(_ parameter: SQLParameter) -> String {
    parameters.append(parameter)
    return "$\(parameters.count)"
  }

  /// Adds the parameter of a value, which is of the type.
  mutating func add(
    _ value: FieldValue, of scalar: ScalarType, _ scope: TableScope, _ part: String
  ) throws -> String {
    guard let parameter = SQLParameter(value, of: scalar, dates: dates) else {
      throw unsupported(scope, part, "PostgreSQL does not have the value \(value)")
    }
    return add(parameter)
  }

  mutating func nested<Result>(
    _ scope: TableScope, _ body: (inout QueryTranslation) throws -> Result
  ) throws -> Result {
    guard depth > 0 else {
      throw StoreError.invalidQuery(
        record: scope.table.record.name, field: nil, reason: "a condition is nested too deep")
    }
    depth -= 1
    defer { depth += 1 }
    return try body(&self)
  }
}

// MARK: - Conditions

extension QueryTranslation {
  /// Returns a condition on the records of a table.
  mutating func condition(_ condition: FieldCondition, in scope: TableScope) throws -> String {
    try nested(scope) { try $0.translate(condition, in: scope) }
  }

  private mutating func translate(
    _ condition: FieldCondition, in scope: TableScope
  ) throws -> String {
    switch condition {
    case .comparison(let name, let comparison, let value):
      if let part = datePart(name, in: scope) {
        return try computed(part, comparison, .value(value), scope)
      }
      return try compare(try field(name, in: scope), comparison, value, scope)
    case .isIn(let name, let values):
      return try isIn(try field(name, in: scope), values, scope)
    case .isInQuery(let name, let queried):
      return try isInQuery(try field(name, in: scope), queried.value, queried.query, scope)
    case .match(let name, let match):
      return try self.match(try field(name, in: scope), match, scope)
    case .contains(let name, let value):
      return try contains(try field(name, in: scope), value, scope)
    case .any(let relation, let operand): return try any(relation, operand, scope)
    case .kind(let name, let isExact):
      guard let terms = scope.table.record.condition(ofKind: name, isExact: isExact) else {
        throw StoreError.invalidQuery(
          record: scope.table.record.name, field: nil, reason: "it has no kind \(name)")
      }
      return try self.condition(terms, in: scope)
    case .computed(let term):
      return try computed(term.one, term.comparison, term.other, scope)
    case .and(let operands):
      if operands.isEmpty { return "true" }
      return try joined(operands, by: " AND ", scope)
    case .or(let operands):
      if operands.isEmpty { return "false" }
      return try joined(operands, by: " OR ", scope)
    case .not(let operand): return "((\(try self.condition(operand, in: scope))) IS NOT TRUE)"
    }
  }

  private mutating func joined(
    _ operands: [FieldCondition], by word: String, _ scope: TableScope
  ) throws -> String {
    var texts: [String] = []
    for operand in operands { texts.append("(\(try condition(operand, in: scope)))") }
    return texts.joined(separator: word)
  }

  private mutating func any(
    _ relation: String, _ operand: FieldCondition, _ scope: TableScope
  ) throws -> String {
    if let (first, rest) = divided(relation, in: scope) {
      return try condition(.any(relation: first, .any(relation: rest, operand)), in: scope)
    }
    let (related, isRelated) = try self.relation(relation, of: scope)
    let inner = try condition(operand, in: related)
    return "EXISTS (SELECT FROM \(plan.qualified(related.table.name)) AS \(related.alias)"
      + " WHERE \(isRelated) AND (\(inner)))"
  }
}

// MARK: Of fields with values

extension QueryTranslation {
  private mutating func compare(
    _ field: FieldSQL, _ comparison: FieldComparison, _ value: FieldValue, _ scope: TableScope
  ) throws -> String {
    if value == .null { return isNull(field, comparison) }
    let isOfEquality = comparison == .equal || comparison == .notEqual
    switch field.content {
    case .scalar(let scalar): return try compare(field, scalar, comparison, value, scope)
    case .array(let scalar):
      guard isOfEquality else { throw noOrder(field, scope) }
      return try compareArray(field, scalar, comparison, value, scope)
    case .bytes:
      guard isOfEquality else { throw noOrder(field, scope) }
      throw unsupported(scope, field.field.name, "bytes of a codec have no translation")
    case .presence, .always:
      throw StoreError.invalidQuery(
        record: scope.table.record.name, field: field.field.name,
        reason: "it cannot be compared with \(value)")
    }
  }

  private func isNull(_ field: FieldSQL, _ comparison: FieldComparison) -> String {
    switch (comparison, field.content) {
    case (.equal, .presence): "(\(field.sql)) IS NOT TRUE"
    case (.notEqual, .presence): "(\(field.sql)) IS TRUE"
    case (.equal, .always): "false"
    case (.notEqual, .always): "true"
    case (.equal, _): "(\(field.sql)) IS NULL"
    case (.notEqual, _): "(\(field.sql)) IS NOT NULL"
    // Null is neither below nor above anything.
    default: "false"
    }
  }

  private mutating func compare(
    _ field: FieldSQL, _ scalar: ScalarType, _ comparison: FieldComparison, _ value: FieldValue,
    _ scope: TableScope
  ) throws -> String {
    let value = try operand(value, field, scope)
    // It differs from everything.
    if value.isNotANumber { return comparison == .notEqual ? "true" : "false" }
    let (left, right) = (field.sql, try add(value, of: scalar, scope, field.field.name))
    let isNumber = field.mayBeNaN(dates) ? " AND \(left) <> 'NaN'" : ""
    return switch comparison {
    case .equal: "\(left) = \(right)"
    case .notEqual: "\(left) IS DISTINCT FROM \(right)"
    case .less: "\(left) < \(right)"
    case .lessOrEqual: "\(left) <= \(right)"
    case .greater: "\(left) > \(right)\(isNumber)"
    case .greaterOrEqual: "\(left) >= \(right)\(isNumber)"
    }
  }

  private mutating func compareArray(
    _ field: FieldSQL, _ scalar: ScalarType, _ comparison: FieldComparison, _ value: FieldValue,
    _ scope: TableScope
  ) throws -> String {
    let value = try operand(value, field, scope)
    guard !scalar.hasNaN, let parameter = SQLParameter(array: value, of: scalar, dates: dates)
    else {
      throw unsupported(scope, field.field.name, "arrays of \(scalar) are compared by their bytes")
    }
    let right = add(parameter)
    return comparison == .equal
      ? "\(field.sql) = \(right)" : "\(field.sql) IS DISTINCT FROM \(right)"
  }

  private func noOrder(_ field: FieldSQL, _ scope: TableScope) -> StoreError {
    .invalidQuery(
      record: scope.table.record.name, field: field.field.name,
      reason: "values of \(field.field.type) have no order")
  }

  /// The value as a field of its type has it.
  private func operand(
    _ value: FieldValue, _ field: FieldSQL, _ scope: TableScope
  ) throws -> FieldValue {
    guard let operand = RecordMapping.operand(value, comparedWith: field.field.type) else {
      throw StoreError.invalidQuery(
        record: scope.table.record.name, field: field.field.name,
        reason: "it cannot be compared with \(value)")
    }
    if case .decimal(let decimal) = operand, decimal.isNaN {
      throw StoreError.invalidQuery(
        record: scope.table.record.name, field: field.field.name,
        reason: "it cannot be compared with \(value)")
    }
    return operand
  }

  private mutating func isIn(
    _ field: FieldSQL, _ values: [FieldValue], _ scope: TableScope
  ) throws -> String {
    var terms: [String] = []
    if values.contains(.null) { terms.append(isNull(field, .equal)) }
    let others = values.filter { $0 != .null }
    switch field.content {
    case .scalar(let scalar):
      var operands: [FieldValue] = []
      for value in others {
        let value = try operand(value, field, scope)
        if !value.isNotANumber { operands.append(value) }
      }
      if !operands.isEmpty {
        guard
          let parameter = SQLParameter(array: .array(operands), of: scalar, dates: dates)
        else {
          throw unsupported(
            scope, field.field.name, "PostgreSQL does not have one of the values")
        }
        terms.append("\(field.sql) = ANY (\(add(parameter)))")
      }
    case .array(let scalar):
      for value in others {
        terms.append(try compareArray(field, scalar, .equal, value, scope))
      }
    default:
      if !others.isEmpty {
        throw StoreError.invalidQuery(
          record: scope.table.record.name, field: field.field.name,
          reason: "composites have no values to be in a list")
      }
    }
    return terms.isEmpty ? "false" : terms.joined(separator: " OR ")
  }

  private mutating func contains(
    _ field: FieldSQL, _ value: FieldValue, _ scope: TableScope
  ) throws -> String {
    guard case .array(let scalar) = field.content else {
      throw StoreError.invalidQuery(
        record: scope.table.record.name, field: field.field.name,
        reason: "\(field.field.type) has no elements")
    }
    if value == .null { return "false" }
    guard let element = RecordMapping.operand(value, comparedWith: .scalar(scalar)) else {
      throw StoreError.invalidQuery(
        record: scope.table.record.name, field: field.field.name,
        reason: "its elements cannot be compared with \(value)")
    }
    if element.isNotANumber { return "false" }
    let right = try add(element, of: scalar, scope, field.field.name)
    return "\(right) = ANY (\(field.sql))"
  }

  private mutating func match(
    _ field: FieldSQL, _ match: TextMatch, _ scope: TableScope
  ) throws -> String {
    if case .array = field.content, match.kind == .contains, match.options.isEmpty {
      return try contains(field, .string(match.text), scope)
    }
    guard let scalar = field.scalar, scalar == .string || scalar == .url else {
      throw StoreError.invalidQuery(
        record: scope.table.record.name, field: field.field.name,
        reason: "\(field.field.type) has no text to be matched")
    }
    guard match.options.isEmpty else {
      throw unsupported(
        scope, field.field.name,
        "case and diacritics are ignored by Unicode, and by a locale on the server")
    }
    func text(_ text: String) throws -> String {
      try add(.string(text), of: .string, scope, field.field.name)
    }
    switch match.kind {
    case .prefix: return "starts_with(\(field.sql), \(try text(match.text)))"
    case .suffix:
      return "right(\(field.sql), \(match.text.unicodeScalars.count)) = \(try text(match.text))"
    case .contains: return "strpos(\(field.sql), \(try text(match.text))) > 0"
    case .equals: return "\(field.sql) = \(try text(match.text))"
    case .like: return "\(field.sql) LIKE \(try text(Self.pattern(match.text)))"
    case .words:
      throw unsupported(scope, field.field.name, "words are divided by rules of the store")
    }
  }

  /// A pattern with `?` and `*` as one with `_` and `%`.
  static func pattern(_ text: String) -> String {
    var pattern = String.UnicodeScalarView()
    var isEscaped = false
    func literal(_ scalar: Unicode.Scalar) {
      if ["\\", "%", "_"].contains(scalar) { pattern.append("\\") }
      pattern.append(scalar)
    }
    for scalar in text.unicodeScalars {
      let isSpecial = ["\\", "*", "?"].contains(scalar)
      if isEscaped {
        // Before anything else a backslash stands for itself.
        if !isSpecial { literal("\\") }
        literal(scalar)
        isEscaped = false
      } else if !isSpecial {
        literal(scalar)
      } else if scalar == "\\" {
        isEscaped = true
      } else {
        pattern.append(scalar == "?" ? "_" : "%")
      }
    }
    if isEscaped { literal("\\") }
    return String(pattern)
  }

  private mutating func isInQuery(
    _ field: FieldSQL, _ value: FieldExpression, _ query: FieldSubquery, _ scope: TableScope
  ) throws -> String {
    guard let scalar = field.scalar else {
      throw unsupported(scope, field.field.name, "only single values can be in a query")
    }
    let (rows, inner) = try subquery(query, scope)
    let result = try expression(value, in: inner, isStrict: false)
    guard result.kind == ComputedKind(scalar) else {
      throw unsupported(scope, field.field.name, "the values of the query are of another type")
    }
    let left = try computedField(field, in: scope)
    let found = "SELECT \(result.sql) FROM \(rows)"
    let isNumber = result.kind.hasNaN ? " AND \(left.sql) <> 'NaN'" : ""
    return "(\(left.sql) IN (\(found))\(isNumber)) OR ((\(left.sql)) IS NULL AND EXISTS"
      + " (SELECT FROM (\(found)) AS n (v) WHERE v IS NULL))"
  }
}

extension FieldValue {
  /// True for a number or date that differs from every value.
  var isNotANumber: Bool {
    switch self {
    case .float(let value): value.isNaN
    case .double(let value): value.isNaN
    case .date(let value): value.timeIntervalSinceReferenceDate.isNaN
    default: false
    }
  }
}
