import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

private struct Player: Record, Equatable {
  struct Score: Codable, Hashable, Sendable {
    var points = 7
    var rounds: Int
  }

  var id: Int
  var level = 3
  var nick: String? = "new"
  var score = Score(rounds: 0)

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "level", type: .integer, default: 3)
    Field(name: "nick", type: .string, optional: true, default: "new")
    Field(
      name: "score",
      type: .composite {
        Field(name: "points", type: .integer, default: 7)
        Field(name: "rounds", type: .integer)
      })
  }
}

private struct Game: Record, Equatable {
  struct Rules: Codable, Hashable, Sendable {
    var points = 7
    var note: String?
  }

  struct Board: Codable, Hashable, Sendable {
    var size = 8
    var rules = Rules()
  }

  var id: Int
  var rules = Rules()
  var board = Board()

  static func recordDescription(for version: Int) -> RecordDescription {
    let rules = FieldType.composite {
      Field(name: "points", type: .integer, default: 7)
      Field(name: "note", type: .string, optional: true)
    }
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "rules", type: rules)
    Field(
      name: "board",
      type: .composite {
        Field(name: "size", type: .integer, default: 8)
        Field(name: "rules", type: rules)
      })
  }
}

/// A record whose default is that of the program.
private struct Dose: Record, Equatable {
  @TaskLocal static var stated: FieldValue? = 3

  var id: Int
  var amount: Int
  var note: String? = nil

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "amount", type: .integer, default: stated)
    Field(name: "note", type: .string, optional: true)
    if version > 1 { Index("amount") }
  }
}

@Suite struct RecordDefaultTests {
  @Test func `a record that is created without a model has the defaults that the store keeps`()
    throws
  {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    let model = StoreModel(records: [Player.self, Game.self])
    try PersistentStore(at: path, model: model).close()
    let untyped = try PersistentStore(untypedAt: path)
    try untyped.write { transaction in
      try transaction.save(
        DynamicRecord("Player", ["id": 1, "score": .composite(["rounds": 2])]))
      try transaction.save(DynamicRecord("Game", ["id": 1]))
    }
    try untyped.close()
    let store = try PersistentStore(at: path, model: model)
    #expect(try store.fetch(Player.self) == [Player(id: 1, score: .init(rounds: 2))])
    #expect(try store.fetch(Game.self) == [Game(id: 1)])
    try store.close()
  }

  @Test func `the default of the program that opens a store for writing is the store's`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    func open(
      _ stated: FieldValue?, version: Int = 1, _ options: StoreOptions = StoreOptions()
    ) throws {
      try Dose.$stated.withValue(stated) {
        let model = StoreModel(version: version, records: [Dose.self])
        try PersistentStore(at: path, model: model, options: options).close()
      }
    }
    func stored() throws -> (sequence: UInt64, values: [FieldValue?]) {
      let found = try PersistentStore.inspect(at: path)
      return (
        found.sequence, found.schemas.map { $0.records[0].field(named: "amount")?.defaultValue }
      )
    }
    try open(3)
    let first = try stored()
    #expect(first.values == [3])
    try open(3)
    var reading = StoreOptions()
    reading.access = .reading
    try open(4, reading)
    #expect(try stored().sequence == first.sequence)
    try open(5)
    #expect(try stored().values == [5])
    let untyped = try PersistentStore(untypedAt: path)
    try untyped.write { try $0.save(DynamicRecord("Dose", ["id": 1])) }
    #expect(try untyped.fetch(record: "Dose").map { $0["amount"] } == [5])
    try untyped.close()
    try open(6, version: 2)
    #expect(try stored().values == [5, 6])
    try open(nil, version: 2)
    #expect(try stored().values == [5, nil])
  }

  @Test func `a record without a type has the defaults of the fields that it does not name`() throws
  {
    try withStore(StoreModel(records: [Player.self])) { store in
      try store.write { transaction in
        try transaction.save(
          DynamicRecord(
            "Player", ["id": 1, "score": .composite(["rounds": 2])]))
        try transaction.save(
          DynamicRecord(
            "Player",
            [
              "id": 2, "level": 4, "nick": .null,
              "score": .composite(["points": 1, "rounds": 2]),
            ]))
      }
      #expect(
        try store.fetch(Player.self) == [
          Player(id: 1, score: .init(rounds: 2)),
          Player(id: 2, level: 4, nick: nil, score: .init(points: 1, rounds: 2)),
        ])
    }
  }

  @Test func `a composite that is not named is there if its parts have defaults`() throws {
    try withStore(StoreModel(records: [Game.self])) { store in
      try store.write { transaction in
        try transaction.save(DynamicRecord("Game", ["id": 1]))
        try transaction.save(
          DynamicRecord("Game", ["id": 2, "board": .composite(["size": 3])]))
      }
      #expect(
        try store.fetch(Game.self) == [Game(id: 1), Game(id: 2, board: Game.Board(size: 3))])
      let null = DynamicRecord("Game", ["id": 3, "rules": .null])
      guard case .invalidValue = storeError({ try store.write { try $0.save(null) } }) else {
        Issue.record("it is saved")
        return
      }
    }
  }

  @Test func `a default stands neither for null nor for a field without one`() throws {
    try withStore(StoreModel(records: [Player.self])) { store in
      let refused: [[String: FieldValue]] = [
        ["id": 1, "level": .null, "score": .composite(["rounds": 2])],
        ["id": 1, "score": .composite([:])], ["level": 3, "score": .composite(["rounds": 2])],
      ]
      for fields in refused {
        let record = DynamicRecord("Player", RecordFields(fields))
        guard case .invalidValue = storeError({ try store.write { try $0.save(record) } }) else {
          Issue.record("\(fields) is saved")
          continue
        }
      }
    }
  }
}
