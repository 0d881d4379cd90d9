import CSQLite

/// A prepared statement, used again and again, with blobs bound where they are (`SQLITE_STATIC`).
@safe final class SQLiteStatement {
  private let statement: OpaquePointer?
  /// Numbers are bound and read as such: the key is then the row's number.
  private let hasNumbers: Bool

  /// Takes over a statement made by `sqlite3_prepare_v3`.
  init(_ statement: OpaquePointer?, keys: KeyShape) {
    unsafe self.statement = statement
    hasNumbers = keys == .integer8
  }

  deinit {
    unsafe sqlite3_finalize(statement)
  }

  /// Binds a key. Its bytes must not move until `reset`.
  @inline(__always)
  func bind(key: RawSpan, at position: Int32) throws {
    guard hasNumbers else { return try bind(key, at: position) }
    let number = unsafe UInt64(bigEndian: key.unsafeLoadUnaligned(as: UInt64.self))
    try check(
      unsafe sqlite3_bind_int64(statement, position, Int64(bitPattern: number)),
      "sqlite3_bind_int64")
  }

  /// Binds a blob. Its bytes must not move until `reset`.
  @inline(__always)
  func bind(_ bytes: RawSpan, at position: Int32) throws {
    let bound = unsafe bytes.withUnsafeBytes {
      unsafe sqlite3_bind_blob(statement, position, $0.baseAddress, Int32($0.count), nil)
    }
    try check(bound, "sqlite3_bind_blob")
  }

  /// Binds a number, where there are no keys of a shape.
  @inline(__always)
  func bind(number: Int, at position: Int32) throws {
    try check(
      unsafe sqlite3_bind_int64(statement, position, Int64(number)), "sqlite3_bind_int64")
  }

  @inline(__always)
  func bind(_ double: Double, at position: Int32) throws {
    try check(unsafe sqlite3_bind_double(statement, position, double), "sqlite3_bind_double")
  }

  /// Binds a copy of a text, or null.
  @inline(__always)
  func bind(_ text: String?, at position: Int32) throws {
    guard let text else {
      return try check(unsafe sqlite3_bind_null(statement, position), "sqlite3_bind_null")
    }
    let copied = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    try check(
      unsafe sqlite3_bind_text(statement, position, text, Int32(text.utf8.count), copied),
      "sqlite3_bind_text")
  }

  /// The number in a column of the current row.
  @inline(__always)
  func number(_ column: Int32) -> Int { Int(unsafe sqlite3_column_int64(statement, column)) }

  @inline(__always)
  func double(_ column: Int32) -> Double { unsafe sqlite3_column_double(statement, column) }

  /// The text in a column of the current row; nil for null.
  @inline(__always)
  func text(_ column: Int32) -> String? {
    guard let bytes = unsafe sqlite3_column_text(statement, column) else { return nil }
    let count = Int(unsafe sqlite3_column_bytes(statement, column))
    return unsafe String(
      decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
  }

  /// The number of columns of rows.
  var columnCount: Int32 { unsafe sqlite3_column_count(statement) }

  /// The type of the value in a column of the current row, such as `SQLITE_TEXT`.
  func type(_ column: Int32) -> Int32 { unsafe sqlite3_column_type(statement, column) }

  /// The blob in a column of the current row, for as long as `body` runs.
  func withColumn<Result>(_ column: Int32, _ body: (RawSpan) throws -> Result) rethrows -> Result {
    let start = unsafe sqlite3_column_blob(statement, column)
    let count = unsafe sqlite3_column_bytes(statement, column)
    let bytes = unsafe UnsafeRawBufferPointer(start: start, count: Int(count))
    return try unsafe body(bytes.bytes)
  }

  /// Goes to the next row, and returns false if there is none.
  @inline(__always)
  func step() throws -> Bool {
    switch unsafe sqlite3_step(statement) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let code: throw SQLiteStatement.error(code, "sqlite3_step")
    }
  }

  @inline(__always)
  func reset() throws {
    try check(unsafe sqlite3_reset(statement), "sqlite3_reset")
  }

  /// Adds the blob in a column of the current row.
  @inline(__always)
  func addColumn(_ column: Int32, to digest: inout Digest) {
    let start = unsafe sqlite3_column_blob(statement, column)
    let count = unsafe sqlite3_column_bytes(statement, column)
    let bytes = unsafe UnsafeRawBufferPointer(start: start, count: Int(count))
    unsafe digest.add(bytes.bytes)
  }

  /// Adds the key in a column of the current row.
  @inline(__always)
  func addKeyColumn(_ column: Int32, to digest: inout Digest) {
    guard hasNumbers else { return addColumn(column, to: &digest) }
    let number = unsafe sqlite3_column_int64(statement, column)
    digest.add(integer: UInt64(bitPattern: number))
  }

  @inline(__always)
  private func check(_ code: Int32, _ call: StaticString) throws {
    if code != SQLITE_OK { throw SQLiteStatement.error(code, call) }
  }

  @inline(never)
  private static func error(_ code: Int32, _ call: StaticString) -> EngineError {
    EngineError(
      engine: .sqlite, call: "\(call)",
      message: unsafe sqlite3_errstr(code).map { unsafe String(cString: $0) } ?? "code \(code)")
  }
}
