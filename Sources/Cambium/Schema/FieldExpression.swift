/// A value that is computed of a record's fields, by their stored names.
///
/// What is computed of null is null, and so is what has no result: a division by zero, an integer beyond
/// 128 bits, a double or decimal that is not finite. Nothing traps.
public indirect enum FieldExpression: Hashable, Sendable {
  case field(String)
  case value(FieldValue)
  /// Of numbers. Integers stay integers, and divide towards zero; with a float or double they become
  /// doubles, with a decimal decimals. A date has seconds added or taken away; two dates are
  /// seconds apart.
  case arithmetic(FieldExpression, Operation, FieldExpression)
  case negated(FieldExpression)
  /// Of a string in characters, of data in bytes, of an array in elements.
  case length(FieldExpression)
  /// A string by Unicode's simple mapping of each scalar.
  case lowercased(FieldExpression)
  /// The first, or the second where the first is null.
  case coalesced(FieldExpression, FieldExpression)

  public enum Operation: Hashable, Sendable, CaseIterable {
    case plus, minus, times, divided
    /// Not of decimals. It has the sign of what is divided.
    case remainder
  }
}

extension FieldExpression {
  /// Returns true if it is nested over so many levels deep.
  func isDeeper(than limit: Int) -> Bool {
    if limit <= 0 { return true }
    return switch self {
    case .field, .value: false
    case .arithmetic(let one, _, let other), .coalesced(let one, let other):
      one.isDeeper(than: limit - 1) || other.isDeeper(than: limit - 1)
    case .negated(let operand), .length(let operand), .lowercased(let operand):
      operand.isDeeper(than: limit - 1)
    }
  }
}
