import Cambium

/// Writes records as they come.
struct RecordOutput {
  enum Form {
    case table, json, csv
  }

  private let form: Form
  private let columns: [FieldShape]
  private var waiting: [[String]] = []
  private var widths: [Int] = []
  private var numbers: [Bool]
  private var count = 0

  /// The columns of a table are as wide as in so many of its first rows.
  private static let measuredCount = 500
  private static let widthMax = 60

  init(_ form: Form, _ columns: [FieldShape]) {
    self.form = form
    self.columns = columns
    numbers = columns.map { _ in false }
    if form == .csv { Self.writeLine(of: columns.map(\.name)) }
  }

  /// - Throws: `StoreError.corrupt`, `.missing`, `.io` where a blob cannot be read.
  mutating func add(_ record: DynamicRecord) throws {
    count += 1
    switch form {
    case .json:
      let members = try columns.map { column in
        JSONValue.Member(name: column.name, value: try record[column.name].json(of: column))
      }
      StandardOutput.line("\(JSONValue.object(members))")
    case .csv: Self.writeLine(of: try columns.map { try Self.csv(record[$0.name], of: $0) })
    case .table:
      for (index, column) in columns.enumerated() where record[column.name].isNumber {
        numbers[index] = true
      }
      let row = columns.map { record[$0.name].cell }
      if widths.isEmpty {
        waiting.append(row)
        if waiting.count == Self.measuredCount { writeWaiting() }
      } else {
        StandardOutput.line(line(row))
      }
    }
  }

  mutating func finish() {
    guard form == .table else { return }
    if widths.isEmpty { writeWaiting() }
    StandardOutput.line(Style.faint(Figures.count(count, "record")))
  }

  private static func writeLine(of cells: [String]) {
    let quoted = cells.map { cell in
      cell.contains { "\",\r\n".contains($0) } || cell.contains("\r\n")
        ? "\""
          + cell.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
          + "\"" : cell
    }
    StandardOutput.write(quoted.joined(separator: ",") + "\r\n")
  }

  /// Null is nothing; what is no text or number is as in JSON.
  private static func csv(_ value: FieldValue, of field: FieldShape) throws -> String {
    switch value {
    case .null: return ""
    case .string(let text): return text
    default:
      let json = try value.json(of: field)
      return json.text ?? "\(json)"
    }
  }
}

// MARK: Tables

extension RecordOutput {
  private mutating func writeWaiting() {
    widths = columns.indices.map { column in
      min(
        Self.widthMax,
        waiting.reduce(columns[column].name.count) { max($0, $1[column].count) })
    }
    StandardOutput.line(Style.bold(line(columns.map(\.name))))
    for row in waiting { StandardOutput.line(line(row)) }
    waiting = []
  }

  private func line(_ cells: [String]) -> String {
    var line = ""
    for (column, cell) in cells.enumerated() {
      let padding = String(repeating: " ", count: max(0, widths[column] - cell.count))
      if column > 0 { line += "  " }
      if numbers[column] {
        line += padding + cell
      } else {
        line += column == cells.count - 1 ? cell : cell + padding
      }
    }
    return line
  }
}
