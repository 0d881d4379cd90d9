import Glibc

/// What the command talks to.
enum Terminal {
  /// Whether the answer is read by a person, who likes colour.
  static let hasColour = isatty(1) == 1 && variable("NO_COLOR") == nil && variable("TERM") != "dumb"

  /// Whether what is said beside the answer is seen by a person.
  static let showsProgress = isatty(2) == 1 && variable("TERM") != "dumb"

  /// The columns that there are.
  static var width: Int {
    var size = winsize()
    let isKnown = unsafe ioctl(2, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
    return isKnown ? Int(size.ws_col) : 80
  }

  static func variable(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    let text = unsafe String(cString: value)
    return text.isEmpty ? nil : text
  }
}

/// How a piece of text is shown, where there is colour.
enum Style: String {
  case bold = "1"
  case green = "32"
  case red = "31"
  case faint = "2"

  func callAsFunction(_ text: String) -> String {
    Terminal.hasColour ? "\u{1b}[\(rawValue)m\(text)\u{1b}[0m" : text
  }
}
