/// Columns of text. Numbers stand at the right.
struct TextTable {
  private let titles: [String]
  private let isNumber: [Bool]
  private var rows: [[String]] = []

  /// - Parameter numbers: The columns of numbers.
  init(_ titles: [String], numbers: Set<Int> = []) {
    self.titles = titles.map(\.inOneLine)
    isNumber = titles.indices.map { numbers.contains($0) }
  }

  mutating func add(_ row: [String]) { rows.append(row.map(\.inOneLine)) }

  var lines: [String] {
    let widths = titles.indices.map { column in
      rows.reduce(titles[column].count) { max($0, $1[column].count) }
    }
    return [Style.bold(Self.line(titles, widths, isNumber))]
      + rows.map { Self.line($0, widths, isNumber) }
  }

  /// One row, with its cells as wide as the columns.
  static func line(_ cells: [String], _ widths: [Int], _ isNumber: [Bool]) -> String {
    var line = ""
    for (column, cell) in cells.enumerated() {
      let padding = String(repeating: " ", count: max(0, widths[column] - cell.count))
      if column > 0 { line += "  " }
      if isNumber[column] {
        line += padding + cell
      } else {
        line += column == cells.count - 1 ? cell : cell + padding
      }
    }
    return line
  }
}
