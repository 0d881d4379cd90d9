/// Lines over an axis, in a frame: one for each engine.
struct LinePanel {
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

  /// The place of its axes in the drawing, in pixels; labels are outside of it.
  struct Frame {
    let left: Double
    let right: Double
    let top: Double
    let bottom: Double
  }

  /// Above the frame, where a plot has several panels.
  var title = ""
  let horizontal: Horizontal
  /// The vertical axis, which is logarithmic.
  let verticalLabel: String
  let lines: [Line]

  func draw(in drawing: inout SVGDrawing, _ frame: Frame) {
    let x = Scale(horizontal.kind, horizontal.range, from: frame.left, to: frame.right)
    let y = Scale(
      .logarithmic, .around(lines.flatMap { $0.points.map(\.y) }, margin: 1.5),
      from: frame.bottom, to: frame.top)
    drawing.text(title, at: (frame.left, frame.top - 10), size: 13, isBold: true)
    drawAxes(x, y, in: &drawing, frame)
    for line in lines { draw(line, x, y, in: &drawing) }
  }

  private func drawAxes(_ x: Scale, _ y: Scale, in drawing: inout SVGDrawing, _ frame: Frame) {
    for tick in y.ticks {
      let height = y.position(tick)
      drawing.line(from: (frame.left, height), to: (frame.right, height), color: Palette.grid)
      drawing.text(
        Figures.plain(tick), at: (frame.left - 6, height + 4), size: 11, anchor: .end,
        color: Palette.faint)
    }
    for tick in horizontal.ticks {
      let place = x.position(tick.value)
      drawing.line(from: (place, frame.top), to: (place, frame.bottom), color: Palette.grid)
      drawing.text(
        tick.label, at: (place, frame.bottom + 16), size: 11, anchor: .middle, color: Palette.faint)
    }
    drawing.text(
      horizontal.label, at: ((frame.left + frame.right) / 2, frame.bottom + 35), anchor: .middle)
    drawing.text(
      verticalLabel, at: (frame.left - 72, (frame.top + frame.bottom) / 2), anchor: .middle,
      turn: -90)
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
