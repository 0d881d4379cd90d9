import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium

/// Saving records that meet others with the same unique values, or that others have changed meanwhile.
@Suite struct ConflictTests {
  /// Its name is stored in lowercase, and its hooks are counted.
  private struct Member: Record, Equatable {
    var id: Int
    var email: String
    var badge: Int?
    var points = 0
    var revision: UInt8 = 0
    var photo = Data()
    var hooks = ""

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "email", type: .string, unique: true)
      Field(name: "badge", type: .integer, optional: true, unique: true)
      Field(name: "points", type: .integer, validation: [.range(0...)])
      Field(name: "revision", type: .uint8)
      Field(name: "photo", type: .binaryData, storage: .external(threshold: 10))
      Field(name: "hooks", type: .string)
    }
  }

  private struct Hooked: Record, Equatable {
    var id: Int
    var email: String
    var photo = Data()
    var hooks = ""

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "email", type: .string, unique: true)
      Field(name: "photo", type: .binaryData, storage: .external(threshold: 10))
      Field(name: "hooks", type: .string)
    }

    static var hooks: RecordHooks<Hooked> {
      RecordHooks(
        beforeInsert: { record, _ in
          record.hooks += "+"
          record.email = record.email.lowercased()
        },
        beforeUpdate: { record, old, _ in
          record.hooks += "\(old.id)>\(record.id)"
          record.email = record.email.lowercased()
        })
    }
  }

  private func withStore(_ body: (PersistentStore) throws -> Void) throws {
    let store = try PersistentStore(
      inMemory: StoreModel(records: [Member.self, Hooked.self]))
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

  /// What a save of each policy leaves: the record itself stored or not, none, one or two others in the way.
  @Test(
    arguments: [ConflictPolicy.refuse, .replaceOther, .updateOther, .keepOther], [false, true])
  func `each policy does what it says, whoever is in the way`(
    policy: ConflictPolicy, isThere: Bool
  ) throws {
    for others in 0...2 {
      try withStore { store in
        if isThere { try store.save(Member(id: 1, email: "own", points: 5)) }
        if others > 0 { try store.save(Member(id: 2, email: "a", points: 7)) }
        if others > 1 { try store.save(Member(id: 3, email: "b", badge: 4)) }
        let before = try store.fetch(Member.self)
        let new = Member(id: 1, email: "a", badge: 4, points: 9)
        let error = refusal { try store.save(new, onConflict: policy) }
        let rest = before.filter { $0.id != 1 }
        var adopted = new
        adopted.id = 2
        let isRefused =
          others > 0 && (policy == .refuse || policy == .updateOther && (isThere || others == 2))
        let expected: [Member] =
          if isRefused || policy == .keepOther && others > 0 {
            before
          } else if others == 0 {
            [new]
          } else if policy == .replaceOther {
            [new]
          } else {
            [adopted]
          }
        #expect(try store.fetch(Member.self) == expected, "\(others) others, \(rest)")
        if case .uniqueConflict = error {
          #expect(isRefused)
        } else {
          #expect(error == nil && !isRefused)
        }
        #expect(
          try store.fetch(Member.where { $0.email == "a" }) == expected.filter { $0.email == "a" }
        )
      }
    }
  }

  @Test func `what is written in the place of another keeps its large values`() throws {
    try withStore { store in
      let photo = Data((0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
      try store.save(Member(id: 5, email: "a", photo: Data(repeating: 1, count: 5_000)))
      try store.save(Member(id: 6, email: "a", photo: photo), onConflict: .updateOther)
      #expect(try store.fetch(Member.self) == [Member(id: 5, email: "a", photo: photo)])
      try store.save(Hooked(id: 5, email: "a"))
      try store.save(Hooked(id: 6, email: "a", photo: photo), onConflict: .updateOther)
      #expect(
        try store.fetch(Hooked.self) == [Hooked(id: 5, email: "a", photo: photo, hooks: "5>5")])
    }
  }

  @Test func `hooks see an update where another is updated, and nothing where it is kept`() throws {
    try withStore { store in
      try store.save(Hooked(id: 1, email: "a"))
      try store.save(Hooked(id: 2, email: "a", hooks: "n"), onConflict: .keepOther)
      #expect(try store.fetch(Hooked.self) == [Hooked(id: 1, email: "a", hooks: "+")])
      try store.save(Hooked(id: 2, email: "a", hooks: "n"), onConflict: .updateOther)
      #expect(try store.fetch(Hooked.self) == [Hooked(id: 1, email: "a", hooks: "n1>1")])
      // What a hook makes the same is found as well.
      try store.insert(Hooked(id: 3, email: "A", hooks: "m"), onConflict: .updateOther)
      #expect(try store.fetch(Hooked.self) == [Hooked(id: 1, email: "a", hooks: "m+")])
      try store.insert(Hooked(id: 3, email: "A"), onConflict: .keepOther)
      #expect(try store.count(Hooked.self) == 1)
      guard
        case .duplicateKey = refusal({
          try store.insert(Hooked(id: 1, email: "a"), onConflict: .updateOther)
        })
      else {
        Issue.record("a record was inserted twice")
        return
      }
    }
  }

  @Test func `records without a type obey the policies`() throws {
    try withStore { store in
      try store.save(Member(id: 1, email: "a"))
      try store.write { transaction in
        let empty: [String: FieldValue] = [
          "points": 3, "revision": .unsigned(0), "photo": .data(Data()), "hooks": "",
        ]
        let new = DynamicRecord(
          "Member", RecordFields(empty.merging(["id": 2, "email": "a"]) { $1 }))
        try transaction.save(new, onConflict: .keepOther)
        #expect(try transaction.fetch(Member.self).map(\.points) == [0])
        try transaction.save(new, onConflict: .updateOther)
        #expect(try transaction.fetch(Member.self).map(\.points) == [3])
        #expect(try transaction.fetch(Member.self).map(\.id) == [1])
      }
    }
  }

  @Test func `merging changes the stored record, found by its key or a unique value`() throws {
    try withStore { store in
      func merge(_ member: Member, _ change: (inout Member, Member) throws -> Void) throws {
        try store.write { try $0.save(member, merging: change) }
      }
      func add(_ member: Member) throws {
        try merge(member) { stored, new in stored.points += new.points }
      }
      try add(Member(id: 1, email: "a", points: 1))
      try add(Member(id: 1, email: "b", points: 2))
      #expect(try store.fetch(Member.self) == [Member(id: 1, email: "a", points: 3)])
      try add(Member(id: 2, email: "a", points: 4))
      #expect(try store.fetch(Member.self) == [Member(id: 1, email: "a", points: 7)])
      try add(Member(id: 3, email: "c", badge: 3))
      let before = try store.fetch(Member.self)
      let errors = [
        refusal { try add(Member(id: 4, email: "a", badge: 3)) },
        refusal { try add(Member(id: 1, email: "c", points: 1)) },
        refusal { try merge(Member(id: 1, email: "")) { stored, _ in stored.id = 9 } },
        refusal { try merge(Member(id: 1, email: "")) { stored, _ in stored.points = -1 } },
        refusal { try merge(Member(id: 1, email: "")) { stored, _ in stored.email = "c" } },
      ]
      for (error, isConflict) in zip(errors, [true, true, false, false, true]) {
        switch error {
        case .uniqueConflict: #expect(isConflict)
        case .invalidValue: #expect(!isConflict)
        default: Issue.record("\(String(describing: error))")
        }
      }
      struct Own: Error {}
      #expect(throws: Own.self) { try merge(before[0]) { _, _ in throw Own() } }
      #expect(try store.fetch(Member.self) == before)
    }
  }

  @Test func `a save of a stale copy is noticed by its revision`() throws {
    try withStore { store in
      let first = Member(id: 1, email: "a", revision: 255)
      try store.insert(first)
      func update(_ member: Member) throws -> Member {
        try store.write { try $0.update(member, revision: \.revision) }
      }
      let second = try update(first)
      #expect(second.revision == 0)
      #expect(try store.fetch(Member.self) == [second])
      guard
        case .staleRecord("Member", "1") = refusal({ _ = try update(first) })
      else {
        Issue.record("a stale copy was saved")
        return
      }
      var third = second
      third.points = 6
      _ = try update(third)
      #expect(try store.fetch(Member.self, key: 1)?.points == 6)
      #expect(try store.fetch(Member.self, key: 1)?.revision == 1)
      guard
        case .noSuchRecord = refusal({ _ = try update(Member(id: 2, email: "b")) })
      else {
        Issue.record("a record that is not there was updated")
        return
      }
    }
  }
}
