import ArgumentParser
import Cambium

/// The change of one record: the arguments that all commands for it have, and how they find it.
struct ChangeArguments: ParsableArguments {
  @Option(
    name: .customLong("if"),
    help: "A condition, as in query, that the stored record has to meet: 'revision == 7'.")
  var condition: String?
}

/// What became of a record.
enum RecordOutcome: String {
  case inserted, updated, unchanged, deleted
}

extension StoreArguments {
  /// Changes one record of a type, in a transaction of its own, and prints what became of it.
  ///
  /// - Parameter change: Called with the transaction; returns the key of the record, and what became of it.
  /// - Throws: What opening and writing the store throw, and what `change` throws: then nothing has changed.
  func change(
    _ name: String,
    _ change: (inout WriteTransaction, RecordShape) throws -> (
      key: [FieldValue], change: RecordOutcome
    )
  ) throws {
    let store = try openKeepingHistory()
    do {
      let shape = RecordShape(try store.schema.type(named: name))
      let done = try store.write(author: "cambium") { transaction in
        try change(&transaction, shape)
      }
      try store.close()
      say(name, done.key, done.change)
    } catch {
      try? store.close()
      throw error
    }
  }

  private func say(_ name: String, _ key: [FieldValue], _ change: RecordOutcome) {
    let result: JSONValue = [
      "record": .string(name), "key": .array(key.map(\.json)), "change": .string(change.rawValue),
    ]
    let verb = change == .unchanged ? "is" : "was"
    StandardOutput.line(
      json ? "\(result)" : "\(name.inOneLine) \(key.text) \(verb) \(change.rawValue).")
  }
}

extension [FieldValue] {
  /// The parts of a key, for a sentence.
  var text: String { map(\.cell).joined(separator: ", ") }
}

extension RecordReading where Self: ~Copyable {
  /// Returns the record with a primary key; nil if there is none.
  ///
  /// - Parameter parts: The values of the key's fields, in their order.
  /// - Throws: `StoreError.invalidQuery`, `.corrupt`, `.io`, `.closed`.
  func find(
    _ parts: [FieldValue], of shape: RecordShape, stringsAsBlobs: Bool = false
  ) throws -> DynamicRecord? {
    var found: DynamicRecord?
    try forEach(
      record: shape.name, where: .and(shape.conditions(on: parts)), limit: 1,
      stringsAsBlobs: stringsAsBlobs
    ) {
      found = $0
    }
    return found
  }

  /// Returns true if there is a record with a primary key.
  ///
  /// - Parameter condition: What it has to meet.
  /// - Throws: `CommandFailure` if there is one that does not meet the condition, or if there is a condition and no record;
  ///   as `find`.
  func has(
    _ parts: [FieldValue], of shape: RecordShape, if condition: String?
  ) throws -> Bool {
    let terms = shape.conditions(on: parts)
    let isThere = try count(record: shape.name, where: .and(terms)) > 0
    guard let condition else { return isThere }
    let wanted = try FieldCondition(parsing: condition)
    guard isThere else { throw CommandFailure.noRecord(shape.name, parts) }
    guard try count(record: shape.name, where: .and(terms + [wanted])) > 0 else {
      throw CommandFailure(
        .refused,
        "\(shape.name.inOneLine) \(parts.text) does not meet the condition"
          + " \(condition.inOneLine). Nothing was changed.")
    }
    return true
  }
}

extension RecordShape {
  fileprivate func conditions(on parts: [FieldValue]) -> [FieldCondition] {
    zip(key, parts).map { field, value in
      FieldCondition.comparison(field: field.name, .equal, value)
    }
  }
}

extension CommandFailure {
  static func noRecord(_ name: String, _ key: [FieldValue]) -> CommandFailure {
    CommandFailure(.notFound, "There is no \(name.inOneLine) with the key \(key.text).")
  }
}
