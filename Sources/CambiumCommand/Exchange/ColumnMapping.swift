import Cambium

/// Which field each column of a file is for: that of its name, unless something else is said.
struct ColumnMapping {
  private let shape: RecordShape
  /// Nil for columns that are left out.
  private let fields: [String: String?]

  /// - Parameter pairs: `column=field`, or `column=` for one to be left out.
  init(_ pairs: [String], of shape: RecordShape) throws {
    var fields: [String: String?] = [:]
    for pair in pairs {
      guard let equal = pair.lastIndex(of: "="), equal > pair.startIndex else {
        throw CommandFailure(.usage, "\(pair) is no mapping: say column=field.")
      }
      let (column, field) = (String(pair[..<equal]), String(pair[pair.index(after: equal)...]))
      guard fields.updateValue(field.isEmpty ? nil : field, forKey: column) == nil else {
        throw CommandFailure(.usage, "The column \(column) is mapped twice.")
      }
    }
    self.shape = shape
    self.fields = fields
    for case let field? in fields.values where path(to: field) == nil {
      throw CommandFailure.unknown(
        "field", field, in: shape.name, known: shape.columns.map(\.name))
    }
  }

  /// Columns that were mapped, but are not there.
  func missing(from columns: [String]) -> String? {
    fields.keys.sorted().first { !columns.contains($0) }
  }

  /// The field of a column, behind the composites that it is in; empty for one that is left out.
  ///
  /// - Throws: where no field has its name.
  func path(of column: String) throws(JSONFault) -> [FieldShape] {
    let name = fields[column, default: column]
    guard let name else { return [] }
    guard let path = path(to: name) else {
      throw JSONFault(
        reason:
          "\(shape.name) has no field \(name); say --map \(column)=field, or --map \(column)= to leave the column out"
      )
    }
    return path
  }

  private func path(to name: String) -> [FieldShape]? {
    if let field = shape.fields.first(where: { $0.name == name }) { return [field] }
    var (fields, path): ([FieldShape], [FieldShape]) = (shape.fields, [])
    for part in name.split(separator: ".") {
      guard let field = fields.first(where: { $0.name == part }) else { return nil }
      path.append(field)
      fields = field.parts
    }
    return path.isEmpty ? nil : path
  }
}

extension FieldValue {
  /// The value of a cell, as `cambium query --csv` writes it, or a spreadsheet. Nothing is null where that can be.
  init(_ cell: CSVRecord.Cell, of field: FieldShape) throws(JSONFault) {
    if cell.text.isEmpty, !cell.isQuoted, field.isOptional {
      self = .null
      return
    }
    self = try FieldValue(try Self.json(of: cell.text, field), of: field)
  }

  private static func json(of text: String, _ field: FieldShape) throws(JSONFault) -> JSONValue {
    switch field.type {
    case .array, .composite:
      do throws(JSONFault) { return try JSONParser.parse(Array(text.utf8)) } catch {
        throw JSONFault(reason: "\(field.name): \(error.reason)")
      }
    case .scalar(.boolean):
      switch text.lowercased() {
      case "true", "1": return .boolean(true)
      case "false", "0": return .boolean(false)
      default: return .string(text)
      }
    case .scalar(let type) where type.isInteger || type == .float || type == .double:
      return .number(text)
    default: return .string(text)
    }
  }
}
