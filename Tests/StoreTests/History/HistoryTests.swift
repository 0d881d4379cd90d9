import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite struct HistoryTests {
  private func options(_ history: HistoryOptions?) -> StoreOptions {
    var options = StoreOptions()
    options.history = history
    return options
  }

  private func all(
    _ store: PersistentStore, since cursor: HistoryCursor? = nil
  ) throws(StoreError) -> [HistoryCommit] {
    let history = try store.history(since: cursor)
    var commits: [HistoryCommit] = []
    while let commit = try history.next() { commits.append(commit) }
    return commits
  }

  @Test func `a history says what each commit did, when and by whom, H7`() throws {
    try withStore(.samples, options(.keptForever)) { store in
      let begin = Date.now
      try store.write(author: "import") { transaction in
        try transaction.save(Note(key: "b"))
        try transaction.save(Note(key: "a"))
        try transaction.save(Seat(row: "A", number: 7))
      }
      let cursor = try store.snapshot().historyCursor
      try store.write { transaction in
        try transaction.save(Note(key: "a", text: "x"))
        try transaction.delete(Note.self, key: "b")
        // Neither is any different in the end.
        try transaction.save(Note(key: "c"))
        try transaction.delete(Note.self, key: "c")
        try transaction.save(Seat(row: "A", number: 7))
      }
      // This one changes nothing, and is no commit; the next changes no record.
      try store.write { _ = try $0.delete(Note.self, key: "z") }
      try store.write { try $0.setMetadata(1, for: "n") }
      let commits = try all(store)
      #expect(commits.map(\.author) == ["import", nil, nil])
      #expect(commits.allSatisfy { $0.date >= begin && $0.date <= .now })
      #expect(commits.map(\.changes.count) == [3, 2, 0])
      #expect(commits[0].changes.allSatisfy { $0.kind == .inserted && $0.old == nil })
      #expect(Set(commits[0].changes.map(\.record)) == ["Note", "Seat"])
      #expect(commits[1].changes.map(\.kind) == [.updated, .deleted])
      #expect(commits[1].changes.map(\.key) == [[.string("a")], [.string("b")]])
      let seat = commits[0].changes.first { $0.record == "Seat" }
      #expect(seat?.key == [.string("A"), .integer(7)])
      #expect(try all(store, since: cursor) == Array(commits.dropFirst()))
      #expect(try all(store, since: commits[2].cursor).isEmpty)
      #expect(try store.snapshot().historyCursor == commits[2].cursor)
      let (start, end) = (cursor.sequence, commits[2].cursor.sequence)
      let history = try store.history(since: cursor)
      #expect("\(history)" == "history after commit \(start), up to commit \(end)")
    }
  }

  @Test func `a history keeps what was updated and deleted, H9 and H10`() throws {
    let old = Account.some(2)
    try withStore(.samples, options(HistoryOptions(keepsOldValues: true))) { store in
      try store.write { try $0.save(contentsOf: old) }
      try store.write { transaction in
        var account = old[0]
        account.name = "other"
        try transaction.save(account)
        account.name = "last"
        try transaction.save(account)
        try transaction.delete(old[1])
      }
      let changes = try #require(try all(store).last).changes
      #expect(changes.map(\.kind) == [.updated, .deleted])
      #expect(changes.map { $0.old?["name"] } == old.map { .string($0.name) })
      #expect(changes.map { $0.old?["id"] } == [.integer(0), .integer(1)])
    }
  }

  @Test func `a cursor survives restarts`() throws {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/s"
    var store = try PersistentStore(
      at: path, model: .samples, options: options(.keptForever))
    try store.save(Note(key: "a"))
    let cursor = try store.snapshot().historyCursor
    let bytes = try JSONCodec().encode(cursor)
    try store.save(Note(key: "b"))
    try store.close()
    store = try PersistentStore(at: path, model: .samples, options: options(.keptForever))
    try store.save(Note(key: "c"))
    let read = try JSONCodec().decode(HistoryCursor.self, from: bytes)
    #expect(read == cursor)
    #expect(try all(store, since: read).map(\.changes).joined().map(\.key) == [["b"], ["c"]])
    try store.expectSound()
    let reader = try PersistentStore(
      at: path, model: .samples,
      options: {
        var options = StoreOptions()
        options.access = .reading
        return options
      }())
    #expect(try all(reader, since: read).count >= 1)
    try store.close()
  }

  @Test func `commits that are too many are taken out, and cursors before them refused`() throws {
    try withStore(.samples, options(.keptCommits(5))) { store in
      let start = try store.snapshot().historyCursor
      for number in 0..<40 { try store.save(Note(key: "\(number)")) }
      let commits = try all(store)
      #expect(commits.count == 5)
      #expect(commits.last?.changes.first?.key == ["39"])
      let error = storeError { try all(store, since: start) }
      let last = try store.snapshot().sequence
      #expect(error == .historyExpired(since: start.sequence, kept: last - 5))
      #expect(try all(store, since: commits[0].cursor).count == 4)
    }
  }

  @Test func `commits that are too old are taken out, in slices`() throws {
    let directory = try TemporaryDirectory()
    func open(_ age: Duration) throws -> PersistentStore {
      try PersistentStore(
        at: directory.path + "/s", model: .samples, options: options(.kept(for: age)))
    }
    let young = try open(.seconds(3_600))
    for number in 0..<60 { try young.save(Note(key: "\(number)")) }
    let count = try all(young).count
    #expect(count >= 60)
    try young.close()
    // Now all of them are too old, however fast the machine is.
    Thread.sleep(milliseconds: 20)
    let store = try open(.milliseconds(1))
    try store.save(Note(key: "x"))
    let left = try all(store).count
    #expect(left < count && left >= count - 17)
    for number in 0..<10 { try store.save(Note(key: "y\(number)")) }
    #expect(try all(store).count <= 11)
    try store.close()
  }

  @Test func `a history is purged by call, H8`() throws {
    try withStore(.samples, options(.keptForever)) { store in
      for number in 0..<9 { try store.save(Note(key: "\(number)")) }
      let commits = try all(store)
      try store.write { try $0.purgeHistory(through: commits[3].cursor) }
      #expect(try all(store).dropLast() == commits[4...])
      #expect(storeError { try all(store, since: commits[2].cursor) } != nil)
      #expect(try all(store, since: commits[3].cursor).count == 6)
      try store.write { try $0.purgeHistory(before: .now) }
      #expect(try all(store).map(\.changes.count) == [0])
    }
  }

  @Test func `a history is not purged by a place in another store, or in the future`() throws {
    try withStore(.samples, options(.keptForever)) { other in
      try withStore(.samples, options(.keptForever)) { store in
        for number in 0..<9 {
          try store.save(Note(key: "\(number)"))
          try other.save(Note(key: "\(number)"))
        }
        let commits = try all(store)
        try other.save(Note(key: "x"))
        for cursor in [try all(other)[4].cursor, try other.snapshot().historyCursor] {
          let error = storeError { try store.write { try $0.purgeHistory(through: cursor) } }
          #expect(error == storeError { try store.history(since: cursor) })
        }
        let sequence = try store.snapshot().sequence + 5
        let future = HistoryCursor(sequence, of: try store.snapshot().identity)
        guard
          case .historyExpired(sequence, _) = storeError({
            try store.write { try $0.purgeHistory(through: future) }
          })
        else {
          Issue.record("it was purged")
          return
        }
        #expect(try all(store) == commits)
      }
    }
  }

  @Test func `who keeps no history leaves a gap that is noticed`() throws {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/s"
    func with(_ history: HistoryOptions?, _ body: (PersistentStore) throws -> Void) throws {
      let store = try PersistentStore(at: path, model: .samples, options: options(history))
      try body(store)
      try store.expectSound()
      try store.close()
    }
    var cursor: HistoryCursor?
    try with(.keptForever) { store in
      try store.save(Note(key: "a"))
      cursor = try store.snapshot().historyCursor
      try store.save(Note(key: "b"))
    }
    try with(nil) { store in
      #expect(try all(store, since: cursor).count == 1)
      try store.save(Note(key: "c"))
    }
    try with(.keptForever) { store in
      try store.save(Note(key: "d"))
      let error = storeError { try all(store, since: cursor) }
      guard case .historyExpired = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(try all(store).map(\.changes).joined().map(\.key) == [["d"]])
      for number in 0..<3 { try store.save(Note(key: "\(number)")) }
      #expect(try all(store).count == 4)
    }
  }

  @Test func `a cursor of another store or a later state is refused`() throws {
    try withStore(.samples, options(.keptForever)) { store in
      try withStore(.samples, options(.keptForever)) { other in
        try other.save(Note(key: "a"))
        let cursor = try other.snapshot().historyCursor
        try store.save(Note(key: "a"))
        guard case .historyExpired = storeError({ try all(store, since: cursor) }) else {
          Issue.record("a cursor of another store is taken")
          return
        }
        let before = try store.snapshot()
        try store.save(Note(key: "b"))
        let later = try store.snapshot().historyCursor
        guard case .historyExpired = storeError({ try before.history(since: later) }) else {
          Issue.record("a cursor of a later state is taken")
          return
        }
      }
    }
  }

  @Test func `a commit of many records takes several parts`() throws {
    try withStore(.samples, options(HistoryOptions(keepsOldValues: true))) { store in
      let count = 3000
      try store.write { transaction in
        for number in 0..<count { try transaction.save(Note(key: "\(number)", text: "a text")) }
      }
      try store.write { try $0.deleteAll(Note.self) }
      let commits = try all(store)
      #expect(commits.map(\.changes.count) == [count, count])
      #expect(commits[1].changes.allSatisfy { $0.kind == .deleted && $0.old?["text"] == "a text" })
      #expect(Set(commits[1].changes.map(\.key)).count == count)
      let entries = try store.snapshot().trees.count(in: store.entities.history)
      #expect(entries >= 4)
    }
  }

  @Test func `a history that lacks a commit, or names what the store never had, is found`() throws {
    try withStore(.samples, options(.keptForever)) { store in
      for number in 0..<4 { try store.save(Note(key: "\(number)")) }
      let (history, last) = (store.entities.history, try store.snapshot().sequence)
      let note = try store.entities.entity(named: "Note")
      func put(_ key: [UInt8], _ value: [UInt8]?) throws -> [StoreError] {
        try store.backend.commit { trees throws(StoreError) in
          if let value {
            try trees.put(key.rawSpan, value.rawSpan, schemaVersion: 0, in: history)
          } else {
            _ = try trees.remove(key.rawSpan, in: history)
          }
        }
        return try store.snapshot().check()
      }
      func part(_ record: UInt32, _ version: UInt32, old: [UInt8]? = nil) -> [UInt8] {
        var part = HistoryPart(date: 0, author: nil)
        part.append(
          old == nil ? .inserted : .deleted, record: record, version: version, key: [1], old: old)
        return part.bytes
      }
      let key = HistoryKey(sequence: last - 1, part: 0).bytes
      var value: [UInt8] = []
      #expect(
        try store.snapshot().trees.copyValue(of: key.rawSpan, in: history, to: &value))
      let (record, version) = (note.record.number, note.layout.version)
      for wrong in [
        nil, part(record + 100, version), part(record, version + 1),
        part(record, version, old: [0xff]),
      ] {
        #expect(try put(key, wrong).map { $0.breaks(.history) } == [true])
      }
      #expect(try put(key, value) == [])
      let later = HistoryKey(sequence: last + 100, part: 0).bytes
      #expect(try put(later, part(record, version)).map { $0.breaks(.history) } == [true])
      #expect(try put(later, nil) == [])
      let floor = try #require(try HistoryFloor.state(store.snapshot().trees, history))
      let future = HistoryFloor(commit: last + 100, oldRows: floor.oldRows)
      #expect(try put([], future.encoded).map { $0.breaks(.history) } == [true])
      #expect(try put([], floor.encoded) == [])
    }
  }

  @Test func `a history without its parts, or with other bytes, is found damaged`() throws {
    try withStore(.samples, options(.keptForever)) { store in
      for number in 0..<3 { try store.save(Note(key: "\(number)")) }
      let history = store.entities.history
      func damage(_ key: [UInt8], _ value: [UInt8]?) throws -> [StoreError] {
        var faults: [StoreError] = []
        struct Stop: Error {}
        do {
          try store.write { transaction in
            if let value {
              try transaction.writer.trees.put(
                key.rawSpan, value.rawSpan, schemaVersion: 0, in: history)
            } else {
              _ = try transaction.writer.trees.remove(key.rawSpan, in: history)
            }
            do throws(StoreError) {
              try RecordCheck.checkHistory(in: .transaction(transaction.writer.trees), history)
            } catch {
              faults.append(error)
            }
            throw Stop()
          }
        } catch is Stop {}
        return faults
      }
      func isFault(_ faults: [StoreError]) -> Bool {
        guard case .corrupt(_, .history, _)? = faults.first else { return false }
        return true
      }
      let last = HistoryKey(sequence: 4, part: 0).bytes
      #expect(isFault(try damage(HistoryKey(sequence: 4, part: 2).bytes, [])))
      #expect(isFault(try damage([1, 2], [])))
      #expect(isFault(try damage([], [1])))
      #expect(isFault(try damage([], nil)))
      var value: [UInt8] = []
      _ = try store.snapshot().trees.copyValue(of: last.rawSpan, in: history, to: &value)
      #expect(try damage(last, value).isEmpty)
      for length in 0..<value.count where length != 9 {
        #expect(isFault(try damage(last, Array(value.prefix(length)))), "\(length)")
      }
      // Whatever a byte is, reading ends or throws.
      for place in value.indices {
        for byte in [0, 1, 2, 0x7f, 0xff] as [UInt8] {
          var changed = value
          changed[place] = byte
          _ = try damage(last, changed)
        }
      }
    }
  }
}

private enum Thread {
  static func sleep(milliseconds: Int) {
    let lock = ThreadLock()
    let condition = ThreadCondition(lock)
    lock.lock()
    _ = condition.wait(atMost: .milliseconds(milliseconds))
    lock.unlock()
  }
}
