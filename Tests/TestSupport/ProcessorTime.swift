#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The least processor time that one of `count` calls takes, in nanoseconds, of some rounds.
///
/// - Parameters:
///   - bound: More rounds are made while it is exceeded, since another core's work slows this one down.
///   - body: Makes all `count` of them, on the calling thread.
package func nanoseconds(
  each count: Int, atMost bound: Double = .infinity, _ body: () throws -> Void
) rethrows -> Double {
  var best = Double.infinity
  var round = 0
  while round < 7 || best > bound && round < 50 {
    let time = try threadTime(body) / .nanoseconds(1)
    best = min(best, time / Double(count))
    round += 1
  }
  return best
}

/// Returns how many times as long one of `many` calls takes as one of `few`: about 1 if the time is linear in their number.
///
/// - Parameters:
///   - bound: Both are measured again while it is exceeded, since another core's work slows this one down.
///   - time: Returns the time of one of so many calls, as `nanoseconds(each:_:)` does.
package func growth(
  from few: Int, to many: Int, atMost bound: Double, _ time: (Int) throws -> Double
) rethrows -> Double {
  var best = (few: Double.infinity, many: Double.infinity)
  var round = 0
  repeat {
    best.few = min(best.few, try time(few))
    best.many = min(best.many, try time(many))
    round += 1
  } while best.many > best.few * bound && round < 8
  return best.many / best.few
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
