import Cambium
import Glibc

/// A line that says how far a migration is, on terminals.
struct ProgressLine {
  private let isTerminal = isatty(STDERR_FILENO) == 1

  func show(_ progress: MigrationProgress) {
    guard isTerminal else { return }
    let width = 30
    let done = Int(progress.fraction * Double(width))
    let bar = String(repeating: "█", count: done) + String(repeating: "·", count: width - done)
    write("\r\u{1B}[K\(bar) \(Int(progress.fraction * 100)) %  \(progress.work)")
  }

  func end() {
    if isTerminal { write("\r\u{1B}[K") }
  }

  private func write(_ text: String) {
    var text = text
    text.withUTF8 { bytes in _ = Glibc.write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
  }
}
