import CambiumPostgres
import Glibc
import Synchronization

/// A PostgreSQL server of the tests, on a socket in a directory of its own. It is stopped when the process ends.
struct PostgresServer: Sendable {
  let directory: String

  /// The server; nil if PostgreSQL 15 is not installed.
  static let shared: PostgresServer? = start("")
  /// Another one, whose tables a test puts on a small disk: a stand-by on the same machine would do so in the same directory.
  static let withSmallDisk: PostgresServer? = start("-small")
  static let missing: String =
    "PostgreSQL 15 is not installed: Scripts/install-packages 'postgresql-15: the tests start it'"

  private static let programs = "/usr/lib/postgresql/15/bin"

  private static func options(_ directory: String) -> String {
    "-k \(directory) -c listen_addresses= -c fsync=off -c synchronous_commit=off -c full_page_writes=off"
      + " -c max_connections=200 -c wal_keep_size=512MB"
  }

  private static let directories = Mutex<[String]>([])

  private static func start(_ name: String) -> PostgresServer? {
    guard unsafe access(programs + "/initdb", X_OK) == 0 else { return nil }
    let directory = "/tmp/cambium-postgres-\(getpid())\(name)"
    let script = """
      set -e
      mkdir -m 755 \(directory)
      as=
      if [ "$(id -u)" = 0 ]; then chown postgres \(directory); as='runuser -u postgres --'; fi
      cd \(directory)
      $as \(programs)/initdb -D data -U cambium --auth=trust -E UTF8 --locale=C.UTF-8 -N > \(directory).log 2>&1
      $as \(programs)/pg_ctl -D data -w -l \(directory)/log -o "\(options(directory))" start >> \(directory).log 2>&1
      """
    guard unsafe system(script) == 0 else { return nil }
    directories.withLock { $0.append(directory) }
    atexit { PostgresServer.stopAll() }
    return PostgresServer(directory: directory)
  }

  private static func stopAll() {
    let all = directories.withLock { directories in
      defer { directories = [] }
      return directories
    }
    for directory in all {
      _ = unsafe system(
        "cd \(directory) && if [ \"$(id -u)\" = 0 ]; then as='runuser -u postgres --'; fi;"
          + " $as \(programs)/pg_ctl -D data -m immediate stop > /dev/null 2>&1;"
          + " rm -rf \(directory) \(directory).log")
    }
  }

  /// Makes a database, and returns its address.
  func makeDatabase(_ name: String) throws -> String {
    let connection = try Connection(address("postgres"))
    try connection.run("CREATE DATABASE \(name)")
    return address(name)
  }

  /// Starts a stand-by of the server, and returns its directory.
  func startStandby(_ name: String) throws -> String {
    let standby = directory + "/" + name
    let script = """
      set -e
      as=
      if [ "$(id -u)" = 0 ]; then as='runuser -u postgres --'; fi
      cd \(directory)
      $as mkdir -m 755 \(standby)
      $as \(Self.programs)/pg_basebackup -h \(directory) -U cambium -D \(standby)/data -R -c fast > /dev/null
      $as \(Self.programs)/pg_ctl -D \(standby)/data -w -l \(standby)/log \
        -o "\(Self.options(standby))" start > /dev/null
      """
    guard unsafe system(script) == 0 else { throw NoStandby() }
    return standby
  }

  struct NoStandby: Error {}

  /// Stops a stand-by.
  func stopStandby(_ standby: String) {
    _ = status(
      of:
        "cd \(directory) && if [ \"$(id -u)\" = 0 ]; then as='runuser -u postgres --'; fi;"
        + " $as \(Self.programs)/pg_ctl -D \(standby)/data -m immediate stop > /dev/null 2>&1")
  }

  func address(_ database: String, host: String? = nil) -> String {
    "host=\(host ?? directory) dbname=\(database) user=cambium"
  }
}
