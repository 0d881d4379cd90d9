import Foundation
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite("Transactions of records")
struct RecordTransactionTests {
  private struct Stop: Error {}

  @Test func `a closure that throws leaves nothing, and its error comes out, F7 F8`() throws {
    try withStore { store in
      try store.write { transaction in try transaction.insert(contentsOf: Account.some(5)) }
      let sequence = try store.snapshot().sequence
      #expect(throws: Stop.self) {
        try store.write { transaction in
          try transaction.deleteAll(Account.self)
          try transaction.save(Account(id: 7, name: "x"))
          throw Stop()
        }
      }
      #expect(try store.fetch(Account.self) == Account.some(5))
      #expect(try store.snapshot().sequence == sequence)
    }
  }

  @Test func `what a transaction returns comes out when it is committed, F9`() throws {
    try withStore { store in
      let count = try store.write(durability: .durable) { transaction in
        try transaction.save(Note(key: "a"))
        return try transaction.count(Note.self)
      }
      #expect(count == 1)
      try store.write(durability: .relaxed) { try $0.save(Note(key: "b")) }
      try store.flush()
      #expect(try store.count(Note.self) == 2)
    }
  }

  @Test(arguments: [64 << 10, 64 << 20])
  func `a savepoint takes back records and their index entries`(budget: Int) throws {
    var options = StoreOptions()
    options.transactionBudget = budget
    let count = scaled(5_000, debug: 600)
    try withStore(.samples, options) { store in
      let accounts = Account.some(count)
      try store.write { transaction in
        try transaction.insert(contentsOf: accounts)
        let result = try transaction.savepoint { transaction in
          try transaction.update(Account(id: 0, name: "kept", email: "kept"))
          #expect(throws: Stop.self) {
            try transaction.savepoint { transaction in
              try transaction.delete(contentsOf: accounts[1...])
              try transaction.save(
                Account(id: count, name: "undone", email: "kept"), onConflict: .replaceOther)
              #expect(try transaction.count(Account.self) == 1)
              throw Stop()
            }
          }
          return try transaction.count(Account.self)
        }
        #expect(result == count)
        #expect(throws: Stop.self) {
          try transaction.savepoint { transaction in
            try transaction.deleteAll(Account.self)
            throw Stop()
          }
        }
        try transaction.delete(accounts[count - 1])
      }
      #expect(try store.count(Account.self) == count - 1)
      #expect(try store.fetch(Account.self, key: 0)?.email == "kept")
      #expect(try store.fetch(Account.self, key: 1) == accounts[1])
    }
  }

  @Test func `a transaction says what it changed, each record once, F14`() throws {
    try withStore { store in
      let old = Account.some(5)
      try store.write { transaction in try transaction.insert(contentsOf: old) }
      let changes = try store.write { transaction in
        try transaction.save(Note(key: "before"))
        transaction.keepChanges()
        var changed = old[0]
        for name in ["x", "y"] {
          changed.name = name
          try transaction.save(changed)
        }
        try transaction.save(old[1])
        try transaction.delete(old[2])
        try transaction.delete(old[3])
        try transaction.save(old[3])
        try transaction.insert(Account(id: 10, name: "new"))
        try transaction.insert(Account(id: 11, name: "gone"))
        try transaction.delete(Account.self, key: 11)
        // In the place of number 4, which has its address.
        try transaction.save(
          Account(id: 12, name: "z", email: old[4].email), onConflict: .replaceOther)
        _ = storeError {
          try transaction.savepoint { transaction in
            try transaction.deleteAll(Account.self)
            throw StoreError.closed(path: "")
          }
        }
        #expect(try transaction.changes(of: Note.self).isEmpty)
        return try transaction.changes(of: Account.self)
      }
      #expect(changes.inserted.map(\.id) == [10, 12])
      #expect(changes.updated.map(\.old) == [old[0]])
      #expect(changes.updated.map(\.new.name) == ["y"])
      #expect(changes.deleted == [old[2], old[4]])
      let all = try store.write { transaction in
        transaction.keepChanges()
        try transaction.deleteAll(Account.self)
        try transaction.save(Note(key: "after"))
        #expect(try transaction.changes(of: Note.self).inserted == [Note(key: "after")])
        return try transaction.changes(of: Account.self)
      }
      #expect(all.deleted.map(\.id) == [0, 1, 3, 10, 12])
    }
  }

  @Test func `a transaction knows who writes, F15`() throws {
    try withStore { store in
      try store.write(author: "import") { transaction in
        #expect(transaction.author == "import")
        try transaction.savepoint { #expect($0.author == "import") }
      }
      try store.write { #expect($0.author == nil) }
    }
  }

  @Test func `a write within a write is refused, and harms neither`() throws {
    try withStore { store in
      try store.write { transaction in
        try transaction.save(Note(key: "a"))
        guard case .reentrant = storeError({ try store.save(Note(key: "b")) }) else {
          Issue.record("it is not refused")
          return
        }
      }
      #expect(try store.fetch(Note.self).map(\.key) == ["a"])
    }
  }

  @Test func `within a write the store shows what is committed, and within a read it is written`()
    async throws
  {
    let store = try PersistentStore(inMemory: .samples)
    try await store.write { try $0.save(Note(key: "a")) }
    try await store.write { transaction in
      try transaction.save(Note(key: "b"))
      #expect(try store.count(Note.self) == 1)
      #expect(try transaction.count(Note.self) == 2)
      guard case .reentrant = storeError({ try store.save(Note(key: "c")) }) else {
        Issue.record("it is not refused")
        return
      }
    }
    try await store.read { snapshot in
      try store.save(Note(key: "d"))
      #expect(try snapshot.count(Note.self) == 2)
    }
    let keys = try store.fetch(Note.self).map(\.key)
    #expect(keys == ["a", "b", "d"])
  }

  @Test func `tasks write and read, F18`() async throws {
    let store = try PersistentStore(inMemory: .samples)
    let count = try await store.write { transaction in
      try transaction.save(Note(key: "a"))
      return try transaction.count(Note.self)
    }
    #expect(count == 1)
    await #expect(throws: Stop.self) {
      try await store.write { transaction in
        try transaction.deleteAll(Note.self)
        throw Stop()
      }
    }
    #expect(try store.fetch(Note.self) == [Note(key: "a")])
    let error = await #expect(throws: StoreError.self) {
      try await store.write { transaction in try transaction.insert(Note(key: "a")) }
    }
    #expect(error != nil)
  }

  /// Has a thread save a note, and keep the writer's turn.
  ///
  /// - Returns: the signal to end the transaction.
  private static func holdTurn(of store: PersistentStore) async -> DispatchSemaphore {
    let mayEnd = DispatchSemaphore(value: 0)
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        try? store.write { transaction in
          try transaction.save(Note(key: "first"))
          continuation.resume()
          mayEnd.wait()
        }
      }
    }
    return mayEnd
  }

  @Test func `a task that is cancelled before its turn writes nothing`() async throws {
    let store = try PersistentStore(inMemory: .samples)
    let mayEnd = await Self.holdTurn(of: store)
    let tasks = (0..<20).map { number in
      Task { try await store.write { try $0.save(Note(key: "\(number)")) } }
    }
    try await Task.sleep(for: .milliseconds(20))
    for task in tasks.prefix(10) { task.cancel() }
    mayEnd.signal()
    for (number, task) in tasks.enumerated() {
      do {
        try await task.value
        #expect(number >= 10)
      } catch is CancellationError {
        #expect(number < 10)
      }
      #expect(try store.contains(Note.self, key: "\(number)") == (number >= 10))
    }
    // One that is cancelled from the beginning does not even wait.
    let late = Task {
      while !Task.isCancelled { await Task.yield() }
      try await store.write { transaction in try transaction.save(Note(key: "late")) }
    }
    late.cancel()
    await #expect(throws: CancellationError.self) { try await late.value }
    #expect(try !store.contains(Note.self, key: "late"))
  }

  @Test(.timeLimit(.minutes(60)))
  func `a task that is cancelled while it waits for its turn stops waiting at once`() async throws {
    let store = try PersistentStore(inMemory: .samples)
    let mayEnd = await Self.holdTurn(of: store)
    let cancelled = Task { try await store.save(Note(key: "cancelled")) }
    let other = Task { try await store.save(Note(key: "other")) }
    try await Task.sleep(for: .milliseconds(20))
    cancelled.cancel()
    // The turn is still the thread's.
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    mayEnd.signal()
    try await other.value
    #expect(try store.fetch(Note.self).map(\.key) == ["first", "other"])
  }

  /// A turn that is offered to a task which is cancelled just then goes to another.
  @Test(.timeLimit(.minutes(60)))
  func `tasks that are cancelled at any moment leave no turn behind`() async throws {
    let store = try PersistentStore(inMemory: .samples)
    for round in 0..<scaled(200, debug: 30) {
      let tasks = (0..<8).map { number in
        Task { try await store.save(Note(key: "\(number)", text: "\(round)")) }
      }
      for task in tasks.dropLast() where Bool.random() {
        if Bool.random() { await Task.yield() }
        task.cancel()
      }
      for task in tasks { _ = await task.result }
      #expect(try store.fetch(Note.self, key: "7")?.text == "\(round)")
    }
    try store.expectSound()
  }

  @Test func `many tasks write and read at once, F12 F17 F18`() async throws {
    let directory = try TemporaryDirectory()
    let store = try await PersistentStore(at: directory.path + "/store", model: .samples)
    let (writers, rounds) = (6, scaled(200, debug: 20))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<writers {
        group.addTask {
          for round in 0..<rounds {
            // Two accounts at once, whose balances add up to nothing.
            let id = (writer * rounds + round) * 2
            try await store.write(durability: .relaxed(flushWithin: .seconds(1))) { transaction in
              for (id, balance) in [(id, Double(round)), (id + 1, -Double(round))] {
                try transaction.insert(
                  Account(id: id, name: "\(id)", email: "\(id)", balance: balance))
              }
              if round % 5 == 4 { try transaction.delete(Account.self, key: id - 2) }
              if round % 5 == 4 { try transaction.delete(Account.self, key: id - 1) }
            }
          }
        }
      }
      for _ in 0..<3 {
        group.addTask {
          for _ in 0..<rounds {
            let snapshot = try store.snapshot()
            let accounts = try snapshot.fetch(Account.self)
            try agree(accounts.reduce(0) { $0 + $1.balance } == 0, "a half transaction is seen")
            try agree(try snapshot.count(Account.self) == accounts.count, "the count differs")
            await Task.yield()
          }
        }
      }
      try await group.waitForAll()
    }
    let expected = 2 * writers * (rounds - rounds / 5)
    #expect(try store.count(Account.self) == expected)
    try store.expectSound()
    try await store.close()
  }

  @Test func `threads of their own write and read, F17`() throws {
    let store = try PersistentStore(inMemory: .samples)
    let rounds = scaled(500, debug: 50)
    let threads = try (0..<4).map { number in
      try BackgroundThread(name: "writer") {
        for round in 0..<rounds {
          try? store.save(Note(key: "\(number) \(round)", text: "\(number)"))
        }
      }
    }
    for thread in threads { thread.join() }
    #expect(try store.count(Note.self) == 4 * rounds)
    try store.expectSound()
  }
}
