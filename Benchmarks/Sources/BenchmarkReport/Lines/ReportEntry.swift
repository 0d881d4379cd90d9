/// A line of `results.jsonl`: each says by `kind` which it is.
public enum ReportEntry: Equatable, Sendable {
  /// A run begins. What follows is of this run, up to the next such line.
  case run(RunDescription)
  case result(ResultLine)
  /// A step of the run has ended, one way or another.
  case outcome(StepOutcome)
}

extension ReportEntry: Codable {
  private enum Kind: String, Codable {
    case run, result, outcome
  }

  private enum CodingKeys: CodingKey {
    case kind
  }

  public init(from decoder: any Decoder) throws {
    let kind = try decoder.container(keyedBy: CodingKeys.self).decode(Kind.self, forKey: .kind)
    switch kind {
    case .run: self = .run(try RunDescription(from: decoder))
    case .result: self = .result(try ResultLine(from: decoder))
    case .outcome: self = .outcome(try StepOutcome(from: decoder))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .run(let run):
      try container.encode(Kind.run, forKey: .kind)
      try run.encode(to: encoder)
    case .result(let line):
      try container.encode(Kind.result, forKey: .kind)
      try line.encode(to: encoder)
    case .outcome(let outcome):
      try container.encode(Kind.outcome, forKey: .kind)
      try outcome.encode(to: encoder)
    }
  }
}
