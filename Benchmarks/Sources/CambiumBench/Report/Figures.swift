/// Numbers as people read them.
enum Figures {
  /// `12,345`
  static func grouped(_ value: Int) -> String {
    let digits = String(value.magnitude)
    var text = ""
    for (index, digit) in digits.enumerated() {
      if index > 0 && (digits.count - index) % 3 == 0 { text += "," }
      text.append(digit)
    }
    return value < 0 ? "-" + text : text
  }

  /// `12.34` with two places, rounded.
  static func decimal(_ value: Double, places: Int) -> String {
    let scale = (0..<places).reduce(1) { scale, _ in scale * 10 }
    let scaled = Int((value * Double(scale)).rounded())
    guard places > 0 else { return grouped(scaled) }
    let fraction = String(scaled.magnitude % scale.magnitude)
    let zeros = String(repeating: "0", count: places - fraction.count)
    return grouped(scaled / scale) + "." + zeros + fraction
  }

  /// `92.4`, `925`, `12,345`: three digits at least.
  static func nanoseconds(_ value: Double) -> String {
    decimal(value, places: value < 100 ? 1 : 0)
  }

  /// `11.5 MiB`
  static func mebibytes(_ bytes: Int) -> String {
    decimal(Double(bytes) / Double(1 << 20), places: 1) + " MiB"
  }
}
