import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Commits that are undone, and done again.
@Suite struct UndoTests {
  struct Chapter: Record, Identifiable, Hashable {
    var id: Int
    var number: Int?
    var title = ""
    static let notes = Inverse("notes", of: \Remark.chapter, deleteRule: .cascade)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "number", type: .integer, optional: true, unique: true)
      Field(name: "title", type: .string, indexed: true)
      notes
    }
  }

  struct Remark: Record, Hashable {
    var id: Int
    var chapter: Reference<Chapter>
    var text = Data()

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "chapter", type: .reference(to: Chapter.self))
      Field(name: "text", type: .binaryData, storage: .external(threshold: 8))
    }
  }

  struct Content: Equatable {
    var chapters: [Chapter]
    var remarks: [Remark]

    init(_ store: PersistentStore) throws {
      chapters = try store.fetch(Chapter.self)
      remarks = try store.fetch(Remark.self)
    }
  }

  private func withStore(
    _ history: HistoryOptions? = HistoryOptions(keepsOldValues: true),
    _ body: (PersistentStore) throws -> Void
  ) throws {
    var options = StoreOptions()
    options.history = history
    let store = try PersistentStore(
      inMemory: StoreModel(records: [Chapter.self, Remark.self]), options: options)
    try body(store)
    try store.close()
  }

  private func refusal(_ body: () throws -> Void) -> StoreError? {
    do {
      try body()
      return nil
    } catch {
      return error as? StoreError
    }
  }

  @Test func `a group of commits is undone, and done again`() throws {
    try withStore { store in
      try store.save(Chapter(id: 1, number: 1, title: "a"))
      try store.save(Chapter(id: 2, number: 2, title: "b"))
      let before = try Content(store)
      let start = try store.snapshot().historyCursor
      try store.write { transaction in
        // What only one can have is exchanged.
        try transaction.save(Chapter(id: 1, number: nil, title: "c"))
        try transaction.save(Chapter(id: 2, number: 1, title: "b"))
        try transaction.save(Chapter(id: 1, number: 2, title: "c"))
      }
      try store.save(Chapter(id: 3, number: 3))
      try store.save(Remark(id: 1, chapter: Reference(3)))
      try store.delete(Chapter.self, key: 2)
      let after = try Content(store)
      let undone = try store.undo(since: start)
      #expect(try Content(store) == before)
      let redone = try store.undo(since: undone)
      #expect(try Content(store) == after)
      try store.undo(since: redone)
      #expect(try Content(store) == before)
      // A place after which nothing was done.
      try store.undo(since: try store.snapshot().historyCursor)
      #expect(try Content(store) == before)
    }
  }

  @Test func `only an author's commits are undone, unless others have built on them`() throws {
    try withStore { store in
      let start = try store.snapshot().historyCursor
      try store.write(author: "me") { try $0.save(Chapter(id: 1, title: "mine")) }
      try store.write(author: "you") { try $0.save(Chapter(id: 2, title: "yours")) }
      try store.write(author: "me") { try $0.save(Chapter(id: 2, title: "ours")) }
      try store.undo(since: start, by: "me")
      #expect(try Content(store).chapters == [Chapter(id: 2, title: "yours")])

      let second = try store.snapshot().historyCursor
      try store.write(author: "me") { try $0.save(Chapter(id: 3)) }
      try store.write(author: "you") { try $0.save(Chapter(id: 3, title: "changed")) }
      let built = try Content(store)
      guard case .staleRecord("Chapter", "3") = refusal({ try store.undo(since: second, by: "me") })
      else {
        Issue.record("another author's change was undone")
        return
      }
      #expect(try Content(store) == built)

      let third = try store.snapshot().historyCursor
      try store.write(author: "me") { try $0.save(Chapter(id: 4, number: 4)) }
      try store.write(author: "you") { try $0.save(Remark(id: 1, chapter: Reference(4))) }
      let led = try Content(store)
      guard
        case .danglingReference("Remark", "1", "chapter", _) = refusal({
          try store.undo(since: third, by: "me")
        })
      else {
        Issue.record("a reference leads nowhere")
        return
      }
      #expect(try Content(store) == led)

      let fourth = try store.snapshot().historyCursor
      try store.write(author: "me") { try $0.save(Chapter(id: 4, number: 5)) }
      try store.write(author: "you") { try $0.save(Chapter(id: 5, number: 4)) }
      guard case .uniqueConflict = refusal({ try store.undo(since: fourth, by: "me") }) else {
        Issue.record("a value came back that another has")
        return
      }
      try store.undo(since: fourth)
      #expect(try Content(store) == led)
    }
  }

  @Test func `what the history does not have is not undone`() throws {
    for history in [nil, HistoryOptions(keepsOldValues: false)] {
      try withStore(history) { store in
        try store.save(Chapter(id: 1))
        let place = try store.snapshot().historyCursor
        try store.delete(Chapter.self, key: 1)
        let error = refusal { try store.undo(since: place) }
        switch error {
        case .historyExpired: #expect(history == nil)
        case .changesNotKept("Chapter"): #expect(history != nil)
        default: Issue.record("\(String(describing: error))")
        }
        #expect(try store.count(Chapter.self) == 0)
      }
    }
    try withStore { store in
      let place = try store.snapshot().historyCursor
      try withStore { other in
        guard case .historyExpired = refusal({ try other.undo(since: place) }) else {
          Issue.record("a place of another store was taken")
          return
        }
      }
      try store.write { transaction in
        try transaction.purgeHistory(before: Date.distantFuture)
        try transaction.save(Chapter(id: 1))
      }
      try store.save(Chapter(id: 2))
    }
  }

  @Test(arguments: 0..<4)
  func `whatever was done since any place is undone to what was there`(shard: Int) {
    replaying(Seeds.range(scaled(40, debug: 6), shard: 700 + shard)) { seed in
      var random = SplitMix64(seed: seed)
      try withStore { store in
        var places = [(try store.snapshot().historyCursor, try Content(store))]
        for _ in 0..<30 {
          if random.next() % 4 == 0 {
            let (place, content) = places[Int(random.next() % UInt64(places.count))]
            try store.undo(since: place)
            let now = try Content(store)
            try agree(now == content, "\(now) came back, not \(content)")
          } else if random.next() % 8 == 0 {
            try store.collectBlobs(BlobBudget(bytes: .max, garbageShare: 0))
          } else {
            _ = refusal { try store.write { try Self.change(&$0, &random) } }
          }
          places.append((try store.snapshot().historyCursor, try Content(store)))
        }
        let faults = try store.snapshot().check()
        try agree(faults.isEmpty, "\(faults)")
        for (place, content) in places.reversed() {
          let undone = try store.undo(since: place)
          try agree(try Content(store) == content, "not what was there at \(place)")
          try store.undo(since: undone)
          try agree(try Content(store) == places[places.count - 1].1, "not done again")
        }
      }
    }
  }

  private static func change(
    _ transaction: inout WriteTransaction, _ random: inout SplitMix64
  ) throws {
    for _ in 0...random.next() % 4 {
      let id = Int(random.next() % 6)
      switch random.next() % 6 {
      case 0: _ = try transaction.delete(Chapter.self, key: id)
      case 1: _ = try transaction.delete(Remark.self, key: id)
      case 2:
        let text = Data(repeating: UInt8(random.next() % 3), count: Int(random.next() % 3) * 20)
        let chapter = Reference<Chapter>(Int(random.next() % 6))
        try transaction.save(Remark(id: id, chapter: chapter, text: text))
      default:
        try transaction.save(
          Chapter(
            id: id, number: random.next() % 2 == 0 ? nil : Int(random.next() % 4),
            title: "\(random.next() % 3)"), onConflict: .replaceOther)
      }
    }
  }
}
