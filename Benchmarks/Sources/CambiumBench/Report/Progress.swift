import Glibc

/// Says on a terminal's standard error what runs; elsewhere, nothing.
struct Progress {
  private let isTerminal = isatty(STDERR_FILENO) == 1

  func show(
    _ dataset: Dataset, _ workload: Workload, _ engine: EngineName, round: Int, of count: Int
  ) {
    write(
      "\(dataset.shape.rawValue) × \(dataset.sorted.count), \(workload.summary), "
        + "round \(round + 1) of \(count): \(engine.rawValue)")
  }

  func show(_ text: String) { write(text) }

  func clear() { write("") }

  /// In place of the line before.
  private func write(_ line: String) {
    guard isTerminal else { return }
    let text = "\r\u{1B}[K\(line)"
    _ = unsafe text.withCString { unsafe Glibc.write(STDERR_FILENO, $0, text.utf8.count) }
  }
}
