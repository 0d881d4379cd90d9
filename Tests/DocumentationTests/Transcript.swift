import Foundation

/// The terminal sessions of an article: blocks of commands, each with the output that the article prints for it.
///
/// A block begins with "```console". A line in it that begins with "$ " is a command, and the lines after it are its
/// output; a command that ends with another status than 0 has a last line that says so, `[status 1]`. If the article has no
/// output of a command, only its status is compared. The blocks of an article run one after another in one directory. A
/// comment before a block, `<!-- stage: shop -->`, names the stores that are put there before.
struct Transcript {
  struct Step: Equatable {
    let command: String
    let output: [String]
  }

  struct Block {
    let stage: String?
    /// The lines between the fences, counted from 0.
    let lines: Range<Int>
    let steps: [Step]
  }

  let blocks: [Block]
  private let lines: [String]

  init(_ article: String) {
    lines = article.components(separatedBy: "\n")
    var blocks: [Block] = []
    var stage: String?
    var start: Int?
    for (number, line) in lines.enumerated() {
      if let first = start, line == "```" {
        blocks.append(
          Block(stage: stage, lines: first..<number, steps: Self.steps(lines[first..<number])))
        (start, stage) = (nil, nil)
      } else if start == nil, line == "```console" {
        start = number + 1
      } else if start == nil, let found = line.wholeMatch(of: /<!-- stage: (\w+) -->/) {
        stage = String(found.1)
      }
    }
    self.blocks = blocks
  }

  private static func steps(_ lines: ArraySlice<String>) -> [Step] {
    var steps: [Step] = []
    for line in lines {
      if line.hasPrefix("$ ") {
        steps.append(Step(command: String(line.dropFirst(2)), output: []))
      } else if let last = steps.popLast() {
        steps.append(Step(command: last.command, output: last.output + [line]))
      }
    }
    return steps
  }

  private static func isStatus(_ line: String) -> Bool {
    line.wholeMatch(of: /\[status \d+\]/) != nil
  }

  /// Returns the article with other outputs: for each block, those of its commands.
  func article(with outputs: [[[String]]]) -> String {
    var text = lines
    for (block, outputs) in zip(blocks, outputs).reversed() {
      let session = zip(block.steps, outputs).flatMap { ["$ " + $0.command] + $1 }
      text.replaceSubrange(block.lines, with: session)
    }
    return text.joined(separator: "\n")
  }
}

extension Transcript {
  /// Returns a line without the parts that differ from run to run and from machine to machine: sizes, times, dates, shares,
  /// identities, checksums, the count of the log's uses, and the spaces between columns.
  static func normalized(_ line: String) -> String {
    line.replacing(/\b\d{4}-\d\d-\d\d(?:[T ][\d:.]+Z?)?/, with: "(date)")
      .replacing(/\b\d[\d,.]* (?:bytes?|KiB|MiB|GiB|TiB)\b/, with: "(size)")
      .replacing(/\b\d[\d,.]* (?:min|ms|s)\b/, with: "(time)")
      .replacing(/\b\d[\d.]* %/, with: "(share)")
      .replacing(/, use \d+$/, with: "")
      .replacing(/\b[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}\b/, with: "(identity)")
      .replacing(/hash to [0-9a-f]+, the reference says [0-9a-f]+/, with: "(checksums)")
      .replacing(/[ ─]{2,}/, with: " ")
      .trimmingCharacters(in: .whitespaces)
  }

  /// Returns an output as an article prints it: of a long one, the first and the last lines.
  static func shortened(_ output: [String]) -> [String] {
    output.count <= 24 ? output : output.prefix(3) + ["…"] + output.suffix(3)
  }

  /// Returns the commands whose status or printed output differs, each with both outputs.
  static func faults(of block: Block, _ outputs: [[String]]) -> [String] {
    zip(block.steps, outputs).compactMap { step, output in
      let printsOutput = !step.output.allSatisfy(isStatus)
      let compared = printsOutput ? output : output.filter(isStatus)
      if step.output.map(normalized) == compared.map(normalized) { return nil }
      let printed = ["$ \(step.command)", "the article has:"] + step.output
      return (printed + ["the command says:"] + output).joined(separator: "\n")
    }
  }
}

/// A directory in which the commands of an article run, with the command `cambium` as it was built beside the tests.
struct Terminal {
  let directory: URL

  init() throws {
    directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  }

  func remove() { try? FileManager.default.removeItem(at: directory) }

  /// Runs a command of the shell, and returns its output, its messages, and its status unless that is 0.
  func run(_ command: String) throws -> [String] {
    let logs = directory.appending(path: ".terminal")
    try FileManager.default.createDirectory(at: logs, withIntermediateDirectories: true)
    let files = ["output", "messages"].map { logs.appending(path: $0) }
    for file in files { try Data().write(to: file) }
    let shell = Process()
    shell.executableURL = URL(filePath: "/bin/sh")
    shell.arguments = ["-c", command]
    shell.currentDirectoryURL = directory
    let build = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().path
    shell.environment = ["PATH": "\(build):/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"]
    shell.standardInput = FileHandle.nullDevice
    shell.standardOutput = try FileHandle(forWritingTo: files[0])
    shell.standardError = try FileHandle(forWritingTo: files[1])
    try shell.run()
    shell.waitUntilExit()
    let text = try files.map { try String(contentsOf: $0, encoding: .utf8) }.joined()
    let status = shell.terminationStatus
    return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
      + (status == 0 ? [] : ["[status \(status)]"])
  }
}
