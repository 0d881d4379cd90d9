#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Runs `body` in a forked child, and returns its result, or -1 if there was none.
///
/// Swift hides `fork`, as its own runtime may be in the middle of something in another thread. A test
/// does this in a process of its own, and little in the child.
package func inForkedChild(_ body: () -> Int32) -> Int32 {
  typealias Fork = @convention(c) () -> pid_t
  guard let symbol = unsafe dlsym(nil, "fork") else { return -1 }
  let fork = unsafe unsafeBitCast(symbol, to: Fork.self)
  let child = fork()
  if child == 0 { _exit(body()) }
  var status: Int32 = 0
  guard child > 0, unsafe waitpid(child, &status, 0) == child, status & 0x7f == 0 else { return -1 }
  return status >> 8 & 0xff
}

/// A forked child that runs beside its parent, and a pipe from it.
///
/// For tests in a process of their own, with no other thread that does something.
package struct ForkedChild: ~Copyable {
  private let process: pid_t
  private let readEnd: Int32

  /// Runs `body` in a child, with the end of the pipe to write to; its result is the child's status.
  ///
  /// Nil if there is no child.
  package init?(_ body: (Int32) -> Int32) {
    typealias Fork = @convention(c) () -> pid_t
    guard let symbol = unsafe dlsym(nil, "fork") else { return nil }
    let fork = unsafe unsafeBitCast(symbol, to: Fork.self)
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { return nil }
    let (readEnd, writeEnd) = (ends[0], ends[1])
    let child = fork()
    if child == 0 {
      close(readEnd)
      _exit(body(writeEnd))
    }
    close(writeEnd)
    guard child > 0 else { return nil }
    process = child
    self.readEnd = readEnd
  }

  package var processNumber: Int32 { process }

  /// The next eight bytes that the child wrote; nil when it has ended and there are no more.
  package func next() -> UInt64? {
    var word: UInt64 = 0
    let count = unsafe withUnsafeMutableBytes(of: &word) { bytes in
      unsafe read(readEnd, bytes.baseAddress, bytes.count)
    }
    return count == 8 ? word : nil
  }

  /// Ends the child on the spot.
  package func kill() {
    killNow(process)
  }

  /// Waits for the child's end. Its status, or -1 if it was killed.
  package consuming func wait() -> Int32 {
    var status: Int32 = 0
    let waited = unsafe waitpid(process, &status, 0)
    close(readEnd)
    return waited == process && status & 0x7f == 0 ? status >> 8 & 0xff : -1
  }
}

/// Writes eight bytes to a pipe, at once.
package func send(_ word: UInt64, to pipe: Int32) {
  _ = unsafe withUnsafeBytes(of: word) { bytes in
    unsafe write(pipe, bytes.baseAddress, bytes.count)
  }
}

/// Outside of the type, whose `kill` has the name of the system's.
private func killNow(_ process: pid_t) { _ = kill(process, SIGKILL) }
