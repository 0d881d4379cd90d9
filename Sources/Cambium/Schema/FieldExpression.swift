/// A value computed of a record's fields, by their stored names.
///
/// A computation with null is null, and so is one without a result: a division by zero, an integer beyond 128 bits, a
/// double or decimal that is not finite. Nothing traps.
public indirect enum FieldExpression: Hashable, Sendable {
  case field(String)
  case value(FieldValue)
  /// Arithmetic of numbers. Integers stay integers, and divide towards zero; with a float or double they become doubles,
  /// with a decimal decimals. Seconds are added to or subtracted from a date; the difference of two dates is in seconds.
  case arithmetic(FieldExpression, Operation, FieldExpression)
  case negated(FieldExpression)
  /// The length of a string in characters, of data in bytes, of an array in elements.
  case length(FieldExpression)
  /// A string in lowercase, by Unicode's simple mapping of each scalar.
  case lowercased(FieldExpression)
  /// The first value, or the second if the first is null.
  case coalesced(FieldExpression, FieldExpression)

  public enum Operation: Hashable, Sendable, CaseIterable {
    case plus, minus, times, divided
    /// The remainder, not of decimals. It has the sign of the dividend.
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
