import FoundationEssentials
import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// Conditions that records of a layout can be asked, as random as they may be, and near to one record's values.
struct ValidCondition {
  let layout: RowLayout
  let value: (String) throws -> FieldValue

  func make(_ random: inout SplitMix64, depth: Int = 3) throws -> FieldCondition {
    if depth > 0, random.next() % 3 != 0 {
      if random.next() % 4 == 0 { return .not(try make(&random, depth: depth - 1)) }
      var operands: [FieldCondition] = []
      for _ in 0..<Int.random(in: 0..<4, using: &random) {
        operands.append(try make(&random, depth: depth - 1))
      }
      return random.next() % 2 == 0 ? .and(operands) : .or(operands)
    }
    guard let column = layout.columns.randomElement(using: &random) else { return .and([]) }
    return try term(column, &random)
  }

  func term(_ column: Column, _ random: inout SplitMix64) throws -> FieldCondition {
    let name = column.field.name
    switch column.field.type {
    case .composite, .transformable:
      return .comparison(
        field: name, random.next() % 2 == 0 ? .equal : .notEqual, .null)
    case .array(let type):
      switch random.next() % 3 {
      case 0: return .contains(field: name, try self.element(of: name, type, &random))
      case 1: return .computed(.length(.field(name)), comparison(&random), .value(.integer(1)))
      default: return .comparison(field: name, .equal, try value(name))
      }
    default: return try scalarTerm(column, &random)
    }
  }

  private func scalarTerm(
    _ column: Column, _ random: inout SplitMix64
  ) throws -> FieldCondition {
    let name = column.field.name
    guard let type = column.field.type.scalar else { return .and([]) }
    switch random.next() % 5 {
    case 0:
      var values: [FieldValue] = []
      for _ in 0..<Int.random(in: 0..<5, using: &random) {
        values.append(try near(name, type, &random))
      }
      return .isIn(field: name, values)
    case 1 where type == .string || type == .url:
      return .match(field: name, try match(name, &random))
    case 2: return try computed(column, type, &random)
    default:
      return .comparison(field: name, comparison(&random), try near(name, type, &random))
    }
  }

  private func comparison(_ random: inout SplitMix64) -> FieldComparison {
    RandomCondition.comparison(&random)
  }

  /// The field's own value, one at an edge, any, or null.
  private func near(
    _ name: String, _ type: ScalarType, _ random: inout SplitMix64
  ) throws -> FieldValue {
    let own = try value(name)
    return switch random.next() % 6 {
    case 0: .null
    case 1, 2: own.isNaN ? .null : own
    case 3: SampleValues.random(type, using: &random)
    default: SampleValues.edges(type).randomElement(using: &random) ?? .null
    }
  }

  private func element(
    of name: String, _ type: ScalarType, _ random: inout SplitMix64
  ) throws -> FieldValue {
    if case .array(let values) = try value(name), random.next() % 2 == 0 {
      return values.randomElement(using: &random) ?? .null
    }
    return SampleValues.edges(type).randomElement(using: &random) ?? .null
  }

  private func match(_ name: String, _ random: inout SplitMix64) throws -> TextMatch {
    var text: String
    switch try value(name) {
    case .string(let value): text = value
    case .url(let url): text = url.absoluteString
    default: text = "é"
    }
    let scalars = Array(text.unicodeScalars)
    let start = Int.random(in: 0...scalars.count, using: &random)
    let end = Int.random(in: start...scalars.count, using: &random)
    text = String(String.UnicodeScalarView(scalars[start..<end]))
    let additions = ["", "", "", "*", "?", "\\", "\\*", "a", "É", "E", "Z", "z", "\u{301}"]
    text = (additions.randomElement(using: &random) ?? "") + text
    text += additions.randomElement(using: &random) ?? ""
    if random.next() % 4 == 0 { text = text.uppercased() }
    return TextMatch(
      TextMatch.Kind.allCases.randomElement(using: &random) ?? .like, text,
      TextMatch.Options(rawValue: UInt8(random.next() % 4)))
  }
}

// MARK: Computed

extension ValidCondition {
  private enum Kind: CaseIterable {
    case integer, double, decimal
  }

  private func computed(
    _ column: Column, _ type: ScalarType, _ random: inout SplitMix64
  ) throws -> FieldCondition {
    let field = FieldExpression.field(column.field.name)
    let comparison = comparison(&random)
    switch type {
    case .string where random.next() % 2 == 0:
      return .computed(.lowercased(field), comparison, .lowercased(.field("string")))
    case .string, .url, .binaryData:
      return .computed(.length(field), comparison, .value(.integer(Int64(random.next() % 4))))
    case .date:
      return .computed(
        .arithmetic(field, .minus, .field("date")), comparison, .value(.double(0)))
    case .boolean, .uuid:
      return .computed(.coalesced(field, .field("\(type)")), comparison, .field("\(type)"))
    default: break
    }
    guard let kind = Kind.allCases.randomElement(using: &random) else { return .and([]) }
    return .computed(
      try number(kind, &random, depth: 2), comparison, try number(kind, &random, depth: 1))
  }

  /// An expression of one kind, in which there may be integers too.
  private func number(
    _ kind: Kind, _ random: inout SplitMix64, depth: Int
  ) throws -> FieldExpression {
    if depth > 0, random.next() % 4 != 0 {
      let one = try number(kind, &random, depth: depth - 1)
      if random.next() % 6 == 0 { return .negated(one) }
      let other = try number(kind, &random, depth: depth - 1)
      if random.next() % 5 == 0 { return .coalesced(one, other) }
      let operations: [FieldArithmetic] = [.plus, .minus, .times, .divided, .remainder]
      // How decimals are divided is looked at elsewhere.
      return .arithmetic(
        one, operations.dropLast(kind == .decimal ? 2 : 0).randomElement(using: &random) ?? .plus,
        other)
    }
    let columns = try layout.columns.filter {
      try kinds(of: $0.field.type.scalar).contains(kind) && isSmall(try value($0.field.name))
    }
    if let column = columns.randomElement(using: &random), random.next() % 3 != 0 {
      return .field(column.field.name)
    }
    let number = Int64(random.next() % 7) - 3
    switch kind {
    case .integer: return .value(.integer(number))
    case .double: return .value(.double(Double(number) / 2))
    case .decimal: return .value(.decimal(Decimal(number)))
    }
  }

  /// `Decimal`, which the model computes with, ends the process where exponents leave their range.
  private func isSmall(_ value: FieldValue) -> Bool {
    guard case .decimal(let decimal) = value, !decimal.isNaN else { return true }
    let parts = DecimalParts(decimal)
    return (-5...5).contains(parts.exponent) && parts.magnitude < 100_000_000
  }

  /// Of the wide ones only a few, so that sums stay within what the model has.
  private func kinds(of type: ScalarType?) -> [Kind] {
    switch type {
    case .int8, .int16, .uint8, .uint16: [.integer]
    case .int32: [.integer]
    case .float, .double: [.double]
    case .decimal: [.decimal]
    default: []
    }
  }
}
