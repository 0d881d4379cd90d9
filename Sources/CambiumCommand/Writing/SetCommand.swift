import ArgumentParser
import Cambium

struct SetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Changes fields of the record with a primary key.",
    discussion: """
      After the parts of the key, which are written as for get, come the fields: state=paid for a value that is written \
      plainly, tags:='["a"]' for one in JSON, such as a list, an object or null. place.x=1 changes a part of a composite. \
      Other fields stay as they are. With --if, the record has to meet a condition; otherwise nothing is changed, and the \
      status is 7. Ends with status 8 if there is no such record. The hooks and checks of the program's Swift types do not \
      run. The history, if the store keeps one, names cambium as the author.

      Example: cambium set orders.cambium Order 17 state=paid note:=null --if 'revision == 7'
      """)

  @OptionGroup var changing: ChangeArguments

  @Argument(help: "The parts of its primary key, and then fields: field=value or field:=JSON.")
  var values: [String]

  func run() throws {
    try changing.change { transaction, shape in
      let parts = try shape.keyValues(Array(values.prefix(shape.key.count)))
      let assignments = values.dropFirst(shape.key.count)
      guard !assignments.isEmpty else {
        throw CommandFailure(.usage, "After the key, name a field to change: field=value.")
      }
      guard try changing.has(parts, of: shape, in: transaction) else {
        throw CommandFailure.noRecord(shape.name, parts)
      }
      var fields: [String: FieldValue] = [:]
      for assignment in assignments { try shape.assign(assignment, to: &fields) }
      for field in shape.key where fields[field.name] != nil {
        throw CommandFailure(
          .usage, "\(field.name.inOneLine) is part of the primary key, which cannot be changed.")
      }
      for (field, value) in zip(shape.key, parts) { fields[field.name] = value }
      let report = try transaction.importRecords(record: shape.name, from: [fields]) { _, error in
        throw error
      }
      return (parts, report.updated > 0 ? .updated : .unchanged)
    }
  }
}

extension RecordShape {
  /// Reads an assignment, `name=value`, `name:=JSON` or `composite.name=value`, into values by name.
  ///
  /// - Throws: `CommandFailure` if it is none, or of a field that does not exist; `JSONFault`.
  fileprivate func assign(_ text: String, to values: inout [String: FieldValue]) throws {
    try Self.assign(text[...], among: fields, of: name, to: &values)
  }

  private static func assign(
    _ text: Substring, among fields: [FieldShape], of owner: String,
    to values: inout [String: FieldValue]
  ) throws {
    for field in fields where text.hasPrefix(field.name) {
      let rest = text.dropFirst(field.name.count)
      if rest.hasPrefix(":=") {
        let json = try JSONParser.parse(Array(rest.dropFirst(2).utf8))
        values[field.name] = try FieldValue(json, of: field)
        return
      }
      if rest.hasPrefix("=") {
        guard let value = FieldValue(text: String(rest.dropFirst()), field.type) else {
          throw CommandFailure(
            .usage,
            "\(rest.dropFirst()) is not \(field.type), which \(field.name) is.".inOneLine)
        }
        values[field.name] = value
        return
      }
      if rest.hasPrefix("."), field.type == .composite {
        var parts: [String: FieldValue] = [:]
        if case .composite(let known)? = values[field.name] { parts = known }
        try assign(rest.dropFirst(), among: field.parts, of: field.name, to: &parts)
        values[field.name] = .composite(parts)
        return
      }
    }
    guard let end = text.firstIndex(of: "=") else {
      throw CommandFailure(
        .usage, "\(String(text).inOneLine) changes no field: write field=value.")
    }
    let name = text[..<end]
    throw CommandFailure.unknown(
      "field", name.hasSuffix(":") ? name.dropLast() : name, in: owner, known: fields.map(\.name))
  }
}
