import Cambium

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Says how far a migration is: in one line that is written over on terminals, in a line for each quarter elsewhere.
struct ProgressLine {
  private let isTerminal = isatty(STDOUT_FILENO) == 1
  private var quarters = 0

  /// Shows a migration until it has ended.
  static func show(_ progress: AsyncStream<MigrationProgress>) async {
    var line = ProgressLine()
    for await step in progress { line.show(step) }
    line.end()
  }

  private mutating func show(_ progress: MigrationProgress) {
    let percent = Int(progress.fraction * 100)
    let text = "\(percent) %  to version \(progress.version): \(progress.work)"
    if isTerminal {
      write("\r\u{1B}[K  \(bar(progress.fraction)) \(text)")
    } else if percent / 25 > quarters {
      quarters = percent / 25
      write("  \(text)\n")
    }
  }

  private func end() {
    if isTerminal { write("\r\u{1B}[K") }
  }

  private func bar(_ fraction: Double) -> String {
    let done = Int(fraction * 30)
    return String(repeating: "█", count: done) + String(repeating: "·", count: 30 - done)
  }

  /// Past the buffer of `print`, and in order with it.
  private func write(_ text: String) {
    print(text, terminator: "")
    fflush(nil)
  }
}
