/// Rows of text as a table in Markdown: numbers to the right.
struct MarkdownTable {
  private let header: [String]
  /// How many columns, from the left, are words.
  private let wordColumns: Int
  private var rows: [[String]] = []

  init(_ header: [String], wordColumns: Int) {
    self.header = header
    self.wordColumns = wordColumns
  }

  var isEmpty: Bool { rows.isEmpty }

  mutating func append(_ row: [String]) {
    precondition(row.count == header.count, "each row has each column")
    rows.append(row)
  }

  var lines: [String] {
    let rule = header.indices.map { $0 < wordColumns ? "---" : "---:" }
    return [line(header.map(Self.escaped)), line(rule)] + rows.map { line($0.map(Self.escaped)) }
  }

  private func line(_ cells: [String]) -> String {
    "| " + cells.joined(separator: " | ") + " |"
  }

  /// A bar would begin another cell, and a line's end another row.
  private static func escaped(_ cell: String) -> String {
    cell.split(separator: "|", omittingEmptySubsequences: false).joined(separator: "\\|")
      .split(whereSeparator: \.isNewline).joined(separator: " ")
  }
}
