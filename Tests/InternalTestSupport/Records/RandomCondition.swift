import FoundationEssentials
import TestSupport

@testable import Cambium

/// Conditions as random as they may be, whether or not a record could be asked so.
enum RandomCondition {
  static func make(
    _ random: inout SplitMix64, fields: [String], depth: Int = 4
  ) -> FieldCondition {
    let field = fields.randomElement(using: &random) ?? ""
    if depth > 0, random.next() % 2 == 0 {
      let operands = (0..<Int.random(in: 0..<4, using: &random)).map { _ in
        make(&random, fields: fields, depth: depth - 1)
      }
      switch random.next() % 3 {
      case 0: return .and(operands)
      case 1: return .or(operands)
      default: return .not(make(&random, fields: fields, depth: depth - 1))
      }
    }
    switch random.next() % 5 {
    case 0: return .comparison(field: field, comparison(&random), value(&random))
    case 1: return .isIn(field: field, list(&random))
    case 2:
      return .match(
        field: field,
        TextMatch(
          TextMatch.Kind.allCases.randomElement(using: &random) ?? .like, text(&random),
          TextMatch.Options(rawValue: UInt8(random.next() % 4))))
    case 3: return .contains(field: field, value(&random))
    default:
      return .computed(
        expression(&random, fields, depth: 3), comparison(&random),
        expression(&random, fields, depth: 3))
    }
  }

  static func comparison(_ random: inout SplitMix64) -> FieldComparison {
    FieldComparison.allCases.randomElement(using: &random) ?? .equal
  }

  static func expression(
    _ random: inout SplitMix64, _ fields: [String], depth: Int
  ) -> FieldExpression {
    let isLeaf = depth == 0 || random.next() % 3 == 0
    if isLeaf {
      return random.next() % 2 == 0
        ? .field(fields.randomElement(using: &random) ?? "") : .value(value(&random))
    }
    func inner(_ random: inout SplitMix64) -> FieldExpression {
      expression(&random, fields, depth: depth - 1)
    }
    switch random.next() % 7 {
    case 0: return .negated(inner(&random))
    case 1: return .length(inner(&random))
    case 2: return .lowercased(inner(&random))
    case 3: return .coalesced(inner(&random), inner(&random))
    case 4: return .function(function(&random), inner(&random))
    default:
      return .arithmetic(
        inner(&random), FieldArithmetic.allCases.randomElement(using: &random) ?? .plus,
        inner(&random))
    }
  }

  static func function(_ random: inout SplitMix64) -> FieldFunction {
    switch random.next() % 3 {
    case 0: return .prefix(Int.random(in: 0..<4, using: &random))
    case 1: return .bucket(of: .integer(Int64.random(in: 1..<100, using: &random)))
    default:
      return .part(
        DatePart.allCases.randomElement(using: &random) ?? .day,
        in: .minutes(Int.random(in: -720...720, using: &random)))
    }
  }

  private static func list(_ random: inout SplitMix64) -> [FieldValue] {
    (0..<Int.random(in: 0..<4, using: &random)).map { _ in value(&random) }
  }

  static func text(_ random: inout SplitMix64) -> String {
    let letters: [Character] = [
      "a", "\"", "\\", "\n", "\0", "*", "?", "é", "e\u{301}", "😀", " ", "'",
    ]
    return String(
      (0..<Int.random(in: 0..<5, using: &random)).map { _ in
        letters.randomElement(using: &random) ?? "a"
      })
  }

  static func value(_ random: inout SplitMix64) -> FieldValue {
    switch random.next() % 12 {
    case 0: return .null
    case 1: return .array((0..<Int.random(in: 0..<3, using: &random)).map { _ in value(&random) })
    case 2: return .composite(["1": .integer(1), text(&random): .null])
    case 3: return .string(text(&random))
    default:
      let type = ScalarType.allCases.randomElement(using: &random) ?? .int8
      return random.next() % 2 == 0
        ? SampleValues.edges(type).randomElement(using: &random) ?? .null
        : SampleValues.random(type, using: &random)
    }
  }
}
