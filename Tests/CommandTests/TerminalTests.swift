import Testing

/// Differences of the output for people.
@Suite struct TerminalTests {
  private let path: String
  private let stage: Stage

  init() throws {
    stage = try Stage()
    path = try stage.store(.good).path
  }

  @Test func `there is colour on a terminal, and none in a pipe or where it is not wanted`() throws
  {
    let (status, shown) = try PseudoTerminal.run("info", path)
    #expect(status == 0)
    #expect(shown.contains("\u{1b}[1m"))
    #expect(
      try !PseudoTerminal.run("info", path, environment: ["NO_COLOR=1"]).shown.contains("\u{1b}"))
    #expect(try !Command.run("info", path).output.contains("\u{1b}"))
  }

  @Test func `a map on a terminal is a table, not a picture`() throws {
    let (status, shown) = try PseudoTerminal.run("map", path)
    #expect(status == 0)
    #expect(!shown.contains("<svg"))
    for text in ["share", "Item", "garbage", "--output"] {
      #expect(shown.contains(text), "\(shown)")
    }
    // With a file, it is the picture.
    let file = stage.path("map.svg")
    #expect(try PseudoTerminal.run("map", path, "--output", file).shown.isEmpty)
    #expect(try contents(of: file).hasPrefix("<svg"))
  }

  @Test func `the command does not load what takes long to load`() throws {
    // 44 MB of Unicode data come with it.
    let binary = try bytes(of: Command.path)
    #expect(binary.firstRange(of: Array("libFoundationEssentials.so".utf8)) != nil)
    #expect(binary.firstRange(of: Array("libFoundation.so".utf8)) == nil)
  }

  @Test func `there is a progress bar on a terminal, and none in a pipe`() throws {
    let shown = try PseudoTerminal.run("check", "--deep", path).shown
    #expect(shown.contains("%"))
    // It is taken away again.
    #expect(shown.contains("\r\u{1b}[K"))
    #expect(try Command.run("check", "--deep", path).error.isEmpty)
    let file = stage.path("export")
    #expect(try PseudoTerminal.run("export", path, "--output", file).shown.contains("░"))
    #expect(try Command.run("export", path, "--output", file, "--force").error.isEmpty)
  }
}
