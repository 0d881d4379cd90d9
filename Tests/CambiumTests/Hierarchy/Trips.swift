import Cambium
import FoundationEssentials

@testable import InternalTestSupport

// A hierarchy of three levels:
//
//     Trip ─┬─ BusinessTrip ── SalesTrip
//           ├─ PersonalTrip
//           └─ DayTrip                      without fields of its own

struct Trip: Record, Identifiable, Equatable {
  var id: Int
  var name: String
  var start = 0

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "name", type: .string, unique: true)
    Field(name: "start", type: .integer, indexed: true)
  }
}

struct BusinessTrip: Record, Equatable {
  var trip: Trip
  var perDiem: Int
  var customer: String?

  static func recordDescription(for version: Int) -> RecordDescription {
    Parent(Trip.self, property: "trip")
    Field(name: "perDiem", type: .integer)
    Field(name: "customer", type: .string, optional: true)
    Index("perDiem", "start", named: "by per diem")
  }
}

struct SalesTrip: Record, Equatable {
  var business: BusinessTrip
  var target: Int
  var code: String?

  static func recordDescription(for version: Int) -> RecordDescription {
    Parent(BusinessTrip.self, property: "business")
    Field(name: "target", type: .integer, indexed: true)
    Field(name: "code", type: .string, optional: true, unique: true)
  }
}

struct PersonalTrip: Record, Equatable {
  var trip: Trip
  var mood: String

  static func recordDescription(for version: Int) -> RecordDescription {
    Parent(Trip.self, property: "trip")
    Field(name: "mood", type: .string)
  }
}

struct DayTrip: Record, Equatable {
  var trip: Trip

  static func recordDescription(for version: Int) -> RecordDescription {
    Parent(Trip.self, property: "trip")
  }
}

extension StoreModel {
  static var trips: StoreModel {
    StoreModel(records: [
      Trip.self, BusinessTrip.self, SalesTrip.self, PersonalTrip.self, DayTrip.self,
    ])
  }
}

/// Any trip, for the dictionaries that stores are compared with.
enum AnyTrip: Equatable {
  case plain(Trip)
  case business(BusinessTrip)
  case sales(SalesTrip)
  case personal(PersonalTrip)
  case day(DayTrip)

  enum Kind: CaseIterable {
    case plain, business, sales, personal, day
  }

  var kind: Kind {
    switch self {
    case .plain: .plain
    case .business: .business
    case .sales: .sales
    case .personal: .personal
    case .day: .day
    }
  }

  init(_ kind: Kind, id: Int, _ number: Int) {
    let trip = Trip(id: id, name: "\(kind) \(id) \(number)", start: number)
    let business = BusinessTrip(
      trip: trip, perDiem: number * 2, customer: number % 2 == 0 ? nil : "customer \(number)")
    self =
      switch kind {
      case .plain: .plain(trip)
      case .business: .business(business)
      case .sales:
        .sales(SalesTrip(business: business, target: number * 3, code: "\(id) \(number)"))
      case .personal: .personal(PersonalTrip(trip: trip, mood: "mood \(number)"))
      case .day: .day(DayTrip(trip: trip))
      }
  }

  var trip: Trip {
    get {
      switch self {
      case .plain(let trip): trip
      case .business(let business): business.trip
      case .sales(let sales): sales.business.trip
      case .personal(let personal): personal.trip
      case .day(let day): day.trip
      }
    }
    set {
      switch self {
      case .plain: self = .plain(newValue)
      case .business(var business):
        business.trip = newValue
        self = .business(business)
      case .sales(var sales):
        sales.business.trip = newValue
        self = .sales(sales)
      case .personal(var personal):
        personal.trip = newValue
        self = .personal(personal)
      case .day(var day):
        day.trip = newValue
        self = .day(day)
      }
    }
  }

  /// The part that is a business trip, if there is one.
  var business: BusinessTrip? {
    switch self {
    case .business(let business): business
    case .sales(let sales): sales.business
    default: nil
    }
  }

  /// What is stored after `saved` was saved in the place of this.
  func replaced(by saved: AnyTrip) -> AnyTrip {
    switch (self, saved) {
    case (_, .plain(let trip)):
      var kept = self
      kept.trip = trip
      return kept
    case (.sales(var sales), .business(let business)):
      sales.business = business
      return .sales(sales)
    default: return saved
    }
  }
}

extension WriteTransaction {
  mutating func save(_ trip: AnyTrip) throws {
    switch trip {
    case .plain(let trip): try save(trip)
    case .business(let trip): try save(trip)
    case .sales(let trip): try save(trip)
    case .personal(let trip): try save(trip)
    case .day(let trip): try save(trip)
    }
  }

  mutating func insert(_ trip: AnyTrip) throws {
    switch trip {
    case .plain(let trip): try insert(trip)
    case .business(let trip): try insert(trip)
    case .sales(let trip): try insert(trip)
    case .personal(let trip): try insert(trip)
    case .day(let trip): try insert(trip)
    }
  }

  mutating func update(_ trip: AnyTrip) throws {
    switch trip {
    case .plain(let trip): try update(trip)
    case .business(let trip): try update(trip)
    case .sales(let trip): try update(trip)
    case .personal(let trip): try update(trip)
    case .day(let trip): try update(trip)
    }
  }

  mutating func delete(_ kind: AnyTrip.Kind, _ id: Int) throws -> Bool {
    switch kind {
    case .plain: try delete(Trip.self, key: id)
    case .business: try delete(BusinessTrip.self, key: id)
    case .sales: try delete(SalesTrip.self, key: id)
    case .personal: try delete(PersonalTrip.self, key: id)
    case .day: try delete(DayTrip.self, key: id)
    }
  }
}

extension AnyTrip.Kind {
  /// True if a record of another kind is one of this, too.
  func includes(_ other: AnyTrip.Kind) -> Bool {
    self == .plain || self == other || self == .business && other == .sales
  }
}

extension RecordReading where Self: ~Copyable {
  /// The record with a key as a type sees it; nil if it is none of that.
  func trip(_ kind: AnyTrip.Kind, _ id: Int) throws -> AnyTrip? {
    switch kind {
    case .plain: try fetch(Trip.self, key: id).map { .plain($0) }
    case .business: try fetch(BusinessTrip.self, key: id).map { .business($0) }
    case .sales: try fetch(SalesTrip.self, key: id).map { .sales($0) }
    case .personal: try fetch(PersonalTrip.self, key: id).map { .personal($0) }
    case .day: try fetch(DayTrip.self, key: id).map { .day($0) }
    }
  }

  /// All records, each as the innermost kind that it is of.
  func trips() throws -> [Int: AnyTrip] {
    var trips: [Int: AnyTrip] = [:]
    for trip in try fetch(Trip.self) { trips[trip.id] = .plain(trip) }
    for trip in try fetch(BusinessTrip.self) { trips[trip.trip.id] = .business(trip) }
    for trip in try fetch(SalesTrip.self) { trips[trip.business.trip.id] = .sales(trip) }
    for trip in try fetch(PersonalTrip.self) { trips[trip.trip.id] = .personal(trip) }
    for trip in try fetch(DayTrip.self) { trips[trip.trip.id] = .day(trip) }
    return trips
  }

  func count(_ kind: AnyTrip.Kind) throws -> Int {
    switch kind {
    case .plain: try count(Trip.self)
    case .business: try count(BusinessTrip.self)
    case .sales: try count(SalesTrip.self)
    case .personal: try count(PersonalTrip.self)
    case .day: try count(DayTrip.self)
    }
  }
}
