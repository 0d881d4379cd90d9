/// Numbers as people read them.
enum Figures {
  /// Returns digits in groups of three: "1,234".
  static func count(_ value: some BinaryInteger) -> String {
    let digits = "\(value)"
    var text = ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0, text != "-" { text.append(",") }
      text.append(digit)
    }
    return text
  }

  /// Returns a number and a noun: "1 record", "2 records".
  static func count(_ value: some BinaryInteger, _ thing: String) -> String {
    "\(count(value)) \(thing)\(value == 1 ? "" : "s")"
  }

  /// Returns a number of bytes in the unit that fits: "1.5 MiB".
  static func size(_ bytes: Int) -> String {
    var (value, unit) = (Double(bytes), "bytes")
    for larger in ["KiB", "MiB", "GiB", "TiB"] where value >= 1024 {
      (value, unit) = (value / 1024, larger)
    }
    return unit == "bytes" ? "\(count(bytes)) bytes" : "\(decimal(value)) \(unit)"
  }

  /// Returns a share from 0 to 1: "12.5 %".
  static func share(_ share: Double) -> String { "\(decimal(share * 100)) %" }

  /// Returns a number with one digit after the point.
  static func decimal(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}
