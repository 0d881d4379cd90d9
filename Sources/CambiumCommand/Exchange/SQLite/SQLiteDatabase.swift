import Cambium

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A SQLite database that is read in one transaction, so that all of it is of one state.
@safe final class SQLiteDatabase {
  fileprivate let library: SQLiteLibrary
  fileprivate var handle: OpaquePointer?
  private let path: String
  /// The treatment of strings that are not UTF-8.
  let malformedText: MalformedText
  /// The names of collations that were added, in capitals.
  private var collations: Set<String> = []

  /// The bytes of a string or blob, and of a row.
  private static let valueLengthMax: Int32 = 128 << 20
  /// The bytes of memory that SQLite may take.
  private static let heapMax = 512 << 20

  /// - Throws: `CommandFailure` if there is no database at the path, or another process keeps it locked.
  init(_ path: String, malformedText: MalformedText = .bytes) throws {
    library = try SQLiteLibrary()
    self.path = path
    self.malformedText = malformedText
    guard unsafe access(path, F_OK) == 0 else {
      throw CommandFailure(.noStore, "There is no file \(path).")
    }
    // One thread uses it, so it needs no mutex.
    let (readOnly, withoutMutex): (Int32, Int32) = (0x1, 0x8000)
    let code = unsafe library.open(path, &handle, readOnly | withoutMutex, nil)
    guard code == SQLiteCode.ok else { throw failure() }
    try execute("PRAGMA busy_timeout = 5000")
    // A schema can compute values of any length, by any function: a few bytes of file could take all memory.
    _ = unsafe library.limit(handle, SQLiteCode.lengthLimit, Self.valueLengthMax)
    try execute("PRAGMA hard_heap_limit = \(Self.heapMax)")
    try execute("PRAGMA trusted_schema = OFF")
    try execute("BEGIN")
    try readSchema()
  }

  /// Reads the schema for the first time: a file that is no database is found out by it.
  private func readSchema() throws {
    let query = "SELECT count(*) FROM sqlite_master"
    do { try execute(query) } catch {
      // Before version 3.41, SQLite counts its own functions for JSON among those that might do harm.
      guard message.contains("unsafe use of json") else { throw error }
      try execute("PRAGMA trusted_schema = ON")
      try execute(query)
    }
  }

  deinit { _ = unsafe library.close(handle) }

  /// The error message of the last call.
  private var message: String {
    unsafe library.message(handle).map { unsafe String(cString: $0) } ?? "unknown error"
  }

  func failure() -> CommandFailure {
    CommandFailure(.invalid, "\(path): SQLite says “\(message)”.")
  }

  /// Adds a collation of the program that made the database, without which SQLite reads no table whose key has it. Its
  /// order is not the program's, so nothing may be looked up by it.
  func addCollation(_ name: String) throws {
    guard collations.insert(name.uppercased()).inserted else { return }
    let utf8: Int32 = 1
    let code = unsafe library.createCollation(handle, name, utf8, nil) {
      _, count, bytes, otherCount, otherBytes in
      guard let bytes = unsafe bytes, let otherBytes = unsafe otherBytes else {
        return count - otherCount
      }
      let order = unsafe memcmp(bytes, otherBytes, Int(min(count, otherCount)))
      return order == 0 ? count - otherCount : order
    }
    guard code == SQLiteCode.ok else { throw failure() }
  }

  /// Runs a statement to its end.
  func execute(_ text: String) throws {
    let query = try query(text)
    while try query.next() {}
  }

  func query(_ text: String) throws -> SQLiteQuery { try SQLiteQuery(text, of: self) }

  /// Calls `body` with each row of a query.
  func forEach(_ text: String, _ body: (SQLiteQuery) throws -> Void) throws {
    let query = try query(text)
    while try query.next() { try body(query) }
  }

  /// Returns the first number of the first row; 0 if there is no row.
  func number(_ text: String) throws -> Int {
    let query = try query(text)
    return try query.next() ? Int(query.integer(0)) : 0
  }
}

/// The treatment of strings whose bytes are not UTF-8.
enum MalformedText {
  /// The column becomes binary data.
  case bytes
  /// Invalid bytes are replaced with U+FFFD.
  case lossy
  /// The bytes are decoded as Latin-1.
  case latin1
}

/// Numbers that SQLite's functions return.
enum SQLiteCode {
  static let ok: Int32 = 0
  fileprivate static let row: Int32 = 100
  fileprivate static let done: Int32 = 101
  /// The limit of a value's size in bytes.
  fileprivate static let lengthLimit: Int32 = 0
}

/// The type of one value: in SQLite, values have types and columns have preferences.
enum SQLiteValueType: Int32 {
  case integer = 1
  case real, text, blob, null
}

/// A query of a database, and the row that it has reached. The values of a row are valid until the next call of
/// `next()`.
@safe final class SQLiteQuery {
  private let database: SQLiteDatabase
  private var library: SQLiteLibrary { database.library }
  private let handle: OpaquePointer

  fileprivate init(_ text: String, of database: SQLiteDatabase) throws {
    self.database = database
    var query: OpaquePointer?
    guard let connection = unsafe database.handle,
      unsafe database.library.prepare(connection, text, -1, &query, nil) == SQLiteCode.ok,
      let query = unsafe query
    else { throw database.failure() }
    unsafe handle = query
  }

  deinit { _ = unsafe library.finalize(handle) }

  /// Goes to the next row. Returns false after the last one.
  func next() throws -> Bool {
    switch unsafe library.step(handle) {
    case SQLiteCode.row: return true
    case SQLiteCode.done: return false
    default: throw database.failure()
    }
  }

  /// Starts again, with the value that another query has in a column as the first parameter.
  func restart(with column: Int, of other: SQLiteQuery) throws {
    _ = unsafe library.reset(handle)
    let value = unsafe library.value(other.handle, Int32(column))
    guard unsafe library.bind(handle, 1, value) == SQLiteCode.ok else { throw database.failure() }
  }

  func type(_ column: Int) -> SQLiteValueType {
    SQLiteValueType(rawValue: unsafe library.type(handle, Int32(column))) ?? .null
  }

  func integer(_ column: Int) -> Int64 { unsafe library.integer(handle, Int32(column)) }

  func double(_ column: Int) -> Double { unsafe library.double(handle, Int32(column)) }

  /// The number of bytes of a string or blob.
  func length(_ column: Int) -> Int { Int(unsafe library.length(handle, Int32(column))) }

  /// A string, or a number as one.
  func string(_ column: Int) -> String {
    guard let bytes = unsafe library.text(handle, Int32(column)) else { return "" }
    // The length is that of the text only after the text was asked for.
    let buffer = unsafe UnsafeBufferPointer(start: bytes, count: length(column))
    if database.malformedText == .latin1, !isUTF8(column) {
      let scalars = unsafe buffer.map { Unicode.Scalar($0) }
      return String(String.UnicodeScalarView(scalars))
    }
    return unsafe String(decoding: buffer, as: UTF8.self)
  }

  /// Returns true if the bytes of a string are UTF-8.
  func isUTF8(_ column: Int) -> Bool {
    guard let bytes = unsafe library.text(handle, Int32(column)) else { return true }
    let buffer = unsafe UnsafeBufferPointer(start: bytes, count: length(column))
    if unsafe buffer.allSatisfy({ $0 < 0x80 }) { return true }
    return unsafe String(validating: buffer, as: UTF8.self) != nil
  }

  /// The value as SQLite has it: an integer, a double, a string, or data of a blob and of a string that is not UTF-8.
  ///
  /// - Parameter reading: Its further use: bytes that are kept as such are neither replaced nor decoded before.
  func value(_ column: Int, for reading: ColumnReading) -> FieldValue {
    switch type(column) {
    case .text where reading.type == .binaryData: .data(data(column))
    case .null: .null
    case .integer: .integer(integer(column))
    case .real: .double(double(column))
    case .text where database.malformedText != .bytes || isUTF8(column): .string(string(column))
    case .text, .blob: .data(data(column))
    }
  }

  /// The bytes of a blob, or those of a string in UTF-8.
  func data(_ column: Int) -> Data {
    // A database of UTF-16 has other bytes until its text was asked for.
    if type(column) == .text { _ = unsafe library.text(handle, Int32(column)) }
    let bytes = unsafe library.blob(handle, Int32(column))
    return unsafe Data(UnsafeRawBufferPointer(start: bytes, count: length(column)))
  }
}
