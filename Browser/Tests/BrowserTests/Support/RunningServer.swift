import FoundationEssentials
import Glibc

/// A process of `cambium-browse`, which is killed with the last reference to this.
final class RunningServer {
  private let process: pid_t
  private let output: String
  private var status: Int32?

  /// Starts the program.
  ///
  /// - Parameter output: The file that gets its output.
  init(_ arguments: [String], output: String) throws {
    self.output = output
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    let flags = O_WRONLY | O_CREAT | O_TRUNC
    unsafe posix_spawn_file_actions_addopen(&actions, 1, output, flags, 0o600)
    unsafe posix_spawn_file_actions_addopen(&actions, 2, output + ".errors", flags, 0o600)
    let words = unsafe ([Self.path] + arguments).map { unsafe strdup($0) } + [nil]
    defer { for index in unsafe words.indices { unsafe free(words[index]) } }
    var child: pid_t = 0
    let result = unsafe posix_spawn(&child, Self.path, &actions, nil, words, environ)
    guard result == 0 else { throw NoAnswer(errno: result) }
    process = child
  }

  deinit {
    guard status == nil else { return }
    kill(process, SIGKILL)
    _ = wait()
  }

  /// The program beside the bundle of the tests.
  private static let path: String = {
    let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
    let directory = bundle.lastIndex(of: "/").map { String(bundle[...$0]) } ?? ""
    return directory + "cambium-browse"
  }()

  /// Returns its status, or 128 and the signal that ended it.
  func wait() -> Int32 {
    if let status { return status }
    var ended: Int32 = 0
    while unsafe waitpid(process, &ended, 0) < 0, errno == EINTR {}
    let signal = ended & 0x7f
    let found = signal == 0 ? ended >> 8 & 0xff : 128 + signal
    status = found
    return found
  }

  func interrupt() -> Int32 {
    kill(process, SIGINT)
    return wait()
  }

  /// Waits for the first line of its output, and returns the port and the token in it.
  func address() throws -> (port: UInt16, token: String) {
    for _ in 0..<600 {
      let text = try String(contentsOfFile: output, encoding: .utf8)
      if let found = text.firstMatch(of: /http:\/\/127\.0\.0\.1:(\d+)\/([0-9a-f]+)\/\n/),
        let port = UInt16(found.1)
      {
        return (port, String(found.2))
      }
      usleep(50_000)
    }
    throw NoAnswer(errno: ETIMEDOUT)
  }

  /// Returns the whole response to a request, with its headers.
  ///
  /// - Throws: `NoAnswer` if nothing listens there.
  func get(
    _ target: String, host: String, port: UInt16,
    address: (UInt8, UInt8, UInt8, UInt8) = (127, 0, 0, 1)
  ) throws -> String {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { throw NoAnswer(errno: errno) }
    defer { close(descriptor) }
    var place = sockaddr_in()
    place.sin_family = sa_family_t(AF_INET)
    place.sin_port = port.bigEndian
    place.sin_addr.s_addr =
      UInt32(address.0) | UInt32(address.1) << 8 | UInt32(address.2) << 16
      | UInt32(address.3) << 24
    let connected = unsafe withUnsafePointer(to: &place) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard connected == 0 else { throw NoAnswer(errno: errno) }
    let request = Array(
      "GET \(target) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n".utf8)
    let sent = unsafe request.withUnsafeBytes {
      unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
    }
    guard sent == request.count else { throw NoAnswer(errno: errno) }
    var answer: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = unsafe piece.withUnsafeMutableBytes {
        unsafe recv(descriptor, $0.baseAddress, $0.count, 0)
      }
      if count <= 0 { return String(decoding: answer, as: UTF8.self) }
      answer += piece[..<count]
    }
  }
}
