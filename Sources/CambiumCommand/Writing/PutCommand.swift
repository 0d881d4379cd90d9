import ArgumentParser
import Cambium

struct PutCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "put", abstract: "Adds a record, or replaces the one with its primary key.",
    discussion: """
      The record is an object of JSON, as get --json prints it. Fields that it does not name get the defaults that the \
      schema states for them; the others become null, or are refused if they cannot be. With --if, a record with the key \
      has to exist and to meet the condition; otherwise nothing is changed, and the status is 8 or 7. The hooks and \
      checks of the program's Swift types do not run. The history, if the store keeps one, names cambium as the author.

      Example: cambium put orders.cambium Customer '{"id":17,"name":"Ada"}'
      """)

  @OptionGroup var changing: ChangeArguments

  @Argument(help: "The record in JSON. - for standard input.")
  var record: String

  func run() throws {
    let json = try JSONParser.parse(try bytes())
    try changing.change { transaction, shape in
      let fields = try FieldValue.parts(json, of: shape.fields, in: shape.name)
      let key = try shape.key.map { field in
        guard let value = fields[field.name] else {
          throw CommandFailure(
            .invalid, "The object has no \(field.name), which the primary key has.")
        }
        return value
      }
      let isThere = try changing.has(key, of: shape, in: transaction)
      try transaction.save(DynamicRecord(shape.name, RecordFields(fields)))
      return (key, isThere ? .updated : .inserted)
    }
  }

  private func bytes() throws -> [UInt8] {
    guard record == "-" else { return Array(record.utf8) }
    let input = try LineInput(record)
    var bytes: [UInt8] = []
    while let chunk = try input.nextChunk() { bytes += chunk }
    return bytes
  }
}
