// Writers faster than the fold are slowed down, the more the nearer the fresh overlay is to its bound: so they
// meet the fold's pace by many short pauses, and not by one long one at the end.

extension Engine {
  /// What a byte of operations costs in time when the fresh overlay is three quarters full. About what a fold
  /// takes for it where keys come in any order.
  private static var nanosecondsPerByte: Double { 10 }
  /// Shorter pauses are saved up: threads do not sleep for less.
  private static var shortest: Duration { .microseconds(200) }
  private static var longest: Duration { .milliseconds(50) }

  /// Notes that a transaction added `byteCount` bytes of operations. With the lock.
  func addPressure(_ byteCount: Int) {
    guard background.areRunning, working.frozen != nil else {
      pressure = 0
      return
    }
    let fill = Double(working.fresh.byteCount) / Double(freshMax)
    let excess = min(2 * fill - 1, 0.98)
    if excess <= 0 { return }
    pressure += Double(byteCount) * Self.nanosecondsPerByte * excess / (1 - excess)
  }

  /// Takes the pause that is due, without any turn: until it is over, the fold ends that writers are ahead of, or the
  /// store closes or fails. With the lock.
  func pauseIfDue() {
    guard let pause = takePause(), let folded = working.frozen?.sequence else { return }
    let end = ContinuousClock.now + pause
    // Every flush wakes all who wait.
    while working.frozen?.sequence == folded, life.permits(.starting) {
      let rest = end - .now
      if rest <= .zero { return }
      _ = progressed.wait(atMost: rest)
    }
  }

  /// The pause that the caller owes; nil if none is due. With the lock.
  func takePause() -> Duration? {
    if pressure == 0 { return nil }
    let pause = Duration.nanoseconds(Int64(min(pressure, 1e9)))
    if pause < Self.shortest { return nil }
    pressure = 0
    return min(pause, Self.longest)
  }
}
