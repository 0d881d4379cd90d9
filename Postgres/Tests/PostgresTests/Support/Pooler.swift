import Glibc

/// A pgbouncer before the server of the tests, which gives each transaction any session of the server. It is stopped when it is
/// released.
final class Pooler {
  static let isInstalled = unsafe access(program, X_OK) == 0
  static let missing: String = "pgbouncer is not installed: Scripts/install-packages 'pgbouncer'"
  private static let program = "/usr/sbin/pgbouncer"

  private let directory: String
  private let database: String

  /// Starts it for a database.
  ///
  /// - Parameters:
  ///   - mode: `transaction` or `session`.
  ///   - host: The directory of the socket of a stand-by; the server's if nil.
  init(
    before server: PostgresServer, database: String, mode: String, host: String? = nil
  ) throws {
    directory = server.directory + "/pgbouncer_\(database)"
    self.database = database
    let script = """
      set -e
      mkdir -m 755 \(directory)
      cat > \(directory)/pgbouncer.ini <<end
      [databases]
      \(database) = host=\(host ?? server.directory) port=5432 dbname=\(database) user=cambium
      [pgbouncer]
      unix_socket_dir = \(directory)
      listen_port = 6432
      auth_type = any
      pool_mode = \(mode)
      logfile = \(directory)/log
      pidfile = \(directory)/pid
      end
      as=
      if [ "$(id -u)" = 0 ]; then chown postgres \(directory); as='runuser -u postgres --'; fi
      $as \(Self.program) -d -q \(directory)/pgbouncer.ini > /dev/null 2>&1
      for attempt in $(seq 100); do
        if [ -S \(directory)/.s.PGSQL.6432 ]; then exit 0; fi
        sleep 0.05
      done
      exit 1
      """
    guard unsafe system(script) == 0 else { throw NotStarted() }
  }

  deinit { _ = unsafe system("kill $(cat \(directory)/pid)") }

  struct NotStarted: Error {}

  var address: String { address(at: directory) }

  /// The address with another host before it.
  func address(beside host: String) -> String { address(at: "\(host),\(directory)") }

  private func address(at hosts: String) -> String {
    "host=\(hosts) port=6432 dbname=\(database) user=cambium"
  }
}
