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

func take(_ condition: Condition<Person>) {}
func matching(_ condition: (Fields<Person>) -> Condition<Person>) {}

func conditions(_ age: Int, _ nick: String?) {
  take(\.age >= age && \.nick == nick || !(\.rank == .high))
  take(\.nick == nil && \.address != nil && \.address?.street == "S")
  take(1...5 ~= \.age && [1, 2] ~= \.age)
  matching { $0.age.isIn([1, 2]) && $0.age.isBetween(1, 5) && $0.nick.hasPrefix("A") }
  matching { $0.age.isIn(1..<5) && $0.tags.contains("x") }
  matching { $0.age >= age && $0.nick == nick && $0.address.street.hasPrefix("S") }
  matching { $0.age * 2 > $0.id && $0.name.count > 3 && ($0.address.zip ?? 0) % 2 == 0 }
}
