#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

// The kinds of the values of derived expressions, as far as the types of the fields say them. An expression that is accepted here is
// one that `ComputedTerms` computes.

/// The values of an expression, before there is a row.
struct ExpressionShape {
  var kind: ComputedKind
  /// The value of a constant, which takes the type of the value that it is combined with.
  var literal: FieldValue?
  /// True if it is null in some rows, though all fields that cannot be null have values.
  var mayBeNull: Bool
}

extension RecordSchema {
  /// Returns the shape of an expression on the fields of the record.
  ///
  /// - Parameter derived: The field that has its values if it is a field of the same record; nil if it is one of another.
  /// - Throws: The reason if there is no such field, or nothing can be computed so.
  func shape(
    of expression: FieldExpression, for derived: FieldSchema?
  ) throws(DescriptionFault) -> ExpressionShape {
    switch expression {
    case .field(let name): return try shape(ofField: name, for: derived)
    case .value(let value):
      if let fault = value.faultAsDerived { throw DescriptionFault(fault) }
      guard let kind = ComputedKind(value) else { throw expression.fault }
      return ExpressionShape(kind: kind, literal: value, mayBeNull: value == .null)
    case .arithmetic(let one, let operation, let other):
      let operands = (try shape(of: one, for: derived), try shape(of: other, for: derived))
      guard let kind = ComputedKind.combined(operands.0, operation, operands.1) else {
        throw expression.fault
      }
      return ExpressionShape(
        kind: kind, mayBeNull: operands.0.mayBeNull || operands.1.mayBeNull)
    case .coalesced(let one, let other):
      let operands = (try shape(of: one, for: derived), try shape(of: other, for: derived))
      guard let kind = ComputedKind.unified(operands.0, operands.1) else { throw expression.fault }
      return ExpressionShape(
        kind: kind, mayBeNull: operands.0.mayBeNull && operands.1.mayBeNull)
    case .negated(let operand):
      let operand = try shape(of: operand, for: derived)
      guard operand.kind.isNumber else { throw expression.fault }
      return ExpressionShape(kind: operand.kind, mayBeNull: operand.mayBeNull)
    case .length(let operand): return try shape(ofLengthOf: operand, expression, for: derived)
    case .lowercased(let operand):
      let operand = try shape(of: operand, for: derived)
      guard operand.kind == .string else { throw expression.fault }
      return ExpressionShape(kind: .string, mayBeNull: operand.mayBeNull)
    case .function(let function, let operand):
      let operand = try shape(of: operand, for: derived)
      guard let kind = function.kind(of: operand.kind) else { throw expression.fault }
      return ExpressionShape(kind: kind, mayBeNull: operand.mayBeNull)
    case .count, .aggregate, .query: throw expression.fault
    }
  }

  private func shape(
    ofField name: String, for derived: FieldSchema?
  ) throws(DescriptionFault) -> ExpressionShape {
    let source = try source(name, for: derived)
    guard let type = source.type.scalar else {
      throw DescriptionFault("nothing can be computed of \(source.name), which is \(source.type)")
    }
    return ExpressionShape(
      kind: ComputedKind(type),
      mayBeNull: derived.map { canBeNull(source, where: $0) } ?? true)
  }

  /// Returns the field with a name if a value can be derived of it.
  private func source(
    _ name: String, for derived: FieldSchema?
  ) throws(DescriptionFault) -> FieldSchema {
    guard let source = field(named: name) else { throw fault(ofUnknown: name) }
    guard source.derivation == nil else {
      throw DescriptionFault("it is derived of \(name), which is derived itself")
    }
    guard source.reference == nil else {
      throw DescriptionFault(
        "it is derived of \(name), a reference, whose value is the key of another record")
    }
    if let fault = derived.flatMap({ scopeFault(of: $0, derivedOf: source) }) {
      throw DescriptionFault(fault)
    }
    return source
  }

  private func fault(ofUnknown name: String) -> DescriptionFault {
    let dots = name.indices.filter { name[$0] == "." }
    let relation = dots.map { String(name[..<$0]) }.first { relation in
      field(named: relation)?.reference != nil || inverse(named: relation) != nil
    }
    guard let relation else {
      return DescriptionFault("it is derived of \(name), which is not there")
    }
    return DescriptionFault(
      "it is derived of \(name), a field of another record, which may change without this one:"
        + " \(relation) only leads there")
  }

  private func shape(
    ofLengthOf operand: FieldExpression, _ expression: FieldExpression, for derived: FieldSchema?
  ) throws(DescriptionFault) -> ExpressionShape {
    if case .field(let name) = operand, case .array? = field(named: name)?.type {
      let list = try source(name, for: derived)
      return ExpressionShape(
        kind: .integer, mayBeNull: derived.map { canBeNull(list, where: $0) } ?? true)
    }
    let operand = try shape(of: operand, for: derived)
    guard operand.kind != .string, operand.kind != .url else {
      throw DescriptionFault(
        "\(expression) cannot be derived: it counts characters, and versions of Unicode divide strings into different"
          + " ones")
    }
    guard operand.kind == .data else { throw expression.fault }
    return ExpressionShape(kind: .integer, mayBeNull: operand.mayBeNull)
  }
}

extension FieldExpression {
  fileprivate var fault: DescriptionFault { DescriptionFault("\(self) cannot be computed") }
}

// MARK: - Kinds of two values

extension ComputedKind {
  /// Returns the kind as which two values are compared or combined; nil if they have none in common.
  fileprivate static func unified(
    _ one: ExpressionShape, _ other: ExpressionShape
  ) -> ComputedKind? {
    if one.kind == other.kind || other.kind == .null { return one.kind }
    if one.kind == .null || one.literal?.adapted(to: other.kind) != nil { return other.kind }
    if other.literal?.adapted(to: one.kind) != nil { return one.kind }
    return switch (one.kind, other.kind) {
    case (.integer, .double), (.double, .integer): .double
    case (.integer, .decimal), (.decimal, .integer): .decimal
    default: nil
    }
  }

  fileprivate static func combined(
    _ one: ExpressionShape, _ operation: FieldArithmetic, _ other: ExpressionShape
  ) -> ComputedKind? {
    if one.kind == .null || other.kind == .null { return nil }
    if one.kind == .date || other.kind == .date { return moved(one, operation, other) }
    guard let kind = unified(one, other), kind.isNumber else { return nil }
    return kind == .decimal && operation == .remainder ? nil : kind
  }

  /// Seconds more or less than a date, or between two.
  private static func moved(
    _ one: ExpressionShape, _ operation: FieldArithmetic, _ other: ExpressionShape
  ) -> ComputedKind? {
    if operation == .minus, unified(one, other) == .date { return .double }
    let seconds = one.kind == .date ? other.kind : one.kind
    guard operation == .plus || operation == .minus && one.kind == .date,
      seconds == .integer || seconds == .double
    else { return nil }
    return .date
  }

  /// The type of a column with integers, doubles, decimals or dates of an expression; nil for other kinds.
  var aggregateType: ScalarType? {
    switch self {
    case .integer: .int64
    case .double: .double
    case .decimal: .decimal
    case .date: .date
    default: nil
    }
  }
}

extension FieldFunction {
  /// Returns the kind of the function's values; nil if it is none of such values, or not one that is kept.
  fileprivate func kind(of operand: ComputedKind) -> ComputedKind? {
    switch (self, operand) {
    case (.part(_, in: let offset), .date): offset.isValid ? .integer : nil
    case (.bucket(of: let width), _): width.isWidth(of: operand) ? operand : nil
    default: nil
    }
  }
}

extension FieldValue {
  /// True if values of a kind can be divided into ranges of such a width.
  fileprivate func isWidth(of kind: ComputedKind) -> Bool {
    switch (kind, self) {
    case (.integer, .integer(let width)), (.double, .integer(let width)),
      (.date, .integer(let width)), (.decimal, .integer(let width)):
      width > 0
    case (.double, .double(let width)), (.date, .double(let width)): width > 0 && width.isFinite
    case (.decimal, .decimal(let width)): !width.isNaN && width > 0
    default: false
    }
  }
}

// MARK: - Rules

extension RecordSchema {
  /// Why a field cannot have the values of its expression on the record's own fields; nil if it can.
  func valueFault(of derivation: DerivationSchema, _ field: FieldSchema) -> String? {
    guard let expression = derivation.expression else { return "it has no expression" }
    let shape: ExpressionShape
    do throws(DescriptionFault) {
      shape = try self.shape(of: expression, for: field)
    } catch { return error.reason }
    // Floats are computed as doubles.
    guard let type = field.type.scalar, type != .float, ComputedKind(type) == shape.kind else {
      return "the values of \(expression) are \(shape.kind.text), which its type has to be too"
    }
    return shape.mayBeNull && !field.isOptional
      ? "\(expression) may be nil, so it is optional too" : nil
  }

  /// Why a field of another record cannot be the sum or an extreme of an expression on the record's fields; nil if it can.
  func aggregateFault(of derivation: DerivationSchema, _ field: FieldSchema) -> String? {
    guard let expression = derivation.expression else { return "it has no expression" }
    let shape: ExpressionShape
    do throws(DescriptionFault) {
      shape = try self.shape(of: expression, for: nil)
    } catch { return error.reason }
    guard let type = shape.kind.aggregateType else {
      return "the values of \(expression) are neither numbers nor dates"
    }
    if derivation.kind == .sum {
      guard shape.kind != .date else { return "\(expression) is a date, which has no sum" }
      return field.type == .scalar(type) && !field.isOptional
        ? nil : "it is the sum of \(expression), so its type is \(type), and it is not optional"
    }
    return field.type == .scalar(type) && field.isOptional
      ? nil
      : "it is the \(derivation.kind) of \(expression), so its type is \(type), and it is optional"
  }
}

extension ComputedKind {
  /// For errors.
  fileprivate var text: String {
    switch self {
    case .null: "null"
    case .boolean: "booleans"
    case .integer: "integers"
    case .double: "doubles"
    case .decimal: "decimals"
    case .date: "dates"
    case .string: "strings"
    case .url: "URLs"
    case .data: "data"
    case .uuid: "UUIDs"
    }
  }
}
