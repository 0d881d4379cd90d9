import Cambium

/// Numbers as people read them.
enum Figures {
  /// Digits in groups of three.
  static func count(_ value: Int) -> String { grouped("\(value)") }
  static func count(_ value: UInt64) -> String { grouped("\(value)") }

  private static func grouped(_ digits: String) -> String {
    var text = ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0, text != "-" { text.append(",") }
      text.append(digit)
    }
    return text
  }

  /// "1.5 MiB".
  static func size(_ bytes: Int) -> String { bytes.byteText }

  /// "36.0 KiB → 28.0 KiB"; the difference if both have the same text.
  static func change(_ before: Int, _ after: Int) -> String {
    let (old, new) = (size(before), size(after))
    if old != new { return "\(old) → \(new)" }
    if before == after { return "\(new), as before" }
    return "\(new), \(size(abs(before - after))) \(after < before ? "less" : "more") than before"
  }

  /// One digit after the decimal point.
  static func decimal(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }

  static func share(_ share: Double) -> String { "\(decimal(share * 100)) %" }

  static func time(_ duration: Duration) -> String {
    let seconds = duration / .seconds(1)
    if seconds < 1 { return "\(Int(seconds * 1000)) ms" }
    if seconds < 120 { return "\(decimal(seconds)) s" }
    return "\(Int(seconds) / 60) min \(Int(seconds) % 60) s"
  }

  /// "1 record", "2 records".
  static func count(_ value: Int, _ thing: String) -> String {
    "\(count(value)) \(thing)\(value == 1 ? "" : "s")"
  }
}
