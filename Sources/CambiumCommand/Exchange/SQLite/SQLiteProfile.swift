import Cambium

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The types and lengths of the values of a table's columns, found by reading all of them.
struct SQLiteProfile {
  private(set) var count = 0
  private(set) var columns: [Column]

  struct Column {
    /// How many values of each type there are.
    fileprivate(set) var integers = 0
    fileprivate(set) var reals = 0
    fileprivate(set) var strings = 0
    fileprivate(set) var blobs = 0
    fileprivate(set) var nulls = 0
    /// The length of the longest string or blob in bytes.
    fileprivate(set) var longest = 0
    /// Integers that are not exactly the value of a double.
    fileprivate var longIntegers = 0
    /// Strings whose bytes are not UTF-8, and the number of the first row with one.
    fileprivate(set) var malformed = 0
    fileprivate var firstMalformed = 0
    fileprivate let malformedText: MalformedText
    /// Values that are spelled otherwise in the store: dates with an offset, UUIDs that are not in capitals.
    fileprivate var respelled = 0
    /// The form of the first string that becomes something else, and whether all others have it.
    fileprivate var form: String?
    fileprivate var isUniform = true
    /// Values that the chosen type does not hold exactly, and how many of them become null.
    fileprivate var inexact = 0
    fileprivate var lost = 0
    /// True as long as no value was found that does not fit the declared type.
    fileprivate(set) var keepsPromise = true
    /// The number of the first row with another.
    fileprivate var firstMisfit = 0
    fileprivate let promise: Promise?
    fileprivate let reading: ColumnReading?
  }

  /// A type that a declaration promises and SQLite itself does not have.
  enum Promise {
    case boolean, date, uuid

    init?(_ declaredType: String) {
      if declaredType.hasPrefix("BOOL") {
        self = .boolean
      } else if declaredType.hasPrefix("DATE") || declaredType.hasPrefix("TIMESTAMP") {
        self = .date
      } else if ["UUID", "GUID", "UNIQUEIDENTIFIER"].contains(declaredType) {
        self = .uuid
      } else {
        return nil
      }
    }
  }

  /// Reads all rows of a table.
  ///
  /// - Parameter progress: Called with the number of rows that were read, now and then.
  /// - Throws: `CommandFailure` for a value that the type that was chosen for its column does not hold exactly, unless bad
  ///   values may be lost.
  init(
    _ table: SQLiteTable, of database: SQLiteDatabase, numbersAreDates: Bool,
    progress: (Int) throws -> Void
  ) throws {
    columns = table.columns.map {
      Column(
        malformedText: database.malformedText,
        promise: $0.reading == nil ? Promise($0.declaredType) : nil, reading: $0.reading)
    }
    let names = table.columns.map(\.name.sqlName).joined(separator: ", ")
    let row = try database.query("SELECT \(names) FROM \(table.name.sqlName)")
    while try row.next() {
      count += 1
      for index in columns.indices {
        let malformed = columns[index].malformed
        columns[index].take(row, index, numbersAreDates)
        if malformed == 0, columns[index].malformed > 0 { columns[index].firstMalformed = count }
        if !columns[index].keepsPromise, columns[index].firstMisfit == 0 {
          columns[index].firstMisfit = count
        }
        guard let reading = columns[index].reading else { continue }
        let value = row.value(index, for: reading)
        guard columns[index].take(value, reading) || database.malformedText == .lossy else {
          throw Self.refusal(of: value, reading, table, index, row: count)
        }
      }
      if count & 0xfff == 0 { try progress(count) }
    }
  }

  private static func refusal(
    of value: FieldValue, _ reading: ColumnReading, _ table: SQLiteTable, _ column: Int, row: Int
  ) -> CommandFailure {
    let (table, column) = (table.name, table.columns[column].name)
    let shown =
      switch value {
      case .string(let text): String(text.prefix(100)).quoted
      case .data(let bytes): Figures.count(bytes.count, "byte")
      default: "\(value)"
      }
    return CommandFailure(
      .invalid,
      "\(table).\(column): row \(row) has \(shown), which is not exactly a value of \(reading). Nothing was imported."
        + " Choose another type, omit --type for one that holds all values, or say --lossy to lose some.",
      ErrorDetail(
        "inexactValue",
        [
          "table": .string(table), "column": .string(column), "row": JSONValue(row),
          "value": .string(shown), "type": .string("\(reading)"),
        ]))
  }
}

extension SQLiteProfile.Column {
  fileprivate mutating func take(_ row: SQLiteQuery, _ index: Int, _ numbersAreDates: Bool) {
    switch row.type(index) {
    case .null: nulls += 1
    case .integer:
      integers += 1
      let integer = row.integer(index)
      let isLong = Int64(exactly: Double(integer)) != integer
      if isLong { longIntegers += 1 }
      guard let promise, keepsPromise else { return }
      let isBoolean = promise == .boolean && (0...1).contains(integer)
      keepsPromise = isBoolean || promise == .date && numbersAreDates && !isLong
    case .real:
      reals += 1
      keepsPromise = keepsPromise && promise == .date && numbersAreDates
    case .text:
      strings += 1
      let isMalformed = !row.isUTF8(index)
      if isMalformed { malformed += 1 }
      // A byte that is replaced becomes three.
      longest = max(longest, row.length(index) * (isMalformed ? 3 : 1))
      if let promise, keepsPromise { check(row.string(index), promise) }
    case .blob:
      blobs += 1
      longest = max(longest, row.length(index))
      keepsPromise = keepsPromise && promise == .uuid && row.length(index) == 16
    }
  }

  private mutating func check(_ text: String, _ promise: SQLiteProfile.Promise) {
    let reading = ColumnReading.type(promise.type)
    let fit = reading.read(.string(text)).fit
    keepsPromise = promise != .boolean && fit != .inexact
    if keepsPromise { take(text, reading, fit) }
  }

  /// Takes a value that is read as the caller chooses.
  ///
  /// - Returns: False if the type does not hold it exactly.
  fileprivate mutating func take(_ source: FieldValue, _ reading: ColumnReading) -> Bool {
    let (value, fit) = reading.read(source)
    if fit == .inexact {
      inexact += 1
      if value == .null {
        lost += 1
        nulls += 1
      }
    } else if case .string(let text) = source {
      take(text, reading, fit)
    }
    return fit != .inexact
  }

  private mutating func take(_ text: String, _ reading: ColumnReading, _ fit: ColumnReading.Fit) {
    if fit == .respelled { respelled += 1 }
    switch reading {
    case .type(.date): take(form: text.dateForm)
    case .type(.uuid):
      take(form: fit == .exact ? "capitals" : text == text.lowercased() ? "lowercase" : "")
    case .type(.string): take(form: "strings")
    default: take(form: fit == .exact ? "\(reading)" : "")
    }
  }

  /// - Parameter form: Two values with it are equal exactly if their strings are; empty for none.
  private mutating func take(form other: String) {
    if form == nil { form = other }
    if form != other || other.isEmpty { isUniform = false }
  }

  /// The number of values that are not null.
  var values: Int { integers + reals + strings + blobs }
}

extension String {
  /// The text of a date with a zero for each digit; empty if it has an offset.
  fileprivate var dateForm: String {
    guard !hasOffset else { return "" }
    return String(
      decoding: utf8.map { (0x30...0x39).contains($0) ? 0x30 : $0 }, as: UTF8.self)
  }
}

// MARK: - Column types

extension SQLiteProfile.Column {
  /// Returns the type that holds all values exactly, and in words the treatment of values of another type.
  ///
  /// - Parameters:
  ///   - declared: The declared type, which decides if there are no values.
  ///   - isKey: True for a part of the primary key. Two spellings of a date or a UUID are two keys, so they stay strings.
  func type(declared: String, isKey: Bool) -> (type: ScalarType, note: String?) {
    if let reading { return (reading.type, note(on: reading)) }
    let (type, note) = heldType(declared: declared, isKey: isKey)
    guard let promise, !keepsPromise else { return (type, note) }
    let misfit =
      "row \(firstMisfit) has the first value that is no \(promise), as which it is declared"
    return (type, misfit + "; " + (note ?? "all stay as they are"))
  }

  private func heldType(declared: String, isKey: Bool) -> (type: ScalarType, note: String?) {
    if keepsPromise, let promise, !isKey || values == 0 || spelling(as: promise.type) != nil {
      return (promise.type, respelledNote(of: .type(promise.type)))
    }
    if values == 0 { return (promise?.type ?? Self.type(byAffinityOf: declared), nil) }
    let (numbers, bytes) = (integers + reals, strings + blobs)
    if malformed > 0, malformedText == .bytes { return (.binaryData, malformedNote) }
    if bytes == 0 {
      if reals > 0, longIntegers > 0 {
        return (
          .string,
          "it has \(reals) real numbers and \(longIntegers) integers that no double is; all are strings now"
        )
      }
      let note =
        integers > 0 && reals > 0 && !Self.isOfReals(declared)
        ? "it has \(integers) integers and \(reals) real numbers; all are doubles now" : nil
      return (reals > 0 ? .double : .int64, note)
    }
    if numbers == 0, blobs == 0 { return (.string, malformedNote) }
    if numbers == 0, strings == 0 { return (.binaryData, nil) }
    if blobs == 0 {
      let note = "it has \(strings) strings and \(numbers) numbers; all are strings now"
      return (.string, [note, malformedNote].compactMap(\.self).joined(separator: "; "))
    }
    return (.binaryData, "it has blobs and \(numbers + strings) other values; all are bytes now")
  }

  /// Returns the name of the form in which all values are written; nil if they are written in several. Values of the same
  /// form, also of another column, are equal in the store exactly if they are equal in SQLite.
  ///
  /// - Parameter type: Their type in the store.
  func spelling(as type: ScalarType) -> String? {
    if inexact > 0 || malformed > 0 && malformedText != .bytes { return nil }
    let kinds = (integers + reals > 0, strings > 0, blobs > 0)
    switch kinds {
    case (true, false, false):
      if case .date(let number)? = reading { return number.rawValue }
      return reals > 0 && longIntegers > 0 ? nil : "numbers"
    case (false, true, false):
      guard reading != nil || type == .date || type == .uuid else { return "strings" }
      return isUniform ? form : nil
    case (false, false, true): return "bytes"
    default: return nil
    }
  }

  /// The bytes that a value takes at most as a part of a key, with its separator.
  ///
  /// - Parameter isAlone: False if other parts follow: then each zero byte of a blob takes two.
  func longestKey(isAlone: Bool) -> Int { longest * (isAlone || blobs == 0 ? 1 : 2) + 16 }

  private func respelledNote(of reading: ColumnReading) -> String? {
    guard respelled > 0 else { return nil }
    let isOne = respelled == 1
    switch reading {
    case .type(.date):
      return
        "\(respelled) of its dates \(isOne ? "has" : "have") an offset; the dates are in UTC now"
    case .type(.uuid):
      return "\(respelled) of its UUIDs \(isOne ? "is" : "are") not in capitals, as all are now"
    default:
      return
        "\(respelled) of its values \(isOne ? "is" : "are") spelled otherwise than \(reading) spells them"
    }
  }

  /// Returns in words the changes of values that are read as the caller chooses; nil if they stay as they are.
  private func note(on reading: ColumnReading) -> String? {
    let kinds = [(integers + reals, "number"), (strings, "string"), (blobs, "blob")]
      .filter { $0.0 > 0 }.map { Figures.count($0.0, $0.1) }
    let mixture =
      kinds.count > 1 ? "it has \(kinds.joined(separator: " and ")); all are \(reading) now" : nil
    let loss =
      inexact > 0
      ? "\(Figures.count(inexact, "value")) \(inexact == 1 ? "is" : "are") not exactly \(reading), of which \(lost) became null"
      : nil
    let notes = [
      mixture, reading.type == .binaryData ? nil : malformedNote, respelledNote(of: reading), loss,
    ].compactMap(\.self)
    return notes.isEmpty ? nil : notes.joined(separator: "; ")
  }

  private var malformedNote: String? {
    guard malformed > 0 else { return nil }
    let rest =
      switch malformedText {
      case .bytes:
        "all values are bytes now; --encoding latin1 or --lossy makes strings of them"
      case .lossy: "their bad bytes are replaced"
      case .latin1: "they are read as Latin-1"
      }
    return "\(malformed) strings are not UTF-8, the first in row \(firstMalformed); \(rest)"
  }

  private static func isOfReals(_ declared: String) -> Bool {
    ["REAL", "FLOA", "DOUB", "NUM", "DEC"].contains { declared.contains($0) }
  }

  /// SQLite's own rules for the preference of a declared type.
  private static func type(byAffinityOf declared: String) -> ScalarType {
    if declared.contains("INT") { return .int64 }
    if ["CHAR", "CLOB", "TEXT", "JSON"].contains(where: { declared.contains($0) }) {
      return .string
    }
    if declared.isEmpty || declared.contains("BLOB") { return .binaryData }
    return .double
  }
}

extension SQLiteProfile.Promise: CustomStringConvertible {
  var description: String {
    switch self {
    case .boolean: "boolean"
    case .date: "date"
    case .uuid: "UUID"
    }
  }

  var type: ScalarType {
    switch self {
    case .boolean: .boolean
    case .date: .date
    case .uuid: .uuid
    }
  }
}
