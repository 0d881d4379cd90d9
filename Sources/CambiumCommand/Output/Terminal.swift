#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The terminal that shows the output of the command, if there is one.
enum Terminal {
  /// True if standard output is a terminal.
  static let isOutput = isatty(1) == 1

  /// True if standard output is a terminal that shows colours.
  static let hasColour = isOutput && variable("NO_COLOR") == nil && variable("TERM") != "dumb"

  /// True if standard error is a terminal, on which progress can be shown.
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
enum Style: String, CaseIterable {
  case bold = "1"
  case green = "32"
  case red = "31"
  case faint = "2"

  func callAsFunction(_ text: String) -> String {
    Terminal.hasColour ? "\(beginning)\(text)\(Self.end)" : text
  }

  private var beginning: String { "\u{1b}[\(rawValue)m" }
  private static let end = "\u{1b}[0m"

  /// The sequence that begins or ends a style at the beginning of a text; nil if nothing does.
  static func prefix(of text: Substring.UnicodeScalarView) -> String? {
    guard text.first == "\u{1b}", Terminal.hasColour else { return nil }
    return (allCases.map(\.beginning) + [end]).first { text.starts(with: $0.unicodeScalars) }
  }
}

/// How far something is, on a terminal; nothing in a pipe.
final class ProgressBar {
  private let clock = ContinuousClock()
  private var shown: ContinuousClock.Instant?
  private var isVisible = false

  /// - Parameters:
  ///   - fraction: From 0 to 1; nil if unknown.
  ///   - text: The work under way.
  func show(_ fraction: Double?, _ text: @autoclosure () -> String) {
    guard Terminal.showsProgress else { return }
    let now = clock.now
    if let shown, shown.duration(to: now) < .milliseconds(100) { return }
    shown = now
    isVisible = true
    StandardError.write("\r\u{1b}[K" + Self.line(fraction, text().inOneLine, width: Terminal.width))
  }

  /// Takes the bar away, so that what follows stands alone.
  func end() {
    if isVisible { StandardError.write("\r\u{1b}[K") }
    isVisible = false
    shown = nil
  }

  static func line(_ fraction: Double?, _ text: String, width: Int) -> String {
    guard let fraction else { return String(text.prefix(max(1, width - 1))) }
    let share = min(1, max(0, fraction))
    let cells = 24
    let filled = Int(share * Double(cells))
    let percent = "\(Int(share * 100))"
    let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: cells - filled)
    let padding = String(repeating: " ", count: 3 - percent.count)
    return String("\(bar) \(padding)\(percent) % \(text)".prefix(max(1, width - 1)))
  }
}
