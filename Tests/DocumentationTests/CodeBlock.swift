import Foundation

/// A block of Swift in a document.
struct CodeBlock {
  /// The document's path from the root of the repository.
  let document: String
  /// The number of its first line there, from 1.
  let line: Int
  let code: String
  /// The file of declarations that the text around it takes as given.
  let prelude: String?
  /// The file of tests that has the same lines, and runs them.
  var runner: String?

  /// All blocks of a document.
  ///
  /// A comment before a block says what else it needs: `<!-- prelude: shop -->`; or in which file it is a part of tests, which
  /// compile it: `<!-- runs in: Questions/Chinook/Chinook.swift -->`.
  static func all(in document: String, at root: URL) throws -> [CodeBlock] {
    let text = try String(contentsOf: root.appending(path: document), encoding: .utf8)
    var blocks: [CodeBlock] = []
    var prelude: String?
    var runner: String?
    var open: (line: Int, lines: [Substring])?
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      if let block = open, line == "```" {
        blocks.append(
          CodeBlock(
            document: document, line: block.line,
            code: block.lines.joined(separator: "\n"), prelude: prelude, runner: runner))
        (open, prelude, runner) = (nil, nil, nil)
      } else if open != nil {
        open?.lines.append(line)
      } else if line == "```swift" {
        open = (index + 2, [])
      } else if line.hasPrefix("<!-- prelude: "), line.hasSuffix(" -->") {
        prelude = String(line.dropFirst(14).dropLast(4))
      } else if line.hasPrefix("<!-- runs in: "), line.hasSuffix(" -->") {
        runner = String(line.dropFirst(14).dropLast(4))
      }
    }
    return blocks
  }
}

extension CodeBlock {
  /// True if it is a file of its own: extensions of types, and the beginning of a program, cannot stand in a function.
  private var isFile: Bool {
    code.split(separator: "\n").contains {
      $0.hasPrefix("extension ") || $0.hasPrefix("@main") || $0.hasPrefix("@Suite")
    }
  }

  /// A file for the compiler, whose errors name the document and the line in it.
  func source(_ prelude: String?, number: Int) -> String {
    let lines = code.split(separator: "\n", omittingEmptySubsequences: false)
    let imports = lines.filter { $0.hasPrefix("import ") }
    let body = lines.map { $0.hasPrefix("import ") ? "" : $0 }.joined(separator: "\n")
    let place = "#sourceLocation(file: \"\(document)\", line: \(line))"
    let head =
      (["import Cambium", "import CambiumTesting", "import FoundationEssentials", "import Testing"]
      + imports).joined(separator: "\n")
    if isFile { return [head, prelude ?? "", place, body].joined(separator: "\n") }
    return """
      \(head)
      private enum Block\(number) {
      \(prelude ?? "")
      static func body() \(body.contains("await ") ? "async " : "")throws {
      \(place)
      \(body)
      #sourceLocation()
      }
      }
      """
  }
}
