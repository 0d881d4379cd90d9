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

@Suite struct RecordDefaultTests {
  @Test func `a record without a type has the defaults of the fields that it does not name`() throws
  {
    try withStore(StoreModel(records: [Player.self])) { store in
      try store.write { transaction in
        try transaction.save(
          DynamicRecord(
            name: "Player", fields: ["id": 1, "score": .composite(["rounds": 2])]))
        try transaction.save(
          DynamicRecord(
            name: "Player",
            fields: [
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

  @Test func `a default stands neither for null nor for a field without one`() throws {
    try withStore(StoreModel(records: [Player.self])) { store in
      let refused: [[String: FieldValue]] = [
        ["id": 1, "level": .null, "score": .composite(["rounds": 2])],
        ["id": 1, "score": .composite([:])], ["level": 3, "score": .composite(["rounds": 2])],
      ]
      for fields in refused {
        let record = DynamicRecord(name: "Player", fields: RecordFields(fields))
        guard case .invalidValue = storeError({ try store.write { try $0.save(record) } }) else {
          Issue.record("\(fields) is saved")
          continue
        }
      }
    }
  }
}
