/// A picture as SVG: lines, boxes and text on white, so that it can be read on a dark page too.
struct SVGDrawing {
  let width: Double
  let height: Double
  /// For who cannot see it.
  let title: String
  private var elements: [String] = []

  init(width: Double, height: Double, title: String) {
    self.width = width
    self.height = height
    self.title = title
  }

  /// About the width of a text, in a wide font: an SVG has no say in which one a reader has.
  static func width(of text: String, size: Double, isBold: Bool = false) -> Double {
    Double(text.count) * size * (isBold ? 0.72 : 0.61)
  }

  /// Where a text's position is: at its start, its middle or its end.
  enum Anchor: String {
    case start, middle, end
  }

  var text: String {
    let size = "width=\"\(Self.number(width))\" height=\"\(Self.number(height))\""
    let box = "viewBox=\"0 0 \(Self.number(width)) \(Self.number(height))\""
    return """
      <svg xmlns="http://www.w3.org/2000/svg" \(size) \(box) role="img" font-family="sans-serif">
      <title>\(Self.escaped(title))</title>
      <rect width="100%" height="100%" fill="#ffffff"/>
      \(elements.joined(separator: "\n"))
      </svg>

      """
  }

  mutating func box(
    x: Double, y: Double, width: Double, height: Double, color: String, kind: String,
    tip: String? = nil
  ) {
    let place = "x=\"\(Self.number(x))\" y=\"\(Self.number(y))\""
    let size = "width=\"\(Self.number(width))\" height=\"\(Self.number(height))\""
    let tip = tip.map { "<title>\(Self.escaped($0))</title>" } ?? ""
    elements.append(
      "<rect class=\"\(Self.escaped(kind))\" \(place) \(size) fill=\"\(color)\">\(tip)</rect>")
  }

  mutating func line(
    from start: (x: Double, y: Double), to end: (x: Double, y: Double), color: String,
    width: Double = 1
  ) {
    let from = "x1=\"\(Self.number(start.x))\" y1=\"\(Self.number(start.y))\""
    let to = "x2=\"\(Self.number(end.x))\" y2=\"\(Self.number(end.y))\""
    elements.append(
      "<line \(from) \(to) stroke=\"\(color)\" stroke-width=\"\(Self.number(width))\"/>")
  }

  mutating func path(
    through points: [(x: Double, y: Double)], color: String, isDashed: Bool, kind: String
  ) {
    let list = points.map { "\(Self.number($0.x)),\(Self.number($0.y))" }.joined(separator: " ")
    let dashes = isDashed ? " stroke-dasharray=\"6 4\"" : ""
    elements.append(
      "<polyline class=\"\(Self.escaped(kind))\" points=\"\(list)\" fill=\"none\" stroke=\"\(color)\""
        + " stroke-width=\"2\"\(dashes)/>")
  }

  mutating func dot(at point: (x: Double, y: Double), color: String, tip: String) {
    elements.append(
      "<circle cx=\"\(Self.number(point.x))\" cy=\"\(Self.number(point.y))\" r=\"3.5\""
        + " fill=\"\(color)\"><title>\(Self.escaped(tip))</title></circle>")
  }

  /// - Parameter turn: In degrees, around its position.
  mutating func text(
    _ text: String, at point: (x: Double, y: Double), size: Double = 12, anchor: Anchor = .start,
    color: String = Palette.text, isBold: Bool = false, turn: Double = 0
  ) {
    let (x, y) = (Self.number(point.x), Self.number(point.y))
    let weight = isBold ? " font-weight=\"bold\"" : ""
    let turning = turn == 0 ? "" : " transform=\"rotate(\(Self.number(turn)) \(x) \(y))\""
    elements.append(
      "<text x=\"\(x)\" y=\"\(y)\" font-size=\"\(Self.number(size))\""
        + " text-anchor=\"\(anchor.rawValue)\" fill=\"\(color)\"\(weight)\(turning)>"
        + "\(Self.escaped(text))</text>")
  }

  // MARK: Text of SVG

  /// Tenths of a pixel are enough, and do not change from machine to machine.
  private static func number(_ value: Double) -> String {
    let tenths = (value * 10).rounded() / 10
    return Int(exactly: tenths).map { "\($0)" } ?? "\(tenths)"
  }

  /// The text, escaped for XML. Characters that XML cannot hold are left out.
  static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "\u{0}"..."\u{8}", "\u{B}", "\u{C}", "\u{E}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": continue
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
