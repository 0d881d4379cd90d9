import ArgumentParser
import Cambium

/// The arguments of commands that change one record: the store, the type, and a condition.
struct ChangeArguments: ParsableArguments {
  @OptionGroup var arguments: StoreArguments

  @Argument(help: "The type of the record, by its stored name.")
  var type: String

  @Option(
    name: .customLong("if"),
    help: "A condition, as in query, that the stored record has to meet: 'revision == 7'.")
  var condition: String?

  /// Changes one record, in a transaction of its own, and prints the outcome.
  ///
  /// - Parameter body: Called with the transaction; returns the key of the record, and the outcome.
  /// - Throws: Errors of opening and writing the store, and of `body`: then nothing has changed.
  func change(
    _ body: (inout WriteTransaction, RecordShape) throws -> (
      key: [FieldValue], outcome: RecordOutcome
    )
  ) throws {
    let store = try arguments.openKeepingHistory()
    do {
      let shape = RecordShape(try store.schema.type(named: type))
      let done = try store.write(author: "cambium") { transaction in
        try body(&transaction, shape)
      }
      try store.close()
      say(done.key, done.outcome)
    } catch {
      try? store.close()
      throw error
    }
  }

  private func say(_ key: [FieldValue], _ outcome: RecordOutcome) {
    let result: JSONValue = [
      "record": .string(type), "key": .array(key.map(\.json)),
      "change": .string(outcome.rawValue),
    ]
    let verb = outcome == .unchanged ? "is" : "was"
    StandardOutput.line(
      arguments.json
        ? "\(result)" : "\(type.inOneLine) \(key.text) \(verb) \(outcome.rawValue).")
  }

  /// Returns true if there is a record with a primary key.
  ///
  /// - Throws: `CommandFailure` if there is one that does not meet the condition, or if there is a condition and no record;
  ///   as `find`.
  func has(
    _ parts: [FieldValue], of shape: RecordShape, in transaction: borrowing WriteTransaction
  ) throws -> Bool {
    let terms = shape.conditions(on: parts)
    let isThere = try transaction.count(record: shape.name, where: .and(terms)) > 0
    guard let condition else { return isThere }
    let wanted = try FieldCondition(parsing: condition)
    guard isThere else { throw CommandFailure.noRecord(shape.name, parts) }
    guard try transaction.count(record: shape.name, where: .and(terms + [wanted])) > 0 else {
      throw CommandFailure(
        .refused,
        "\(shape.name.inOneLine) \(parts.text) does not meet the condition"
          + " \(condition.inOneLine). Nothing was changed.")
    }
    return true
  }
}
