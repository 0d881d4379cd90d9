import Glibc
import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// What a process does to a store until it is killed, and what must be there then.
///
/// Each of its threads counts its commits. Commit `n` of a thread adds an entry of that number, takes out
/// that of an older one, and writes down `n` as the thread's last; and every commit adds one to the sum of
/// all. So every state that is a prefix of the commits can be told from all others.
enum KilledWriter {
  static var threadCount: UInt8 { 4 }
  /// The last thread's commits are relaxed.
  static var relaxedThread: UInt8 { threadCount - 1 }
  private static var keptCount: UInt64 { 40 }

  private static func lastKey(_ thread: UInt8) -> Bytes { [thread] }
  private static var sumKey: Bytes { [0xff] }

  private static func key(_ thread: UInt8, _ number: UInt64) -> Bytes {
    [thread, 1] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }

  /// Now and then one that gets pages of its own.
  private static func value(_ thread: UInt8, _ number: UInt64) -> Bytes {
    let length = number % 23 == 0 ? 5000 : 20 + Int(number * 7 % 200)
    return Bytes(repeating: UInt8(truncatingIfNeeded: number) &+ thread, count: length)
  }

  static func options() -> RawStoreOptions {
    var options = RawStoreOptions()
    options.engine.foldThreshold = 48 << 10
    return options
  }

  // MARK: Writing

  /// Opens the store and commits for ever, with all threads, and sends the number of each acknowledged
  /// commit behind its thread's.
  static func run(_ path: String, _ pipe: Int32) -> Int32 {
    do {
      let store = try RawStore(at: path, options: options())
      let tree = try store.tree("t")
      let threads = try (1..<threadCount).map { thread in
        try BackgroundThread(name: "writer \(thread)") { write(thread, store, tree, pipe) }
      }
      write(0, store, tree, pipe)
      for thread in threads { thread.join() }
    } catch {
      print("X8: a writer ended: \(error)")
    }
    return 1
  }

  private static func write(_ thread: UInt8, _ store: RawStore, _ tree: RawTreeName, _ pipe: Int32)
  {
    let durability: Durability =
      thread == relaxedThread ? .relaxed(flushWithin: .milliseconds(2)) : .durable
    do {
      while true {
        let number = try store.write(durability: durability) { transaction in
          try commit(thread, tree, &transaction)
        }
        send(UInt64(thread) << 56 | number, to: pipe)
      }
    } catch {
      print("X8: thread \(thread) ended: \(error)")
    }
  }

  private static func commit(
    _ thread: UInt8, _ tree: RawTreeName, _ transaction: inout RawTransaction
  ) throws -> UInt64 {
    func number(_ key: Bytes) throws -> UInt64 {
      try Self.number(transaction.value(for: key.rawSpan, in: tree))
    }
    let next = try number(lastKey(thread)) + 1
    let sum = try number(sumKey) + 1
    try transaction.put(key(thread, next).rawSpan, value(thread, next).rawSpan, in: tree)
    if next > keptCount {
      try transaction.remove(key(thread, next - keptCount).rawSpan, in: tree)
    }
    try transaction.put(lastKey(thread).rawSpan, bytes(next).rawSpan, in: tree)
    try transaction.put(sumKey.rawSpan, bytes(sum).rawSpan, in: tree)
    return next
  }

  private static func bytes(_ number: UInt64) -> Bytes {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }

  private static func number(_ bytes: Bytes?) -> UInt64 {
    (bytes ?? []).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  // MARK: Verifying

  /// The last commit of each thread, after comparing all that is there with what these commits leave.
  static func verify(_ snapshot: RawSnapshot, _ tree: RawTreeName) throws -> [UInt64] {
    func found(_ key: Bytes) throws -> Bytes? { try snapshot[tree].copyValue(for: key.rawSpan) }
    var count = 0
    var lasts: [UInt64] = []
    for thread in 0..<threadCount {
      let last = number(try found(lastKey(thread)))
      lasts.append(last)
      count += last == 0 ? 0 : 1
      let first = last > keptCount ? last - keptCount + 1 : 1
      for number in first..<last + 1 {
        try agree(
          try found(key(thread, number)) == value(thread, number),
          "commit \(number) of thread \(thread) of \(last) is not there as it was")
        count += 1
      }
      for other in [first - 1, last + 1] where other > 0 {
        try agree(
          try found(key(thread, other)) == nil, "there is \(other) of thread \(thread) of \(last)")
      }
    }
    let sum = lasts.reduce(0, +)
    try agree(number(try found(sumKey)) == sum, "the sum is not \(sum)")
    count += sum == 0 ? 0 : 1
    try agree(snapshot[tree].count == count, "\(snapshot[tree].count) entries of \(count)")
    try agree(snapshot.sequence == sum, "sequence \(snapshot.sequence) after \(sum) commits")
    return lasts
  }
}
