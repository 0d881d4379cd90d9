import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Plans that are taken by the form of a condition, before others are compared.
@Suite struct FormPlanTests {
  private struct Parcel: Record, Equatable {
    var id: Int
    var city: String
    var size: Int
    var owner: String?
    var serial: Int

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "city", type: .string, indexed: true)
      Field(name: "size", type: .integer)
      Field(name: "owner", type: .string, optional: true, indexed: true)
      Field(name: "serial", type: .integer, unique: true)
      Index("size", "city", named: "sizeCity")
    }
  }

  private static let count = 3_000
  private static let longCity = String(repeating: "long", count: 400)

  /// Most are in one city, and a few in each other.
  private static func parcels(_ count: Int = FormPlanTests.count) -> [Parcel] {
    (0..<count).map { id in
      let city =
        switch id % 20 {
        case 0: "rare \(id % 400)"
        case 1: longCity + "\(id % 3)"
        default: "common"
        }
      return Parcel(
        id: id, city: city, size: id % 7, owner: id % 50 == 0 ? "owner" : nil, serial: -id)
    }
  }

  private static func store(_ parcels: [Parcel]) throws -> PersistentStore {
    let store = try PersistentStore(inMemory: StoreModel(records: [Parcel.self]))
    try store.write { try $0.insert(contentsOf: parcels) }
    return store
  }

  @Test func `an index of all fields that have a value is taken without comparing plans`() throws {
    let store = try Self.store(Self.parcels())
    for (query, index) in [
      (Parcel.where(\.city == "rare 20"), "index city in one range"),
      (Parcel.where(\.city == "common" && \.size == 3), "index sizeCity in one range"),
      (Parcel.where(\.owner == "owner"), "index owner in one range"),
      (Parcel.where(\.serial == -7), "index serial in one range"),
      (Parcel.where(\.city == "nowhere").limit(2).offset(1), "index city in one range"),
    ] as [(Query<Parcel>, String)] {
      let plan = try store.explain(query, running: true)
      #expect(plan.accessByForm == index, "\(plan)")
      #expect(plan.condition == nil, "\(plan)")
      #expect("\(plan)".contains("taken without comparing plans"), "\(plan)")
    }
    let rare = try store.explain(Parcel.where(\.city == "rare 20"), running: true)
    #expect(rare.actual?.entryCount == rare.actual?.resultCount)
  }

  @Test func `plans are compared before anything is read if the form does not decide`() throws {
    let store = try Self.store(Self.parcels())
    for query in [
      // A part of an index, a value that is null, another comparison, an order, and a value that an index cuts.
      Parcel.where(\.size == 3), Parcel.where(\.owner == nil), Parcel.where(\.city > "rare"),
      Parcel.where(\.city == "common" && \.size > 3), Parcel.where(\.id == 3),
      Parcel.where(\.city == "rare 20").sorted(by: .ascending(\.size)),
      Parcel.where(\.city == Self.longCity + "1"),
    ] as [Query<Parcel>] {
      let plan = try store.explain(query)
      #expect(plan.accessByForm == nil, "\(plan)")
    }
    let few = try Self.store(Self.parcels(100))
    #expect(try few.explain(Parcel.where(\.city == "rare 20")).accessByForm == nil)
  }

  @Test func `a value that most records have is scanned for after the first records`() throws {
    let store = try Self.store(Self.parcels())
    let plan = try store.explain(Parcel.where(\.city == "common"), running: true)
    #expect(plan.access == "all rows")
    #expect(plan.accessByForm == "index city in one range")
    #expect("\(plan)".contains("but the first 64 records by index city in one range"), "\(plan)")
    let actual = try #require(plan.actual)
    #expect(actual.resultCount == 2_700)
    #expect(actual.entryCount == 64 + Self.count, "\(plan)")
  }

  @Test func `results are those of arrays, before and after plans are compared`() throws {
    let parcels = Self.parcels()
    let store = try Self.store(parcels)
    func check(_ condition: Condition<Parcel>, _ isMet: (Parcel) -> Bool) throws {
      let expected = parcels.filter(isMet)
      let query = Parcel.where(condition)
      #expect(try store.fetch(query) == expected, "\(condition)")
      #expect(try store.count(query) == expected.count, "\(condition)")
      #expect(try store.sum(\.size, of: query) == expected.map(\.size).reduce(0, +))
      for (offset, limit) in [(0, 1), (0, 64), (0, 65), (3, 64), (60, 300), (64, 2), (2_690, 50)] {
        let page = try store.fetch(query.offset(offset).limit(limit))
        #expect(
          page == Array(expected.dropFirst(offset).prefix(limit)),
          "\(condition), \(limit) from \(offset)")
      }
      let rest = try store.fetch(query.offset(70))
      #expect(rest == Array(expected.dropFirst(70)), "\(condition)")
      try store.write { transaction in
        let found = try transaction.fetch(query)
        #expect(found == expected, "\(condition)")
      }
    }
    for city in ["common", "rare 20", "nowhere", "", Self.longCity + "1"] {
      try check(\.city == city) { $0.city == city }
      try check(\.city == city && \.size == 3) { $0.city == city && $0.size == 3 }
      try check(\.size == 6 && \.city == city) { $0.city == city && $0.size == 6 }
    }
    try check(\.owner == "owner") { $0.owner == "owner" }
    try check(\.owner == nil) { $0.owner == nil }
    try check(\.serial == -2_999) { $0.serial == -2_999 }
  }
}
