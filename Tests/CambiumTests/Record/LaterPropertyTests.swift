import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Fields of older versions, of a struct that has the properties of the newest one.
@Suite struct LaterPropertyTests {
  /// A name that was another twice, and a composite whose own name and that of a part were others.
  private struct Person: Record, Equatable {
    var id: Int
    var fullName: String
    var home: Home

    struct Home: Codable, Equatable {
      var postcode: String
    }

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      switch version {
      case ...2: Field(name: "name", type: .string, indexed: true)
      case 3...9:
        Field(
          name: "label", type: .string, indexed: true, migrationInfo: .init(renamingID: "name"))
      default:
        Field(
          name: "title", type: .string, property: "fullName", indexed: true,
          migrationInfo: .init(renamingID: "label"))
      }
      Field(
        name: version < 5 ? "address" : "home",
        type: .composite {
          if version < 7 {
            Field(name: "zip", type: .string)
          } else {
            Field(name: "postcode", type: .string, migrationInfo: .init(renamingID: "zip"))
          }
        }, migrationInfo: version < 5 ? nil : .init(renamingID: "address"))
    }
  }

  @Test(arguments: [1, 2, 3, 4, 5, 7, 9, 10])
  func `a field is stored of the property of its later name`(version: Int) throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    let store = try PersistentStore(
      at: path, model: StoreModel(version: version, records: [Person.self]))
    let person = Person(id: 1, fullName: "Ada", home: .init(postcode: "W1"))
    try store.save(person)
    #expect(try store.fetch(Person.where { $0.fullName == "Ada" }) == [person])
    #expect(try store.fetch(Person.where { $0.home.postcode == "W1" }) == [person])
    try store.close()
    let newest = try PersistentStore(
      at: path, model: StoreModel(version: 10, records: [Person.self]))
    #expect(try newest.fetch(Person.self) == [person])
    try newest.expectSound()
    try newest.close()
  }

  /// A parent and its kind, of which each has a field that was renamed.
  private struct Trip: Record, Equatable {
    var id: Int
    var goal: String

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      if version < 2 {
        Field(name: "destination", type: .string)
      } else {
        Field(name: "goal", type: .string, migrationInfo: .init(renamingID: "destination"))
      }
    }
  }

  private struct Cruise: Record, Equatable {
    var trip: Trip
    var ship: String

    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(Trip.self, property: "trip")
      if version < 2 {
        Field(name: "boat", type: .string)
      } else {
        Field(name: "ship", type: .string, migrationInfo: .init(renamingID: "boat"))
      }
    }
  }

  @Test func `so are the fields of kinds and of what they contain`() throws {
    let store = try PersistentStore(
      inMemory: StoreModel(records: [Trip.self, Cruise.self]))
    let cruise = Cruise(trip: Trip(id: 1, goal: "Oslo"), ship: "Fram")
    try store.save(cruise)
    #expect(try store.fetch(Cruise.self) == [cruise])
    #expect(try store.fetch(Trip.where { $0.goal == "Oslo" }) == [cruise.trip])
    try store.close()
  }

  private struct Lost: Record {
    var id: Int
    var title: String

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      if version < 3 {
        Field(name: "name", type: .string)
      } else {
        Field(name: "title", type: .string)
      }
    }
  }

  @Test func `a field that no later version renames is refused`() {
    for version in 1...2 {
      let error = storeError {
        try PersistentStore(inMemory: StoreModel(version: version, records: [Lost.self]))
      }
      guard case .invalidDescription("Lost", "name", version, let reason)? = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
      #expect(reason.contains("has no stored property “name”"))
    }
  }
}
