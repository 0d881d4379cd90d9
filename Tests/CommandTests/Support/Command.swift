import Glibc
import TestSupport

/// The command as it was built beside the tests.
struct Command {
  let status: Int32
  let output: String
  let error: String

  /// Runs it to its end.
  ///
  /// - Parameters:
  ///   - input: Its standard input; empty without.
  ///   - signal: Sent when it has run for so many milliseconds.
  static func run(
    _ arguments: String..., input: String = "/dev/null", environment: [String] = [],
    signal: (number: Int32, milliseconds: UInt32)? = nil
  ) throws -> Command {
    try run(arguments, input: input, environment: environment, signal: signal)
  }

  static func run(
    _ arguments: [String], input: String = "/dev/null", environment: [String] = [],
    signal: (number: Int32, milliseconds: UInt32)? = nil
  ) throws -> Command {
    let directory = try TemporaryDirectory()
    let (output, error) = (directory.path + "/output", directory.path + "/error")
    let child = try ChildProcess(
      arguments, files: [input, output, error], environment: environment)
    if let signal {
      usleep(signal.milliseconds * 1000)
      kill(child.number, signal.number)
    }
    let status = child.wait()
    return Command(status: status, output: try contents(of: output), error: try contents(of: error))
  }

  static let path: String = {
    let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
    let directory = bundle.lastIndex(of: "/").map { String(bundle[...$0]) } ?? ""
    return directory + "cambium"
  }()
}

/// A process of the command. One without a waiter is killed, and leaves nothing: whatever watches all children, as
/// tests of exits do, would find only it from then on.
final class ChildProcess {
  let number: pid_t
  private var status: Int32?

  /// - Parameters:
  ///   - files: Its input, output and error output.
  ///   - script: Commands for the shell that starts it, such as setting limits.
  init(
    _ arguments: [String], files: [String], environment: [String] = [], after script: String? = nil
  ) throws {
    var actions = unsafe posix_spawn_file_actions_t()
    _ = unsafe posix_spawn_file_actions_init(&actions)
    defer { _ = unsafe posix_spawn_file_actions_destroy(&actions) }
    for (descriptor, path) in files.enumerated() {
      let flags = descriptor == 0 ? O_RDONLY : O_RDWR | O_CREAT | O_TRUNC | O_NOCTTY
      _ = unsafe posix_spawn_file_actions_addopen(&actions, Int32(descriptor), path, flags, 0o600)
    }
    var command = [Command.path] + arguments
    if let script { command = ["/bin/sh", "-c", "\(script); exec \"$0\" \"$@\""] + command }
    // Without the check that the tests of the tests leave out, the command is without it, too.
    let mutant = unsafe getenv("CAMBIUM_MUTANT").map {
      unsafe ["CAMBIUM_MUTANT=\(String(cString: $0))"]
    }
    let words = unsafe command.map { unsafe strdup($0) } + [nil]
    let settings = ["PATH=/usr/bin:/bin", "TERM=xterm"] + environment + (mutant ?? [])
    let variables = unsafe settings.map { unsafe strdup($0) } + [nil]
    defer {
      let all = unsafe words + variables
      for index in unsafe all.indices { unsafe free(all[index]) }
    }
    var child: pid_t = 0
    let result = unsafe posix_spawn(&child, command[0], &actions, nil, words, variables)
    guard result == 0 else { throw NotStarted(errno: result) }
    number = child
  }

  deinit {
    guard status == nil else { return }
    kill(number, SIGKILL)
    _ = wait()
  }

  /// Its status, or 128 and the signal that ended it.
  func wait() -> Int32 {
    if let status { return status }
    var ended: Int32 = 0
    while unsafe waitpid(number, &ended, 0) < 0, errno == EINTR {}
    let signal = ended & 0x7f
    let status = signal == 0 ? ended >> 8 & 0xff : 128 + signal
    self.status = status
    return status
  }

  /// Stops it, and returns once it has stopped or ended. It goes on at SIGCONT; a signal that is sent meanwhile reaches it then.
  func stop() {
    kill(number, SIGSTOP)
    var state = unsafe siginfo_t()
    while unsafe waitid(P_PID, id_t(number), &state, WSTOPPED | WEXITED | WNOWAIT) < 0,
      errno == EINTR
    {}
  }

  /// True if it has ended by itself: an output that a test waits for will not come.
  var hasEnded: Bool {
    var ended = unsafe siginfo_t()
    let found = unsafe waitid(P_PID, id_t(number), &ended, WEXITED | WNOHANG | WNOWAIT)
    return unsafe found != 0 || ended._sifields._sigchld.si_pid != 0
  }

  struct NotStarted: Error {
    let errno: Int32
  }
}

/// The text of a file.
func contents(of path: String) throws -> String {
  String(decoding: try bytes(of: path), as: UTF8.self)
}

func bytes(of path: String) throws -> [UInt8] {
  let descriptor = unsafe open(path, O_RDONLY)
  guard descriptor >= 0 else { throw ChildProcess.NotStarted(errno: errno) }
  defer { close(descriptor) }
  var bytes: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 1 << 16)
  while true {
    let count = unsafe chunk.withUnsafeMutableBytes {
      unsafe read(descriptor, $0.baseAddress, $0.count)
    }
    if count <= 0 { return bytes }
    bytes += chunk[..<count]
  }
}

func write(_ bytes: [UInt8], to path: String) throws {
  let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
  guard descriptor >= 0 else { throw ChildProcess.NotStarted(errno: errno) }
  defer { close(descriptor) }
  let count = unsafe bytes.withUnsafeBytes {
    unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
  }
  guard count == bytes.count else { throw ChildProcess.NotStarted(errno: errno) }
}

func write(_ text: String, to path: String) throws { try write(Array(text.utf8), to: path) }

func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }
