import CPostgres

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A connection to a server, by libpq. This is the only file that imports it. Use one connection in one thread at a time.
@safe package final class Connection {
  private let handle: OpaquePointer

  /// Connects to the first host of the address that accepts the connection.
  ///
  /// - Parameters:
  ///   - address: A URL or a connection string, as `psql` takes it. Parameters that it does not have come from the environment,
  ///     `.pgpass` and service files.
  ///   - defaults: Parameters of libpq that the address may override.
  ///   - overrides: Parameters that override those of the address.
  package init(
    _ address: String, defaults: [(key: String, value: String)] = [],
    overrides: [(key: String, value: String)] = []
  ) throws(PostgresError) {
    // Of a parameter that is repeated, the last value counts.
    let parameters = defaults + [(key: "dbname", value: address)] + overrides
    guard let handle = unsafe Self.connect(parameters) else {
      throw PostgresError(message: "There is no memory for a connection.", isOfConnection: false)
    }
    unsafe self.handle = handle
    guard unsafe PQstatus(handle) == CONNECTION_OK else {
      // An initializer that throws once everything is set runs the deinitializer.
      throw unsafe PostgresError(
        message: Self.text(PQerrorMessage(handle)), isOfConnection: true)
    }
    // Notices, as of schemas that exist, are of no interest.
    unsafe PQsetNoticeProcessor(handle, { _, _ in }, nil)
  }

  deinit { unsafe PQfinish(handle) }

  private static func connect(_ parameters: [(key: String, value: String)]) -> OpaquePointer? {
    var texts: [CChar] = []
    var places: [(key: Int, value: Int)] = []
    for parameter in parameters {
      let key = texts.count
      texts += Array(parameter.key.utf8CString)
      places.append((key, texts.count))
      texts += Array(parameter.value.utf8CString)
    }
    return unsafe texts.withUnsafeBufferPointer { buffer in
      let keys = unsafe places.map { unsafe buffer.baseAddress?.advanced(by: $0.key) } + [nil]
      let values = unsafe places.map { unsafe buffer.baseAddress?.advanced(by: $0.value) } + [nil]
      return unsafe PQconnectdbParams(keys, values, 1)
    }
  }

  /// The parameters that an address has itself; nil if it is not valid.
  static func parameters(of address: String) -> [String: String]? {
    guard let options = unsafe PQconninfoParse(address, nil) else { return nil }
    defer { unsafe PQconninfoFree(options) }
    var parameters: [String: String] = [:]
    var place = unsafe options
    while let keyword = unsafe place.pointee.keyword {
      if let value = unsafe place.pointee.val {
        unsafe parameters[String(cString: keyword)] = unsafe String(cString: value)
      }
      unsafe place += 1
    }
    return parameters
  }

  /// The host and the port that it leads to.
  var server: (host: String, port: String) {
    unsafe (Self.text(PQhost(handle)), Self.text(PQport(handle)))
  }

  /// True if the server cannot be reached by it any more.
  package var isLost: Bool { unsafe PQstatus(handle) != CONNECTION_OK }

  /// A message, without the ends of lines that it may end with.
  private static func text(_ text: UnsafePointer<CChar>?) -> String {
    guard let text = unsafe text else { return "" }
    var string = unsafe String(cString: text)
    while string.last?.isNewline == true { string.removeLast() }
    return string
  }

  /// The database, without a password: for messages, and as the place to which records were moved.
  package var place: String {
    let host = unsafe Self.text(PQhost(handle))
    let port = unsafe Self.text(PQport(handle))
    let name = unsafe Self.text(PQdb(handle))
    return host.hasPrefix("/")
      ? "postgres:///\(name)?host=\(host)&port=\(port)" : "postgres://\(host):\(port)/\(name)"
  }

  private var failure: PostgresError {
    unsafe PostgresError(
      message: Self.text(PQerrorMessage(handle)),
      isOfConnection: PQstatus(handle) != CONNECTION_OK)
  }

  /// Runs statements, and returns the rows of the last as text; nil for null.
  @discardableResult
  package func run(_ sql: String) throws(PostgresError) -> [[String?]] {
    guard let result = unsafe PQexec(handle, sql) else { throw failure }
    defer { unsafe PQclear(result) }
    try unsafe check(result, or: [PGRES_COMMAND_OK, PGRES_TUPLES_OK])
    return unsafe (0..<PQntuples(result)).map { row in
      unsafe (0..<PQnfields(result)).map { column in
        unsafe PQgetisnull(result, row, column) == 1
          ? nil : String(cString: PQgetvalue(result, row, column))
      }
    }
  }

  /// Returns the number of rows that a statement has changed.
  package func change(_ sql: String) throws(PostgresError) -> Int {
    guard let result = unsafe PQexec(handle, sql) else { throw failure }
    defer { unsafe PQclear(result) }
    try unsafe check(result, or: [PGRES_COMMAND_OK, PGRES_TUPLES_OK])
    return unsafe Int(Self.text(PQcmdTuples(result))) ?? 0
  }

  /// - Parameter place: That of the statement in its pipeline.
  private func check(
    _ result: OpaquePointer, or expected: [ExecStatusType], at place: Int = 0
  ) throws(PostgresError) {
    let status = unsafe PQresultStatus(result)
    guard !expected.contains(where: { $0 == status }) else { return }
    let state = unsafe PQresultErrorField(result, Int32(UInt8(ascii: "C")))
    let message = unsafe Self.text(PQresultErrorMessage(result))
    let constraint = unsafe PQresultErrorField(result, Int32(UInt8(ascii: "n")))
    let detail = unsafe PQresultErrorField(result, Int32(UInt8(ascii: "D")))
    throw PostgresError(
      message: message, state: unsafe state.map { unsafe String(cString: $0) },
      constraint: unsafe constraint.map { unsafe String(cString: $0) },
      detail: unsafe detail.map { unsafe String(cString: $0) },
      isOfConnection: unsafe PQstatus(handle) != CONNECTION_OK, place: place)
  }

  /// Runs one statement with parameters, and returns its result.
  @discardableResult
  package func run(
    _ sql: String, _ parameters: [SQLParameter]
  ) throws(PostgresError) -> SQLResult {
    let found = unsafe Self.withValues(of: parameters) { types, values, lengths, formats in
      unsafe PQexecParams(
        handle, sql, Int32(parameters.count), types, values, lengths, formats, 1)
    }
    guard let result = unsafe found else { throw failure }
    defer { unsafe PQclear(result) }
    try unsafe check(result, or: [PGRES_COMMAND_OK, PGRES_TUPLES_OK])
    return unsafe Self.rows(of: result)
  }

  /// Runs statements in a pipeline, and returns their results: they are sent together, and wait for one answer. After one that fails,
  /// the others are not run.
  ///
  /// - Throws: the error of the first that fails, with its `place`.
  func run(_ pipeline: [SQLStatement]) throws(PostgresError) -> [SQLResult] {
    guard unsafe PQenterPipelineMode(handle) == 1 else { throw failure }
    defer { _ = unsafe PQexitPipelineMode(handle) }
    var error: PostgresError?
    var sentCount = 0
    for statement in pipeline {
      guard send(statement) else {
        error = failure
        break
      }
      sentCount += 1
    }
    guard unsafe PQpipelineSync(handle) == 1 else { throw error ?? failure }
    var results: [SQLResult] = []
    for place in 0..<sentCount {
      guard let result = unsafe PQgetResult(handle) else { break }
      do throws(PostgresError) {
        try unsafe check(result, or: [PGRES_COMMAND_OK, PGRES_TUPLES_OK], at: place)
        unsafe results.append(Self.rows(of: result))
      } catch let found {
        // The errors of the others say that they were not run.
        if error == nil { error = found }
      }
      unsafe PQclear(result)
      // Each ends with none.
      while !isLost, let rest = unsafe PQgetResult(handle) { unsafe PQclear(rest) }
    }
    // The end of the pipeline.
    if !isLost, let end = unsafe PQgetResult(handle) { unsafe PQclear(end) }
    if let error { throw error }
    guard results.count == pipeline.count else { throw failure }
    return results
  }

  private func send(_ statement: SQLStatement) -> Bool {
    let count = Int32(statement.parameters.count)
    return unsafe Self.withValues(of: statement.parameters) { types, values, lengths, formats in
      unsafe PQsendQueryParams(handle, statement.sql, count, types, values, lengths, formats, 1)
    } == 1
  }

  /// Calls `body` with parameters as libpq takes them: types, values, lengths and formats.
  private static func withValues<Result>(
    of parameters: [SQLParameter],
    _ body: ([Oid], [UnsafePointer<CChar>?], [Int32], [Int32]) -> Result
  ) -> Result {
    // A pointer to an empty value must not be nil, which is null.
    var bytes: [UInt8] = [0]
    var starts: [Int?] = []
    for parameter in parameters {
      starts.append(parameter.bytes.map { _ in bytes.count })
      bytes += parameter.bytes ?? []
    }
    let types = parameters.map { Oid(bitPattern: $0.type) }
    let lengths = parameters.map { Int32($0.bytes?.count ?? 0) }
    let formats = [Int32](repeating: 1, count: parameters.count)
    return unsafe bytes.withUnsafeBytes { buffer in
      let values = unsafe starts.map { start in
        unsafe start.flatMap { start in
          unsafe buffer.baseAddress?.advanced(by: start).assumingMemoryBound(to: CChar.self)
        }
      }
      return unsafe body(types, values, lengths, formats)
    }
  }

  private static func rows(of result: OpaquePointer) -> SQLResult {
    let rows = unsafe (0..<PQntuples(result)).map { row in
      unsafe (0..<PQnfields(result)).map { column -> [UInt8]? in
        guard unsafe PQgetisnull(result, row, column) == 0 else { return nil }
        let count = unsafe Int(PQgetlength(result, row, column))
        return unsafe Array(
          UnsafeRawBufferPointer(start: PQgetvalue(result, row, column), count: count))
      }
    }
    return SQLResult(rows: rows, count: unsafe Int(text(PQcmdTuples(result))) ?? 0)
  }

  /// Waits for notifications of channels that the connection listens to.
  ///
  /// - Returns: The payloads of those that have come; none after the time is over.
  package func notifications(waitingFor duration: Duration) throws(PostgresError) -> [String] {
    let found = received()
    if !found.isEmpty { return found }
    var socket = unsafe pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
    let milliseconds = Int32(clamping: Int64(duration / .milliseconds(1)))
    guard unsafe poll(&socket, 1, milliseconds) > 0 else { return [] }
    guard unsafe PQconsumeInput(handle) == 1 else { throw failure }
    return received()
  }

  /// The payloads of the notifications that have been read.
  private func received() -> [String] {
    var payloads: [String] = []
    while let notification = unsafe PQnotifies(handle) {
      payloads.append(unsafe Self.text(notification.pointee.extra))
      unsafe PQfreemem(notification)
    }
    return payloads
  }

  /// Copies rows in the binary form into a table.
  ///
  /// - Parameters:
  ///   - target: The table, and its columns in parentheses.
  ///   - rows: The rows, without the header and the trailer.
  package func copy(into target: String, _ rows: [UInt8]) throws(PostgresError) {
    let sql = "COPY \(target) FROM STDIN (FORMAT binary)"
    guard let begun = unsafe PQexec(handle, sql) else { throw failure }
    defer { unsafe PQclear(begun) }
    try unsafe check(begun, or: [PGRES_COPY_IN])
    try put(Self.header)
    try put(rows)
    try put([0xFF, 0xFF])
    guard unsafe PQputCopyEnd(handle, nil) == 1 else { throw failure }
    guard let ended = unsafe PQgetResult(handle) else { throw failure }
    defer {
      unsafe PQclear(ended)
      while let next = unsafe PQgetResult(handle) { unsafe PQclear(next) }
    }
    try unsafe check(ended, or: [PGRES_COMMAND_OK])
  }

  private func put(_ bytes: [UInt8]) throws(PostgresError) {
    var start = 0
    while start < bytes.count {
      let count = min(1 << 20, bytes.count - start)
      let result = unsafe bytes.withUnsafeBytes { buffer in
        unsafe buffer.baseAddress.map { base in
          unsafe PQputCopyData(
            handle, base.advanced(by: start).assumingMemoryBound(to: CChar.self), Int32(count))
        } ?? 1
      }
      guard result == 1 else { throw failure }
      start += count
    }
  }

  private static let header: [UInt8] =
    Array("PGCOPY\n".utf8) + [0xFF] + Array("\r\n".utf8) + [0] + [UInt8](repeating: 0, count: 8)
}

/// An error of the server, or of the connection to it.
package struct PostgresError: Error, CustomStringConvertible {
  /// The message of the server or of libpq.
  package let message: String
  /// The code of the error, five characters; nil if there is none.
  package let state: String?
  /// The name of the constraint that was broken; nil if it is about none.
  package let constraint: String?
  /// The server's detail, such as the key of the row; nil if there is none.
  package let detail: String?
  /// True if the connection is lost, or could not be made.
  package let isOfConnection: Bool
  /// The place of the statement in its pipeline; 0 for a single one.
  let place: Int

  init(
    message: String, state: String? = nil, constraint: String? = nil, detail: String? = nil,
    isOfConnection: Bool, place: Int = 0
  ) {
    self.place = place
    self.message = message
    self.state = state
    self.constraint = constraint
    self.detail = detail
    self.isOfConnection = isOfConnection
  }

  package var description: String { "PostgreSQL: \(message)" }

  /// The error for changes of another connection that were not expected. The state of the server is read again.
  static func overtaken(_ message: String) -> PostgresError {
    PostgresError(message: message, state: "08000", isOfConnection: true)
  }

  /// True if the same may succeed later: the connection is lost, the server starts, stops, or has too little of something, such
  /// as space on its disk; or other transactions were in the way.
  package var isTransient: Bool {
    isOfConnection
      || state.map { code in
        ["08", "40", "53", "57P"].contains { code.hasPrefix($0) } || code == "55P03"
      } ?? false
  }
}

/// A value that a statement is run with, in the binary form.
package struct SQLParameter: Sendable, Hashable {
  /// The number of its type, in `pg_type`.
  package let type: Int32
  /// Nil for null.
  package let bytes: [UInt8]?
}

/// A statement with its parameters.
struct SQLStatement {
  let sql: String
  var parameters: [SQLParameter] = []
}

/// The result of a statement.
package struct SQLResult: Sendable {
  /// The values of each row in the binary form; nil for null.
  package let rows: [[[UInt8]?]]
  /// The number of rows that were returned or changed.
  package let count: Int
}
