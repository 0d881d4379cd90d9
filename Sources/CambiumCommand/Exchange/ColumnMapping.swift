import Cambium

/// Which field each column of a file is for: that of its name, unless something else is said. Also how its dates are read.
struct ColumnMapping {
  private let shape: RecordShape
  /// Nil for columns that are left out.
  private let fields: [String: String?]
  /// The kinds of numbers that the dates of columns are.
  private let dates: [String: DateNumber]

  /// - Parameters:
  ///   - pairs: `column=field`, or `column=` for one to be left out.
  ///   - choices: The kinds of numbers that the dates of columns are.
  init(_ pairs: [String], _ choices: ImportChoices, of shape: RecordShape) throws {
    var fields: [String: String?] = [:]
    for pair in pairs {
      let (column, field) = try ImportChoices.pair(pair, "--map column=field")
      guard fields.updateValue(field.isEmpty ? nil : field, forKey: column) == nil else {
        throw CommandFailure(.usage, "The column \(column) is mapped twice.")
      }
    }
    self.shape = shape
    self.fields = fields
    dates = try choices.dates()
    for case let field? in fields.values where path(to: field) == nil {
      throw CommandFailure.unknown(
        "field", field, in: shape.name, known: shape.columns.map(\.name))
    }
    for column in dates.keys.sorted() {
      let field = fields[column, default: column] ?? column
      guard let type = path(to: field)?.last?.type else {
        throw CommandFailure.unknown(
          "field", field, in: shape.name, known: shape.columns.map(\.name))
      }
      guard type == .date else {
        throw CommandFailure(
          .usage, "\(shape.name).\(field) is \(type), and no date: omit --type for \(column).")
      }
    }
  }

  /// Columns that were mapped, but are not there.
  func missing(from columns: [String]) -> String? {
    (Array(fields.keys) + dates.keys).sorted().first { !columns.contains($0) }
  }

  /// The field of a column, after the composites that it is in; empty for one that is left out.
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

  /// Reads the date that is a number in a column; nil if the dates of the column are none.
  ///
  /// - Throws: if it is no such number, or one that no date holds exactly.
  func date(of text: String, in column: String) throws(JSONFault) -> FieldValue? {
    guard let number = dates[column] else { return nil }
    let (value, fit) = ColumnReading.date(number).read(.string(text))
    if fit != .inexact { return value }
    throw JSONFault(reason: "\(column): \(text) is not exactly a date in \(number.rawValue)")
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
