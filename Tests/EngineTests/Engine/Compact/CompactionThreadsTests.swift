import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// X12: writers, readers, folds and compactions at once; and what is done in the background.
@Suite struct CompactionThreadsTests {
  private typealias MemoryEngine = Engine

  private static func write(_ engine: MemoryEngine, round: Int) throws {
    let slot = try engine.names.slot(of: "t")
    try engine.write(.relaxed) { transaction in
      for number in 0..<8 {
        let key: Bytes = [UInt8((round &* 7 &+ number &* 31) % 250), 5]
        let value = Bytes(repeating: UInt8(round % 251), count: round % 3 == 0 ? 400 : 30)
        // Both are always the same.
        try transaction.put(([0] + key).rawSpan, value.rawSpan, schemaVersion: 1, in: slot)
        try transaction.put(([1] + key).rawSpan, value.rawSpan, schemaVersion: 1, in: slot)
      }
    }
  }

  /// Whether the two halves of a snapshot are the same.
  private static func isWhole(_ engine: MemoryEngine) throws -> Bool {
    let snapshot = try engine.snapshot()
    defer { withExtendedLifetime(snapshot) {} }
    let tree = snapshot.tree(try engine.names.slot(of: "t"))
    var halves: [[Bytes]] = [[], []]
    var cursor = LayeredCursor(tree)
    var value: Bytes = []
    var isOn = try cursor.first()
    while isOn {
      let key = cursor.key.array()
      value.removeAll()
      try cursor.appendValue(to: &value)
      halves[Int(key[0])] += [Bytes(key.dropFirst()), value]
      isOn = try cursor.next()
    }
    return halves[0] == halves[1] && halves[0].count == tree.count
  }

  @Test(.timeLimit(.minutes(60)))
  func `readers see whole states while everything is moved, and closing ends it`() throws {
    var options = EngineOptions.small(foldThreshold: 16 << 10)
    options.readMode = .mapped
    let engine = try Engine.open(InMemoryFileSystem(), options: options)
    let threads = try EngineThreads(for: engine)
    try Self.write(engine, round: 1)
    let (end, faults, slices) = (Signal(), Count(), Count())
    var workers: [BackgroundThread] = []
    for number in 0..<2 {
      workers.append(
        try BackgroundThread(name: "reader") {
          while !end.isSet {
            do {
              if try !Self.isWhole(engine) { faults.add() }
            } catch StoreError.closed {
              return
            } catch {
              faults.add()
            }
          }
        })
      workers.append(
        try BackgroundThread(name: "compactor") {
          while !end.isSet {
            var request = CompactionRequest(scope: number == 0 ? .whole : .segments)
            request.bytes = 4 * Layout.blockSize
            request.below = (try? engine.spaceUsage().nextNumber) ?? 0
            for _ in 0..<20 {
              do {
                guard try engine.compact(request) != nil else { break }
                slices.add()
              } catch StoreError.closed {
                return
              } catch {
                return faults.add()
              }
            }
          }
        })
    }
    // A busy machine may let the compactors wait.
    for round in 2..<50_000 where round < 500 || slices.value == 0 {
      try Self.write(engine, round: round)
    }
    #expect(try Self.isWhole(engine))
    // While slices are under way.
    try engine.close()
    end.set()
    for worker in workers { worker.join() }
    threads.end()
    #expect(faults.value == 0)
    #expect(slices.value > 0)
    let check = engine.working.base.file.check(sizes: options.nodeSizes)
    #expect(check.isEmpty)
  }

  // MARK: In the background

  private static func automatic(leastGain: Int = 64 << 10) -> EngineOptions {
    var options = EngineOptions.small()
    var automatic = AutomaticCompaction()
    automatic.leastGain = leastGain
    automatic.sliceBytes = 8 * Layout.blockSize
    options.automaticCompaction = automatic
    return options
  }

  /// Writes some of the same keys again and again, and does what is due in the background.
  ///
  /// - Returns: the highest share of garbage that was left.
  private static func fill(_ engine: SimulatedEngine) throws -> Double {
    var highest = 0.0
    var random = SplitMix64(seed: 4)
    for round in 0..<60 {
      for number in 0..<(round == 0 ? 250 : 12) {
        let key = round == 0 ? UInt8(number) : UInt8(random.next() % 250)
        try engine.put(
          [key], Bytes(repeating: UInt8(round), count: 90), .relaxed)
      }
      engine.freezeIfPossible()
      while try engine.step() {}
      highest = max(highest, try engine.spaceUsage().garbageShare)
    }
    try engine.checkHoldsAll()
    return highest
  }

  @Test func `garbage is given back when it is more than half, until it is a quarter`() throws {
    let medium = SimulatedFileSystem()
    let engine = try SimulatedEngine.open(medium, options: Self.automatic())
    let highest = try Self.fill(engine)
    #expect(highest < 0.55)
    #expect(medium.callCount(at: .segmentUnlink) > 0)
    try engine.close()
  }

  @Test func `nothing is moved where little is to be gained, or where it was not asked for`() throws
  {
    var calls: [[Call]] = []
    for options in [Self.automatic(leastGain: 1 << 30), EngineOptions.small()] {
      let medium = SimulatedFileSystem()
      let engine = try SimulatedEngine.open(medium, options: options)
      #expect(try Self.fill(engine) > 0.6)
      // To know how much is to be gained the sizes of files are looked at.
      calls.append(medium.calls.filter { $0.operation != .size })
      try engine.close()
    }
    #expect(calls[0] == calls[1])
  }

  @Test func `a failure in the background is nobody's but its own`() throws {
    let medium = SimulatedFileSystem()
    let engine = try SimulatedEngine.open(medium, options: .small())
    _ = try Self.fill(engine)
    try engine.close()
    let again = try SimulatedEngine.open(medium, options: Self.automatic())
    medium.limitDisk(to: medium.diskUsage + 2 * Layout.blockSize)
    while try again.step() {}
    #expect(again.automatic.pause == AutomaticCompactionState.retry)
    medium.limitDisk(to: nil)
    try again.put([1], [2])
    #expect(try again.value([1]) == [2])
    again.automatic.pause = 0
    again.automatic.looked = nil
    while try again.step() {}
    #expect(try again.spaceUsage().garbageShare < 0.5)
    try again.close()
  }
}

extension Engine {
  /// Expects all keys that `fill` wrote, and whole pages.
  fileprivate func checkHoldsAll() throws {
    for key in 0..<250 as Range<UInt8> { #expect(try value([key])?.count == 90) }
    #expect(working.base.file.check(sizes: options.nodeSizes).isEmpty)
  }
}

/// A number that threads add to.
private final class Count: @unchecked Sendable {
  private let lock = ThreadLock()
  private var count = 0

  var value: Int {
    lock.lock()
    defer { lock.unlock() }
    return count
  }

  func add() {
    lock.lock()
    defer { lock.unlock() }
    count += 1
  }
}
