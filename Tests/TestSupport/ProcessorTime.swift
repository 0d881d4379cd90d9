internal import Glibc

/// The least processor time that one of `count` calls takes, in nanoseconds, of some rounds.
///
/// - Parameter body: Makes all `count` of them, on the calling thread.
package func nanoseconds(each count: Int, _ body: () throws -> Void) rethrows -> Double {
  var best = Int.max
  for _ in 0..<7 {
    let start = processorTime()
    try body()
    best = min(best, processorTime() - start)
  }
  return Double(best) / Double(count)
}

/// Returns the processor time that `body` takes on the calling thread.
package func threadTime(_ body: () throws -> Void) rethrows -> Duration {
  let start = processorTime()
  try body()
  return .nanoseconds(processorTime() - start)
}

/// The processor time of the calling thread, in nanoseconds.
private func processorTime() -> Int {
  var time = timespec()
  unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}
