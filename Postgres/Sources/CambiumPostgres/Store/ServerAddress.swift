import FoundationEssentials
import Synchronization

/// The address of a store's database, which may have several hosts, and the server among them to connect to.
final class ServerAddress: Sendable {
  private let text: String
  private let role: Role
  /// The hosts in the address, if there are several, with the port of each, which is empty if they have the same one.
  private let hosts: [(name: String, port: String)]
  /// The place of the host to try first.
  private let first = Mutex(0)

  enum Role: Sendable {
    /// The server that takes writes.
    case primary
    /// A stand-by; the primary if there is none.
    case standby
  }

  init(_ text: String, _ role: Role) {
    self.text = text
    self.role = role
    hosts = Self.hosts(of: text)
  }

  private static func hosts(of text: String) -> [(name: String, port: String)] {
    guard let parameters = Connection.parameters(of: text), parameters["hostaddr"] == nil else {
      return []
    }
    func list(_ text: String) -> [String] {
      text.split(separator: ",", omittingEmptySubsequences: false).map { String($0) }
    }
    let names = list(parameters["host"] ?? "")
    let ports = parameters["port"].map(list) ?? []
    // Defaults between commas stay in their places.
    guard names.count > 1, !names.contains(""), !ports.contains("") else { return [] }
    return ports.count == names.count ? Array(zip(names, ports)) : names.map { ($0, "") }
  }

  /// Connects.
  func connect() throws -> Connection {
    let connection = try Connection(text, defaults: defaults, overrides: overrides)
    try connection.checkServer()
    // The server notices as well that a client was cut off. Its transaction would keep its locks for two hours otherwise.
    try connection.run(
      "SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3")
    let (name, port) = connection.server
    let place = hosts.firstIndex { $0.name == name && ($0.port.isEmpty || $0.port == port) }
    if let place { first.withLock { $0 = place } }
    return connection
  }

  /// A host that does not answer is given up after 3 seconds, and an established connection to it after 8 to 11.
  private var defaults: [(key: String, value: String)] {
    let environment = ProcessInfo.processInfo.environment
    var defaults = [
      (key: "tcp_user_timeout", value: "8000"), (key: "keepalives_idle", value: "5"),
      (key: "keepalives_interval", value: "2"), (key: "keepalives_count", value: "3"),
    ]
    if environment["PGCONNECT_TIMEOUT"] == nil {
      defaults.append((key: "connect_timeout", value: "3"))
    }
    if environment["PGTARGETSESSIONATTRS"] == nil {
      defaults.append((key: "target_session_attrs", value: "read-write"))
    }
    return defaults
  }

  /// The host that was the primary last is tried first: one before it in the address that does not answer would cost each
  /// connection 3 seconds. Connections to stand-bys begin with any, and so are spread over them.
  private var overrides: [(key: String, value: String)] {
    var overrides: [(key: String, value: String)] = []
    if role == .standby {
      overrides.append((key: "target_session_attrs", value: "prefer-standby"))
    }
    guard !hosts.isEmpty else { return overrides }
    let start = role == .primary ? first.withLock { $0 } : Int.random(in: hosts.indices)
    let order = hosts[start...] + hosts[..<start]
    overrides.append((key: "host", value: order.map(\.name).joined(separator: ",")))
    if !order.contains(where: \.port.isEmpty) {
      overrides.append((key: "port", value: order.map(\.port).joined(separator: ",")))
    }
    return overrides
  }
}
