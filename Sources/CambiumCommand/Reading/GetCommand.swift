import ArgumentParser
import Cambium

struct GetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get", abstract: "Shows the record with a primary key.",
    discussion: """
      The parts of the key are written plainly: a string without quotes, a date as 2026-01-02T03:04:05Z, data in \
      hexadecimal digits; before one that begins with a minus, write --. Ends with status 8 if there is no such record.

      Example: cambium get people.cambium Person 0b9e5a4c-5d3c-4a52-9d2f-6a6f8a0f1d11
      """)

  @OptionGroup var arguments: StoreArguments

  @Argument(help: "The type of the record, by its stored name.")
  var type: String

  @Argument(help: "The parts of its primary key.")
  var key: [String]

  func run() throws {
    let (record, shape) = try arguments.snapshot().record(type, key: key)
    if arguments.json {
      var output = RecordOutput(.json, shape.columns)
      return try output.add(ShownRecord(record: record))
    }
    let width = shape.columns.reduce(0) { max($0, $1.name.inOneLine.count) }
    for field in shape.columns {
      let padding = String(repeating: " ", count: width - field.name.inOneLine.count)
      let cell = try record[field.name].cell(of: field)
      StandardOutput.line(Style.bold(field.name.inOneLine) + padding + "  " + cell)
    }
  }
}
