import Glibc
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A process that changes a large store in no order is killed, while levels grow and are merged (X8).
@Suite("Processes killed beside levels")
struct LevelKillTests {
  @Test(.timeLimit(.minutes(10)))
  func `what is left of changes in no order is a prefix that has what was acknowledged`()
    async throws
  {
    let directory = try TemporaryDirectory()
    await #expect(processExitsWith: .success) { [path = directory.path as String] in
      do {
        try Self.live(scaled(8, debug: 4), in: path + "/store")
      } catch {
        print("X8 with levels: \(error)")
        exit(1)
      }
    }
    withExtendedLifetime(directory) {}
  }

  private static func live(_ lives: Int, in path: String) throws {
    try ChangedAnywhere.create(at: path)
    var generator = SplitMix64(seed: 42)
    var (last, levels) = (0 as UInt64, 0)
    for _ in 0..<lives {
      let delay = Duration.milliseconds(Int64(generator.next() % 1500))
      let acknowledged = try kill(path, after: delay)
      let found = try verify(path)
      try agree(
        found.last >= max(acknowledged, last), "\(found.last), acknowledged \(acknowledged)")
      last = found.last
      levels += found.hasLevel ? 1 : 0
    }
    print("X8: \(lives) processes killed after \(last) commits, \(levels) with a level")
    try agree(levels > lives / 2, "\(levels) of \(lives) left a level")
  }

  /// - Returns: the last commit that the process acknowledged.
  private static func kill(_ path: String, after delay: Duration) throws -> UInt64 {
    let writer = ForkedChild { ChangedAnywhere.run(path, $0) }
    guard let writer else { throw Disagreement(description: "there is no child") }
    // It is open then.
    guard var last = writer.next() else { throw Disagreement(description: "the writer ended") }
    let moment = ContinuousClock.now + delay
    while ContinuousClock.now < moment { usleep(1000) }
    writer.kill()
    while let word = writer.next() { last = word }
    try agree(writer.wait() == -1, "the writer ended by itself")
    return last
  }

  private static func verify(_ path: String) throws -> (last: UInt64, hasLevel: Bool) {
    let store = try RawStore(at: path, options: ChangedAnywhere.options)
    let tree = try store.tree("t")
    let snapshot = try store.snapshot()
    let last = try ChangedAnywhere.verify(snapshot[tree])
    let hasLevel = snapshot[tree].levelChangeCount > 0
    try store.close()
    let file = try Follower(PosixFileSystem(at: path), options: ChangedAnywhere.options.engine)
      .snapshot().state.base.file
    let faults = file.check()
    try agree(faults.isEmpty, "\(faults)")
    return (last, hasLevel)
  }
}

/// Entries by number, which commits change in no order. The changes of a commit follow from its number, so what must be there does
/// from that of the last one.
private enum ChangedAnywhere {
  private static let count = UInt64(scaled(1_000_000, debug: 20_000))
  /// More than there are entries at first.
  private static let numbers = count * 5 / 4
  private static let lastKey = Bytes("last".utf8)

  static var options: RawStoreOptions {
    var options = RawStoreOptions()
    options.engine.foldThreshold = scaled(1 << 20, debug: 32 << 10)
    return options
  }

  private static func key(_ number: UInt64) -> Bytes { bytes(number.byteSwapped) }

  private static func bytes(_ number: UInt64) -> Bytes {
    var bytes: Bytes = []
    bytes.append(integer: number)
    return bytes
  }

  private static func value(_ commit: UInt64) -> Bytes {
    bytes(commit) + Bytes(repeating: UInt8(truncatingIfNeeded: commit), count: 80)
  }

  /// The numbers of the entries that a commit puts or removes.
  private static func changes(of commit: UInt64) -> [(number: UInt64, isPut: Bool)] {
    var generator = SplitMix64(seed: commit)
    return (0..<scaled(200, debug: 40)).map { _ in
      let number = generator.next() % numbers
      return (number, generator.next() % 16 != 0)
    }
  }

  static func create(at path: String) throws {
    let store = try RawStore(at: path, options: options)
    let tree = try store.tree("t")
    try store.write { transaction in
      for number in 0..<count {
        try transaction.put(key(number).rawSpan, value(0).rawSpan, in: tree)
      }
      try transaction.put(lastKey.rawSpan, bytes(0).rawSpan, in: tree)
    }
    try store.close()
  }

  /// Commits for ever. Sends the number of the last commit before it begins, and those of durable ones.
  static func run(_ path: String, _ pipe: Int32) -> Int32 {
    do {
      let store = try RawStore(at: path, options: options)
      let tree = try store.tree("t")
      var last = try self.last(store.snapshot()[tree])
      send(last, to: pipe)
      while true {
        last += 1
        let isDurable = last % 8 == 0
        try store.write(durability: isDurable ? .durable : .relaxed) { transaction in
          for (number, isPut) in changes(of: last) {
            if isPut {
              try transaction.put(key(number).rawSpan, value(last).rawSpan, in: tree)
            } else {
              try transaction.remove(key(number).rawSpan, in: tree)
            }
          }
          try transaction.put(lastKey.rawSpan, bytes(last).rawSpan, in: tree)
        }
        if isDurable { send(last, to: pipe) }
      }
    } catch {
      print("X8: a writer ended: \(error)")
    }
    return 1
  }

  private static func last(_ tree: RawSnapshotTree) throws -> UInt64 {
    let value = try tree.copyValue(for: lastKey.rawSpan) ?? []
    try agree(value.count == 8, "the last commit is not there")
    return value.rawSpan.load(0, as: UInt64.self)
  }

  /// The last commit, after comparing all that is there with what the commits up to it leave.
  static func verify(_ tree: RawSnapshotTree) throws -> UInt64 {
    let last = try self.last(tree)
    // By number: one more than the commit that put it, or 0.
    var expected = [UInt64](repeating: 0, count: Int(numbers))
    for number in 0..<Int(count) { expected[number] = 1 }
    for commit in 0..<last {
      for (number, isPut) in changes(of: commit + 1) {
        expected[Int(number)] = isPut ? commit + 2 : 0
      }
    }
    try agree(tree.count == 1 + expected.count { $0 > 0 }, "\(tree.count) entries")
    let cursor = tree.cursor()
    var isOn = try cursor.first()
    for (number, commit) in expected.enumerated() where commit > 0 {
      try agree(isOn, "nothing from entry \(number) on")
      let (key, value) = (cursor.key.array(), cursor.value.array())
      let isRight = key == Self.key(UInt64(number)) && value == Self.value(commit - 1)
      try agree(isRight, "entry \(number) of \(commit) is \(key), \(value)")
      isOn = try cursor.next()
    }
    try agree(isOn, "nothing after entry \(numbers)")
    return last
  }
}
