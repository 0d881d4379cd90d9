/// Speeds as bars in groups, in panels: Cambium in colour, the others in grey.
///
/// The bars of a group are to scale, from zero; each group has a scale of its own, because a commit and a scan differ by
/// three powers of ten. So each bar has its figure beside it, and there is no axis.
struct SpeedPlot {
  struct Bar {
    let engine: String
    let role: EngineRole
    let value: Double
    /// The figure, with its unit.
    let label: String
  }

  struct Group {
    let label: String
    /// A second line, fainter.
    let detail: String
    let bars: [Bar]
  }

  struct Panel {
    let title: String
    let groups: [Group]
  }

  let title: String
  /// The machine and the durability class: lines below the plot.
  let caption: [String]
  /// Two to a row.
  let panels: [Panel]

  private static let margin = 16.0
  private static let gutter = 32.0
  private static let barHeight = 14.0
  private static let groupHead = 31.0
  private static let groupGap = 13.0

  private var groups: [Group] { panels.flatMap(\.groups) }

  /// The width of the widest of the strings that `text` makes of the bars.
  private func widest(_ text: (Bar) -> String) -> Double {
    groups.flatMap(\.bars).map {
      SVGDrawing.width(of: text($0), size: 11, isBold: $0.role == .own)
    }.max() ?? 0
  }

  private var nameWidth: Double { widest(Self.name) + 8 }
  private var figureWidth: Double { widest(\.label) + 6 }

  private var panelWidth: Double {
    let details = groups.map { SVGDrawing.width(of: $0.detail, size: 10) }.max() ?? 0
    return max(470, details, nameWidth + figureWidth + 200)
  }

  /// The width of the title or of the widest line of the caption.
  private var textWidth: Double {
    (caption.map { SVGDrawing.width(of: $0, size: 11) }
      + [SVGDrawing.width(of: title, size: 17, isBold: true)]).max() ?? 0
  }

  private func height(of panel: Panel) -> Double {
    panel.groups.reduce(panel.title.isEmpty ? 0 : 26) {
      $0 + Self.groupHead + Double($1.bars.count) * Self.barHeight + Self.groupGap
    }
  }

  var drawing: SVGDrawing {
    let columns = min(panels.count, 2)
    let panelsWidth = Double(columns) * panelWidth + Double(columns - 1) * Self.gutter
    let width = 2 * Self.margin + max(panelsWidth, textWidth)
    let rows = stride(from: 0, to: panels.count, by: 2).map {
      panels[$0..<min($0 + 2, panels.count)]
    }
    let heights = rows.map { $0.map(height).max() ?? 0 }
    let top = 48.0
    let bottom = heights.reduce(top) { $0 + $1 + 8 }
    var drawing = SVGDrawing(
      width: width, height: bottom + 14 + Double(caption.count) * 16, title: title)
    drawing.text(title, at: (Self.margin, 26), size: 17, isBold: true)
    var y = top
    for (row, height) in zip(rows, heights) {
      for (column, panel) in row.enumerated() {
        draw(
          panel, at: (Self.margin + Double(column) * (panelWidth + Self.gutter), y), in: &drawing)
      }
      y += height + 8
    }
    drawing.drawCaption(caption, below: bottom)
    return drawing
  }

  private func draw(_ panel: Panel, at start: (x: Double, y: Double), in drawing: inout SVGDrawing)
  {
    var y = start.y
    if !panel.title.isEmpty {
      drawing.text(panel.title, at: (start.x, y + 12), size: 14, isBold: true)
      drawing.line(
        from: (start.x, y + 18), to: (start.x + panelWidth, y + 18), color: Palette.grid)
      y += 26
    }
    for group in panel.groups {
      drawing.text(group.label, at: (start.x, y + 12), size: 12, isBold: true)
      drawing.text(group.detail, at: (start.x, y + 25), size: 10, color: Palette.faint)
      y += Self.groupHead
      for bar in group.bars {
        draw(bar, of: group, at: (start.x, y), in: &drawing)
        y += Self.barHeight
      }
      y += Self.groupGap
    }
  }

  private func draw(
    _ bar: Bar, of group: Group, at start: (x: Double, y: Double), in drawing: inout SVGDrawing
  ) {
    let isOwn = bar.role == .own
    let most = group.bars.map(\.value).max() ?? 1
    let space = panelWidth - nameWidth - figureWidth
    let x = start.x + nameWidth
    let width = max(bar.value / most * space, 1)
    drawing.text(
      Self.name(bar), at: (x - 6, start.y + 10), size: 11, anchor: .end, isBold: isOwn)
    drawing.box(
      x: x, y: start.y + (bar.role == .limit ? 4 : 0), width: width,
      height: bar.role == .limit ? 4 : Self.barHeight - 3, color: Palette.emphasis(of: bar.engine),
      kind: "bar", tip: "\(group.label), \(bar.engine): \(bar.label)")
    drawing.text(bar.label, at: (x + width + 5, start.y + 10), size: 11, isBold: isOwn)
  }

  private static func name(_ bar: Bar) -> String {
    Palette.name(of: bar.engine) + (bar.role == .limit ? " (limit)" : "")
  }
}
