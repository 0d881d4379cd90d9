import Testing

@testable import Cambium

/// Several kinds as one type.
@Suite struct KindFamilyTests {
  private static let trips = Family<AnyTrip>("Trip") {
    FamilyMember(Trip.self, AnyTrip.plain)
    FamilyMember(BusinessTrip.self, AnyTrip.business)
    FamilyMember(SalesTrip.self, AnyTrip.sales)
    FamilyMember(PersonalTrip.self, AnyTrip.personal)
    FamilyMember(DayTrip.self, AnyTrip.day)
  }

  private func store(_ count: Int) throws -> (PersistentStore, [AnyTrip]) {
    let store = try PersistentStore(inMemory: .trips)
    let all = (0..<count).map { id in AnyTrip(AnyTrip.Kind.allCases[id % 5], id: id, id % 7) }
    try store.write { transaction in for trip in all { try transaction.insert(trip) } }
    return (store, all)
  }

  @Test func `each record is read as the kind that it is`() throws {
    let (store, all) = try store(20)
    #expect(try store.fetch(Query<Trip>(), as: Self.trips) == all)
    let some = Trip.where { $0.start > 2 }.sorted(by: .descending(\.start)).offset(2).limit(5)
    let expected = try store.fetch(some).map { all[$0.id] }
    #expect(try store.fetch(some, as: Self.trips) == expected)
    #expect(
      try store.fetch(Query<BusinessTrip>(), as: Self.business)
        == all.filter { AnyTrip.Kind.business.includes($0.kind) })
    let last = try store.fetch(some).last
    var rest = Trip.where { $0.start > 2 }
    rest.after = last.map { [.integer(Int64($0.id))] }
    #expect(
      try store.snapshot().fetch(rest, as: Self.trips).count
        == all.filter { $0.trip.start > 2 && $0.trip.id > last?.id ?? 0 }.count)
  }

  private static let business = Family<AnyTrip>("Business") {
    FamilyMember(BusinessTrip.self, AnyTrip.business)
    FamilyMember(SalesTrip.self, AnyTrip.sales)
  }

  @Test func `a kind without a member is read as its parent, or refused`() throws {
    let (store, all) = try store(10)
    let names = Family<String>("Names") { FamilyMember(Trip.self) { $0.name } }
    #expect(try store.fetch(Query<Trip>(), as: names) == all.map(\.trip.name))
    let error = #expect(throws: StoreError.self) {
      try store.fetch(Query<Trip>(), as: Self.business)
    }
    #expect("\(try #require(error))".contains("the family Business has no member for Trip"))
    #expect(try store.fetch(Trip.where(.is(BusinessTrip.self)), as: Self.business).count == 4)
    #expect(throws: StoreError.self) {
      try store.fetch(Query<PersonalTrip>(), as: Self.business)
    }
  }

  @Test func `existentials of a protocol are a family`() throws {
    let (store, all) = try store(10)
    let named = Family<any Named>("Named") {
      FamilyMember(BusinessTrip.self) { $0 }
      FamilyMember(Trip.self) { $0 }
    }
    let found = try store.fetch(Query<Trip>(), as: named)
    #expect(found.map(\.name) == all.map(\.trip.name))
    #expect(found.count { $0 is BusinessTrip } == 4)
  }

  @Test func `copied kinds are merged in the order of the query`() throws {
    let store = try PersistentStore(
      inMemory: StoreModel(records: [Animal.self, Dog.self, Puppy.self, Cat.self]))
    var all: [Int: Int] = [:]
    try store.write { transaction in
      for id in 0..<40 {
        let animal = Animal(id: id, weight: id * 7 % 11)
        all[id] = animal.weight
        switch id % 4 {
        case 0: try transaction.insert(animal)
        case 1: try transaction.insert(Dog(animal: animal, tricks: id))
        case 2: try transaction.insert(Puppy(dog: Dog(animal: animal, tricks: 0), months: id))
        default: try transaction.insert(Cat(animal: animal, lives: 9))
        }
      }
    }
    let family = Family<String>("Animal") {
      FamilyMember(Animal.self) { "animal \($0.id)" }
      FamilyMember(Dog.self) { "dog \($0.animal.id)" }
      FamilyMember(Puppy.self) { "puppy \($0.dog.animal.id)" }
      FamilyMember(Cat.self) { "cat \($0.animal.id)" }
    }
    let kinds = ["animal", "dog", "puppy", "cat"]
    func names(_ ids: [Int]) -> [String] { ids.map { "\(kinds[$0 % 4]) \($0)" } }
    #expect(try store.fetch(Query<Animal>(), as: family) == names(Array(0..<40)))
    let byWeight = all.keys.sorted { ((all[$0] ?? 0), $0) < ((all[$1] ?? 0), $1) }
    #expect(
      try store.fetch(Animal.sorted(by: .ascending(\.weight)), as: family) == names(byWeight))
    let heavy = all.keys.filter { all[$0] ?? 0 > 4 }
      .sorted { (-(all[$0] ?? 0), $0) < (-(all[$1] ?? 0), $1) }
    let query = Animal.where { $0.weight > 4 }.sorted(by: .descending(\.weight))
    #expect(try store.fetch(query, as: family) == names(heavy))
    #expect(
      try store.fetch(query.offset(3).limit(6), as: family) == names(Array(heavy[3..<9])))
    #expect(try store.fetch(query.limit(0), as: family) == [])
  }
}

private protocol Named {
  var name: String { get }
}

extension Trip: Named {}
extension BusinessTrip: Named {
  fileprivate var name: String { trip.name }
}

private struct Animal: Record {
  var id: Int
  var weight: Int

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "weight", type: .integer, indexed: true)
  }
}

private struct Dog: Record {
  var animal: Animal
  var tricks: Int

  static func recordDescription(for version: Int) -> RecordDescription {
    Parent(Animal.self, property: "animal", storage: .copied)
    Field(name: "tricks", type: .integer)
  }
}

private struct Puppy: Record {
  var dog: Dog
  var months: Int

  static func recordDescription(for version: Int) -> RecordDescription {
    Parent(Dog.self, property: "dog")
    Field(name: "months", type: .integer)
  }
}

private struct Cat: Record {
  var animal: Animal
  var lives: Int

  static func recordDescription(for version: Int) -> RecordDescription {
    Parent(Animal.self, property: "animal", storage: .copied)
    Field(name: "lives", type: .integer)
  }
}
