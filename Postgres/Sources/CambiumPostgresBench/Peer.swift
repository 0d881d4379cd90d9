import CambiumPostgres
import FoundationEssentials
import LibpqPeer

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The program in C, with a connection of its own.
@safe final class Peer {
  private let handle: OpaquePointer

  private static let columns = "id, created, title, body, count, weight, is_done, note"

  init(_ address: String) throws {
    guard let handle = unsafe peer_connect(address) else { throw NotTheSame() }
    unsafe self.handle = handle
  }

  deinit { unsafe peer_end(handle) }

  private func check(_ count: Int) throws -> Int {
    guard count >= 0 else { throw NotTheSame() }
    return count
  }

  private func run(_ sql: String) throws { _ = try check(unsafe peer_run(handle, sql)) }

  /// The rows of a table in the binary form.
  func rows(of table: String) throws -> [UInt8] {
    var bytes: UnsafeMutablePointer<UInt8>?
    var size = 0
    let sql = "COPY \(table) (\(Self.columns)) TO STDOUT (FORMAT binary)"
    _ = try check(unsafe peer_copy_out(handle, sql, &bytes, &size))
    defer { unsafe free(bytes) }
    return unsafe Array(UnsafeBufferPointer(start: bytes, count: size))
  }

  /// Makes the table of a plan, copies rows, and makes its key and its index.
  func make(_ plan: PostgresPlan, copying rows: [UInt8]) throws -> Int {
    let name = plan.qualified("bench_item")
    let own = plan.statements.filter { $0.contains(name) }
    for statement in own where statement.hasPrefix("CREATE TABLE") { try run(statement) }
    let sql = "COPY \(name) (\(Self.columns)) FROM STDIN (FORMAT binary)"
    let count = try check(
      unsafe rows.withUnsafeBufferPointer { buffer in
        unsafe peer_copy_in(handle, sql, buffer.baseAddress, buffer.count)
      })
    for statement in own where !statement.hasPrefix("CREATE TABLE") { try run(statement) }
    try run("ANALYZE \(name)")
    return count
  }

  func prepare() throws {
    let names = Self.columns.split(separator: ", ")
    let places = names.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
    let changes = names.dropFirst().map { "\($0) = EXCLUDED.\($0)" }.joined(separator: ", ")
    let statements = [
      ("find", "SELECT \(Self.columns) FROM bench_item WHERE id = $1"),
      (
        "query",
        "SELECT \(Self.columns) FROM bench_item WHERE title >= '\(BenchItem.title(100))' ORDER BY title, id LIMIT 100"
      ),
      (
        "save",
        "INSERT INTO bench_item (\(Self.columns)) VALUES (\(places)) ON CONFLICT (id) DO UPDATE SET \(changes)"
      ),
    ]
    for (name, sql) in statements { _ = try check(unsafe peer_prepare(handle, name, sql)) }
  }

  func find(_ keys: [UUID]) throws -> Int {
    let bytes = keys.flatMap { key in
      unsafe withUnsafeBytes(of: key.uuid) { bytes in unsafe Array(bytes) }
    }
    return try check(
      unsafe bytes.withUnsafeBufferPointer { buffer in
        unsafe peer_find(handle, "find", buffer.baseAddress, keys.count)
      })
  }

  func query(_ count: Int) throws -> Int { try check(unsafe peer_query(handle, "query", count)) }

  /// Saves the first of some rows.
  func save(_ rows: [UInt8], _ count: Int) throws -> Int {
    try check(
      unsafe rows.withUnsafeBufferPointer { buffer in
        unsafe peer_save(handle, "save", buffer.baseAddress, buffer.count, count)
      })
  }
}
