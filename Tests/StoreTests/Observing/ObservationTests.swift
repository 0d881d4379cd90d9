import FoundationEssentials
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite(.timeLimit(.minutes(60))) struct ObservationTests {
  private func makeStore(_ options: StoreOptions = StoreOptions()) throws -> PersistentStore {
    try PersistentStore(inMemory: .samples, options: options)
  }

  @Test func `changes of a type are told as inserted, updated and deleted, H1`() async throws {
    let store = try makeStore()
    let notes = ["a", "b", "c"].map { Note(key: $0) }
    try await store.write { try $0.save(contentsOf: notes) }
    let changes = try store.changes(of: Note.self)
    #expect(try changes.snapshot.fetch(Note.self) == notes)
    try await store.write { transaction in
      try transaction.save(Note(key: "a", text: "new"))
      try transaction.delete(notes[1])
      try transaction.insert(Note(key: "d"))
      // Nothing of it is left, or was different before.
      try transaction.insert(Note(key: "e"))
      try transaction.delete(Note.self, key: "e")
      try transaction.save(notes[2])
      try transaction.save(Seat(row: "A", number: 1))
    }
    let iterator = Told(by: changes)
    let set = try #require(try await iterator.next())
    #expect(set.inserted == [Note(key: "d")])
    #expect(set.updated.map(\.old) == [notes[0]])
    #expect(set.updated.map(\.new) == [Note(key: "a", text: "new")])
    #expect(set.deleted == [notes[1]])
    #expect(set.sequence == changes.snapshot.sequence)
    #expect(try changes.snapshot.fetch(Note.self).map(\.key) == ["a", "c", "d"])
    try await store.close()
  }

  private struct Album: Record, Identifiable, Equatable {
    var id: Int
    static let pictures = Inverse("pictures", of: \Picture.album, deleteRule: .cascade)
    static let labels = Inverse("labels", of: \Label.album, deleteRule: .nullify)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      pictures
      labels
    }
  }

  private struct Picture: Record, Identifiable, Equatable {
    var id: Int
    var album: Reference<Album>

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "album", type: .reference(to: Album.self))
    }
  }

  private struct Label: Record, Identifiable, Equatable {
    var id: Int
    var album: Reference<Album>?

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "album", type: .reference(to: Album.self), optional: true)
    }
  }

  @Test func `what is deleted or cut by a rule, by a query or with all is told`() async throws {
    let store = try PersistentStore(
      inMemory: StoreModel(records: [Album.self, Picture.self, Label.self]))
    try await store.write { transaction in
      for id in 1...2 { try transaction.insert(Album(id: id)) }
      for id in 0..<6 { try transaction.insert(Picture(id: id, album: Reference(1 + id / 3))) }
      try transaction.insert(Label(id: 20, album: Reference(1)))
    }
    let albums = Told(by: try store.changes(of: Album.self))
    let pictures = Told(by: try store.changes(of: Picture.self))
    let labels = Told(by: try store.changes(of: Label.self))
    try await store.delete(Album.self, key: 1)
    #expect(try await albums.next()?.deleted.map(\.id) == [1])
    #expect(try await pictures.next()?.deleted.map(\.id) == [0, 1, 2])
    let cut = try #require(try await labels.next()?.updated.first)
    #expect(cut.new == Label(id: 20, album: nil) && cut.changedFields == ["album"])
    try await store.delete(Picture.where { $0.id < 4 })
    try await store.write { try $0.deleteAll(Picture.self) }
    #expect(try await pictures.next()?.deleted.map(\.id) == [3, 4, 5])
    try await store.close()
  }

  @Test func `an update says which fields differ, H3`() async throws {
    let store = try PersistentStore(
      inMemory: StoreModel(records: [Building.self, Account.self]))
    var building = Building.some(2)[1]
    try await store.write { try $0.save(building) }
    let changes = try store.changes(of: Building.self)
    let iterator = Told(by: changes)
    func fields() async throws -> Set<String> {
      let record = building
      try await store.write { try $0.save(record) }
      let set = try #require(try await iterator.next())
      return try #require(set.updated.first).changedFields
    }
    building.address.street = "elsewhere"
    building.kind = building.kind == .house ? .garden : .house
    #expect(try await fields() == ["address.street", "kind"])
    building.names = ["x", "y"]
    building.address.point.latitude = 4
    #expect(try await fields() == ["names", "address.point.latitude"])
    building.former = nil
    let former: Set<String> = ["former", "former.street", "former.zip"]
    let found = try await fields()
    #expect(found.isSuperset(of: former) && found.allSatisfy { $0.hasPrefix("former") })
    building.opened = building.opened == nil ? .now : nil
    #expect(try await fields() == ["opened"])
    try await store.close()
  }

  @Test func `many commits come as one set, each record once, H11`() async throws {
    let store = try makeStore()
    let changes = try store.changes(of: Note.self)
    for text in 0..<50 {
      try await store.save(Note(key: "a", text: "\(text)"))
      try await store.save(Note(key: "b\(text)"))
      if text > 0 { try await store.delete(Note(key: "b\(text - 1)")) }
    }
    let iterator = Told(by: changes)
    let set = try #require(try await iterator.next())
    #expect(set.inserted == [Note(key: "a", text: "49"), Note(key: "b49")])
    #expect(set.updated.isEmpty && set.deleted.isEmpty)
    try await store.close()
    #expect(try await iterator.next() == nil)
  }

  @Test func `who waits is woken by the next commit, and only by what concerns it`() async throws {
    let store = try makeStore()
    let changes = try store.changes(of: Note.self)
    let waiting = Task {
      let iterator = Told(by: changes)
      return try await iterator.next()
    }
    try await Task.sleep(for: .milliseconds(30))
    try await store.write { try $0.save(Seat(row: "A", number: 1)) }
    try await Task.sleep(for: .milliseconds(30))
    try await store.write { try $0.save(Note(key: "a")) }
    let set = try #require(try await waiting.value)
    #expect(set.inserted == [Note(key: "a")])
    #expect(set.sequence == 3)
    try await store.close()
  }

  @Test func `one key is observed whether or not there is a record, H2`() async throws {
    let store = try makeStore()
    let changes = try store.changes(of: Seat.self, key: "A", 1)
    let iterator = Told(by: changes)
    try await store.write { transaction in
      try transaction.save(Seat(row: "A", number: 2))
      try transaction.save(Seat(row: "A", number: 1, guest: "x"))
    }
    guard case .inserted(let record) = try await iterator.next()?.kind else {
      Issue.record("it is not inserted")
      return
    }
    #expect(record.guest == "x")
    try await store.write { try $0.save(Seat(row: "A", number: 2, guest: "z")) }
    try await store.write(author: "me") { try $0.save(Seat(row: "A", number: 1, guest: "y")) }
    let change = try #require(try await iterator.next())
    guard case .updated(let update) = change.kind else {
      Issue.record("it is not updated")
      return
    }
    #expect(update.old.guest == "x" && update.new.guest == "y")
    #expect(update.changedFields == ["guest"] && change.authors == ["me"])
    // It came back as it was.
    try await store.write { _ = try $0.delete(Seat.self, key: "A", 1) }
    try await store.write { try $0.save(update.new) }
    try await store.write { try $0.deleteAll(Seat.self) }
    guard case .deleted(update.new) = try await iterator.next()?.kind else {
      Issue.record("it is not deleted")
      return
    }
    try await store.close()
    #expect(try await iterator.next() == nil)
  }

  @Test func `sets name the authors of their commits, H12`() async throws {
    let store = try makeStore()
    let changes = try store.changes(of: Note.self)
    let iterator = Told(by: changes)
    try await store.write(author: "import") { try $0.save(Note(key: "a")) }
    #expect(try await iterator.next()?.authors == ["import"])
    try await store.write(author: "import") { try $0.save(Note(key: "b")) }
    try await store.write(author: "other") { try $0.save(Seat(row: "A", number: 1)) }
    try await store.write { try $0.save(Note(key: "c")) }
    #expect(try await iterator.next()?.authors == ["import", nil])
    try await store.close()
  }

  @Test func `a transaction that is rolled back is not told of`() async throws {
    struct Stop: Error {}
    let store = try makeStore()
    let changes = try store.changes(of: Note.self)
    #expect(throws: Stop.self) {
      try store.write { transaction in
        try transaction.save(Note(key: "a"))
        throw Stop()
      }
    }
    try await store.write { transaction in
      try? transaction.savepoint { transaction in
        try transaction.save(Note(key: "b"))
        throw Stop()
      }
      try transaction.save(Note(key: "c"))
    }
    let iterator = Told(by: changes)
    #expect(try await iterator.next()?.inserted == [Note(key: "c")])
    try await store.close()
    #expect(try await iterator.next() == nil)
  }

  @Test func `a cancelled task ends, and another goes on from there`() async throws {
    let store = try makeStore()
    let changes = try store.changes(of: Note.self)
    for _ in 0..<20 {
      let waiting = Task {
        let iterator = Told(by: changes)
        return try await iterator.next() == nil
      }
      if Bool.random() { await Task.yield() }
      waiting.cancel()
      #expect(try await waiting.value)
    }
    try await store.write { try $0.save(Note(key: "a")) }
    let iterator = Told(by: changes)
    #expect(try await iterator.next()?.inserted == [Note(key: "a")])
    try await store.close()
  }

  @Test func `each of several loops is told of all changes`() async throws {
    let store = try makeStore()
    try await store.write { try $0.save(Note(key: "a")) }
    let (changes, key) = (
      try store.changes(of: Note.self), try store.changes(of: Note.self, key: "b")
    )
    let results = try store.results(of: Query<Note>())
    let loops = (Told(by: changes), Told(by: changes))
    let keyLoops = (Told(by: key), Told(by: key))
    let resultLoops = (Told(by: results), Told(by: results))
    #expect(try await resultLoops.0.next()?.records.map(\.key) == ["a"])
    try await store.write { try $0.save(Note(key: "b")) }
    #expect(try await loops.0.next()?.inserted.map(\.key) == ["b"])
    let late = Told(by: changes)
    try await store.write { try $0.save(Note(key: "c")) }
    #expect(try await loops.0.next()?.inserted.map(\.key) == ["c"])
    #expect(try await loops.1.next()?.inserted.map(\.key) == ["b", "c"])
    #expect(try await late.next()?.inserted.map(\.key) == ["c"])
    #expect(try await keyLoops.0.next()?.record == Note(key: "b"))
    #expect(try await keyLoops.1.next()?.record == Note(key: "b"))
    #expect(try await resultLoops.0.next()?.records.map(\.key) == ["a", "b", "c"])
    #expect(try await resultLoops.1.next()?.records.map(\.key) == ["a"])
    #expect(try await resultLoops.1.next()?.records.map(\.key) == ["a", "b", "c"])
    try await store.close()
    for loop in [loops.0, loops.1, late] { #expect(try await loop.next() == nil) }
  }

  @Test func `a loop resumes where the one before it was left`() async throws {
    let store = try makeStore()
    let changes = try store.changes(of: Note.self)
    try await store.write { try $0.save(Note(key: "a")) }
    for try await set in changes {
      #expect(set.inserted.map(\.key) == ["a"])
      break
    }
    try await store.write { try $0.save(Note(key: "b")) }
    for try await set in changes {
      #expect(set.inserted.map(\.key) == ["b"])
      break
    }
    try await store.close()
  }

  @Test func `closing tells of the last commits, and ends`() async throws {
    let store = try makeStore()
    let (changes, others) = (try store.changes(of: Note.self), try store.changes(of: Seat.self))
    let waiting = Task {
      var count = 0
      for try await set in others { count += set.inserted.count }
      return count
    }
    try await store.write { try $0.save(Note(key: "a")) }
    try await store.close()
    let iterator = Told(by: changes)
    #expect(try await iterator.next()?.inserted.count == 1)
    #expect(try await iterator.next() == nil)
    #expect(try await waiting.value == 0)
    guard case .closed = storeError({ try store.changes(of: Note.self) }) else {
      Issue.record("a closed store is observed")
      return
    }
  }

  @Test func `letting go of the store ends as closing does`() async throws {
    var store: PersistentStore? = try makeStore()
    let changes = try #require(try store?.changes(of: Note.self))
    try await store?.save(Note(key: "a"))
    store = nil
    var sets = 0
    for try await set in changes { sets += set.inserted.count }
    #expect(sets == 1)
  }

  @Test func `nobody who observes leaves a store without observers behind`() throws {
    let store = try makeStore()
    do {
      let changes = try store.changes(of: Note.self)
      let key = try store.changes(of: Seat.self, key: "A", 1)
      withExtendedLifetime((changes, key)) { #expect(store.hub.isObserved) }
    }
    #expect(!store.hub.isObserved)
    #expect(store.hub.notes() == nil)
    try store.close()
  }

  @Test func `who falls far behind misses nothing`() async throws {
    let store = try makeStore()
    let count = scaled(200_000, debug: 70_000)
    let (changes, key) = (
      try store.changes(of: Note.self), try store.changes(of: Note.self, key: "n7")
    )
    try await store.write(author: "first") { try $0.save(Note(key: "n7")) }
    // More than one commit notes, and in small commits more than is kept.
    try await store.write { transaction in
      for number in 0..<count { try transaction.save(Note(key: "n\(number)")) }
    }
    for number in 0..<100 {
      try await store.write(durability: .relaxed, author: "last") { transaction in
        for place in 0..<600 {
          try transaction.save(Note(key: "n\(number * 600 + place)", text: "x"))
        }
      }
    }
    let iterator = Told(by: changes)
    let set = try #require(try await iterator.next())
    #expect(set.inserted.count == count && set.updated.isEmpty)
    #expect(set.authors.isSuperset(of: [nil, "last"]))
    let keys = Told(by: key)
    #expect(try await keys.next()?.record == Note(key: "n7", text: "x"))
    try await store.write { try $0.deleteAll(Note.self) }
    #expect(try await iterator.next()?.deleted.count == count)
    #expect(try await keys.next()?.record == nil)
    try await store.close()
  }
}
