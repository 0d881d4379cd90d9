import Foundation

/// The errors that sources declare as public: each case of an enum, `StoreError/full(path:)`, and each struct by its name.
struct PublicErrors {
  private(set) var names: [String] = []

  init() {}

  /// Adds the errors of one source file.
  mutating func add(_ source: String) {
    let lines = source.components(separatedBy: "\n")
    for (number, line) in lines.enumerated() {
      guard let found = line.firstMatch(of: Self.declaration) else { continue }
      let indentation = String(found.1)
      let name = Self.outer(of: number, indentation, in: lines) + String(found.3)
      if found.2 == "struct" {
        names.append(name)
      } else {
        let body = lines[(number + 1)...].prefix { $0 != indentation + "}" }
        names += Self.cases(in: Array(body), indentation + "  ").map { "\(name)/\($0)" }
      }
    }
  }

  /// `public enum Name: Error`, with attributes before it and other protocols after it.
  private static var declaration: Regex<(Substring, Substring, Substring, Substring)> {
    /^( *)(?:@\w+ )*public (?:indirect )?(enum|struct) (\w+): (?:\w+, )*Error\b/
  }

  /// The name of the type that a nested declaration lies in, and a full stop; empty for one that is not nested.
  private static func outer(of number: Int, _ indentation: String, in lines: [String]) -> String {
    guard !indentation.isEmpty else { return "" }
    for line in lines[..<number].reversed() where !line.hasSuffix("}") {
      if let found = line.firstMatch(of: /^(?:[a-z@].*\b)?(?:struct|enum|class|extension) (\w+)/) {
        return "\(found.1)."
      }
    }
    return ""
  }

  /// The cases in the body of an enum, as symbols are named: `io(_:operation:path:)`.
  private static func cases(in body: [String], _ indentation: String) -> [String] {
    var names: [String] = []
    for (number, line) in body.enumerated() where line.hasPrefix(indentation + "case ") {
      let rest = ([String(line.dropFirst(indentation.count + 5))] + body[(number + 1)...])
        .joined(separator: " ")
      let name = String(rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" })
      names.append(name + labels(of: rest.dropFirst(name.count)))
    }
    return names
  }

  /// The labels of the values in parentheses, if the text begins with any: `(_:path:)`.
  private static func labels(of text: Substring) -> String {
    guard text.first == "(" else { return "" }
    var parts = [""]
    var depth = 0
    var isString = false
    for character in text {
      if character == "\"" { isString.toggle() }
      if !isString, "([<".contains(character) { depth += 1 }
      if !isString, ")]>".contains(character) { depth -= 1 }
      if depth == 0 { break }
      if depth == 1, character == ",", !isString {
        parts.append("")
      } else if depth > 1 || character != "(" {
        parts[parts.count - 1].append(character)
      }
    }
    let labels = parts.map { part in
      part.firstMatch(of: /^\s*(\w+):/).map { "\($0.1):" } ?? "_:"
    }
    return "(\(labels.joined()))"
  }
}

/// The rows of an article that say of each error what happened, what is still true, and what to do.
struct ErrorRows {
  struct Row {
    let error: String
    let cells: [String]
  }

  private(set) var rows: [Row] = []

  init(_ article: String) {
    for line in article.components(separatedBy: "\n") {
      guard let found = line.firstMatch(of: /^\| `+(\w+[.\w]*(?:\/[^`]+)?)`+ \|/) else { continue }
      // A bar within backticks would be two cells in any reader of Markdown.
      let cells = line.components(separatedBy: "|").dropFirst(2).dropLast()
        .map { $0.trimmingCharacters(in: .whitespaces) }
      rows.append(Row(error: String(found.1), cells: cells))
    }
  }

  /// The faults of the rows, if there are these errors and no others.
  func faults(errors: [String]) -> [String] {
    let counts = Dictionary(grouping: rows, by: \.error).mapValues(\.count)
    var faults = errors.filter { counts[$0] == nil }.map { "\($0) has no row" }
    for row in rows {
      if !errors.contains(row.error) { faults.append("\(row.error) is no public error") }
      if row.cells.count != 3 || row.cells.contains("") {
        faults.append("\(row.error) does not say what happened, what is true and what to do")
      }
    }
    faults += counts.filter { $0.value > 1 }.keys.sorted().map { "\($0) has several rows" }
    return faults
  }
}
