import CLMDB
import CSQLite
import Cambium
import Glibc

enum CompactedCambium {
  static func run<Result>(_ directory: String, _ body: (RawStore) throws -> Result) throws {
    let store = try RawStore(at: directory)
    _ = try body(store)
    try store.close()
  }
}

enum CompactedSQLite {
  private static func connect(_ directory: String) throws -> SQLiteConnection {
    let connection = try SQLiteConnection(to: directory + "/store.sqlite", cacheSize: 64 << 20)
    try connection.run("PRAGMA synchronous = FULL")
    return connection
  }

  /// With the log copied back: until then the file has not become smaller.
  static func vacuum(_ directory: String) throws {
    let connection = try connect(directory)
    try connection.run("VACUUM")
    try connection.run("PRAGMA wal_checkpoint(TRUNCATE)")
  }

  /// It does not flush its result.
  static func vacuum(_ directory: String, into copy: String) throws {
    _ = unsafe mkdir(copy, 0o755)
    try connect(directory).run("VACUUM INTO '\(copy)/store.sqlite'")
    try flush(copy + "/store.sqlite")
  }
}

enum CompactedLMDB {
  /// It does not flush its result.
  static func copy(_ directory: String, to copy: String) throws {
    _ = unsafe mkdir(copy, 0o755)
    var environment: OpaquePointer?
    try check(unsafe mdb_env_create(&environment), "mdb_env_create")
    defer { unsafe mdb_env_close(environment) }
    try check(
      unsafe mdb_env_open(environment, directory, UInt32(MDB_RDONLY), 0o644), "mdb_env_open")
    try check(
      unsafe mdb_env_copy2(environment, copy, UInt32(MDB_CP_COMPACT)), "mdb_env_copy2")
    try flush(copy + "/data.mdb")
  }

  private static func check(_ code: Int32, _ call: String) throws {
    if code == MDB_SUCCESS { return }
    throw CommitEngineError(
      engine: .lmdb, call: call,
      message: unsafe mdb_strerror(code).map { unsafe String(cString: $0) } ?? "code \(code)")
  }
}

/// Forces a file, and the directory that names it, to the disk.
private func flush(_ path: String) throws {
  let directory = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
  for path in [path, directory.joined(separator: "/")] {
    let descriptor = unsafe open(path, O_RDONLY)
    guard descriptor >= 0 else { throw CannotFlush(path: path) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw CannotFlush(path: path) }
  }
}

struct CannotFlush: Error {
  let path: String
}
