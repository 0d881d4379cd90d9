/// The place and reason for which a text is not a condition.
public struct ConditionSyntaxError: Error, Hashable, Sendable {
  /// The line, counted from 1.
  public let line: Int
  /// The column, counted from 1, in Unicode scalars.
  public let column: Int
  /// The expected text: "a value".
  public let expected: String
  /// The text that was found instead: "“)”".
  public let found: String
}

extension ConditionSyntaxError: CustomStringConvertible {
  public var description: String {
    "line \(line), column \(column): \(expected) was expected, but found \(found)."
  }
}
