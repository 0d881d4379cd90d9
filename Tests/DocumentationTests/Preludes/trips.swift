/// The types and values that the examples of the article on hierarchies use.
struct Trip: Record, Identifiable {
  var id = UUID()
  var name: String
  var start: Date

  static func recordDescription(for version: Int) -> RecordDescription {
    Field("id", primaryKey: true)
    Field("name", unique: true)
    Field("start", indexed: true)
    Abstract()
  }
}

struct BusinessTrip: Record {
  var trip: Trip
  var perDiem: Decimal

  static func recordDescription(for version: Int) -> RecordDescription {
    Parent(Trip.self, property: "trip")
    Field("perDiem")
    Index("perDiem")
  }
}

struct PersonalTrip: Record {
  var trip: Trip
  var mood: String

  static func recordDescription(for version: Int) -> RecordDescription {
    Parent(Trip.self, property: "trip")
    Field("mood")
  }
}

/// Types that are kept for the second version.
enum V2 {
  struct Trip: Record, Identifiable {
    var id = UUID()

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
    }
  }

  struct BusinessTrip: Record {
    var trip: Trip
    var perDiem: Decimal

    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(Trip.self, property: "trip")
      Field("perDiem")
    }
  }

  struct Invoice: Record {
    var trip: UUID
    var sum: Decimal

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("trip", primaryKey: true)
      Field("sum")
    }
  }
}

static let model = StoreModel(records: [Trip.self, BusinessTrip.self, PersonalTrip.self])
static var store: PersistentStore {
  get throws { try PersistentStore(at: "trips.cambium", model: model) }
}
