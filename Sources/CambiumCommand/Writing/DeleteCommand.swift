import ArgumentParser
import Cambium

struct DeleteCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete", abstract: "Deletes the record with a primary key.",
    discussion: """
      The parts of the key are written as for get. Delete rules apply: records that depend on it are deleted as well, or \
      deny the deletion. With --if, it has to meet a condition; otherwise nothing is changed, and the status is 7. Ends with \
      status 8 if there is no such record. The hooks of the program's Swift types do not run.

      Example: cambium delete orders.cambium Customer 17 --if 'name == "Ada"'
      """)

  @OptionGroup var changing: ChangeArguments

  @Argument(help: "The parts of its primary key.")
  var key: [String]

  func run() throws {
    try changing.change { transaction, shape in
      let parts = try shape.keyValues(key)
      _ = try changing.has(parts, of: shape, in: transaction)
      guard try transaction.delete(record: shape.name, keyParts: parts) else {
        throw CommandFailure.noRecord(shape.name, parts)
      }
      return (parts, .deleted)
    }
  }
}
