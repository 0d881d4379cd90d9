// What is meant to compile does.
import Cambium

struct Person: Record {
  struct Address: Codable, Sendable {
    var street: String
    var zip: Int?
  }

  enum Rank: Int, RecordIntegerEnum {
    case low, high
  }

  var id = 0
  var age = 0
  var name = ""
  var nick: String?
  var rank = Rank.low
  var tags: [String] = []
  var address: Address?

  static func recordDescription(for version: Int) -> RecordDescription {}
}

struct Team: Record, Identifiable {
  var id = 0
  var name = ""
  var lead: Reference<Player>?
  static let players = Inverse("players", of: \Player.team)

  static func recordDescription(for version: Int) -> RecordDescription {}
}

struct Player: Record, Identifiable {
  var id = ""
  var score: Double?
  var team: Reference<Team>
  var friends: Set<Reference<Player>> = []

  static func recordDescription(for version: Int) -> RecordDescription {}
}

func of(_ condition: Condition<Player>) {}
func players(_ condition: (Fields<Player>) -> Condition<Player>) {}
func teams(_ condition: (Fields<Team>) -> Condition<Team>) {}

func relations(_ team: Team, _ score: Double?) {
  of(Condition { $0.team.any { $0.name == "A" } && $0.friends.none() && $0.team == team.reference })
  players { $0.team.name.hasPrefix("A") && $0.team.lead.score == score && $0.team.id == 3 }
  players { $0.team.lead == nil || $0.team.lead.team.name != "B" }
  players { $0.friends.any { $0.score > 1 } && $0.friends.all { $0.team.id == 1 } }
  players { $0.friends.count() > 2 && $0.friends.maximum(\.score) < 3 }
  teams { $0.players.any { $0.score > 1 } && $0.players.sum(\.score) > 2 }
  players { $0.team.players.count() > 5 && $0.friends.any { $0.team.players.none() } }
  teams { $0.players.friends.team.count() > 2 && $0.players.all { $0.score > 1 } }
  teams { $0.players.count { $0.score != nil } >= 3 && $0.lead.friends.count > 1 }
}

func take(_ condition: Condition<Person>) {}
func matching(_ condition: (Fields<Person>) -> Condition<Person>) {}

func conditions(_ age: Int, _ nick: String?) {
  take(Condition { $0.age >= age && $0.nick == nick || !($0.rank == .high) })
  take(Condition { $0.nick == nil && $0.address != nil && $0.address.street == "S" })
  take(Condition { $0.age.isIn(1...5) && $0.age.isIn([1, 2]) })
  matching { $0.age.isIn([1, 2]) && $0.age.isIn(1...5) && $0.nick.hasPrefix("A") }
  matching { $0.age.isIn(1..<5) && $0.tags.contains("x") }
  matching { $0.age >= age && $0.nick == nick && $0.address.street.hasPrefix("S") }
  matching { $0.age * 2 > $0.id && $0.name.count > 3 && ($0.address.zip ?? 0) % 2 == 0 }
}
