/// Lines over an axis: one for each engine.
struct LinePlot {
  struct Line {
    let engine: String
    /// The limit of all engines: dashed.
    let isLimit: Bool
    let points: [(x: Double, y: Double)]
  }

  /// The horizontal axis.
  struct Horizontal {
    let label: String
    let kind: Scale.Kind
    let range: ClosedRange<Double>
    let ticks: [(value: Double, label: String)]
  }

  let title: String
  /// A second line, fainter.
  var subtitle = ""
  let horizontal: Horizontal
  /// The vertical axis, which is logarithmic.
  let verticalLabel: String
  /// The subject, the machine and the durability class: lines below the plot.
  let caption: [String]
  let lines: [Line]

  private static let width = 900.0
  private static let left = 90.0
  private static let right = 870.0
  private static let top = 92.0
  private static let bottom = 454.0

  var drawing: SVGDrawing {
    let height = Self.bottom + 54 + Double(caption.count) * 16
    var drawing = SVGDrawing(width: Self.width, height: height, title: "\(title): \(subtitle)")
    drawing.text(title, at: (16, 26), size: 17, isBold: true)
    drawing.text(subtitle, at: (16, 44), size: 12, color: Palette.faint)
    Legend(engines: lines.map(\.engine), limits: Set(lines.filter(\.isLimit).map(\.engine)))
      .draw(in: &drawing, at: (16, 66), width: Self.width - 32)
    let x = Scale(horizontal.kind, horizontal.range, from: Self.left, to: Self.right)
    let y = Scale(
      .logarithmic, .around(lines.flatMap { $0.points.map(\.y) }, margin: 1.5),
      from: Self.bottom, to: Self.top)
    drawAxes(x, y, in: &drawing)
    for line in lines { draw(line, x, y, in: &drawing) }
    drawing.drawCaption(caption, below: Self.bottom + 46)
    return drawing
  }

  private func drawAxes(_ x: Scale, _ y: Scale, in drawing: inout SVGDrawing) {
    for tick in y.ticks {
      let height = y.position(tick)
      drawing.line(from: (Self.left, height), to: (Self.right, height), color: Palette.grid)
      drawing.text(
        Figures.plain(tick), at: (Self.left - 6, height + 4), size: 11, anchor: .end,
        color: Palette.faint)
    }
    for tick in horizontal.ticks {
      let place = x.position(tick.value)
      drawing.line(from: (place, Self.top), to: (place, Self.bottom), color: Palette.grid)
      drawing.text(
        tick.label, at: (place, Self.bottom + 16), size: 11, anchor: .middle, color: Palette.faint)
    }
    drawing.text(
      horizontal.label, at: ((Self.left + Self.right) / 2, Self.bottom + 35), anchor: .middle)
    drawing.text(
      verticalLabel, at: (18, (Self.top + Self.bottom) / 2), anchor: .middle, turn: -90)
  }

  private func draw(_ line: Line, _ x: Scale, _ y: Scale, in drawing: inout SVGDrawing) {
    let color = Palette.color(of: line.engine)
    let places = line.points.map { (x: x.position($0.x), y: y.position($0.y)) }
    drawing.path(through: places, color: color, isDashed: line.isLimit, kind: "line")
    for (point, place) in zip(line.points, places) {
      drawing.dot(at: place, color: color, tip: "\(line.engine): \(Figures.short(point.y))")
    }
  }
}
