import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// The power goes before every call, or a call fails, while records of kinds are saved, replaced by those of other kinds, and
/// deleted: a store is as one of the commits left it, each record of one kind, with the index entries of that.
@Suite struct KindCrashTests {
  private struct Trip: Record, Identifiable, Equatable {
    var id: Int
    var name: String
    var group: Reference<Group>?

    static let bills = Inverse("bills", of: \Bill.trip, deleteRule: .cascade)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string, unique: true)
      Field(name: "group", type: .reference(to: Group.self), optional: true)
      bills
      Abstract()
    }
  }

  private struct BusinessTrip: Record, Equatable {
    var trip: Trip
    var code: String

    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(Trip.self, property: "trip")
      Field(name: "code", type: .string, unique: true)
    }
  }

  private struct SalesTrip: Record, Equatable {
    var business: BusinessTrip
    var target: Int

    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(BusinessTrip.self, property: "business")
      Field(name: "target", type: .integer, indexed: true)
    }
  }

  private struct PersonalTrip: Record, Equatable {
    var trip: Trip

    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(Trip.self, property: "trip")
    }
  }

  /// Takes its trips with it.
  private struct Group: Record, Identifiable, Equatable {
    var id: Int

    static let trips = Inverse("trips", of: \Trip.group, deleteRule: .cascade)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      trips
    }
  }

  private struct Bill: Record, Identifiable, Equatable {
    var id: Int
    var trip: Reference<Trip>

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "trip", type: .reference(to: Trip.self))
    }
  }

  private struct World: Equatable {
    var trips: [Trip]
    var business: [BusinessTrip]
    var sales: [SalesTrip]
    var personal: [PersonalTrip]
    var groups: [Group]
    var bills: [Bill]

    init(_ reader: borrowing some RecordReading & ~Copyable) throws {
      trips = try reader.fetch(Trip.self)
      business = try reader.fetch(BusinessTrip.self)
      sales = try reader.fetch(SalesTrip.self)
      personal = try reader.fetch(PersonalTrip.self)
      groups = try reader.fetch(Group.self)
      bills = try reader.fetch(Bill.self)
    }
  }

  private static var model: StoreModel {
    StoreModel(records: [
      Trip.self, BusinessTrip.self, SalesTrip.self, PersonalTrip.self, Group.self, Bill.self,
    ])
  }

  // MARK: What a program does

  private static func trip(_ id: Int) -> Trip {
    Trip(id: id, name: "trip \(id)", group: Reference(id / 15))
  }

  private static func business(_ id: Int) -> BusinessTrip {
    BusinessTrip(trip: trip(id), code: "code \(id)")
  }

  private static func commit(_ number: Int, _ transaction: inout WriteTransaction) throws {
    switch number {
    case 0:
      // Kinds in turn, in two groups, with a bill each.
      for id in 0..<30 {
        switch id % 3 {
        case 0: try transaction.save(business(id))
        case 1: try transaction.save(SalesTrip(business: business(id), target: id))
        default: try transaction.save(PersonalTrip(trip: trip(id)))
        }
        try transaction.insert(Bill(id: id, trip: Reference(id)))
      }
      for id in 0..<2 { try transaction.insert(Group(id: id)) }
    case 1:
      // Others under the same keys, and parents over their kinds.
      for id in 0..<15 {
        switch id % 3 {
        case 0: try transaction.save(PersonalTrip(trip: trip(id)))
        case 1: try transaction.save(business(id))
        default: try transaction.save(SalesTrip(business: business(id), target: -id))
        }
      }
      for id in 15..<20 {
        var changed = trip(id)
        changed.name = "changed \(id)"
        try transaction.save(changed)
      }
    case 2:
      // One of another kind has the unique value, and is replaced.
      try transaction.save(
        PersonalTrip(trip: Trip(id: 40, name: "trip 1")), onConflict: .replaceOther)
      _ = try transaction.delete(PersonalTrip.where { $0.trip.id < 10 })
    case 3:
      // By the parent, of whatever kind they are.
      _ = try transaction.delete(Trip.where { $0.id >= 10 && $0.id < 14 })
      try transaction.deleteAll(SalesTrip.self)
    default:
      // Takes trips of all kinds with it, and their bills.
      try transaction.delete(Group.self, key: 1)
    }
  }

  private static func sweep(spilling: Bool) -> CommitSweep<World> {
    CommitSweep(
      name: "kinds", model: model, commitCount: 5, transactionBudget: spilling ? 3 << 10 : nil,
      commit: commit, world: World.init)
  }

  // MARK: Tests

  @Test func `each commit saves, replaces and deletes records of kinds`() throws {
    let worlds = try Self.sweep(spilling: false).worlds()
    #expect(worlds.map(\.trips.count) == [0, 30, 30, 26, 11, 1])
    #expect(worlds.map(\.business.count) == [0, 20, 20, 19, 5, 0])
    #expect(worlds.map(\.sales.count) == [0, 10, 15, 14, 0, 0])
    #expect(worlds.map(\.personal.count) == [0, 10, 10, 7, 6, 1])
    #expect(worlds.map(\.bills.count) == [0, 30, 30, 25, 10, 0])
  }

  @Test(arguments: [false, true])
  func `crashes before any call leave records of one kind each, X1, X2`(spilling: Bool) throws {
    let findings = try Self.sweep(spilling: spilling).crash(stride: scaled(1, debug: 7))
    #expect(findings.violations == [])
    #expect(findings.count > scaled(500, debug: 40))
  }

  @Test(arguments: [false, true])
  func `a call that fails leaves records of one kind each, X4`(spilling: Bool) throws {
    let findings = try Self.sweep(spilling: spilling).fail(stride: scaled(1, debug: 17))
    #expect(findings.violations == [])
    #expect(findings.count > scaled(60, debug: 5))
  }
}
