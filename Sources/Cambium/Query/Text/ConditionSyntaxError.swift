/// Why a text is no condition, and where.
public struct ConditionSyntaxError: Error, Hashable, Sendable {
  /// From 1.
  public let line: Int
  /// From 1, in Unicode scalars.
  public let column: Int
  /// What could have stood there: "a value".
  public let expected: String
  /// What stands there: "“)”".
  public let found: String
}

extension ConditionSyntaxError: CustomStringConvertible {
  public var description: String {
    "line \(line), column \(column): \(expected) was expected, but found \(found)."
  }
}
