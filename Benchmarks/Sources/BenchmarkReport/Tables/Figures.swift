/// Numbers as people read them.
public enum Figures {
  /// `12,345`
  public static func grouped(_ value: Int) -> String {
    let digits = String(value.magnitude)
    var text = ""
    for (index, digit) in digits.enumerated() {
      if index > 0 && (digits.count - index) % 3 == 0 { text += "," }
      text.append(digit)
    }
    return value < 0 ? "-" + text : text
  }

  /// `12.34` with two places, rounded. Numbers that no `Int` holds are shown as Swift does.
  public static func decimal(_ value: Double, places: Int) -> String {
    let scale = (0..<places).reduce(1) { scale, _ in scale * 10 }
    guard let scaled = Int(exactly: (value * Double(scale)).rounded()) else { return "\(value)" }
    guard places > 0 else { return grouped(scaled) }
    let fraction = String(scaled.magnitude % scale.magnitude)
    let zeros = String(repeating: "0", count: places - fraction.count)
    let sign = scaled < 0 && scaled / scale == 0 ? "-" : ""
    return sign + grouped(scaled / scale) + "." + zeros + fraction
  }

  /// `0.00123`, `0.123`, `1.23`, `12.3`, `123`, `12,345`: three digits at least.
  public static func short(_ value: Double) -> String {
    let places =
      switch value.magnitude {
      case ..<0.001: 6
      case ..<0.01: 5
      case ..<0.1: 4
      case ..<1: 3
      case ..<10: 2
      case ..<100: 1
      default: 0
      }
    return decimal(value, places: places)
  }

  /// `3`, `2.5`, `0.333`: no more places than it has, and three at most unless it is small.
  public static func plain(_ value: Double) -> String {
    if let whole = Int(exactly: value) { return grouped(whole) }
    return "\(value < 0.01 ? value : (value * 1_000).rounded() / 1_000)"
  }

  /// `92.4`, `925`, `12,345`: three digits at least.
  public static func nanoseconds(_ value: Double) -> String {
    decimal(value, places: value < 100 ? 1 : 0)
  }

  /// `11.5 MiB`
  public static func mebibytes(_ bytes: Int) -> String {
    decimal(Double(bytes) / Double(1 << 20), places: 1) + " MiB"
  }
}
