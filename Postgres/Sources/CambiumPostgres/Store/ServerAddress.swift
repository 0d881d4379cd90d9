import FoundationEssentials
import Synchronization

/// The address of a store's database, which may have several hosts, and the server among them to connect to.
final class ServerAddress: Sendable {
  private let text: String
  private let role: Role
  /// The hosts in the address, if there are several, with the port of each, which is empty if they have the same one.
  private let hosts: [Host]
  /// True if the address or the environment says which servers are wanted.
  private let saysWhich: Bool
  /// The place of the host to try first.
  private let first = Mutex(0)

  private typealias Host = (name: String, port: String)

  enum Role: Sendable {
    /// The server that takes writes.
    case primary
    /// A stand-by; the primary if there is none.
    case standby
  }

  init(_ text: String, _ role: Role) {
    self.text = text
    self.role = role
    let parameters = Connection.parameters(of: text) ?? [:]
    hosts = Self.hosts(of: parameters)
    saysWhich =
      parameters["target_session_attrs"] != nil
      || ProcessInfo.processInfo.environment["PGTARGETSESSIONATTRS"] != nil
  }

  private static func hosts(of parameters: [String: String]) -> [Host] {
    guard parameters["hostaddr"] == nil else { return [] }
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
    var fault = PostgresError(message: "the server is read-only", isOfConnection: true)
    do {
      let (connection, takesWrites) = try open(overrides)
      if role == .standby || saysWhich || takesWrites { return connection }
    } catch let error as PostgresError where error.isOfReadOnlyServer && !saysWhich {
      fault = error
    }
    guard let connection = primary() else { throw fault }
    return connection
  }

  /// Connects to each host in turn, until one says itself that it takes writes: a pooler tells its clients what its server was when it
  /// connected to it.
  ///
  /// - Returns: nil if none takes writes.
  private func primary() -> Connection? {
    let hosts: [Host?] = hosts.isEmpty ? [nil] : order
    for host in hosts {
      let overrides =
        [(key: "target_session_attrs", value: "any")] + (host.map { Self.overrides([$0]) } ?? [])
      if let (connection, takesWrites) = try? open(overrides), takesWrites { return connection }
    }
    return nil
  }

  private func open(
    _ overrides: [(key: String, value: String)]
  ) throws -> (Connection, takesWrites: Bool) {
    let connection = try Connection(text, defaults: defaults, overrides: overrides)
    try connection.checkServer()
    // The server notices as well that a client was cut off. Its transaction would keep its locks for two hours otherwise.
    let isReadOnly = try connection.run(
      "SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3;"
        + " SHOW transaction_read_only")
    let (name, port) = connection.server
    let place = hosts.firstIndex { $0.name == name && ($0.port.isEmpty || $0.port == port) }
    if let place { first.withLock { $0 = place } }
    return (connection, isReadOnly == [["off"]])
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
    if !saysWhich { defaults.append((key: "target_session_attrs", value: "read-write")) }
    return defaults
  }

  /// The host that was the primary last is tried first: one before it in the address that does not answer would cost each
  /// connection 3 seconds. Connections to stand-bys begin with any, and so are spread over them.
  private var overrides: [(key: String, value: String)] {
    var overrides: [(key: String, value: String)] = []
    if role == .standby {
      overrides.append((key: "target_session_attrs", value: "prefer-standby"))
    }
    return hosts.isEmpty ? overrides : overrides + Self.overrides(order)
  }

  private var order: [Host] {
    let start = role == .primary ? first.withLock { $0 } : Int.random(in: hosts.indices)
    return Array(hosts[start...] + hosts[..<start])
  }

  private static func overrides(_ hosts: [Host]) -> [(key: String, value: String)] {
    let names = [(key: "host", value: hosts.map(\.name).joined(separator: ","))]
    if hosts.contains(where: \.port.isEmpty) { return names }
    return names + [(key: "port", value: hosts.map(\.port).joined(separator: ","))]
  }
}

extension PostgresError {
  /// True if libpq has refused servers because they are said to take no writes.
  fileprivate var isOfReadOnlyServer: Bool {
    isOfConnection && ["read-only", "hot standby"].contains { message.contains($0) }
  }
}
