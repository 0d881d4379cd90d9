/// The record that queries look for.
struct Person: Codable, Hashable, Identifiable, Sendable {
  var id: Int
  var name: String
  var city: String
  var joined: Double
  var score: Double
  /// Of no index, as the rest.
  var level: Int
  var weight: Double
  var note: String?
}

extension Person {
  /// The `number`th of `count`: every value follows from it, so that all engines have the same.
  static func number(_ number: Int, of count: Int, _ random: inout SplitMix64) -> Person {
    Person(
      id: number, name: name(Int(random.next() % UInt64(count))),
      city: city(Int(random.next() % 100)),
      joined: Double(random.next() % UInt64(count * 10)), score: Double(random.next() % 10_000),
      level: Int(random.next() % 100), weight: Double(random.next() % 1_000_000) / 8,
      note: random.next() % 3 == 0 ? nil : "a note of some length about number \(number)")
  }

  static func name(_ number: Int) -> String {
    let digits = String(number)
    return "name" + String(repeating: "0", count: max(0, 8 - digits.count)) + digits
  }

  static func city(_ number: Int) -> String { "city\(number)" }
}
