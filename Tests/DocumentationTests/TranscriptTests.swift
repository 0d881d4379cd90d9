import Foundation
import Testing

/// The terminal sessions in articles have the output of the command.
@Suite struct TranscriptTests {
  private static let articles = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Sources/Cambium/Cambium.docc")

  /// The articles that have sessions.
  static let names = [
    "Backups.md", "FirstStore.md", "ReleasingAVersion.md", "WhenSomethingGoesWrong.md",
  ]

  /// With `CAMBIUM_RECORD=1` the article is written again, with the output of now. Read the difference before you commit it.
  @Test(arguments: names)
  func `the command says what the sessions of an article print`(name: String) throws {
    let file = Self.articles.appending(path: name)
    let transcript = Transcript(try String(contentsOf: file, encoding: .utf8))
    #expect(!transcript.blocks.isEmpty, "\(name) has no sessions")
    let terminal = try Terminal()
    defer { terminal.remove() }
    var outputs: [[[String]]] = []
    for block in transcript.blocks {
      if let stage = block.stage { try Stage.named(stage).set(in: terminal.directory) }
      outputs.append(try block.steps.map { Transcript.shortened(try terminal.run($0.command)) })
    }
    if ProcessInfo.processInfo.environment["CAMBIUM_RECORD"] == "1" {
      try transcript.article(with: outputs).write(to: file, atomically: true, encoding: .utf8)
      return
    }
    let faults = zip(transcript.blocks, outputs).flatMap { Transcript.faults(of: $0, $1) }
    #expect(faults.isEmpty, "\(name):\n\(faults.joined(separator: "\n\n"))")
  }

  @Test func `every article with a session is compared`() throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: Self.articles.path)
    let found = try files.filter { $0.hasSuffix(".md") }.filter { name in
      let file = Self.articles.appending(path: name)
      return !Transcript(try String(contentsOf: file, encoding: .utf8)).blocks.isEmpty
    }
    #expect(found.sorted() == Self.names)
  }

  @Test func `a session is read, compared and recorded`() {
    let article = """
      <!-- stage: shop -->
      ```console
      $ echo a
      a
      $ false
      [status 1]
      ```
      """
    let transcript = Transcript(article)
    let block = transcript.blocks[0]
    #expect(block.stage == "shop")
    #expect(block.steps.map(\.command) == ["echo a", "false"])
    #expect(block.steps.map(\.output) == [["a"], ["[status 1]"]])
    #expect(Transcript.faults(of: block, [["a"], ["[status 1]"]]).isEmpty)
    #expect(
      Transcript.faults(of: block, [["b"], ["[status 1]"]])
        == ["$ echo a\nthe article has:\na\nthe command says:\nb"])
    // No output of the second is printed, so only its status counts.
    #expect(Transcript.faults(of: block, [["a"], ["no", "[status 1]"]]).isEmpty)
    #expect(Transcript.faults(of: block, [["a"], ["no"]]).count == 1)
    #expect(transcript.article(with: [[["a"], ["[status 1]"]]]) == article)
    #expect(transcript.article(with: [[["b"], []]]).contains("$ echo a\nb\n$ false\n```"))
  }

  @Test func `only sizes, times, shares and identities may differ`() {
    let lines = [
      "Commit 3 was copied, 40.0 KiB in 12 ms, to backup.cambium.",
      "Commit 3 was copied, 1,040.5 MiB in 2.5 s, to backup.cambium.",
    ]
    #expect(Transcript.normalized(lines[0]) == Transcript.normalized(lines[1]))
    #expect(Transcript.normalized("Commit 3") != Transcript.normalized("Commit 4"))
    #expect(
      Transcript.normalized("store 00112233445566778899aabbccddeeff, 70.5 % live")
        == "store (identity), (share) live")
    #expect(Transcript.normalized("1,000 records") == "1,000 records")
    #expect(
      Transcript.normalized("its bytes hash to 562611ab, the reference says 6558a80c.")
        == "its bytes (checksums).")
  }

  @Test func `an article prints the beginning and the end of a long output`() {
    let lines = (1...25).map { "\($0)" }
    #expect(Transcript.shortened(Array(lines.prefix(24))) == Array(lines.prefix(24)))
    #expect(Transcript.shortened(lines) == ["1", "2", "3", "…", "23", "24", "25"])
  }

  @Test func `a terminal has the command, its output, its messages and its status`() throws {
    let terminal = try Terminal()
    defer { terminal.remove() }
    #expect(try terminal.run("echo one; echo two >&2; exit 3") == ["one", "two", "[status 3]"])
    #expect(try terminal.run("cambium --help").first?.isEmpty == false)
  }
}
