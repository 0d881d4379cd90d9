import Glibc
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A process that commits is killed, on real files, again and again (X8).
@Suite("Killed processes")
struct KillTests {
  @Test(.timeLimit(.minutes(60 * Soak.factor)), arguments: 0..<2 as Range<UInt64>)
  func `a killed process leaves what it acknowledged, and a prefix of its commits`(
    part: UInt64
  ) async throws {
    let directory = try TemporaryDirectory()
    await #expect(processExitsWith: .success) {
      [path = directory.path as String, part = part as UInt64] in
      let kills = scaled(100, debug: 8) * Soak.factor
      let lives = 8
      for store in 0..<(kills + lives - 1) / lives {
        let seed = part << 32 | UInt64(store)
        let place = "\(path)/\(store)"
        do {
          try Self.live(min(lives, kills - store * lives), in: place, seed: seed)
        } catch {
          // Let what can be learnt from the store stay.
          let kept = "/tmp/cambium-killed-\(getpid())"
          _ = unsafe rename(place, kept)
          print("X8: seed \(seed): \(error); the store is \(kept)")
          exit(1)
        }
      }
      print("X8: \(kills) processes killed, 0 violations")
    }
    withExtendedLifetime(directory) {}
  }

  /// One store through several lives.
  private static func live(_ lives: Int, in path: String, seed: UInt64) throws {
    _ = try PosixFileSystem(at: path, creating: true)
    var generator = SplitMix64(seed: seed)
    var lasts = [UInt64](repeating: 0, count: Int(KilledWriter.threadCount))
    for life in 0..<lives {
      var acknowledged = try kill(path, &generator) ?? lasts
      // What a relaxed commit said may be gone; what was seen before may not.
      let relaxed = Int(KilledWriter.relaxedThread)
      acknowledged[relaxed] = 0
      let found = try open(path, isClosing: generator.next() % 2 == 0)
      for thread in found.indices {
        let least = max(acknowledged[thread], lasts[thread])
        try agree(
          found[thread] >= least, "life \(life): thread \(thread) has \(found[thread]) of \(least)")
      }
      lasts = found
    }
  }

  /// Kills a writer at some moment, often while it opens the store.
  ///
  /// - Returns: the last commit that it acknowledged of each thread.
  private static func kill(_ path: String, _ generator: inout SplitMix64) throws -> [UInt64]? {
    let writer = ForkedChild { KilledWriter.run(path, $0) }
    guard let writer else { throw Disagreement(description: "there is no child") }
    var last = [UInt64](repeating: 0, count: Int(KilledWriter.threadCount))
    func take(_ word: UInt64) { last[Int(word >> 56)] = word & (1 << 56 - 1) }
    let count = generator.next() % 4 == 0 ? 0 : generator.next() % 300
    for _ in 0..<count {
      guard let word = writer.next() else {
        throw Disagreement(description: "the writer ended by itself")
      }
      take(word)
    }
    let delay = Duration.microseconds(Int64(generator.next() % (count == 0 ? 8000 : 1000)))
    let moment = ContinuousClock.now + delay
    while ContinuousClock.now < moment {}
    writer.kill()
    while let word = writer.next() { take(word) }
    try agree(writer.wait() == -1, "the writer ended by itself")
    return last
  }

  /// Reads the store before and after it is recovered, and checks it.
  private static func open(_ path: String, isClosing: Bool) throws -> [UInt64] {
    var seen: (reader: RawReader, sequence: UInt64)?
    // It may have been killed before there was a store.
    if unsafe access(path + "/log-0", F_OK) == 0 {
      let reader = try RawReader(at: path)
      let before = reader.snapshot()
      _ = try KilledWriter.verify(before, reader.tree("t"))
      seen = (reader, before.sequence)
    }
    let medium = try PosixFileSystem(at: path)
    let options = KilledWriter.options().engine
    let engine = try Engine(
      Recovery.run(in: medium, options: options, creating: true) {
        var random = SystemRandomNumberGenerator()
        return random.next()
      }, options: options)
    let faults = engine.working.base.file.check()
    try agree(faults.isEmpty, "\(faults)")
    let tree = RawTreeName(slot: try engine.names.slot(of: "t"))
    let snapshot = RawSnapshot(try engine.snapshot())
    let lasts = try KilledWriter.verify(snapshot, tree)
    if let seen {
      try agree(snapshot.sequence == seen.sequence, "a reader saw \(seen.sequence) before")
      _ = try seen.reader.refresh()
      try agree(seen.reader.snapshot().sequence == seen.sequence, "a reader went back")
    }
    if isClosing { try engine.close() }
    return lasts
  }
}
