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
  /// Requires a value within a range, which may have only one end.
  ///
  /// ```swift
  /// Field("rating", validation: [.range(1...5)])
  /// Field("share", validation: [.range(0..<1)])
  /// Field("price", validation: [.range(0...)])
  /// ```
  public static func range<Bound: FieldValueConvertible & Sendable>(
    _ range: some RangeExpression<Bound> & Sendable
  ) -> FieldRule {
    let (lower, upper): (Bound?, Bound?)
    var includesUpper = true
    switch range {
    case let range as ClosedRange<Bound>: (lower, upper) = (range.lowerBound, range.upperBound)
    case let range as Range<Bound>:
      (lower, upper, includesUpper) = (range.lowerBound, range.upperBound, false)
    case let range as PartialRangeFrom<Bound>: (lower, upper) = (range.lowerBound, nil)
    case let range as PartialRangeThrough<Bound>: (lower, upper) = (nil, range.upperBound)
    case let range as PartialRangeUpTo<Bound>:
      (lower, upper, includesUpper) = (nil, range.upperBound, false)
    default:
      return .predicate("within \(range)") { value in
        Bound(fieldValue: value).map { range.contains($0) } ?? true
      }
    }
    return FieldRule(
      kind: .range(
        lower: lower?.fieldValue, upper: upper?.fieldValue, includesUpper: includesUpper))
  }

  /// Bounds the length: of a string in characters, of data in bytes, of an array in elements.
  public static func length(_ range: ClosedRange<Int>) -> FieldRule {
    FieldRule(kind: .length(range))
  }

  /// Bounds the length from below: of a string in characters, of data in bytes, of an array in elements.
  ///
  /// ```swift
  /// Field("name", validation: [.length(1...)])
  /// ```
  public static func length(_ range: PartialRangeFrom<Int>) -> FieldRule {
    FieldRule(kind: .length(range.lowerBound...max(range.lowerBound, .max)))
  }

  /// Bounds the length from above: of a string in characters, of data in bytes, of an array in elements.
  ///
  /// ```swift
  /// Field("name", validation: [.length(...200)])
  /// ```
  public static func length(_ range: PartialRangeThrough<Int>) -> FieldRule {
    FieldRule(kind: .length(min(0, range.upperBound)...range.upperBound))
  }

  /// Requires that a regular expression matches somewhere in a string; between `^` and `$`, all of it.
  ///
  /// It is written as Swift's `Regex` reads it, and matched by an automaton, in time linear in the string's length for any
  /// pattern. Whatever only backtracking can match is refused: looking ahead or behind, references to groups, atomic groups
  /// and possessive repetitions; so is a pattern with more than 10,000 steps, counting each repetition.
  public static func pattern(_ pattern: String) -> FieldRule {
    FieldRule(kind: .pattern(pattern))
  }

  /// Requires that a closure returns true for the value.
  ///
  /// ```swift
  /// Field("code", validation: [.predicate("even in length") { value in
  ///   String(fieldValue: value)?.count.isMultiple(of: 2) ?? true
  /// }])
  /// ```
  ///
  /// - Parameters:
  ///   - text: The requirement, for errors: "a prime".
  ///   - holds: Returns true if a value meets it. Not called for nil.
  public static func predicate(
    _ text: String, _ holds: @escaping @Sendable (FieldValue) -> Bool
  ) -> FieldRule {
    FieldRule(kind: .predicate(text, holds))
  }
}

/// A rule that fits its field: its operands are of the field's type, its pattern compiles.
struct CheckedRule: Sendable {
  /// The requirement, for errors: "is at least 18".
  let text: String
  private let test: @Sendable (FieldValue) -> Bool

  /// Returns true if a value that the field's column can hold meets it. Null always does.
  func holds(for value: FieldValue) -> Bool {
    value == .null || test(value)
  }

  /// - Throws: Why the rule does not fit.
  init(_ rule: FieldRule, for type: ColumnType) throws(DescriptionFault) {
    if type.isExternal {
      throw DescriptionFault("an external field is not validated; validate the record")
    }
    switch rule.kind {
    case .range(let lower, let upper, let includesUpper):
      self = try Self.range(lower, upper, includesUpper, type)
    case .length(let range):
      guard type.hasLength else { throw DescriptionFault("\(type) has no length to validate") }
      text = "has a length of \(range.text)"
      test = { value in value.length.map { range.contains($0) } ?? false }
    case .pattern(let pattern):
      guard type == .string else { throw DescriptionFault("\(type) matches no pattern") }
      let compiled: Pattern
      do throws(Pattern.Fault) { compiled = try Pattern(pattern) } catch {
        throw DescriptionFault("the pattern \(pattern) \(error.reason)")
      }
      text = "matches \(pattern)"
      test = { value in
        guard case .string(let text) = value else { return false }
        return compiled.matches(text)
      }
    case .predicate(let text, let holds):
      switch type {
      case .composite, .transformable:
        throw DescriptionFault("\(type) has no value to validate; validate the record")
      default: break
      }
      self.text = "is \(text)"
      test = holds
    }
  }

  private init(text: String, test: @escaping @Sendable (FieldValue) -> Bool) {
    self.text = text
    self.test = test
  }

  private static func range(
    _ lower: FieldValue?, _ upper: FieldValue?, _ includesUpper: Bool, _ type: ColumnType
  ) throws(DescriptionFault) -> CheckedRule {
    let lower = try bound(lower, type)
    let upper = try bound(upper, type)
    var texts: [String] = []
    if let lower { texts.append("at least \(lower)") }
    if let upper { texts.append("\(includesUpper ? "at most" : "below") \(upper)") }
    return CheckedRule(text: "is " + texts.joined(separator: " and ")) { value in
      if let lower {
        guard let order = value.compare(to: lower), order >= 0 else { return false }
      }
      if let upper {
        guard let order = value.compare(to: upper) else { return false }
        return includesUpper ? order <= 0 : order < 0
      }
      return true
    }
  }

  private static func bound(
    _ bound: FieldValue?, _ type: ColumnType
  ) throws(DescriptionFault) -> FieldValue? {
    guard let bound else { return nil }
    guard let converted = bound.converted(to: type) else {
      throw DescriptionFault("\(bound) is no bound of \(type)")
    }
    guard !converted.isNaN, converted.compare(to: converted) == 0 else {
      throw DescriptionFault("\(type) has no ranges")
    }
    return converted
  }
}

extension ColumnType {
  fileprivate var hasLength: Bool {
    switch self {
    case .scalar(.string), .scalar(.binaryData), .array: true
    default: false
    }
  }
}

extension FieldValue {
  fileprivate var length: Int? {
    switch self {
    case .string(let text): text.count
    case .data(let data): data.count
    case .array(let elements): elements.count
    default: nil
    }
  }
}

extension ClosedRange<Int> {
  fileprivate var text: String {
    if upperBound == .max { return "at least \(lowerBound)" }
    return lowerBound <= 0 ? "at most \(upperBound)" : "\(lowerBound) to \(upperBound)"
  }
}
