import Glibc
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Threads that write, read, follow, fold and go over to other uses of the log, all at once (X12).
@Suite("Concurrency", .serialized)
struct ConcurrencyTests {
  @Test(.timeLimit(.minutes(60 * Soak.factor)))
  func `readers keep what they see, on real files`() throws {
    let directory = try TemporaryDirectory()
    try run(on: PosixFileSystem(at: directory.path), as: "files")
  }

  @Test(.timeLimit(.minutes(60 * Soak.factor)))
  func `readers keep what they see, in memory`() throws {
    try run(on: InMemoryFileSystem(), as: "memory")
  }

  private func run(on medium: any FileSystem, as name: String) throws {
    let world = try ConcurrentWorld(medium)
    let limit = Duration.milliseconds(scaled(14_000, debug: 1_500) * Soak.factor)
    let deadline = ContinuousClock.now + limit
    var threads: [BackgroundThread] = []
    for writer in 0..<2 {
      threads.append(
        try BackgroundThread(name: "writer") { world.write(writer, until: deadline) })
    }
    for reader in 0..<5 {
      threads.append(
        try BackgroundThread(name: "reader") { world.read(reader, until: deadline) })
    }
    for follower in 0..<2 {
      threads.append(
        try BackgroundThread(name: "follower") { world.follow(follower, until: deadline) })
    }
    for thread in threads { thread.join() }
    try world.close()
    #expect(world.failures == [])
    print("X12: \(name): \(world.summary), \(world.failures.count) violations")
  }
}

/// A store whose every commit changes the same group of keys to the same value, and one counter: a state in
/// which they differ was never committed.
private final class ConcurrentWorld: @unchecked Sendable {
  private let engine: Engine
  private let threads: EngineThreads
  private let medium: any FileSystem
  private let lock = ThreadLock()
  // Under `lock`:
  private var found: [String] = []
  private var commits = 0
  private var reads = 0
  private var refreshes = 0

  private static var groupCount: Int { 20 }
  private static var options: EngineOptions {
    var options = EngineOptions()
    options.foldThreshold = 24 << 10
    options.logSize = EngineOptions.Bounds(initial: 128 << 10, max: 256 << 10)
    return options
  }

  init(_ medium: any FileSystem) throws {
    self.medium = medium
    engine = try Engine.open(medium, options: Self.options)
    threads = try EngineThreads(for: engine)
  }

  var failures: [String] {
    lock.lock()
    defer { lock.unlock() }
    return found
  }

  var summary: String {
    let folds = engine.working.base.coveredSequence
    return "\(commits) commits (\(folds) folded), \(reads) snapshots read, \(refreshes) refreshes"
  }

  func close() throws {
    try engine.close()
    threads.end()
    let faults = engine.working.base.file.check()
    for fault in faults { note("\(fault)") }
  }

  private func note(_ failure: String) {
    lock.lock()
    defer { lock.unlock() }
    if found.count < 10 { found.append(failure) }
  }

  private func count(_ counter: ReferenceWritableKeyPath<ConcurrentWorld, Int>) {
    lock.lock()
    defer { lock.unlock() }
    self[keyPath: counter] += 1
  }

  // MARK: Writing

  func write(_ writer: Int, until deadline: ContinuousClock.Instant) {
    var generator = SplitMix64(seed: UInt64(writer))
    do {
      let slot = try engine.names.slot(of: "t")
      while ContinuousClock.now < deadline, failures.isEmpty {
        let isDurable = generator.next() % 4 == 0
        try engine.write(isDurable ? .durable : .relaxed(flushWithin: .milliseconds(3))) {
          transaction in
          try change(transaction, slot, &generator)
        }
        count(\.commits)
      }
    } catch {
      note("writer \(writer): \(error)")
    }
  }

  private func change(
    _ transaction: Transaction, _ slot: TreeSlot, _ generator: inout SplitMix64
  ) throws {
    let sequence = transaction.base.sequence + 1
    // Now and then one that is committed by a footer.
    let length = generator.next() % 500 == 0 ? 12_000 : Int(40 + generator.next() % 200)
    for key in 0..<Self.groupCount {
      // Of each group one key comes and goes with the others.
      try transaction.put(
        Self.key(key).rawSpan, Self.value(sequence, length).rawSpan, schemaVersion: 1, in: slot)
    }
    if sequence % 2 == 0 {
      _ = try transaction.remove(Self.evenKey.rawSpan, in: slot)
    } else {
      try transaction.put(
        Self.evenKey.rawSpan, Self.value(sequence, 8).rawSpan, schemaVersion: 1, in: slot)
    }
  }

  private static var evenKey: Bytes { [0xee] }
  private static func key(_ index: Int) -> Bytes { [UInt8(index), 3, 3, 3, 3, 3, 3, 3, 3, 3] }
  private static func value(_ sequence: UInt64, _ length: Int) -> Bytes {
    (0..<8).map { UInt8(truncatingIfNeeded: sequence >> (8 * $0)) }
      + Bytes(repeating: UInt8(truncatingIfNeeded: sequence), count: length - 8)
  }

  // MARK: Reading

  /// A hash of all that is in a snapshot; throws if it was never committed.
  private func hash(_ snapshot: Snapshot, _ names: TreeNames) throws -> UInt64 {
    let tree = snapshot.tree(try names.slot(of: "t"))
    let sequence = snapshot.state.sequence
    if sequence == 0 {
      try agree(tree.count == 0, "there is something before the first commit")
      return 0
    }
    var hash: UInt64 = 14_695_981_039_346_656_037
    var value: Bytes = []
    var length: Int?
    for index in 0..<Self.groupCount {
      try agree(
        try tree.copyValue(for: Self.key(index).rawSpan, to: &value),
        "key \(index) is not there at \(sequence)")
      try agree(
        value == Self.value(sequence, length ?? value.count),
        "key \(index) at \(sequence) is another's")
      length = value.count
      for byte in value { hash = (hash ^ UInt64(byte)) &* 1_099_511_628_211 }
    }
    let isThere = try tree.copyValue(for: Self.evenKey.rawSpan, to: &value)
    try agree(isThere == (sequence % 2 == 1), "the even key at \(sequence)")
    try agree(tree.count == Self.groupCount + (isThere ? 1 : 0), "\(tree.count) at \(sequence)")
    return hash
  }

  func read(_ reader: Int, until deadline: ContinuousClock.Instant) {
    keep(reader, engine.names, until: deadline) { [self] in try engine.snapshot() }
  }

  func follow(_ reader: Int, until deadline: ContinuousClock.Instant) {
    do {
      let follower = try Follower(medium, options: Self.options)
      keep(reader, follower.names, until: deadline) { [self] in
        do {
          _ = try follower.refresh()
        } catch StoreError.io(.wouldBlock, _, _) {
          // The writers are faster than a reader can follow; what was there is still shown.
        }
        count(\.refreshes)
        return follower.snapshot()
      }
    } catch {
      note("follower \(reader): \(error)")
    }
  }

  /// Takes snapshots, and hashes each again after others were taken.
  private func keep(
    _ reader: Int, _ names: TreeNames, until deadline: ContinuousClock.Instant,
    _ next: () throws -> Snapshot
  ) {
    var kept: [(snapshot: Snapshot, hash: UInt64)] = []
    var last: UInt64 = 0
    do {
      while ContinuousClock.now < deadline, failures.isEmpty {
        let snapshot = try next()
        let sequence = snapshot.state.sequence
        try agree(sequence >= last, "it went from \(last) back to \(sequence)")
        last = sequence
        kept.append((snapshot, try hash(snapshot, names)))
        count(\.reads)
        if kept.count > 4 + 8 * reader {
          let old = kept.removeFirst()
          try agree(try hash(old.snapshot, names) == old.hash, "a snapshot changed")
        }
      }
      for old in kept {
        try agree(try hash(old.snapshot, names) == old.hash, "a snapshot changed at the end")
      }
    } catch {
      note("reader \(reader): \(error)")
    }
  }
}
