/// Why steps cannot be read from a text. Its `description` says what to write.
@nonexhaustive public enum StepFileError: Error, Hashable, Sendable {
  /// The file does not exist.
  case missing(path: String)
  /// The text is not JSON.
  case malformed(reason: String)
  /// The text is JSON, and says what no step can: all that is wrong with it.
  case invalid(reasons: [String])
  /// The file cannot be read.
  case io(path: String, reason: String)
}

extension StepFileError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .missing(let path): "There is no \(path)."
    case .malformed(let reason): "The steps cannot be read: \(reason)."
    case .invalid(let reasons):
      "The steps cannot be taken:\n\n" + reasons.map { "  \($0)" }.joined(separator: "\n")
    case .io(let path, let reason): "\(path) cannot be read: \(reason)."
    }
  }
}
