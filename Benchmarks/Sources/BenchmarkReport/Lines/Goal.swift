/// The goal of a figure.
public enum Goal: Equatable, Sendable {
  case atLeast(Double)
  case atMost(Double)

  public func isMet(by figure: Double) -> Bool {
    switch self {
    case .atLeast(let bound): figure >= bound
    case .atMost(let bound): figure <= bound
    }
  }

  /// The goal, and whether `figure` meets it: `(≥ 2.5 met)`.
  public func verdict(on figure: Double) -> String {
    "(\(text) \(isMet(by: figure) ? "met" : "not met"))"
  }

  /// `≥ 2.5`
  public var text: String {
    switch self {
    case .atLeast(let bound): "≥ \(Figures.plain(bound))"
    case .atMost(let bound): "≤ \(Figures.plain(bound))"
    }
  }
}

/// The goal of one figure of a line.
public struct ResultGoal: Codable, Equatable, Sendable {
  /// The subject of the goal.
  public enum Measure: String, Codable, Sendable {
    /// The line's own figure; against a peer, how many times as good it is.
    case figure
    /// Bytes on disk, over the raw bytes or over a peer's.
    case size
    /// The growth of anonymous memory, in MiB.
    case memory
  }

  public let measure: Measure
  /// The engine it is to be compared with, if any.
  public let peer: String?
  private let least: Double?
  private let most: Double?

  public init(_ goal: Goal, on measure: Measure = .figure, against peer: String? = nil) {
    self.measure = measure
    self.peer = peer
    switch goal {
    case .atLeast(let bound): (least, most) = (bound, nil)
    case .atMost(let bound): (least, most) = (nil, bound)
    }
  }

  /// Nil if a line of a file has no bound.
  var goal: Goal? {
    least.map { Goal.atLeast($0) } ?? most.map { Goal.atMost($0) }
  }
}
