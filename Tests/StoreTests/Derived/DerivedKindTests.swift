import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Fields that the store computes in kinds, and of records of kinds.
@Suite struct DerivedKindTests {
  private let model = StoreModel(records: [
    Tour.self, Cruise.self, Safari.self, Stay.self, Guest.self, Invoice.self, Ticket.self,
  ])

  private static func tour(_ id: Int, guest: Int? = nil) -> Tour {
    Tour(id: id, name: "Ärgernis \(id)", guest: guest.map { Reference($0) })
  }

  private static func cruise(_ id: Int, cabins: Int = 1, guest: Int? = nil) -> Cruise {
    Cruise(tour: tour(id, guest: guest), cabins: cabins, payer: guest.map { Reference($0) })
  }

  private func filled(_ store: PersistentStore) throws {
    try store.write { transaction in
      for id in 1...3 { try transaction.insert(Guest(id: id)) }
      try transaction.insert(Self.tour(10, guest: 1))
      try transaction.insert(Self.cruise(11, cabins: 4, guest: 1))
      try transaction.insert(
        Safari(cruise: Self.cruise(12, cabins: 5, guest: 1), lions: 7, guide: Reference(2)))
      try transaction.insert(Stay(tour: Self.tour(13, guest: 1), hotel: "H"))
      for id in 0..<12 {
        try transaction.insert(Invoice(id: id, tour: Reference(10 + id % 4), amount: id))
        if id % 4 == 1 || id % 4 == 2 {
          try transaction.insert(Ticket(id: id, cruise: Reference(10 + id % 4), price: id * 10))
        }
      }
    }
  }

  @Test func `A22: a kind has derived fields of its own inverses and of its parent's`() throws {
    try withStore(model) { store in
      try filled(store)
      let cruise = try #require(try store.fetch(Cruise.self, key: 11))
      #expect(cruise.tour.invoiceCount == 3)
      #expect(cruise.invoiced == 1 + 5 + 9)
      #expect(cruise.label == "ÄRGERNIS 11")
      #expect(cruise.ticketCount == 3)
      #expect([cruise.cheapest, cruise.dearest] == [10, 90])
      let safari = try #require(try store.fetch(Safari.self, key: 12))
      #expect(safari.cruise.ticketCount == 3)
      #expect(safari.takings == 20 + 60 + 100)
      #expect(safari.sortName == "argernis 12")
      #expect(try store.fetch(Cruise.where { $0.ticketCount == 3 }).map(\.tour.id) == [11, 12])
      #expect(try store.fetch(Safari.where { $0.cruise.label == "ÄRGERNIS 12" }).count == 1)
    }
  }

  @Test func `a record that enters a kind, or leaves it, has the values of the kind`() throws {
    try withStore(model) { store in
      try filled(store)
      // What was invoiced before.
      try store.save(Self.cruise(10))
      #expect(try store.fetch(Cruise.self, key: 10)?.invoiced == 0 + 4 + 8)
      try store.save(Self.cruise(13))
      #expect(try store.fetch(Cruise.self, key: 13)?.invoiced == 3 + 7 + 11)
      #expect(try store.fetch(Cruise.self, key: 13)?.ticketCount == 0)
      try store.save(Invoice(id: 3, tour: Reference(10), amount: 3))
      #expect(try store.fetch(Cruise.self, key: 13)?.invoiced == 7 + 11)
      #expect(try store.fetch(Cruise.self, key: 10)?.invoiced == 0 + 3 + 4 + 8)
      try store.save(Stay(tour: Self.tour(13), hotel: "I"))
      try store.save(Invoice(id: 7, tour: Reference(10), amount: 7))
      try store.save(Self.cruise(13))
      #expect(try store.fetch(Cruise.self, key: 13)?.invoiced == 11)
      // A tour over a cruise, and a cruise over a safari, leave them what they are.
      try store.save(Tour(id: 12, name: "Über"))
      #expect(try store.fetch(Safari.self, key: 12)?.sortName == "uber")
      #expect(try store.fetch(Cruise.self, key: 12)?.label == "ÜBER")
      #expect(try store.fetch(Safari.self, key: 12)?.takings == 180)
      try store.save(Self.cruise(12))
      #expect(try store.fetch(Safari.self, key: 12)?.sortName == "argernis 12")
      #expect(try store.fetch(Safari.self, key: 12)?.takings == 180)
    }
  }

  @Test func `records may lead to a kind before there is a record of it, and after it was one`()
    throws
  {
    try withStore(model) { store in
      try store.write { transaction in
        try transaction.insert(Ticket(id: 1, cruise: Reference(1), price: 5))
        try transaction.insert(Stay(tour: Self.tour(1), hotel: "H"))
        try transaction.insert(Ticket(id: 2, cruise: Reference(1), price: 6))
        try transaction.save(Self.cruise(1))
        #expect(try transaction.fetch(Cruise.self, key: 1)?.ticketCount == 2)
        try transaction.save(Stay(tour: Self.tour(1), hotel: "I"))
        try transaction.delete(Ticket.self, key: 1)
        try transaction.insert(Ticket(id: 3, cruise: Reference(1), price: 7))
        try transaction.save(Safari(cruise: Self.cruise(1), lions: 0))
        #expect(try transaction.fetch(Safari.self, key: 1)?.takings == 13)
        #expect(try transaction.fetch(Cruise.self, key: 1)?.cheapest == 6)
      }
      #expect(try store.fetch(Cruise.self, key: 1)?.dearest == 7)
      try store.write { try $0.deleteAll(Ticket.self) }
      let cruise = try #require(try store.fetch(Cruise.self, key: 1))
      #expect(cruise.ticketCount == 0 && cruise.cheapest == nil)
      #expect(try store.fetch(Safari.self, key: 1)?.takings == 0)
    }
  }

  @Test func `of a relation from a kind, and of fields of a kind, only its records count`() throws {
    func totals(_ store: PersistentStore, _ id: Int) throws -> [Int?] {
      let guest = try #require(try store.fetch(Guest.self, key: id))
      return [
        guest.tourCount, guest.cruiseCount, guest.cabins, guest.fewest, guest.lions, guest.allLions,
        guest.guided,
      ]
    }
    try withStore(model) { store in
      try filled(store)
      #expect(try totals(store, 1) == [4, 2, 9, 4, 7, 7, 0])
      #expect(try totals(store, 2) == [0, 0, 0, nil, 0, 0, 7])
      // A safari becomes a cruise, by way of another kind, and a cruise a safari.
      try store.write { transaction in
        _ = try transaction.delete(Ticket.where { $0.cruise == Reference(12) })
        try transaction.save(Stay(tour: Self.tour(12, guest: 1), hotel: "H"))
      }
      #expect(try totals(store, 1) == [4, 1, 4, 4, 0, 0, 0])
      #expect(try totals(store, 2) == [0, 0, 0, nil, 0, 0, 0])
      try store.save(
        Safari(cruise: Self.cruise(11, cabins: 3, guest: 2), lions: 9, guide: Reference(1)))
      #expect(try totals(store, 1) == [3, 0, 0, nil, 0, 0, 9])
      #expect(try totals(store, 2) == [1, 1, 3, 3, 9, 9, 0])
      try store.save(Tour(id: 11, name: "N", guest: Reference(3)))
      #expect(try totals(store, 2) == [0, 1, 3, 3, 9, 0, 0])
      #expect(try totals(store, 3) == [1, 0, 0, nil, 0, 9, 0])
      try store.delete(Tour.self, key: 11)
      #expect(try totals(store, 1) == [3, 0, 0, nil, 0, 0, 0])
      #expect(try totals(store, 2) == [0, 0, 0, nil, 0, 0, 0])
    }
  }

  @Test func `a kind that derives from records of the same hierarchy counts those that lead to it`()
    throws
  {
    try withStore(StoreModel(records: [Animal.self, Dog.self])) { store in
      try store.write { transaction in
        try transaction.insert(Dog(animal: Animal(id: 1, mother: Reference(1)), weight: 3))
        try transaction.insert(Dog(animal: Animal(id: 2, mother: Reference(1)), weight: 4))
        try transaction.insert(Animal(id: 3, mother: Reference(1)))
      }
      #expect(try store.fetch(Dog.self, key: 1)?.pupCount == 3)
      #expect(try store.fetch(Dog.self, key: 1)?.pupWeight == 7)
      try store.save(Dog(animal: Animal(id: 1, mother: Reference(1)), weight: 10))
      #expect(try store.fetch(Dog.self, key: 1)?.pupWeight == 14)
      try store.save(Dog(animal: Animal(id: 3, mother: Reference(1)), weight: 100))
      #expect(try store.fetch(Dog.self, key: 1)?.pupWeight == 114)
      #expect(try store.fetch(Dog.self, key: 3)?.pupWeight == 0)
      try store.save(Dog(animal: Animal(id: 3, mother: Reference(3)), weight: 100))
      #expect(try store.fetch(Dog.self, key: 3)?.pupWeight == 100)
      #expect(try store.fetch(Dog.self, key: 1)?.pupCount == 2)
      try store.write { try $0.deleteAll(Dog.self) }
      #expect(try store.fetch(Animal.self) == [])
    }
  }

  @Test func `a composite has derived fields of its own parts, which can be unique`() throws {
    try withStore(StoreModel(records: [Office.self])) { store in
      let start = Date()
      try store.save(Office(id: 1, address: Address(city: "Zürich", zip: nil)))
      try store.save(Office(id: 2, address: nil))
      try store.save(Office(id: 3, address: nil))
      let address = try #require(try store.fetch(Office.self, key: 1)?.address)
      #expect(address.cityKey == "zurich" && address.zipKey == nil)
      #expect(address.changed >= start && address.changed <= Date())
      #expect(try store.fetch(Office.where { $0.address.cityKey == "zurich" }).map(\.id) == [1])
      #expect(
        storeError { try store.save(Office(id: 2, address: Address(city: "ZURICH", zip: "a"))) }
          == .uniqueConflict(record: "Office", constraint: "address.cityKey", key: "1"))
      try store.save(
        Office(id: 9, address: Address(city: "ZÜRICH", zip: "A")), onConflict: .updateOther)
      #expect(try store.fetch(Office.self, key: 1)?.address?.zipKey == "a")
      try store.save(Office(id: 1, address: nil))
      #expect(try store.fetch(Office.where { $0.address.cityKey != nil }).count == 0)
    }
  }

  @Test func `a derived string of a kind can be unique among the records of the kind`() throws {
    try withStore(model) { store in
      try store.save(Self.cruise(1))
      try store.save(Tour(id: 2, name: "ÄRGERNIS 1"))
      var second = Self.cruise(2)
      second.tour.name = "ärgernis 1"
      #expect(
        storeError { try store.save(second) }
          == .uniqueConflict(record: "Tour", constraint: "Cruise.label", key: "1"))
      try store.save(second, onConflict: .replaceOther)
      #expect(try store.fetch(Tour.self).map(\.id) == [2])
    }
  }

  @Test func `changes of a derived field in a kind are observed by the kind, and in the history`()
    throws
  {
    var options = StoreOptions()
    options.history = HistoryOptions(keepsOldValues: true)
    try withStore(model, options) { store in
      try filled(store)
      let start = try store.snapshot().historyCursor
      try store.write { transaction in
        transaction.keepChanges()
        try transaction.insert(Ticket(id: 70, cruise: Reference(11), price: 1))
        let update = try #require(try transaction.changes(of: Cruise.self).updated.first)
        #expect(update.changedFields == ["Cruise.cheapest", "Cruise.ticketCount"])
      }
      try store.undo(since: start)
      #expect(try store.fetch(Cruise.self, key: 11)?.ticketCount == 3)
    }
  }

  @Test
  func `what a program saves in a kind's derived field does not count, with a type or without`()
    throws
  {
    try withStore(model) { store in
      var cruise = Self.cruise(1)
      (cruise.ticketCount, cruise.label) = (9, "x")
      try store.save(cruise)
      #expect(try store.fetch(Cruise.self, key: 1)?.ticketCount == 0)
      #expect(try store.fetch(Cruise.self, key: 1)?.label == "ÄRGERNIS 1")
      try store.write { transaction in
        try transaction.save(
          .of(
            "Tour", 2,
            [
              "name": "n",
              "Cruise": .composite([
                "cabins": 2, "invoiced": 99, "Safari": .composite(["lions": 1]),
              ]),
            ]))
        try transaction.save(.of("Tour", 3, ["name": "n"]))
      }
      #expect(try store.fetch(Safari.self, key: 2)?.cruise.invoiced == 0)
      #expect(try store.fetch(Safari.self, key: 2)?.sortName == "n")
      #expect(try store.fetch(Cruise.self, key: 3) == nil)
    }
  }
}

// MARK: - Records

extension DerivedKindTests {
  fileprivate struct Tour: Record, Identifiable {
    var id: Int
    var name: String
    var guest: Reference<Guest>?
    var invoiceCount = 0

    static let invoices = Inverse("invoices", of: \Invoice.tour, deleteRule: .cascade)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
      Field(name: "guest", type: .reference(to: Guest.self), optional: true)
      Field(name: "invoiceCount", type: .integer, derived: .count(of: "invoices"))
      invoices
    }
  }

  fileprivate struct Cruise: Record, Identifiable {
    var tour: Tour
    var cabins: Int
    var payer: Reference<Guest>?
    var label = ""
    var invoiced = 0
    var ticketCount = 0
    var cheapest: Int?
    var dearest: Int?
    var id: Int { tour.id }

    static let tickets = Inverse("tickets", of: \Ticket.cruise, deleteRule: .cascade)

    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(Tour.self, property: "tour")
      Field(name: "cabins", type: .integer)
      Field(name: "payer", type: .reference(to: Guest.self), optional: true)
      Field(name: "label", type: .string, unique: true, derived: .uppercased("name"))
      Field(name: "invoiced", type: .integer, derived: .sum(of: "invoices", "amount"))
      Field(name: "ticketCount", type: .integer, indexed: true, derived: .count(of: "tickets"))
      Field(
        name: "cheapest", type: .integer, optional: true, derived: .minimum(of: "tickets", "price"))
      Field(
        name: "dearest", type: .integer, optional: true, derived: .maximum(of: "tickets", "price"))
      tickets
    }
  }

  fileprivate struct Safari: Record {
    var cruise: Cruise
    var lions: Int
    var guide: Reference<Guest>?
    var takings = 0
    var sortName = ""

    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(Cruise.self, property: "cruise")
      Field(name: "lions", type: .integer)
      Field(name: "guide", type: .reference(to: Guest.self), optional: true)
      Field(name: "takings", type: .integer, derived: .sum(of: "tickets", "price"))
      Field(name: "sortName", type: .string, indexed: true, derived: .folded("name"))
    }
  }

  fileprivate struct Stay: Record {
    var tour: Tour
    var hotel: String

    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(Tour.self, property: "tour")
      Field(name: "hotel", type: .string)
    }
  }

  fileprivate struct Guest: Record, Identifiable {
    var id: Int
    var tourCount = 0
    var cruiseCount = 0
    var cabins = 0
    var fewest: Int?
    var lions = 0
    var allLions = 0
    var guided = 0

    static let tours = Inverse("tours", of: \Tour.guest)
    static let cruises = Inverse("cruises", of: \Cruise.payer)
    static let safaris = Inverse("safaris", of: \Safari.guide)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "tourCount", type: .integer, derived: .count(of: "tours"))
      Field(name: "cruiseCount", type: .integer, derived: .count(of: "cruises"))
      Field(name: "cabins", type: .integer, derived: .sum(of: "cruises", "cabins"))
      Field(
        name: "fewest", type: .integer, optional: true, derived: .minimum(of: "cruises", "cabins"))
      Field(name: "lions", type: .integer, derived: .sum(of: "cruises", "Safari.lions"))
      Field(name: "allLions", type: .integer, derived: .sum(of: "tours", "Cruise.Safari.lions"))
      Field(name: "guided", type: .integer, derived: .sum(of: "safaris", "lions"))
      tours
      cruises
      safaris
    }
  }

  fileprivate struct Invoice: Record, Identifiable {
    var id: Int
    var tour: Reference<Tour>
    var amount: Int

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "tour", type: .reference(to: Tour.self))
      Field(name: "amount", type: .integer)
    }
  }

  fileprivate struct Ticket: Record, Identifiable {
    var id: Int
    var cruise: Reference<Cruise>
    var price: Int

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "cruise", type: .reference(to: Cruise.self))
      Field(name: "price", type: .integer)
    }
  }

  fileprivate struct Animal: Record, Identifiable, Equatable {
    var id: Int
    var mother: Reference<Animal>?

    static let pups = Inverse("pups", of: \Animal.mother)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "mother", type: .reference(to: Animal.self), optional: true)
      pups
    }
  }

  fileprivate struct Dog: Record {
    var animal: Animal
    var weight: Int
    var pupCount = 0
    var pupWeight = 0

    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(Animal.self, property: "animal")
      Field(name: "weight", type: .integer)
      Field(name: "pupCount", type: .integer, derived: .count(of: "pups"))
      Field(name: "pupWeight", type: .integer, derived: .sum(of: "pups", "Dog.weight"))
    }
  }

  fileprivate struct Address: Hashable, Codable, Sendable {
    var city: String
    var zip: String?
    var cityKey = ""
    var zipKey: String?
    var changed = Date.distantPast
  }

  fileprivate struct Office: Record, Identifiable {
    var id: Int
    var address: Address?

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(
        name: "address",
        type: .composite {
          Field(name: "city", type: .string)
          Field(name: "zip", type: .string, optional: true)
          Field(name: "cityKey", type: .string, unique: true, derived: .folded("city"))
          Field(name: "zipKey", type: .string, optional: true, derived: .lowercased("zip"))
          Field(name: "changed", type: .date, derived: .modificationDate)
        }, optional: true)
    }
  }
}
