import Cambium

struct Trip: Record {
  var id: Int
  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
  }
}

struct BusinessTrip: Record {
  var trip: Trip
  static func recordDescription(for version: Int) -> RecordDescription {
    Parent(Trip.self, property: "trip")
  }
}

enum AnyTrip {
  case business(BusinessTrip)
}

func ask() {
  // A member makes the family's values, of records of its type.
  _ = Family<AnyTrip>("Trip") {
    // expected-error@+1 {{cannot convert value of type}}
    FamilyMember(Trip.self, AnyTrip.business)
  }
}
