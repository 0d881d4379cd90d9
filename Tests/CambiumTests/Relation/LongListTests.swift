import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

private struct Guest: Record, Identifiable, Equatable {
  var id: Int

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Inverse("parties", of: \Party.guests)
  }
}

private struct Party: Record, Identifiable, Equatable {
  var id: Int
  var name = ""
  var guests: [Reference<Guest>] = []

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "name", type: .string)
    Field(name: "guests", type: .references(to: Guest.self))
  }
}

/// Lists of very many references: what did not change in them costs nothing.
@Suite struct LongListTests {
  private let model = StoreModel(records: [Guest.self, Party.self])
  private let count = scaled(20_000, debug: 2_000)

  private func withParty(_ body: (PersistentStore) throws -> Void) throws {
    try withStore(model) { store in
      try store.write { transaction in
        for id in 0..<count { try transaction.insert(Guest(id: id)) }
        try transaction.insert(Party(id: 1, guests: (0..<count).map { Reference($0) }))
      }
      try body(store)
    }
  }

  private func guests(_ store: PersistentStore) throws -> [Int]? {
    try store.fetch(Party.self, key: 1)?.guests.map(\.id)
  }

  /// Comparing all elements with all others, or writing all entries of the index again, takes a hundred times as long.
  private func expectSoon(_ body: () throws -> Void) rethrows {
    let time = try threadTime(body)
    #expect(time < .seconds(4), "took \(time)")
  }

  @Test func `deleting guests one by one costs no more than the bytes of their list`() throws {
    try withParty { store in
      let deleted = (0..<100).map { ($0 * 7_919) % count }
      try store.write { transaction in
        try expectSoon {
          for id in deleted {
            let isDeleted = try transaction.delete(Guest.self, key: id)
            #expect(isDeleted)
          }
        }
        let isCut = try transaction.fetch(Party.self, key: 1)?.guests.count == count - 100
        #expect(isCut)
      }
      let gone = Set(deleted)
      #expect(try guests(store) == (0..<count).filter { !gone.contains($0) })
    }
  }

  @Test func `a list from which many are deleted at once is written once`() throws {
    try withParty { store in
      try store.write { transaction in
        let index = try #require(try store.entities.type(Party.self).indexes.first)
        let trees = transaction.recordWriter.trees
        let before = trees.changeCount
        let deleted = try transaction.delete(Guest.where { $0.id < 500 })
        #expect(deleted == 500)
        // A row and an entry of the index for each, and the list's row once.
        #expect(trees.changeCount - before < 500 * 2 + 20)
        #expect(try trees.count(in: index.slot) == count - 500)
      }
      #expect(try guests(store) == Array(500..<count))
    }
  }

  @Test func `deleting all guests of a list takes time that is linear`() throws {
    try withParty { store in
      try expectSoon {
        try store.write { transaction in
          let deleted = try transaction.delete(Guest.where { $0.id > 0 })
          #expect(deleted == count - 1)
        }
      }
      #expect(try guests(store) == [0])
    }
  }

  @Test func `saving a record whose list stays as it is looks at no element`() throws {
    try withParty { store in
      var party = try #require(try store.fetch(Party.self, key: 1))
      try store.write { transaction in
        let trees = transaction.recordWriter.trees
        try expectSoon {
          for number in 0..<100 {
            party.name = "name \(number)"
            let before = trees.changeCount
            try transaction.save(party)
            #expect(trees.changeCount - before == 1)
          }
        }
        // Nor does adding one look at the others in the index.
        let before = trees.changeCount
        try transaction.insert(Guest(id: count))
        party.guests.append(Reference(count))
        try transaction.save(party)
        #expect(trees.changeCount - before == 3)
      }
      #expect(try guests(store) == Array(0...count))
      #expect(try store.fetch(Party.self, key: 1)?.name == "name 99")
    }
  }

  @Test func `a guest that a changed list has twice is refused, wherever the two are`() throws {
    try withStore(model) { store in
      try store.write { transaction in
        for id in 0..<8 { try transaction.insert(Guest(id: id)) }
      }
      let before = [0, 1, 2, 3, 4, 5]
      let twice = StoreError.invalidValue(
        record: "Party", field: "guests", reason: "it leads to 6 twice")
      for list in [
        [6, 0, 1, 2, 3, 4, 5, 6], [0, 1, 6, 6, 2, 3, 4, 5], [6, 1, 2, 3, 4, 6],
        [0, 6, 1, 6], [6, 6],
      ] {
        try store.save(Party(id: 1, guests: before.map { Reference($0) }))
        #expect(throws: twice) {
          try store.save(Party(id: 1, guests: list.map { Reference($0) }))
        }
        #expect(throws: StoreError.self) {
          try store.save(Party(id: 1, guests: (before + [2]).map { Reference($0) }))
        }
        #expect(try guests(store) == before)
      }
    }
  }
}

extension WriteTransaction {
  fileprivate var recordWriter: RecordWriter { writer }
}
