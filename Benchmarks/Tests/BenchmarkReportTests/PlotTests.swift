import Testing

@testable import BenchmarkReport

@Suite struct `A plot` {
  private func plot(_ name: String, of lines: [ResultLine] = everything) throws -> Plot {
    try #require(report(lines).plots.first { $0.fileName == name })
  }

  private func bars(_ plot: Plot) throws -> [DrawnElement] {
    try #require(drawnElements(of: plot.svg)).filter { $0.attributes["class"] == "bar" }
  }

  private func texts(_ plot: Plot) throws -> [DrawnElement] {
    try #require(drawnElements(of: plot.svg)).filter { $0.name == "text" }
  }

  @Test func `is there for each thing that is measured`() {
    let names = report(everything).plots.map(\.fileName)
    #expect(
      names == [
        "throughput.svg", "throughput-tree-read.svg", "throughput-commit-durable.svg",
        "throughput-migrate-durable.svg", "throughput-scale-durable.svg", "migration.svg",
        "scale.svg", "latency-commit-1-000-000-entries-durable.svg",
      ])
  }

  @Test func `is well-formed, whatever the names in it`() throws {
    let odd = everything.map { line in
      line.with { $0.setting += " <\"&'>\u{1}\u{0}|" }
    }
    for plot in report(everything).plots + report(odd).plots {
      #expect(drawnElements(of: plot.svg) != nil, "\(plot.fileName)")
    }
  }

  @Test func `that is torn would be found`() {
    for torn in ["<svg><rect></svg>", "<svg><text>a & b</text></svg>", "<svg x=\"<\"/>", "<svg>"] {
      #expect(drawnElements(of: torn) == nil, "\(torn)")
    }
  }

  @Test func `has a white background, and labels in a font that is everywhere`() throws {
    for plot in report(everything).plots {
      let elements = try #require(drawnElements(of: plot.svg))
      #expect(elements[0].attributes["font-family"] == "sans-serif")
      let background = try #require(elements.first { $0.name == "rect" })
      #expect(background.attributes["fill"] == "#ffffff")
      #expect(background.attributes["width"] == "100%")
    }
  }

  @Test func `says what, on what, and in which durability class`() {
    for plot in report(everything).plots {
      #expect(plot.svg.contains("A Processor &amp; Sons &lt;2&gt;"), "\(plot.fileName)")
      #expect(plot.svg.lowercased().contains("durability class"), "\(plot.fileName)")
    }
  }

  @Test func `of speeds has bars as long as the speeds, Cambium's first`() throws {
    let bars = try bars(plot("throughput-tree-read.svg"))
    // 400, 200 and 100 operations a second.
    try #require(bars.count == 3)
    #expect(abs(bars[0].number("width") / bars[1].number("width") - 2) < 0.01)
    #expect(abs(bars[0].number("width") / bars[2].number("width") - 4) < 0.01)
    #expect(Set(bars.map { $0.number("x") }).count == 1)
  }

  @Test func `of speeds has each figure beside its bar`() throws {
    let texts = try texts(plot("throughput-tree-read.svg"))
    for text in ["Cambium", "400 /s", "LMDB", "200 /s", "SQLite", "100 /s"] {
      #expect(texts.contains { $0.text == text }, "\(text)")
    }
  }

  @Test func `of speeds has Cambium in colour, and peers in grey`() throws {
    let colors = try bars(plot("throughput-tree-read.svg")).map { $0.attributes["fill"] }
    #expect(colors[0] == Palette.color(of: "cambium"))
    #expect(colors[1] == colors[2])
    #expect(colors[1] != colors[0])
  }

  @Test func `of a peer a thousand times as fast has a bar of Cambium's all the same`() throws {
    let lines: [ResultLine] = [.sample("cambium", rate: 1), .sample("lmdb", rate: 100_000)]
    let bars = try bars(plot("throughput-tree-read.svg", of: lines))
    try #require(bars.count == 2)
    #expect(bars[0].number("width") >= 1)
  }

  @Test func `of everything has the panels that there are figures for, and no limits`() throws {
    let overview = try plot("throughput.svg")
    let titles = try texts(overview).map(\.text)
    for panel in ["Write", "Read", "Migrate"] { #expect(titles.contains(panel), "\(panel)") }
    #expect(!titles.contains("Query"))
    #expect(!overview.svg.contains("(limit)"))
  }

  @Test func `cuts no label off`() throws {
    let long = everything.map { line in
      line.with {
        $0.setting += ", 1 thread, 1,000 a transaction, ascending keys, 1,000,000 into 0"
      }
    }
    for plot in report(everything).plots + report(long).plots {
      let width = try #require(drawnElements(of: plot.svg))[0].number("width")
      for text in try texts(plot) where text.attributes["transform"] == nil {
        let (start, end) = text.extent
        #expect(start >= 0 && end <= width, "\(plot.fileName): \(text.text)")
      }
    }
  }

  @Test func `names workloads in words, and engines as their makers do`() throws {
    let migration = try texts(plot("migration.svg")).map(\.text)
    #expect(migration.first == "Make a field required: records a second")
    #expect(migration.contains("Cambium") && !migration.contains("cambium"))
    let speeds = try texts(plot("throughput-migrate-durable.svg")).map(\.text)
    #expect(speeds.first == "Migrations: speed by engine, durable")
    #expect(speeds.contains("Make a field required") && !speeds.contains("require"))
    let unknown = ["cambium", "lmdb"].map {
      ResultLine.sample($0, rate: 1, part: "new", workload: "odd")
    }
    let drawn = try texts(plot("throughput-new-read.svg", of: unknown))
    #expect(drawn.contains { $0.text == "Odd" })
  }

  @Test func `of speeds says which bar is no engine's but a limit`() throws {
    let svg = try plot("throughput-migrate-durable.svg").svg
    #expect(svg.contains(">disk (limit)<"))
    #expect(!svg.contains("sqlite (limit)"))
  }

  @Test func `of migrations has a line for each engine, and a dashed one for the disk`() throws {
    let elements = try #require(drawnElements(of: try plot("migration.svg").svg))
    let lines = elements.filter { $0.attributes["class"] == "line" }
    #expect(lines.count == 3)
    #expect(lines.count { $0.attributes["stroke-dasharray"] != nil } == 1)
    #expect(elements.count { $0.name == "circle" } == 9)
    // The same speed at each size is a level line.
    let heights = lines[0].attributes["points"]?.split(separator: " ").map {
      $0.split(separator: ",")[1]
    }
    #expect(Set(heights ?? []).count == 1)
  }

  @Test func `over sizes has a panel for each figure, in each a line for each engine that has it`()
    throws
  {
    let plot = try plot("scale.svg")
    let titles = try texts(plot).filter { $0.attributes["font-weight"] == "bold" }.map(\.text)
    #expect(
      titles == [
        "Random keys, as a store grows", "Speed", "99 of 100 batches took no longer",
        "999 of 1,000 batches took no longer", "Written to the disk", "On disk at the end",
        "Memory asked for",
      ])
    let elements = try #require(drawnElements(of: plot.svg))
    let lines = elements.filter { $0.attributes["class"] == "line" }
    // Three engines in six panels, but for the one figure that one of them lacks.
    #expect(lines.count == 17)
    #expect(lines.count { $0.attributes["stroke"] == Palette.color(of: "lmdb") } == 5)
    // In the legend each engine is named once.
    #expect(elements.count { $0.attributes["class"] == "key" } == 3)
    // The same speed at each size is a level line, and three sizes are three points of it.
    for line in lines {
      let points = try #require(line.attributes["points"]).split(separator: " ")
      #expect(points.count == 3)
      #expect(Set(points.map { $0.split(separator: ",")[1] }).count == 1)
    }
  }

  @Test func `over sizes has six panels that do not overlap, and each point in one of them`() throws
  {
    let drawn = try #require(drawnElements(of: plot("scale.svg").svg))
    // The lines of the grid are as wide and as high as their panel.
    let grid = drawn.filter { $0.name == "line" }
    func extents(_ start: String, _ end: String) -> [ClosedRange<Double>] {
      Set(grid.map { [$0.number(start), $0.number(end)] }).filter { $0[0] < $0[1] }
        .map { $0[0]...$0[1] }.sorted { $0.lowerBound < $1.lowerBound }
    }
    let columns = extents("x1", "x2")
    let rows = extents("y1", "y2")
    #expect(columns.count * rows.count == 6)
    for ranges in [columns, rows] {
      #expect(zip(ranges, ranges.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound })
    }
    let dots = drawn.filter { $0.name == "circle" }
    #expect(dots.count == 51)
    for dot in dots {
      #expect(columns.contains { $0.contains(dot.number("cx")) })
      #expect(rows.contains { $0.contains(dot.number("cy")) })
    }
  }

  @Test(arguments: ["migrate": "migration.svg", "scale": "scale.svg"])
  func `of one size is none`(part: String, file: String) throws {
    let least = try #require(everything.filter { $0.part == part }.map(\.count).min())
    let one = everything.filter { $0.part == part && $0.count == least }
    #expect(!report(one).plots.contains { $0.fileName == file })
    #expect(report(everything).plots.contains { $0.fileName == file })
  }

  @Test func `of lines has the same colour for an engine as every other one`() throws {
    let plots = report(everything).plots.filter { $0.fileName == "migration.svg" }
    try #require(plots.count == 1)
    for plot in plots {
      #expect(plot.svg.contains(">SQLite<"))
      #expect(plot.svg.contains("fill=\"\(Palette.color(of: "sqlite"))\""), "\(plot.fileName)")
    }
    let colors = ["cambium", "lmdb", "sqlite", "rocksdb", "grdb", "json", "files", "zstd"]
      .map(Palette.color)
    #expect(Set(colors).count == colors.count)
  }
}
