import Glibc
import Synchronization

/// A socket before that of the server, which cuts each of the first connections after a number of bytes from the client, or as soon as
/// the server has been sent one of the first commits.
final class CuttingProxy: Sendable {
  let directory: String
  private let server: String
  private let listener: Int32
  /// The bytes after which the next connections are cut; later ones are not.
  private let budgets: Mutex<[Int]>
  private let roundTrips = Atomic(0)
  /// The number of commits after which the connection is cut before the answer.
  private let commits: Mutex<Int>
  /// True if these commits do not reach the server, whose side of the connection stays open, as if the client was cut off.
  private let withholds: Bool

  init(
    before server: PostgresServer, named name: String, cuttingAfter budgets: [Int],
    commits: Int = 0, withholding withholds: Bool = false
  ) throws {
    directory = server.directory + "/" + name
    self.server = server.directory + "/.s.PGSQL.5432"
    self.budgets = Mutex(budgets)
    self.commits = Mutex(commits)
    self.withholds = withholds
    unsafe mkdir(directory, 0o755)
    listener = Self.makeSocket()
    var address = Self.address(directory + "/.s.PGSQL.5432")
    let bound = unsafe Self.withAddress(&address) { unsafe bind(listener, $0, $1) }
    guard bound == 0, listen(listener, 20) == 0 else { throw NoProxy(code: errno) }
    let proxy = self
    Thread.run { proxy.serve() }
  }

  /// The number of connections that are yet to be cut.
  var rest: Int { budgets.withLock { $0.count } + commits.withLock { $0 } }

  /// How often the server was asked, by one statement or by several together.
  var roundTripCount: Int { roundTrips.load(ordering: .relaxed) }

  /// True if bytes from the client end with a commit that is to be cut.
  private func cutsCommit(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard bytes.suffix(7).elementsEqual("COMMIT\0".utf8) else { return false }
    return commits.withLock { count in
      defer { count = max(0, count - 1) }
      return count > 0
    }
  }

  struct NoProxy: Error {
    let code: Int32
  }

  private func serve() {
    while true {
      let client = accept(listener, nil, nil)
      if client < 0 { return }
      let budget = budgets.withLock { $0.isEmpty ? nil : $0.removeFirst() }
      let other = Self.makeSocket()
      var address = Self.address(server)
      guard unsafe Self.withAddress(&address, { unsafe connect(other, $0, $1) }) == 0 else {
        close(client)
        continue
      }
      Thread.run { self.forward(client, other, budget) }
    }
  }

  private func forward(_ client: Int32, _ server: Int32, _ budget: Int?) {
    var rest = budget ?? .max
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      var polls = [
        pollfd(fd: client, events: Int16(POLLIN), revents: 0),
        pollfd(fd: server, events: Int16(POLLIN), revents: 0),
      ]
      guard unsafe poll(&polls, 2, -1) > 0 else { break }
      let isOfClient = polls[0].revents != 0
      let (source, target) = isOfClient ? (client, server) : (server, client)
      let count = unsafe read(
        source, &bytes, isOfClient ? min(bytes.count, max(rest, 1)) : bytes.count)
      guard count > 0 else { break }
      if isOfClient, withholds, cutsCommit(bytes[..<count]) {
        close(client)
        return
      }
      var written = 0
      while written < count {
        let sent = unsafe bytes.withUnsafeBytes { buffer in
          unsafe send(
            target, buffer.baseAddress?.advanced(by: written), count - written,
            Int32(MSG_NOSIGNAL))
        }
        guard sent > 0 else { break }
        written += sent
      }
      guard written == count else { break }
      if isOfClient {
        // Each is a query, or ends with the message that the server is to answer.
        if bytes[0] == UInt8(ascii: "Q")
          || bytes[..<count].suffix(5).elementsEqual([UInt8(ascii: "S"), 0, 0, 0, 4])
        {
          roundTrips.add(1, ordering: .relaxed)
        }
        rest -= count
        if rest <= 0 || cutsCommit(bytes[..<count]) { break }
      }
    }
    close(client)
    close(server)
  }

  private static func makeSocket() -> Int32 { socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0) }

  private static func address(_ path: String) -> sockaddr_un {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { place in
      for (index, byte) in bytes.enumerated() { unsafe place[index] = byte }
    }
    return address
  }

  private static func withAddress(
    _ address: inout sockaddr_un, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}

/// A detached thread.
enum Thread {
  private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  static func run(_ body: @escaping @Sendable () -> Void) {
    var thread = pthread_t()
    let context = unsafe Unmanaged.passRetained(Body(body)).toOpaque()
    _ = unsafe pthread_create(
      &thread, nil,
      { context in
        if let context = unsafe context {
          unsafe Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
        }
        return nil
      }, context)
    pthread_detach(thread)
  }
}
