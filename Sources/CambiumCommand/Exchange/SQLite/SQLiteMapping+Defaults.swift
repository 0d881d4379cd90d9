import Cambium

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension SQLiteMapping {
  /// Gives fields the defaults that a table declares for their columns, if these are constants that the fields can have.
  mutating func addDefaults(of table: SQLiteTable) throws {
    let place = places[table.name.sqlFolded]
    for column in table.columns {
      guard let text = column.defaultText else { continue }
      func leaveOut(_ reason: String) {
        note("\(table.name).\(column.name)", "DEFAULT \(text.inOneLine) is left out: \(reason)")
      }
      guard let place,
        let number = records[place].fields.firstIndex(where: { $0.isOf(column.name) })
      else {
        leaveOut("the column is no field")
        continue
      }
      let field = records[place].fields[number]
      if records[place].isUnique(field.name) {
        leaveOut("the field is unique, and two records would get it")
      } else if let constant = text.sqlConstant {
        if let value = try database.value(of: constant, field) {
          records[place].fields[number].defaultValue = value
        } else {
          leaveOut("it is not a value of \(field.type)")
        }
      } else {
        leaveOut("it is not a constant")
      }
    }
  }
}

extension SQLiteMapping.Record {
  /// Returns true if no two records may have the same value in a field alone.
  fileprivate func isUnique(_ field: String) -> Bool {
    key == [field]
      || indexes.contains { $0.isUnique && $0.parts.count == 1 && $0.parts[0].name == field }
  }
}

extension SQLiteDatabase {
  /// Returns a constant as a field has it: as the caller chooses to read it, or by the rules by which SQLite gives it to a
  /// column that has values of the field's type. Nil if it is another value there.
  fileprivate func value(
    of constant: String, _ field: SQLiteMapping.Field
  ) throws -> FieldValue? {
    let query = try query("SELECT \(constant)")
    guard try query.next() else { return nil }
    if let reading = field.reading {
      let (value, fit) = reading.read(query.value(0, for: reading))
      guard fit != .inexact else { return nil }
      return value
    }
    let type = field.type
    switch (query.type(0), type) {
    case (.text, .int64): return Int64(query.string(0)).map { .integer($0) }
    case (.text, .double):
      let text = query.string(0)
      guard text.isPlainNumber else { return nil }
      return Double(text).map { .double($0) }
    case (.text, .boolean), (.integer, .boolean):
      let text = query.string(0)
      guard text == "0" || text == "1" else { return nil }
      return .boolean(text == "1")
    case (.real, .int64): return Int64(exactly: query.double(0)).map { .integer($0) }
    case (.integer, .date), (.integer, .uuid), (.real, .date), (.real, .uuid), (.real, .boolean):
      return nil
    case (.blob, .uuid) where query.length(0) == 16, (.blob, .binaryData):
      return query.value(0, SQLiteConversion(type: type, reading: nil))
    case (.blob, _): return nil
    default:
      let value = query.value(0, SQLiteConversion(type: type, reading: nil))
      guard value != .null else { return nil }
      return value
    }
  }
}

extension String {
  /// The text as an expression, if that is a number, a string, a blob, or TRUE or FALSE; nil for all whose value may change,
  /// such as CURRENT_TIMESTAMP.
  fileprivate var sqlConstant: String? {
    let text = withoutParentheses
    if text.isPlainNumber, Double(text) != nil { return text }
    if let string = text.withoutQuotes("'") ?? text.withoutQuotes("\"") { return string.sqlText }
    switch text.uppercased() {
    case "TRUE": return "1"
    case "FALSE": return "0"
    default: break
    }
    let digits = text.dropFirst(2).dropLast()
    let isBlob =
      text.uppercased().hasPrefix("X'") && text.hasSuffix("'") && digits.utf8.count % 2 == 0
      && digits.allSatisfy { $0.isASCII && $0.isHexDigit }
    return isBlob ? text : nil
  }

  /// True if there is nothing in it but characters of decimal numbers.
  fileprivate var isPlainNumber: Bool {
    !isEmpty && utf8.allSatisfy { (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) }
  }

  private var withoutParentheses: String {
    var text = self[...]
    func trim() {
      text = text.drop { $0.isWhitespace }
      while text.last?.isWhitespace == true { text.removeLast() }
    }
    trim()
    while text.hasPrefix("("), text.hasSuffix(")") {
      text = text.dropFirst().dropLast()
      trim()
    }
    return String(text)
  }

  /// The text that is quoted as a whole; nil if the quotes are none of one text.
  private func withoutQuotes(_ quote: String) -> String? {
    guard utf8.count > 1, hasPrefix(quote), hasSuffix(quote) else { return nil }
    let inner = dropFirst().dropLast()
    guard !inner.replacing(quote + quote, with: "").contains(quote) else { return nil }
    return String(inner.replacing(quote + quote, with: quote))
  }
}
