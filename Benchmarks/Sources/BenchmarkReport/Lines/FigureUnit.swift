/// The unit of a figure.
public enum FigureUnit: String, Codable, Sendable {
  /// Operations.
  case perSecond = "/s"
  case mebibytesPerSecond = "MiB/s"
  /// As many times something measured beside it.
  case times = "×"
  /// A time, over a time measured beside it.
  case timesAsLong = "× as long"
  case milliseconds = "ms"
  case microseconds = "µs"
  case nanoseconds = "ns"
  case mebibytes = "MiB"
  case kibibytes = "KiB"

  /// True if a larger figure is the better one.
  public var prefersMore: Bool {
    switch self {
    case .perSecond, .mebibytesPerSecond, .times: true
    case .timesAsLong, .milliseconds, .microseconds, .nanoseconds, .mebibytes, .kibibytes: false
    }
  }

  /// How many times as good `figure` is as `other`.
  func ratio(of figure: Double, to other: Double) -> Double {
    prefersMore ? figure / other : other / figure
  }
}
