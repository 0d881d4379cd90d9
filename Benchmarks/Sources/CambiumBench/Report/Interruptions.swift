import Dispatch
import Glibc

/// Passes on to a child the signals that end this process, and then ends: otherwise the child would measure on in
/// vain.
struct Interruptions {
  private static let signals = [SIGINT, SIGTERM, SIGHUP]
  private let sources: [any DispatchSourceSignal]

  /// Begins, once the child is there: it must not inherit that these signals are ignored.
  init(passedOnTo child: pid_t) {
    sources = Self.signals.map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        kill(child, number)
        exit(128 + number)
      }
      source.resume()
      return source
    }
  }

  func end() {
    for source in sources { source.cancel() }
    for number in Self.signals { signal(number, SIG_DFL) }
  }
}
