import Cambium

/// Writes records as they come.
struct RecordOutput {
  enum Form {
    case table, json, csv
  }

  private let form: Form
  private let columns: [FieldShape]
  private var waiting: [(cells: [String], below: [String])] = []
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
    if form == .csv {
      StandardOutput.write(columns.map { Self.quoted($0.name) }.joined(separator: ",") + "\r\n")
    }
  }

  /// - Throws: `StoreError.corrupt`, `.missing`, `.io` where a blob cannot be read.
  mutating func add(_ shown: ShownRecord) throws {
    let record = shown.record
    count += 1
    switch form {
    case .json:
      try shown.writeJSON(columns)
      StandardOutput.line()
    case .csv:
      for (index, column) in columns.enumerated() {
        if index > 0 { StandardOutput.write(",") }
        try Self.writeCell(record[column.name], of: column)
      }
      StandardOutput.write("\r\n")
    case .table:
      for (index, column) in columns.enumerated() where record[column.name].isNumber {
        numbers[index] = true
      }
      let row = (
        try columns.map { column in try record[column.name].cell(of: column) },
        try shown.relatedLines()
      )
      if widths.isEmpty {
        waiting.append(row)
        if waiting.count == Self.measuredCount { writeWaiting() }
      } else {
        write(row)
      }
    }
  }

  /// - Parameter thing: The noun for a line.
  mutating func finish(_ thing: String = "record") {
    guard form == .table else { return }
    if widths.isEmpty { writeWaiting() }
    StandardOutput.line(Style.faint(Figures.count(count, thing)))
  }

  /// Writes a cell of comma-separated values. Null is nothing, and any other value without characters is a
  /// pair of quotes; values other than strings and numbers are as in JSON.
  private static func writeCell(_ value: FieldValue, of field: FieldShape) throws {
    switch value {
    case .null: break
    case .string(let text): StandardOutput.write(quoted(text))
    case .blob(let blob) where field.isString:
      StandardOutput.write("\"")
      try blob.writeText { StandardOutput.write(doublingQuotes($0)) }
      StandardOutput.write("\"")
    case .blob(let blob) where blob.count == 0: StandardOutput.write(quoted(""))
    // Nothing in it has to be quoted.
    case .blob(let blob): try blob.writeBase64(to: StandardOutput.write)
    case .composite:
      StandardOutput.write("\"")
      try value.writeJSON(of: field) { StandardOutput.write(doublingQuotes($0)) }
      StandardOutput.write("\"")
    default:
      let json = value.json
      StandardOutput.write(quoted(json.text ?? "\(json)"))
    }
  }

  private static func quoted(_ cell: String) -> String {
    // By bytes: a comma with an accent on it is another character, but parts cells all the same.
    let needsQuotes = cell.isEmpty || cell.utf8.contains { "\",\r\n".utf8.contains($0) }
    return needsQuotes ? "\"\(doublingQuotes(cell))\"" : cell
  }

  private static func doublingQuotes(_ text: String) -> String {
    let quote = UInt8(ascii: "\"")
    guard text.utf8.contains(quote) else { return text }
    return String(
      decoding: text.utf8.flatMap { $0 == quote ? [quote, quote] : [$0] }, as: UTF8.self)
  }
}

// MARK: Tables

extension RecordOutput {
  private mutating func writeWaiting() {
    widths = columns.indices.map { column in
      min(
        Self.widthMax,
        waiting.reduce(columns[column].name.inOneLine.count) { max($0, $1.cells[column].count) })
    }
    StandardOutput.line(Style.bold(line(columns.map(\.name.inOneLine))))
    for row in waiting { write(row) }
    waiting = []
  }

  private func write(_ row: (cells: [String], below: [String])) {
    StandardOutput.line(line(row.cells))
    for line in row.below { StandardOutput.line(Style.faint(line)) }
  }

  private func line(_ cells: [String]) -> String { TextTable.line(cells, widths, numbers) }
}
