import Dispatch
import Glibc

/// Passes on to `child` what asks this process to end, and then ends: otherwise a child would measure on for nobody.
func passOnInterruptions(to child: pid_t) -> [any DispatchSourceSignal] {
  [SIGINT, SIGTERM, SIGHUP].map { number in
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

/// Lends texts as C has lists of them: pointers, the last of them nil.
func withCStrings<Result>(
  _ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
  let pointers = unsafe texts.map { unsafe strdup($0) } + [nil]
  defer { for index in unsafe pointers.indices { unsafe free(pointers[index]) } }
  return unsafe pointers.withUnsafeBufferPointer { list in
    guard let start = list.baseAddress else { preconditionFailure("there is the nil at least") }
    return unsafe body(start)
  }
}
