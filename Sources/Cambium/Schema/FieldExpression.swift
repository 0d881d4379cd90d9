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
  /// 1 for a field or value, one more for each level above.
  var depth: Int {
    switch self {
    case .field, .value: 1
    case .arithmetic(let one, _, let other), .coalesced(let one, let other):
      1 + max(one.depth, other.depth)
    case .negated(let operand), .length(let operand), .lowercased(let operand): 1 + operand.depth
    }
  }
}
