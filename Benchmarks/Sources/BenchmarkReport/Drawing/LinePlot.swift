/// Lines for each engine, in one panel over the whole width or several in two columns, with one legend.
struct LinePlot {
  let title: String
  /// A second line, fainter.
  var subtitle = ""
  /// The subject, the machine and the durability class: lines below the plot.
  let caption: [String]
  let panels: [LinePanel]

  private static let width = 900.0
  private static let top = 92.0

  var drawing: SVGDrawing {
    let frames = frames
    let bottom = frames.map(\.bottom).max() ?? Self.top
    let height = bottom + 54 + Double(caption.count) * 16
    var drawing = SVGDrawing(width: Self.width, height: height, title: "\(title): \(subtitle)")
    drawing.text(title, at: (16, 26), size: 17, isBold: true)
    drawing.text(subtitle, at: (16, 44), size: 12, color: Palette.faint)
    let lines = panels.flatMap(\.lines)
    Legend(
      engines: lines.map(\.engine).withoutRepetition,
      limits: Set(lines.filter(\.isLimit).map(\.engine))
    ).draw(in: &drawing, at: (16, 66), width: Self.width - 32)
    for (panel, frame) in zip(panels, frames) { panel.draw(in: &drawing, frame) }
    drawing.drawCaption(caption, below: bottom + 46)
    return drawing
  }

  private var frames: [LinePanel.Frame] {
    if panels.count == 1 {
      return [LinePanel.Frame(left: 90, right: 870, top: Self.top, bottom: 454)]
    }
    return panels.indices.map { place in
      let left = 90 + Double(place % 2) * 440
      let top = Self.top + 24 + Double(place / 2) * 270
      return LinePanel.Frame(left: left, right: left + 340, top: top, bottom: top + 190)
    }
  }
}
