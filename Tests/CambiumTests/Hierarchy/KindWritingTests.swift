import Testing

@testable import Cambium

/// Every operation on every kind, over a record of every kind and over none.
@Suite struct KindWritingTests {
  /// Nil for no record.
  private static let before: [AnyTrip.Kind?] = [nil] + AnyTrip.Kind.allCases

  private func store(with kind: AnyTrip.Kind?) throws -> PersistentStore {
    let store = try PersistentStore(inMemory: .trips)
    try store.write { transaction in
      if let kind { try transaction.insert(AnyTrip(kind, id: 1, 5)) }
      try transaction.insert(AnyTrip(.sales, id: 2, 6))
    }
    return store
  }

  private func check(
    _ store: PersistentStore, _ expected: AnyTrip?, _ what: String
  ) throws {
    let found = try store.trips()
    #expect(found[1] == expected, "\(what)")
    #expect(found[2] == AnyTrip(.sales, id: 2, 6), "\(what)")
    for kind in AnyTrip.Kind.allCases {
      let count = found.values.count { kind.includes($0.kind) }
      #expect(try store.count(kind) == count, "\(what): \(kind)")
      let isThere = try store.trip(kind, 1).map { _ in true } ?? false
      #expect(isThere == (expected.map { kind.includes($0.kind) } ?? false), "\(what): \(kind)")
    }
    #expect(try store.snapshot().check(readingBlobs: false) == [], "\(what)")
  }

  @Test(arguments: AnyTrip.Kind.allCases)
  func `saving a kind replaces another one, and saving a parent keeps the kind`(
    kind: AnyTrip.Kind
  ) throws {
    for old in Self.before {
      let store = try store(with: old)
      let saved = AnyTrip(kind, id: 1, 9)
      try store.write { transaction in try transaction.save(saved) }
      let expected = old.map { AnyTrip($0, id: 1, 5).replaced(by: saved) } ?? saved
      try check(store, expected, "\(kind) over \(String(describing: old))")
    }
  }

  @Test(arguments: AnyTrip.Kind.allCases)
  func `a key is that of one record, whichever kind it is of`(kind: AnyTrip.Kind) throws {
    for old in Self.before {
      let store = try store(with: old)
      let inserted = AnyTrip(kind, id: 1, 9)
      guard let old else {
        try store.write { transaction in try transaction.insert(inserted) }
        try check(store, inserted, "\(kind)")
        continue
      }
      #expect(throws: StoreError.duplicateKey(record: "Trip", key: "1")) {
        try store.write { transaction in try transaction.insert(inserted) }
      }
      try check(store, AnyTrip(old, id: 1, 5), "\(kind) over \(old)")
    }
  }

  @Test(arguments: AnyTrip.Kind.allCases)
  func `an update is of a record of the kind`(kind: AnyTrip.Kind) throws {
    for old in Self.before {
      let store = try store(with: old)
      let updated = AnyTrip(kind, id: 1, 9)
      guard let old, kind.includes(old) else {
        #expect(throws: StoreError.noSuchRecord(record: "Trip", key: "1")) {
          try store.write { transaction in try transaction.update(updated) }
        }
        try check(store, old.map { AnyTrip($0, id: 1, 5) }, "\(kind)")
        continue
      }
      try store.write { transaction in try transaction.update(updated) }
      try check(store, AnyTrip(old, id: 1, 5).replaced(by: updated), "\(kind) over \(old)")
    }
  }

  @Test(arguments: AnyTrip.Kind.allCases)
  func `a deletion is of a record of the kind`(kind: AnyTrip.Kind) throws {
    for old in Self.before {
      let store = try store(with: old)
      let isThere = old.map { kind.includes($0) } ?? false
      let deleted = try store.write { transaction in try transaction.delete(kind, 1) }
      #expect(deleted == isThere)
      try check(store, isThere ? nil : old.map { AnyTrip($0, id: 1, 5) }, "\(kind)")
    }
  }

  @Test func `deletions by value, condition and type are of the kind`() throws {
    func store() throws -> PersistentStore {
      let store = try PersistentStore(inMemory: .trips)
      try store.write { transaction in
        for (id, kind) in AnyTrip.Kind.allCases.enumerated() {
          try transaction.insert(AnyTrip(kind, id: id, id))
        }
      }
      return store
    }
    var trips = try store()
    #expect(try trips.delete(BusinessTrip.where(.always)) == 2)
    #expect(Set(try trips.trips().keys) == [0, 3, 4])
    trips = try store()
    #expect(try trips.delete(Trip.where { $0.start >= 1 }) == 4)
    #expect(Set(try trips.trips().keys) == [0])
    trips = try store()
    try trips.write { try $0.deleteAll(PersonalTrip.self) }
    #expect(Set(try trips.trips().keys) == [0, 1, 2, 4])
    try trips.write { try $0.deleteAll(Trip.self) }
    #expect(try trips.trips().isEmpty)
    trips = try store()
    let all = [0, 1, 2, 3, 4].map { PersonalTrip(trip: Trip(id: $0, name: ""), mood: "") }
    #expect(try trips.write { try $0.delete(contentsOf: all) } == 1)
    #expect(Set(try trips.trips().keys) == [0, 1, 2, 4])
    #expect(try trips.snapshot().check(readingBlobs: false) == [])
  }

  @Test func `a unique value is of one record, whichever kind it is of`() throws {
    let store = try PersistentStore(inMemory: .trips)
    try store.save(Trip(id: 1, name: "one"))
    #expect(
      throws: StoreError.uniqueConflict(record: "Trip", constraint: "name", key: "1")
    ) {
      try store.save(PersonalTrip(trip: Trip(id: 2, name: "one"), mood: "good"))
    }
    let personal = PersonalTrip(trip: Trip(id: 2, name: "one"), mood: "good")
    try store.save(personal, onConflict: .replaceOther)
    #expect(try store.trips() == [2: .personal(personal)])
  }

  @Test func `an update of the records of a query changes those of the kind`() throws {
    let store = try PersistentStore(inMemory: .trips)
    try store.write { transaction in
      for (id, kind) in AnyTrip.Kind.allCases.enumerated() {
        try transaction.insert(AnyTrip(kind, id: id, id))
      }
    }
    let count = try store.update(BusinessTrip.where { $0.trip.start >= 0 }) { business in
      business.perDiem = 77
      business.trip.start += 10
    }
    #expect(count == 2)
    #expect(try store.fetch(BusinessTrip.self).map(\.perDiem) == [77, 77])
    #expect(try store.fetch(SalesTrip.self).map(\.target) == [6])
    #expect(try store.fetch(Trip.self).map(\.start) == [0, 11, 12, 3, 4])
    #expect(try store.update(Trip.where(.always)) { $0.start = 1 } == 5)
    #expect(try store.fetch(SalesTrip.self).map(\.business.perDiem) == [77])
    #expect(try store.snapshot().check(readingBlobs: false) == [])
  }
}
