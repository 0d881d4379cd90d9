import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Delete rules at both ends of relations, for typed records with hooks.
@Suite struct DeleteRuleTests {
  private func store() throws -> PersistentStore {
    try PersistentStore(
      inMemory: StoreModel(records: [
        Writer.self, Novel.self, Jacket.self, Label.self, Prize.self, Topic.self, Essay.self,
      ]))
  }

  @Test func `a cascade deletes what depends, and what that owns`() throws {
    let store = try store()
    try store.write { transaction in
      try transaction.insert(Novel(id: 1, author: Reference(7), labels: [], jacket: Reference(9)))
      try transaction.insert(Writer(id: 7))
      try transaction.insert(Jacket(id: 9))
      try transaction.insert(Prize(id: 3, novel: Reference(1)))
    }
    try store.delete(Writer.self, key: 7)
    #expect(try store.count(Novel.self) == 0)
    #expect(try store.count(Jacket.self) == 0)
    #expect(try store.fetch(Prize.self, key: 3) == Prize(id: 3, novel: nil))
    #expect(try store.snapshot().check(readingBlobs: false) == [])
  }

  @Test func `a reference leads somewhere when the transaction commits`() throws {
    let store = try store()
    #expect(
      throws: StoreError.danglingReference(
        record: "Novel", key: "1", field: "author", destination: "Writer 7")
    ) {
      try store.insert(Novel(id: 1, author: Reference(7), labels: [], jacket: nil))
    }
    #expect(try store.count(Novel.self) == 0)
  }

  @Test func `a record is deleted where a reference leads to one with a shorter key`() throws {
    let store = try store()
    try store.write { transaction in
      try transaction.insert(Label(id: "a label whose name is longer than all entries"))
      try transaction.insert(Label(id: "b"))
      try transaction.insert(Writer(id: 7))
      try transaction.insert(
        Novel(id: 1, author: Reference(7), labels: [Reference("b")], jacket: nil))
    }
    #expect(try store.delete(Label.self, key: "a label whose name is longer than all entries"))
    #expect(try store.count(Label.self) == 1)
  }

  @Test func `of two keys that Swift takes for equal, the one that is deleted is cut`() throws {
    let store = try store()
    let (one, two) = ("e\u{301}", "\u{e9}")
    try store.write { transaction in
      try transaction.insert(Topic(id: one))
      try transaction.insert(Topic(id: two))
      try transaction.insert(Essay(id: 1, topics: [Reference(one), Reference(two)]))
    }
    #expect(try store.delete(Topic.self, key: one))
    let topics = try store.fetch(Essay.self, key: 1)?.topics.map { Array($0.id.utf8) }
    #expect(topics == [Array(two.utf8)])
  }

  @Test func `a reference to an empty key leads somewhere, too`() throws {
    let store = try store()
    try store.insert(Writer(id: 7))
    #expect(
      throws: StoreError.danglingReference(
        record: "Novel", key: "1", field: "labels", destination: "Label \"\"")
    ) {
      try store.insert(Novel(id: 1, author: Reference(7), labels: [Reference("")], jacket: nil))
    }
  }

  @Test func `a deletion that others deny changes nothing`() throws {
    let store = try store()
    try store.insert(Label(id: "swift"))
    try store.insert(Writer(id: 7))
    try store.insert(Novel(id: 1, author: Reference(7), labels: [Reference("swift")], jacket: nil))
    #expect(
      throws: StoreError.deleteDenied(
        record: "Label", key: "\"swift\"", by: "Novel.labels", count: 1)
    ) { try store.delete(Label.self, key: "swift") }
    #expect(try store.count(Label.self) == 1)
    // Deleted with it, it denies nothing.
    try store.write { transaction in
      try transaction.deleteAll(Novel.self)
      try transaction.deleteAll(Label.self)
    }
    #expect(try store.count(Label.self) == 0)
  }

  @Test func `a long chain, a ring and a record that leads to itself go by one call`() throws {
    let store = try PersistentStore(inMemory: StoreModel(records: [Category.self]))
    try store.write { transaction in
      for id in 0..<scaled(50_000, debug: 2_000) {
        try transaction.insert(Category(id: id, parent: id == 0 ? nil : Reference(id - 1)))
      }
    }
    try store.delete(Category.self, key: 0)
    #expect(try store.count(Category.self) == 0)
    try store.write { transaction in
      for (id, parent) in [(1, 1), (2, 3), (3, 4), (4, 2)] {
        try transaction.insert(Category(id: id, parent: Reference(parent)))
      }
      try transaction.insert(Category(id: 5, parent: Reference(2), next: Reference(6)))
      try transaction.insert(Category(id: 6, parent: nil, next: Reference(5)))
    }
    try store.delete(Category.self, key: 1)
    #expect(try store.fetch(Category.self).map(\.id) == [2, 3, 4, 5, 6])
    try store.delete(Category.self, key: 3)
    #expect(try store.count(Category.self) == 0)
  }

  @Test func `a record that is deleted and added again has lost what led to it`() throws {
    let store = try store()
    try store.write { transaction in
      try transaction.insert(Writer(id: 7))
      try transaction.insert(Novel(id: 1, author: Reference(7), labels: [], jacket: nil))
    }
    try store.write { transaction in
      try transaction.delete(Writer.self, key: 7)
      try transaction.insert(Writer(id: 7))
    }
    #expect(try store.count(Writer.self) == 1)
    #expect(try store.count(Novel.self) == 0)
    // One that is saved again loses nothing.
    try store.insert(Novel(id: 2, author: Reference(7), labels: [], jacket: nil))
    try store.save(Writer(id: 7))
    #expect(try store.count(Novel.self) == 1)
    // One that was never committed takes along what came before it.
    try store.write { transaction in
      try transaction.insert(Novel(id: 3, author: Reference(8), labels: [], jacket: nil))
      try transaction.insert(Writer(id: 8))
      try transaction.delete(Writer.self, key: 8)
    }
    #expect(try store.fetch(Novel.self).map(\.id) == [2])
    #expect(try store.snapshot().check().isEmpty)
  }

  // MARK: At the commit

  private func couples(_ count: Int = 1) throws -> PersistentStore {
    let store = try PersistentStore(
      inMemory: StoreModel(records: [Husband.self, Wife.self, Keeper.self, Circle.self, Band.self]))
    try store.write { transaction in
      for id in 0..<count {
        try transaction.insert(Husband(id: id, wife: Reference(id)))
        try transaction.insert(Wife(id: id, husband: Reference(id)))
      }
    }
    return store
  }

  private func denied(_ record: String, by: String, count: Int = 1) -> StoreError {
    .deleteDenied(record: record, key: "0", by: by, count: count)
  }

  @Test func `two records of different types that require each other go in one transaction`()
    throws
  {
    let store = try couples(3)
    try store.write { transaction in
      try transaction.delete(Husband.self, key: 0)
      try transaction.delete(Wife.self, key: 0)
    }
    try store.write { transaction in
      try transaction.delete(record: "Wife", key: 1)
      try transaction.delete(Husband.where { $0.id == 1 })
    }
    #expect(try store.count(Husband.self) == 1)
    try store.write { transaction in
      try transaction.deleteAll(Husband.self)
      try transaction.deleteAll(Wife.self)
    }
    #expect(try store.count(Husband.self) == 0)
    #expect(try store.count(Wife.self) == 0)
    #expect(try store.snapshot().check().isEmpty)
  }

  @Test func `a deletion that is still denied at the commit takes the whole transaction back`()
    throws
  {
    let store = try couples()
    let error = denied("Husband", by: "Wife.husband")
    #expect(throws: error) { try store.delete(Husband.self, key: 0) }
    #expect(throws: error) {
      try store.write { transaction in
        try transaction.insert(Husband(id: 1, wife: Reference(0)))
        try transaction.delete(Husband.self, key: 0)
      }
    }
    #expect(throws: denied("Wife", by: "Husband.wife")) {
      try store.write { try $0.deleteAll(Wife.self) }
    }
    #expect(try store.count(Husband.self) == 1)
    // Led elsewhere meanwhile, or there again.
    try store.write { transaction in
      try transaction.delete(Husband.self, key: 0)
      try transaction.insert(Husband(id: 1, wife: Reference(0)))
      try transaction.update(Wife(id: 0, husband: Reference(1)))
    }
    try store.write { transaction in
      try transaction.delete(Husband.self, key: 1)
      try transaction.insert(Husband(id: 1, wife: Reference(0)))
    }
    #expect(try store.fetch(Wife.self, key: 0)?.husband == Reference(1))
    #expect(try store.snapshot().check().isEmpty)
  }

  @Test func `a savepoint that is taken back takes its denials along`() throws {
    let store = try couples()
    struct Undo: Error {}
    func takeBackDeletion<Subject: Record>(
      of type: Subject.Type, in transaction: inout WriteTransaction
    ) throws where Subject.KeyType == Int {
      do {
        try transaction.savepoint { transaction in
          try transaction.delete(type, key: 0)
          throw Undo()
        }
      } catch is Undo {}
    }
    try store.write { transaction in
      try takeBackDeletion(of: Husband.self, in: &transaction)
      #expect(try transaction.count(Husband.self) == 1)
    }
    #expect(throws: denied("Husband", by: "Wife.husband")) {
      try store.write { transaction in
        try transaction.delete(Husband.self, key: 0)
        try takeBackDeletion(of: Wife.self, in: &transaction)
      }
    }
    #expect(try store.count(Wife.self) == 1)
    // What was denied in a savepoint that was taken back is denied again.
    #expect(throws: denied("Husband", by: "Wife.husband")) {
      try store.write { transaction in
        try takeBackDeletion(of: Husband.self, in: &transaction)
        try transaction.delete(Husband.self, key: 0)
      }
    }
  }

  @Test func `a list that is too short until the commit keeps no other reference from being cut`()
    throws
  {
    let store = try couples()
    try store.write { transaction in
      try transaction.insert(Keeper(id: 0, kept: nil))
      try transaction.insert(Band(id: 0, players: [Reference(0)], patron: Reference(0)))
    }
    try store.write { transaction in
      try transaction.delete(Keeper.self, key: 0)
      try transaction.delete(Husband.self, key: 0)
      try transaction.delete(Wife.self, key: 0)
      #expect(try transaction.fetch(Band.self, key: 0)?.patron == nil)
      try transaction.delete(Band.self, key: 0)
    }
    #expect(try store.count(Band.self) + store.count(Keeper.self) == 0)
    #expect(try store.snapshot().check().isEmpty)
  }

  @Test func `the other end's own rule and the bounds of lists are decided at the commit, too`()
    throws
  {
    let store = try couples()
    try store.write { transaction in
      try transaction.insert(Keeper(id: 0, kept: Reference(0)))
      try transaction.insert(Circle(id: 0, members: [Reference(0)]))
    }
    // A keeper stays while it keeps something.
    #expect(throws: denied("Keeper", by: "Keeper.kept")) { try store.delete(Keeper.self, key: 0) }
    // A circle has a member.
    #expect(throws: denied("Keeper", by: "Circle.members")) {
      try store.write { transaction in
        try transaction.delete(Keeper.self, key: 0)
        try transaction.delete(Husband.self, key: 0)
        try transaction.delete(Wife.self, key: 0)
      }
    }
    try store.write { transaction in
      try transaction.delete(Keeper.self, key: 0)
      try transaction.delete(Circle.self, key: 0)
      try transaction.delete(Husband.self, key: 0)
      try transaction.delete(Wife.self, key: 0)
    }
    #expect(try store.count(Keeper.self) + store.count(Circle.self) == 0)
    #expect(try store.snapshot().check().isEmpty)
  }
}

private struct Category: Record, Identifiable {
  var id: Int
  var parent: Reference<Category>?
  var next: Reference<Category>? = nil
  static let children = Inverse("children", of: \Category.parent, deleteRule: .cascade)

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "parent", type: .reference(to: Category.self), optional: true)
    Field(name: "next", type: .reference(to: Category.self, deleteRule: .cascade), optional: true)
    children
  }
}

private struct Band: Record, Identifiable {
  var id: Int
  var players: [Reference<Keeper>]
  var patron: Reference<Husband>?

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "players", type: .references(to: Keeper.self, count: 1...3))
    Field(name: "patron", type: .reference(to: Husband.self), optional: true)
  }
}

private struct Husband: Record, Identifiable {
  var id: Int
  var wife: Reference<Wife>

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "wife", type: .reference(to: Wife.self))
  }
}

private struct Wife: Record, Identifiable {
  var id: Int
  var husband: Reference<Husband>

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "husband", type: .reference(to: Husband.self))
  }
}

private struct Keeper: Record, Identifiable {
  var id: Int
  var kept: Reference<Husband>?

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "kept", type: .reference(to: Husband.self, deleteRule: .deny), optional: true)
  }
}

private struct Circle: Record, Identifiable {
  var id: Int
  var members: [Reference<Keeper>]

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "members", type: .references(to: Keeper.self, count: 1...3))
  }
}

private struct Writer: Record, Identifiable, Equatable {
  var id: Int
  static let novels = Inverse("novels", of: \Novel.author, deleteRule: .cascade)

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    novels
  }
}

private struct Novel: Record, Identifiable, Equatable {
  var id: Int
  var author: Reference<Writer>
  var labels: [Reference<Label>]
  var jacket: Reference<Jacket>?

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "author", type: .reference(to: Writer.self))
    Field(name: "labels", type: .references(to: Label.self))
    Field(
      name: "jacket", type: .reference(to: Jacket.self, deleteRule: .cascade), optional: true,
      unique: true)
  }
}

private struct Jacket: Record, Identifiable, Equatable {
  var id: Int

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
  }
}

private struct Label: Record, Identifiable, Equatable {
  var id: String
  static let novels = Inverse("novels", of: \Novel.labels, deleteRule: .deny)

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .string)
    novels
  }
}

private struct Prize: Record, Identifiable, Equatable {
  var id: Int
  var novel: Reference<Novel>?

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "novel", type: .reference(to: Novel.self), optional: true)
  }
}

private struct Topic: Record, Identifiable, Equatable {
  var id: String

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .string)
  }
}

private struct Essay: Record, Identifiable, Equatable {
  var id: Int
  var topics: [Reference<Topic>]

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "topics", type: .references(to: Topic.self))
  }
}
