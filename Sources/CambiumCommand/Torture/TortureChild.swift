import Cambium

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A process that writes, and says which transactions were acknowledged.
struct TortureChild: ~Copyable {
  private let process: pid_t
  private let pipe: Int32
  /// The last transaction that was acknowledged, of any kind.
  private(set) var acknowledged = 0
  /// The last durable one.
  private(set) var durable = 0
  private var rest: [UInt8] = []

  /// - Parameter arguments: Of this same command.
  init(_ arguments: [String]) throws {
    var ends: [Int32] = [-1, -1]
    guard unsafe systemPipe(&ends) == 0 else { throw Self.failure("make a pipe") }
    let (readEnd, writeEnd) = (ends[0], ends[1])
    defer { close(writeEnd) }
    let words = unsafe (["cambium"] + arguments).map { unsafe strdup($0) } + [nil]
    defer { for index in unsafe words.indices { unsafe free(words[index]) } }
    guard let child = unsafe systemStartAgain(words, writingTo: writeEnd, without: readEnd) else {
      close(readEnd)
      throw Self.failure("start a process")
    }
    process = child
    pipe = readEnd
  }

  private static func failure(_ action: String) -> OutputFailure {
    OutputFailure(message: "Cannot \(action): \(SystemErrorCode(rawValue: errno)).")
  }

  /// Reads its output until it ends, or for so many milliseconds.
  ///
  /// - Returns: True if it has ended.
  mutating func listen(milliseconds: Int32) -> Bool {
    let clock = ContinuousClock()
    let end = clock.now + .milliseconds(Int(milliseconds))
    while true {
      let left = Int32(max(0, clock.now.duration(to: end) / .milliseconds(1)))
      var event = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
      guard unsafe poll(&event, 1, left) > 0 else { return false }
      if !read() { return true }
      if left == 0 || Interruption.isRequested { return false }
    }
  }

  /// False at the end.
  private mutating func read() -> Bool {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = unsafe bytes.withUnsafeMutableBytes {
      unsafe systemRead(pipe, $0.baseAddress, $0.count)
    }
    if count <= 0 { return false }
    rest += bytes[..<count]
    while rest.count >= 8 {
      let word = rest[..<8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      rest.removeFirst(8)
      acknowledged = Int(word >> 1)
      if word & 1 == 1 { durable = acknowledged }
    }
    return true
  }

  func kill() { systemKill(process) }

  /// Hears the last of it, and waits for its end.
  ///
  /// - Returns: its status; nil if it was killed.
  mutating func end() -> Int32? {
    while read() {}
    close(pipe)
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
    return status & 0x7f == 0 ? status >> 8 & 0xff : nil
  }
}
