import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The answer of a command.
///
/// A reader that goes away, as `head` does, ends the command: quietly, as it does others.
enum StandardOutput {
  private static let output = Mutex(FileOutput(descriptor: 1, name: "standard output"))

  static func write(_ text: String) { run { try $0.write(text) } }
  static func write(_ bytes: [UInt8]) { run { try $0.write(bytes) } }
  /// Writes a line for people, or one of JSON: a terminal does not act on its characters.
  static func line(_ text: String = "") { write(text.onTerminal + "\n") }
  static func finish() { run { try $0.flush() } }

  private static func run(_ body: (FileOutput) throws -> Void) {
    do {
      try output.withLock { try body($0) }
    } catch {
      if errno != EPIPE { StandardError.line("cambium: standard output cannot be written.") }
      ExitStatus.inputOutput.exit()
    }
  }
}

/// Messages beside the answer, written at once.
enum StandardError {
  /// Writes a line on which a terminal does not act.
  static func line(_ text: String) { write(text.onTerminal + "\n") }

  static func write(_ text: String) {
    var bytes = Array(text.utf8)
    _ = unsafe bytes.withUnsafeMutableBytes { bytes in
      unsafe systemWrite(2, bytes.baseAddress, bytes.count)
    }
  }
}
