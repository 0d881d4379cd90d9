/// A rule that a value of a field must meet to be stored. Nil always does.
public struct FieldRule: Sendable {
  let kind: Kind

  enum Kind: Sendable {
    case range(lower: FieldValue?, upper: FieldValue?, includesUpper: Bool)
    case length(ClosedRange<Int>)
    case pattern(String)
    case predicate(String, @Sendable (FieldValue) -> Bool)
  }
}

extension FieldRule {
  public static func range<Bound: FieldValueConvertible>(_ range: ClosedRange<Bound>) -> FieldRule {
    FieldRule(
      lower: range.lowerBound.fieldValue, upper: range.upperBound.fieldValue, includesUpper: true)
  }

  public static func range<Bound: FieldValueConvertible>(_ range: Range<Bound>) -> FieldRule {
    FieldRule(
      lower: range.lowerBound.fieldValue, upper: range.upperBound.fieldValue, includesUpper: false)
  }

  public static func range<Bound: FieldValueConvertible>(
    _ range: PartialRangeFrom<Bound>
  ) -> FieldRule {
    FieldRule(lower: range.lowerBound.fieldValue, upper: nil, includesUpper: true)
  }

  public static func range<Bound: FieldValueConvertible>(
    _ range: PartialRangeThrough<Bound>
  ) -> FieldRule {
    FieldRule(lower: nil, upper: range.upperBound.fieldValue, includesUpper: true)
  }

  public static func range<Bound: FieldValueConvertible>(
    _ range: PartialRangeUpTo<Bound>
  ) -> FieldRule {
    FieldRule(lower: nil, upper: range.upperBound.fieldValue, includesUpper: false)
  }

  /// Bounds the length: of a string in characters, of data in bytes, of an array in elements.
  public static func length(_ range: ClosedRange<Int>) -> FieldRule {
    FieldRule(kind: .length(range))
  }

  public static func length(_ range: PartialRangeFrom<Int>) -> FieldRule {
    FieldRule(kind: .length(range.lowerBound...max(range.lowerBound, .max)))
  }

  public static func length(_ range: PartialRangeThrough<Int>) -> FieldRule {
    FieldRule(kind: .length(min(0, range.upperBound)...range.upperBound))
  }

  /// Requires that a regular expression matches somewhere in a string; between `^` and `$`, all of it.
  ///
  /// It is matched by backtracking. A repeated group that contains a repetition, such as `(a+)+`, is refused, since it can
  /// take time exponential in the string's length. Alternatives in a repeated group that match the same can as well, and
  /// several repetitions one after the other take powers of the length. A rule of length given before bounds that.
  public static func pattern(_ pattern: String) -> FieldRule {
    FieldRule(kind: .pattern(pattern))
  }

  /// - Parameters:
  ///   - text: The requirement, for errors: "a prime".
  ///   - holds: Returns true if a value meets it. Not called for nil.
  public static func predicate(
    _ text: String, _ holds: @escaping @Sendable (FieldValue) -> Bool
  ) -> FieldRule {
    FieldRule(kind: .predicate(text, holds))
  }

  private init(lower: FieldValue?, upper: FieldValue?, includesUpper: Bool) {
    kind = .range(lower: lower, upper: upper, includesUpper: includesUpper)
  }
}
