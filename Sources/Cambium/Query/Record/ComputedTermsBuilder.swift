#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The result of an expression, as far as it is known before there is a row.
private struct Operand {
  var step: Int
  var kind: ComputedKind
  /// The value of a constant, which takes the type with which it is compared.
  var literal: FieldValue?
}

extension ComputedTerms {
  /// - Returns: the place of the comparison.
  /// - Throws: `.invalidQuery` where the record has no such field, or the values cannot be computed or
  ///   compared so.
  mutating func add(
    _ one: FieldExpression, _ comparison: FieldComparison, _ other: FieldExpression,
    in layout: RowLayout, _ scope: RelatedScope?
  ) throws(StoreError) -> Int {
    var builder = ComputedBuilder(terms: self, layout: layout, scope: scope)
    let pair = (
      try builder.add(one, depth: RowConditionBuilder.depthMax),
      try builder.add(other, depth: RowConditionBuilder.depthMax)
    )
    guard let (one, other) = builder.unified(pair.0, pair.1) else {
      throw builder.refusal(
        one.firstField ?? other.firstField, "\(one) and \(other) cannot be compared")
    }
    self = builder.terms
    return append(one.step, comparison, other.step)
  }

  /// - Parameter scope: `nil` if the expression may lead to no other records.
  /// - Returns: The step that has the value of the expression, and the kind of its values.
  /// - Throws: `.invalidQuery` if the record has no such field, or its value cannot be computed so.
  mutating func add(
    _ expression: FieldExpression, in layout: RowLayout, _ scope: RelatedScope?
  ) throws(StoreError) -> (step: UInt32, kind: ComputedKind) {
    var builder = ComputedBuilder(terms: self, layout: layout, scope: scope)
    let operand = try builder.add(expression, depth: RowConditionBuilder.depthMax)
    self = builder.terms
    return (UInt32(operand.step), operand.kind)
  }
}

private struct ComputedBuilder {
  var terms: ComputedTerms
  let layout: RowLayout
  let scope: RelatedScope?

  func refusal(_ field: String?, _ reason: String) -> StoreError {
    .invalidQuery(record: layout.record.name, field: field, reason: reason)
  }

  mutating func add(
    _ expression: FieldExpression, depth: Int
  ) throws(StoreError) -> Operand {
    guard depth > 0 else { throw RowConditionBuilder.tooDeep(layout) }
    switch expression {
    case .field(let name): return try field(name)
    case .value(let value): return try constant(value)
    case .arithmetic(let one, let operation, let other):
      let operands = (try add(one, depth: depth - 1), try add(other, depth: depth - 1))
      guard let result = combined(operands.0, operation, operands.1) else {
        throw refusal(expression.firstField, "\(expression) cannot be computed")
      }
      return result
    case .negated(let operand):
      let operand = try add(operand, depth: depth - 1)
      guard operand.kind.isNumber || operand.kind == .null else {
        throw refusal(expression.firstField, "\(expression) cannot be computed")
      }
      return Operand(
        step: terms.append(ComputedStep(.negated, operand.kind, operand.step)), kind: operand.kind)
    case .length(let operand): return try length(operand, depth: depth - 1)
    case .lowercased(let operand):
      let text = try add(operand, depth: depth - 1)
      guard text.kind == .string || text.kind == .null else {
        throw refusal(expression.firstField, "\(operand) is no string")
      }
      return Operand(
        step: terms.append(ComputedStep(.lowercased, text.kind, text.step)), kind: text.kind)
    case .function(let function, let operand):
      return try add(function, try add(operand, depth: depth - 1), expression)
    case .coalesced(let one, let other):
      let operands = (try add(one, depth: depth - 1), try add(other, depth: depth - 1))
      guard let (one, other) = unified(operands.0, operands.1) else {
        throw refusal(expression.firstField, "\(expression) has values of two types")
      }
      let kind = one.kind == .null ? other.kind : one.kind
      return Operand(
        step: terms.append(ComputedStep(.coalesced, kind, one.step, other.step)), kind: kind)
    case .query(_, of: _, let query):
      throw layout.refusal(ofQueryOf: query.record, field: nil)
    case .count(let relation, let condition):
      guard let scope else { throw layout.refusal(ofRelation: relation) }
      let value = RelatedValue(countOf: try rows(relation, condition), in: scope)
      return Operand(step: terms.append(value, .integer), kind: .integer)
    case .aggregate(let aggregate, let relation, let expression, let condition):
      guard let scope else { throw layout.refusal(ofRelation: relation) }
      let rows = try rows(relation, condition)
      let other = rows.other.layout
      var inner = ComputedBuilder(
        terms: ComputedTerms(isStrict: terms.isStrict), layout: other, scope: scope.nested)
      let operand = try inner.add(expression, depth: depth - 1)
      guard aggregate != .sum || operand.kind.zero != nil else {
        throw refusal(expression.firstField, "\(expression) has no sum")
      }
      let value = RelatedValue(
        aggregate, of: rows, inner.terms, UInt32(operand.step), zero: operand.kind.zero,
        in: scope)
      return Operand(step: terms.append(value, operand.kind), kind: operand.kind)
    }
  }

  private mutating func add(
    _ function: FieldFunction, _ operand: Operand, _ expression: FieldExpression
  ) throws(StoreError) -> Operand {
    let computed: (function: ComputedFunction, kind: ComputedKind)? =
      switch (function, operand.kind) {
      case (.part(let part, in: let offset), .date) where offset.isValid:
        (function: .part(part, offset), kind: .integer)
      case (.prefix(let count), .string) where count >= 0:
        (function: .prefix(count), kind: .string)
      case (.bucket(of: let width), let kind):
        ComputedValue(width: width, of: kind).map {
          (function: ComputedFunction.bucket($0), kind: kind)
        }
      default: nil
      }
    if operand.kind == .null { return operand }
    guard let computed else {
      throw refusal(expression.firstField, "\(expression) cannot be computed")
    }
    return Operand(
      step: terms.append(computed.function, computed.kind, of: operand.step), kind: computed.kind)
  }

  private func rows(
    _ relation: String, _ condition: FieldCondition
  ) throws(StoreError) -> RelatedRows {
    guard let scope else { throw layout.refusal(ofRelation: relation) }
    return try RelatedRows(
      relation, of: try scope.entity(of: layout), where: condition, in: scope)
  }

  private mutating func field(_ name: String) throws(StoreError) -> Operand {
    guard layout.index(named: name) != nil else {
      throw layout.refusal(ofUnknownField: name, ". If it is a string, write it in quotes")
    }
    let column = try layout.queriedColumn(name)
    guard let type = column.field.type.scalar else {
      throw layout.queryRefusal(column, "nothing can be computed of \(column.field.type)")
    }
    let kind = ComputedKind(type)
    return Operand(
      step: terms.append(
        ComputedStep(
          .field, kind, type: type, at: column.place, keyPlace: layout.keyPlace(of: column))),
      kind: kind)
  }

  private mutating func constant(_ value: FieldValue) throws(StoreError) -> Operand {
    guard let kind = ComputedKind(value) else {
      throw refusal(nil, "nothing can be computed of \(value)")
    }
    return Operand(step: terms.append(ComputedValue(value)), kind: kind, literal: value)
  }

  private mutating func length(
    _ expression: FieldExpression, depth: Int
  ) throws(StoreError) -> Operand {
    if case .field(let name) = expression, let column = layout.column(named: name),
      case .array(let type) = column.field.type
    {
      return Operand(
        step: terms.append(ComputedStep(.elements, .integer, type: type, at: column.place)),
        kind: .integer)
    }
    let operand = try add(expression, depth: depth)
    switch operand.kind {
    case .string, .url, .null:
      return Operand(
        step: terms.append(ComputedStep(.characters, .integer, operand.step)), kind: .integer)
    case .data:
      return Operand(
        step: terms.append(ComputedStep(.bytes, .integer, operand.step)), kind: .integer)
    default: throw refusal(expression.firstField, "\(expression) has no length")
    }
  }
}

// MARK: Kinds

extension ComputedBuilder {
  private mutating func combined(
    _ one: Operand, _ operation: FieldArithmetic, _ other: Operand
  ) -> Operand? {
    if one.kind == .date || other.kind == .date { return moved(one, operation, other) }
    guard let (one, other) = unified(one, other), one.kind.isNumber || one.kind == .null,
      other.kind.isNumber || other.kind == .null
    else { return nil }
    let kind = one.kind == .null ? other.kind : one.kind
    if kind == .decimal, operation == .remainder { return nil }
    return Operand(
      step: terms.append(ComputedStep(.arithmetic(operation), kind, one.step, other.step)),
      kind: kind)
  }

  /// Seconds more or less than a date, or between two.
  private mutating func moved(
    _ one: Operand, _ operation: FieldArithmetic, _ other: Operand
  ) -> Operand? {
    let action = ComputedStep.Action.arithmetic(operation)
    if operation == .minus, let (one, other) = unified(one, other), other.kind == .date {
      return Operand(
        step: terms.append(ComputedStep(action, .double, one.step, other.step)), kind: .double)
    }
    guard operation == .plus || operation == .minus && one.kind == .date,
      one.kind != other.kind, one.kind != .null, other.kind != .null
    else { return nil }
    let isFirst = one.kind == .date
    guard let seconds = double(isFirst ? other : one) else { return nil }
    let steps = isFirst ? (one.step, seconds.step) : (seconds.step, other.step)
    return Operand(
      step: terms.append(ComputedStep(action, .date, steps.0, steps.1)), kind: .date)
  }

  /// The two as values of one kind; nil if they have none in common.
  mutating func unified(_ one: Operand, _ other: Operand) -> (Operand, Operand)? {
    if one.kind == other.kind || one.kind == .null || other.kind == .null { return (one, other) }
    if let literal = adapted(one, to: other.kind) { return (literal, other) }
    if let literal = adapted(other, to: one.kind) { return (one, literal) }
    switch (one.kind, other.kind) {
    case (.integer, .double): return double(one).map { ($0, other) }
    case (.double, .integer): return double(other).map { (one, $0) }
    case (.integer, .decimal): return (decimal(one), other)
    case (.decimal, .integer): return (one, decimal(other))
    default: return nil
    }
  }

  /// A constant as a value of another kind that it can stand for.
  private mutating func adapted(_ operand: Operand, to kind: ComputedKind) -> Operand? {
    guard let value = operand.literal?.adapted(to: kind) else { return nil }
    return Operand(step: terms.append(ComputedValue(value)), kind: kind, literal: value)
  }

  private mutating func double(_ operand: Operand) -> Operand? {
    switch operand.kind {
    case .double: operand
    case .integer:
      Operand(step: terms.append(ComputedStep(.toDouble, .double, operand.step)), kind: .double)
    default: nil
    }
  }

  private mutating func decimal(_ operand: Operand) -> Operand {
    Operand(step: terms.append(ComputedStep(.toDecimal, .decimal, operand.step)), kind: .decimal)
  }
}

extension RowLayout {
  /// Returns where a column of integers is in every primary key; nil of other columns, and if that varies.
  fileprivate func keyPlace(of column: Column) -> Range<Int>? {
    guard column.place.kind == .key, column.scalar?.isInteger == true,
      key.columns[column.place.index].type == column.scalar,
      key.columns[column.place.index].form.subtracting(.isLast).isEmpty
    else { return nil }
    return key.fixedPlace(of: column.place.index)
  }
}

extension ComputedKind {
  /// The sum of nothing; nil if the values cannot be added.
  var zero: ComputedValue? {
    switch self {
    case .integer: .integer(0)
    case .double: .double(0)
    case .decimal: .decimal(DecimalParts(isNegative: false, exponent: 0, magnitude: 0))
    default: nil
    }
  }
}

extension ComputedValue {
  /// Creates the width of ranges of values of a kind; nil if it is not above zero, or no such number.
  fileprivate init?(width: FieldValue, of kind: ComputedKind) {
    let width = ComputedValue(width)
    switch (kind, width) {
    case (.integer, .integer(let number)) where number > 0: self = width
    case (.double, .integer(let number)), (.date, .integer(let number)):
      guard number > 0 else { return nil }
      self = .double(Double(number))
    case (.double, .double(let number)), (.date, .double(let number)):
      guard number > 0, number.isFinite else { return nil }
      self = width
    case (.decimal, .integer(let number)) where number > 0: self = .decimal(DecimalParts(number))
    case (.decimal, .decimal(let number)):
      guard !number.isNaN, !number.isNegative, number.magnitude != 0 else { return nil }
      self = width
    default: return nil
    }
  }
}

extension FieldExpression {
  /// The first field in the expression, which errors name.
  var firstField: String? {
    switch self {
    case .field(let name): name
    case .value: nil
    case .arithmetic(let one, _, let other), .coalesced(let one, let other):
      one.firstField ?? other.firstField
    case .negated(let operand), .length(let operand), .lowercased(let operand),
      .function(_, let operand):
      operand.firstField
    case .count(let relation, where: _), .aggregate(_, let relation, of: _, where: _): relation
    case .query: nil
    }
  }
}
