/// Which colour is which engine's, in one row or several.
struct Legend {
  let engines: [String]
  /// Those that are no engine's, but limits that none can exceed.
  let limits: Set<String>

  /// About, for a text of this size.
  private static let characterWidth = 7.2

  func draw(in drawing: inout SVGDrawing, at start: (x: Double, y: Double), width: Double) {
    var (x, y) = start
    for engine in engines {
      let known = Palette.name(of: engine)
      let name = limits.contains(engine) ? "\(known) (limit)" : known
      let length = 30 + Double(name.count) * Self.characterWidth
      if x + length > start.x + width { (x, y) = (start.x, y + 15) }
      drawing.box(
        x: x, y: y - 9, width: 14, height: limits.contains(engine) ? 3 : 10,
        color: Palette.color(of: engine), kind: "key")
      drawing.text(name, at: (x + 19, y))
      x += length
    }
  }
}

extension SVGDrawing {
  /// Lines of small text at the foot.
  mutating func drawCaption(_ lines: [String], below y: Double) {
    for (index, line) in lines.enumerated() {
      text(line, at: (16, y + 12 + Double(index) * 16), size: 11, color: Palette.faint)
    }
  }
}
