/// The figures of one round.
struct Round {
  let seconds: Double
  let peakResident: Int
  /// Of anonymous memory, above that from before.
  let anonymousGrowth: Int
  let bytesOnDisk: Int
}

extension Round {
  /// Runs `body` with the clock on, on a store in `directory`.
  static func measure<Result>(
    storeIn directory: String, _ body: () throws -> Result
  ) throws -> (Round, Result) {
    let (watch, task) = MemoryWatch.begin()
    defer { task.cancel() }
    let start = ContinuousClock.now
    let result = try body()
    let elapsed = ContinuousClock.now - start
    let round = Round(
      seconds: elapsed / .seconds(1), peakResident: ProcessMemory.peakResident,
      anonymousGrowth: watch.growth, bytesOnDisk: try diskUse(of: directory))
    return (round, result)
  }
}
