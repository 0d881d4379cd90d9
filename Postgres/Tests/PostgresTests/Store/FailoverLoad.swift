import Cambium
import CambiumPostgres
import FoundationEssentials
import Synchronization

/// A load of transactions that read and write, which notes the end of each, and compares the database with that.
final class FailoverLoad: Sendable {
  /// One run of a transaction's closure that was committed.
  struct Entry: Record, Identifiable {
    var id: UUID
    var operation: UUID
    var task: Int

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      Field("operation", indexed: true)
      Field("task")
    }
  }

  /// A number that transactions count up.
  struct Account: Record, Identifiable {
    var id: Int
    var value: Int

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      Field("value")
    }
  }

  static let model = StoreModel(version: 1, records: [Entry.self, Account.self])

  static let taskCount = 16
  private static let readerCount = 4
  /// So many that the server looks them up by the index, where transactions conflict by pages of it.
  private static let accountCount = 8_000
  /// The accounts for each task, of which it alone counts up the first one.
  private static let share = accountCount / taskCount

  private struct Journal {
    /// The time of each acknowledgement, in seconds since 1970.
    var times: [Double] = []
    /// The operations by their end.
    var acknowledged: Set<UUID> = []
    var unknown: Set<UUID> = []
    var refused: Set<UUID> = []
    /// The number of errors of each kind.
    var errors: [String: Int] = [:]
    /// The acknowledged operations of each task.
    var counts = [Int](repeating: 0, count: FailoverLoad.taskCount)
    var readCount = 0
    var staleCount = 0
    var isEnding = false
  }

  private let store: PostgresStore
  private let journal = Mutex(Journal())

  init(_ store: PostgresStore) { self.store = store }

  static func now() -> Double { Date().timeIntervalSince1970 }

  func prepare() async throws {
    try await store.write { transaction in
      try transaction.deleteAll(Entry.self)
      try transaction.deleteAll(Account.self)
      for id in 0..<Self.accountCount { try transaction.insert(Account(id: id, value: 0)) }
    }
  }

  /// Runs the load until `end()`.
  func run() async {
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<Self.taskCount { group.addTask { await self.write(task) } }
      for _ in 0..<Self.readerCount { group.addTask { await self.read() } }
    }
  }

  func end() { journal.withLock { $0.isEnding = true } }

  private var isEnding: Bool { journal.withLock { $0.isEnding } }

  private func write(_ task: Int) async {
    while !isEnding {
      let operation = UUID()
      do {
        try await count(operation, task)
        journal.withLock { journal in
          journal.times.append(Self.now())
          journal.acknowledged.insert(operation)
          journal.counts[task] += 1
        }
      } catch {
        note(error, operation)
      }
    }
  }

  private func count(_ operation: UUID, _ task: Int) async throws {
    try await store.write { transaction in
      let other = Int.random(in: 0..<Self.taskCount) * Self.share + Int.random(in: 1..<Self.share)
      for id in [task * Self.share, other] {
        var account = try transaction.find(Account.self, key: id)
        account.value += 1
        try transaction.update(account)
      }
      try transaction.insert(Entry(id: UUID(), operation: operation, task: task))
    }
  }

  private func note(_ error: any Error, _ operation: UUID) {
    journal.withLock { journal in
      let kind = String("\(error)".prefix { $0 != "(" && $0 != ":" })
      journal.errors[kind, default: 0] += 1
      if case StoreError.outcomeUnknown = error {
        journal.unknown.insert(operation)
      } else {
        journal.refused.insert(operation)
      }
    }
  }

  /// Reads numbers that have to be as new as what was acknowledged before.
  private func read() async {
    while !isEnding {
      let task = Int.random(in: 0..<Self.taskCount)
      let acknowledged = journal.withLock { $0.counts[task] }
      guard let found = try? await store.fetch(Account.self, key: task * Self.share) else {
        continue
      }
      journal.withLock { journal in
        journal.readCount += 1
        if found.value < acknowledged { journal.staleCount += 1 }
      }
    }
  }

  // MARK: Its results

  var commitCount: Int { journal.withLock { $0.acknowledged.count } }

  /// The time of the first commit that was acknowledged after a time; nil if there was none yet.
  func firstCommit(after time: Double) -> Double? {
    journal.withLock { journal in
      let before = journal.times.lastIndex { $0 < time } ?? -1
      return journal.times.dropFirst(before + 1).first
    }
  }

  /// The comparison of the database with the notes.
  struct Outcome {
    var acknowledgedCount = 0
    /// Acknowledged, and not in the database.
    var lostCount = 0
    /// More than once in the database.
    var twiceCount = 0
    /// In the database, although an error said that nothing was committed.
    var wronglyRefusedCount = 0
    var unknownCount = 0
    /// The difference between the sum of the accounts and twice the number of entries.
    var differenceOfSums = 0
    var staleReadCount = 0
    var readCount = 0
    var standbyReadCount = 0
    var errors: [String: Int] = [:]
  }

  func compare() async throws -> Outcome {
    let (entries, accounts) = try await store.read { snapshot in
      (try snapshot.fetch(Entry.self), try snapshot.fetch(Account.self))
    }
    var found: [UUID: Int] = [:]
    for entry in entries { found[entry.operation, default: 0] += 1 }
    let sum = accounts.reduce(0) { $0 + $1.value }
    return journal.withLock { journal in
      var outcome = Outcome()
      outcome.acknowledgedCount = journal.acknowledged.count
      outcome.lostCount = journal.acknowledged.count { found[$0] == nil }
      outcome.twiceCount = found.values.count { $0 > 1 }
      outcome.wronglyRefusedCount = journal.refused.count { found[$0] != nil }
      outcome.unknownCount = journal.unknown.count
      outcome.differenceOfSums = sum - 2 * entries.count
      outcome.staleReadCount = journal.staleCount
      outcome.readCount = journal.readCount
      outcome.standbyReadCount = store.standbyReadCount
      outcome.errors = journal.errors
      return outcome
    }
  }
}
