/// Bars in groups, from left to right; each group has a label, and each bar an engine's colour.
struct BarPlot {
  struct Bar {
    let engine: String
    let value: Double
    /// What stands at its end.
    let label: String
  }

  struct Group {
    let label: String
    /// A second line, fainter.
    let detail: String
    let bars: [Bar]
  }

  let title: String
  let axisLabel: String
  /// What is shown, on what, and in which durability class: lines below the plot.
  let caption: [String]
  let kind: Scale.Kind
  let range: ClosedRange<Double>
  /// The value at which bars begin, and what it is called.
  let baseline: (value: Double, label: String, color: String)
  let groups: [Group]
  /// The engines that are none, but what no engine can be faster than.
  var limits: Set<String> = []

  private static let left = 350.0
  private static let right = 940.0
  private static let width = 1020.0
  private static let top = 78.0
  private static let barHeight = 13.0
  private static let gap = 12.0

  /// Two lines of text have room, however few bars there are.
  private func height(of group: Group) -> Double {
    max(Double(group.bars.count) * Self.barHeight, 28)
  }

  private var bottom: Double {
    groups.reduce(Self.top) { $0 + height(of: $1) + Self.gap }
  }

  var drawing: SVGDrawing {
    let height = bottom + 50 + Double(caption.count) * 16
    var drawing = SVGDrawing(width: Self.width, height: height, title: title)
    drawing.text(title, at: (16, 26), size: 17, isBold: true)
    Legend(engines: groups.flatMap { $0.bars.map(\.engine) }.withoutRepetition, limits: limits)
      .draw(in: &drawing, at: (16, 50), width: Self.width - 32)
    let scale = Scale(kind, range, from: Self.left, to: Self.right)
    drawAxis(scale, in: &drawing)
    drawGroups(scale, in: &drawing)
    drawing.drawCaption(caption, below: bottom + 44)
    return drawing
  }

  private func drawAxis(_ scale: Scale, in drawing: inout SVGDrawing) {
    for tick in scale.ticks {
      let x = scale.position(tick)
      drawing.line(from: (x, Self.top), to: (x, bottom), color: Palette.grid)
      drawing.text(
        Figures.plain(tick), at: (x, bottom + 15), size: 11, anchor: .middle, color: Palette.faint)
    }
    let middle = (Self.left + Self.right) / 2
    drawing.text(axisLabel, at: (middle, bottom + 32), anchor: .middle)
    let x = scale.position(baseline.value)
    drawing.line(from: (x, Self.top - 4), to: (x, bottom), color: baseline.color, width: 2)
    drawing.text(
      baseline.label, at: (x, Self.top - 8), size: 11, anchor: .middle, color: baseline.color,
      isBold: true)
  }

  private func drawGroups(_ scale: Scale, in drawing: inout SVGDrawing) {
    var y = Self.top + Self.gap / 2
    for group in groups {
      drawing.text(group.label, at: (Self.left - 10, y + 11), anchor: .end)
      drawing.text(
        group.detail, at: (Self.left - 10, y + 24), size: 10, anchor: .end, color: Palette.faint)
      for (index, bar) in group.bars.enumerated() {
        draw(bar, of: group, at: y + Double(index) * Self.barHeight, scale, in: &drawing)
      }
      y += height(of: group) + Self.gap
    }
  }

  private func draw(
    _ bar: Bar, of group: Group, at y: Double, _ scale: Scale, in drawing: inout SVGDrawing
  ) {
    let (start, end) = (scale.position(baseline.value), scale.position(bar.value))
    drawing.box(
      x: min(start, end), y: y, width: abs(end - start), height: Self.barHeight - 2,
      color: Palette.color(of: bar.engine), kind: "bar",
      tip: "\(group.label), \(bar.engine): \(bar.label)")
    let isLeft = end < start
    drawing.text(
      bar.label, at: (isLeft ? end - 4 : end + 4, y + 9.5), size: 10, anchor: isLeft ? .end : .start
    )
  }
}
