import Cambium
import FoundationEssentials

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
    /// Strings whose bytes are not UTF-8.
    fileprivate(set) var malformed = 0
    /// True as long as no value was found that is not what the declared type promises.
    fileprivate(set) var keepsPromise = true
    fileprivate let promise: Promise?
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
  init(
    _ table: SQLiteTable, of database: SQLiteDatabase, numbersAreDates: Bool,
    progress: (Int) throws -> Void
  ) throws {
    columns = table.columns.map { Column(promise: Promise($0.declaredType)) }
    let names = table.columns.map(\.name.sqlName).joined(separator: ", ")
    let row = try database.query("SELECT \(names) FROM \(table.name.sqlName)")
    while try row.next() {
      for index in columns.indices { columns[index].take(row, index, numbersAreDates) }
      count += 1
      if count & 0xfff == 0 { try progress(count) }
    }
  }
}

extension SQLiteProfile.Column {
  fileprivate mutating func take(_ row: SQLiteQuery, _ index: Int, _ numbersAreDates: Bool) {
    switch row.type(index) {
    case .null: nulls += 1
    case .integer:
      integers += 1
      guard let promise, keepsPromise else { return }
      let isBoolean = promise == .boolean && (0...1).contains(row.integer(index))
      keepsPromise = isBoolean || promise == .date && numbersAreDates
    case .real:
      reals += 1
      keepsPromise = keepsPromise && promise == .date && numbersAreDates
    case .text:
      strings += 1
      if !row.isUTF8(index) { malformed += 1 }
      longest = max(longest, row.length(index))
      if promise != nil, keepsPromise { check(row.string(index)) }
    case .blob:
      blobs += 1
      longest = max(longest, row.length(index))
      keepsPromise = keepsPromise && promise == .uuid && row.length(index) == 16
    }
  }

  private mutating func check(_ text: String) {
    switch promise {
    case .date: keepsPromise = Date(iso: text) != nil
    case .uuid: keepsPromise = UUID(uuidString: text) != nil
    case .boolean, nil: keepsPromise = false
    }
  }

  /// The number of values that are not null.
  var values: Int { integers + reals + strings + blobs }
}

// MARK: - Column types

extension SQLiteProfile.Column {
  /// Returns the type that holds all values exactly, and in words what becomes of those that are of another type.
  ///
  /// - Parameter declared: The declared type, which decides if there are no values.
  func type(declared: String) -> (type: ScalarType, note: String?) {
    if keepsPromise, let promise, values > 0 || promise != .date { return (promise.type, nil) }
    if values == 0 { return (promise?.type ?? Self.type(byAffinityOf: declared), nil) }
    let (numbers, bytes) = (integers + reals, strings + blobs)
    if bytes == 0 {
      let note =
        integers > 0 && reals > 0 && !Self.isOfReals(declared)
        ? "it has \(integers) integers and \(reals) real numbers; all are doubles now" : nil
      return (reals > 0 ? .double : .int64, note)
    }
    if numbers == 0, blobs == 0 { return (.string, nil) }
    if numbers == 0, strings == 0 { return (.binaryData, nil) }
    if blobs == 0 {
      return (.string, "it has \(strings) strings and \(numbers) numbers; all are strings now")
    }
    return (.binaryData, "it has blobs and \(numbers + strings) other values; all are bytes now")
  }

  private static func isOfReals(_ declared: String) -> Bool {
    ["REAL", "FLOA", "DOUB", "NUM", "DEC"].contains { declared.contains($0) }
  }

  /// SQLite's own rules for what a declared type prefers.
  private static func type(byAffinityOf declared: String) -> ScalarType {
    if declared.contains("INT") { return .int64 }
    if ["CHAR", "CLOB", "TEXT", "JSON"].contains(where: { declared.contains($0) }) {
      return .string
    }
    if declared.isEmpty || declared.contains("BLOB") { return .binaryData }
    return .double
  }
}

extension SQLiteProfile.Promise {
  var type: ScalarType {
    switch self {
    case .boolean: .boolean
    case .date: .date
    case .uuid: .uuid
    }
  }
}
