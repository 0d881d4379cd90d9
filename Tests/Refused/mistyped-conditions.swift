// A condition of the wrong type, or of what has no order or text, does not compile.
import Cambium

struct Person: Record {
  var id = 0
  var age = 0
  var name = ""
  var tags: [String] = []

  static func recordDescription(for version: Int) -> RecordDescription {}
}

struct Other: Record {
  var id = 0

  static func recordDescription(for version: Int) -> RecordDescription {}
}

struct Team: Record, Identifiable {
  var id = 0
  static let players = Inverse("players", of: \Player.team)

  static func recordDescription(for version: Int) -> RecordDescription {}
}

struct Player: Record, Identifiable {
  var id = 0
  var score = 0
  var team: Reference<Team>
  var friends: [Reference<Player>] = []

  static func recordDescription(for version: Int) -> RecordDescription {}
}

func matching(_ condition: (Fields<Person>) -> Condition<Person>) {}

func anotherType(_ text: String) {
  // expected-error@+1 {{operands of type 'FieldReference<Person, Int>' and 'String'}}
  matching { $0.age == text }
  // expected-error@+1 {{operands of type 'FieldReference<Person, String>' and 'Int'}}
  matching { $0.name >= 5 }
  // expected-error@+1 {{'nil' is not compatible with expected argument type 'Int'}}
  matching { $0.age == nil }
}

func withoutText() {
  // expected-error@+2 {{'FieldReference<Person, Int>' has no dynamic member 'hasPrefix'}}
  // expected-error@+1 {{cannot call value of non-function type}}
  matching { $0.age.hasPrefix("A") }
}

func ofAnotherRecord(_ other: Condition<Other>) {
  // expected-error@+4 {{'Condition<Person>' to expected argument type 'Condition<Other>'}}
  // expected-note@+3 {{'Subject' ('Person' and 'Other') are expected to be equal}}
  // expected-error@+2 {{'Condition<Other>' to closure result type 'Condition<Person>'}}
  // expected-note@+1 {{'Subject' ('Other' and 'Person') are expected to be equal}}
  matching { $0.age == 5 && other }
}

func ofNoProperty(_ store: PersistentStore) throws {
  // expected-error@+1 {{'Fields<Person>' has no dynamic member 'size'}}
  matching { $0.size == 5 }
  // expected-error@+1 {{'Fields<Person>' has no dynamic member 'nmae'}}
  _ = try store.fetch(Person.where { $0.age > 5 && $0.nmae == "A" }.limit(20))
}

func ofNoPropertyOfRelatedRecords() {
  // expected-error@+1 {{has no dynamic member 'scroe'}}
  _ = Player.where { $0.friends.any { $0.scroe > 1 } }
  // expected-error@+1 {{has no dynamic member 'scroe'}}
  _ = Team.where { $0.players.any { $0.scroe > 1 } }
  // expected-error@+1 {{'Fields<Team>' has no dynamic member 'palyers'}}
  _ = Team.where { $0.palyers.any { $0.score > 1 } }
}
