import FoundationEssentials
import Glibc

/// A program as a process of its own, often this one once more: neither a crash nor its memory touches
/// others.
enum ChildProcess {
  struct End {
    let seconds: Double
    /// Nil if it ended well.
    let problem: String?
    /// The most memory it had, in bytes.
    let peakResident: Int
  }

  /// Runs it to its end, or until the time is over. Its tables come where this process's would.
  ///
  /// - Parameters:
  ///   - arguments: Its arguments, the first of them its name.
  ///   - path: The program; this one without it.
  static func run(
    _ arguments: [String], at path: String = "/proc/self/exe",
    until deadline: ContinuousClock.Instant? = nil
  ) throws -> End {
    let errors = try ErrorText()
    let start = ContinuousClock.now
    let child = try spawn(path, arguments, errors: errors.descriptor)
    let interruptions = Interruptions(passedOnTo: child)
    defer { interruptions.end() }
    let (status, usage, isLate) = try wait(for: child, until: deadline)
    let text = errors.finish()
    if !text.isEmpty { printError(text) }
    return End(
      seconds: (ContinuousClock.now - start) / .seconds(1),
      problem: isLate ? "was ended: the time is over" : problem(status, text),
      peakResident: usage.ru_maxrss * 1024)
  }

  private static func spawn(
    _ path: String, _ arguments: [String], errors: Int32
  ) throws -> pid_t {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
    let environment = ProcessInfo.processInfo.environment.sorted { $0.key < $1.key }
    var child = pid_t()
    let failure = unsafe withCStrings(arguments) { arguments in
      unsafe withCStrings(environment.map { "\($0.key)=\($0.value)" }) { environment in
        unsafe posix_spawn(&child, path, &actions, nil, arguments, environment)
      }
    }
    guard failure == 0 else { throw ChildError(call: "posix_spawn", code: failure) }
    return child
  }

  // MARK: Its end

  /// Looks every 50 milliseconds, which the measured process will not notice.
  private static func wait(
    for child: pid_t, until deadline: ContinuousClock.Instant?
  ) throws -> (status: Int32, usage: rusage, isLate: Bool) {
    var (status, usage, isLate) = (Int32(0), rusage(), false)
    while true {
      let ended = unsafe wait4(child, &status, WNOHANG, &usage)
      if ended == child { return (status, usage, isLate) }
      guard ended == 0 || errno == EINTR else { throw ChildError(call: "wait4", code: errno) }
      if let deadline, ContinuousClock.now > deadline {
        // It removes its stores first, if it can.
        kill(child, ContinuousClock.now > deadline + .seconds(10) ? SIGKILL : SIGTERM)
        isLate = true
      }
      sleepMilliseconds(50)
    }
  }

  /// As `WIFEXITED` and its like take a status apart, which Swift's Glibc module does not name.
  private static func problem(_ status: Int32, _ text: String) -> String? {
    let (signal, code) = (status & 0x7f, status >> 8 & 0xff)
    if signal == 0 && code == 0 { return nil }
    let end = signal == 0 ? "ended with status \(code)" : "was ended by signal \(signal)"
    return reason(in: text).map { "\(end): \($0)" } ?? end
  }

  /// The most telling line of its output.
  private static func reason(in text: String) -> String? {
    let lines = text.split(separator: "\n").map(String.init)
    return lines.first { $0.contains("Error: ") || $0.contains("Fatal error") }
      ?? lines.first { $0.contains("***") } ?? lines.last
  }
}

struct ChildError: Error, CustomStringConvertible {
  let call: String
  let code: Int32

  var description: String { "\(call): errno \(code)" }
}
