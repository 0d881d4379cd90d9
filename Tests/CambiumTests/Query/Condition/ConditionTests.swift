import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium

/// Conditions as a program writes them.
@Suite struct ConditionTests {
  private let opened: OpenedType<Member>

  init() throws {
    opened = try OpenedType()
  }

  private func fields(_ condition: Condition<Member>) throws -> String {
    try condition.resolved(in: opened.type).description
  }

  @Test func `G2: operators on key paths are conditions on stored fields`() throws {
    #expect(try fields(\.age >= 18) == "years >= 18")
    #expect(
      try fields(\.age >= 18 && \.name.first == "A") == #"(years >= 18 && called.given == "A")"#)
    #expect(try fields(\.nick == nil) == "nick == null")
    #expect(try fields(\.nick != nil || \.score > 3) == "(nick != null || score > 3)")
    #expect(try fields(!(\.isMember == true)) == "!(isMember == true)")
    #expect(try fields(\.rank == .high) == "rank == 2")
    #expect(try fields(\.color == .red) == #"color == "red""#)
    #expect(try fields(\.color != nil) == "color != null")
    #expect(try fields(\.address == nil) == "address == null")
    #expect(try fields(\.address?.street == "S") == #"address.street == "S""#)
    #expect(try fields(\.address?.place?.latitude > 1) == "address.place.latitude > 1.0")
    #expect(try fields(\.tags == ["a"]) == #"tags == ["a"]"#)
    #expect(try fields(\.notes == nil) == "notes == null")
    #expect(try fields(1...5 ~= \.age) == "(years >= 1 && years <= 5)")
    #expect(try fields([1, 2] ~= \.age) == "years in [1, 2]")
  }

  @Test func `G2 G4: statics are conditions on stored fields`() throws {
    #expect(try fields(.in(\.age, [1, 2])) == "years in [1, 2]")
    #expect(try fields(.in(\.score, [1, nil])) == "score in [1, null]")
    #expect(try fields(.in(\.age, 1..<5)) == "(years >= 1 && years < 5)")
    #expect(try fields(.between(\.age, 1, 5)) == "(years >= 1 && years <= 5)")
    #expect(try fields(.hasPrefix(\.name.first, "A")) == #"called.given beginswith "A""#)
    #expect(try fields(.hasSuffix(\.nick, "A", [.caseInsensitive])) == #"nick endswith[c] "A""#)
    #expect(
      try fields(.contains(\.nick, "A", [.caseInsensitive, .diacriticInsensitive]))
        == #"nick contains[cd] "A""#)
    #expect(try fields(.like(\.page, "h*")) == #"page like "h*""#)
    #expect(try fields(.equals(\.nick, "A", .diacriticInsensitive)) == #"nick equals[d] "A""#)
    #expect(try fields(.contains(\.tags, "x")) == #"tags has "x""#)
    #expect(try fields(.contains(\.numbers, 4)) == "numbers has 4")
    #expect(try fields(.isNull(\.notes)) == "notes == null")
    #expect(try fields(.not(.isNotNull(\.address))) == "!(address != null)")
    #expect(try fields(.all([])) == "true")
    #expect(try fields(.any([\.age == 1, .never])) == "years == 1")
  }

  private func matching(
    _ condition: (Fields<Member>) -> Condition<Member>
  ) throws -> String {
    try fields(Condition(matching: condition))
  }

  @Test func `G2 G17: closures over fields are conditions, computed ones too`() throws {
    #expect(
      try matching { $0.age >= 18 && $0.name.first.hasPrefix("A") }
        == #"(years >= 18 && called.given beginswith "A")"#)
    #expect(try matching { $0.address.street == "S" } == #"address.street == "S""#)
    #expect(try matching { $0.address.zip == 5 } == "address.zip == 5")
    #expect(try matching { $0.address.place.latitude > 5 } == "address.place.latitude > 5.0")
    #expect(try matching { $0.address == nil } == "address == null")
    #expect(try matching { $0.nick == nil } == "nick == null")
    #expect(try matching { $0.age.isIn([1]) } == "years in [1]")
    #expect(try matching { $0.age.isIn(1...5) } == "(years >= 1 && years <= 5)")
    #expect(try matching { $0.tags.contains("x") } == #"tags has "x""#)
    #expect(try matching { $0.rank == .low } == "rank == 1")
    #expect(try matching { $0.age * 2 > 70 } == "(years * 2) > 70")
    #expect(
      try matching { $0.age + $0.id == 3 || $0.age < $0.id }
        == "((years + id) == 3 || years < id)")
    #expect(try matching { ($0.score ?? 0) + $0.age > 3 } == "((score ?? 0) + years) > 3")
    #expect(try matching { $0.name.first.count > 3 } == "length(called.given) > 3")
    #expect(
      try matching { $0.name.first.lowercased() == "ada" } == #"lowercased(called.given) == "ada""#)
    #expect(
      try matching { $0.born - Date(timeIntervalSinceReferenceDate: 0) > 5 }
        == #"(born - date"2001-01-01T00:00:00Z") > 5.0"#)
    #expect(try matching { $0.age.double / 2 > $0.height } == "((years * 1.0) / 2.0) > height")
  }

  @Test func `a condition is asked of rows`() throws {
    var person = Member()
    #expect(try opened.holds(\.age == 36 && \.nick == nil, for: person))
    #expect(try opened.holds(\.address?.street == nil, for: person))
    person.address = .init(street: "S", zip: nil, place: .init(latitude: 4, names: ["n"]))
    #expect(try opened.holds(\.address?.street == "S", for: person))
    #expect(try opened.holds(Condition { $0.address.place.latitude < 5 }, for: person))
    #expect(try opened.holds(Condition { $0.age / 5 == 7 && $0.age % 5 == 1 }, for: person))
    #expect(try !opened.holds(.hasPrefix(\.name.first, "a"), for: person))
    #expect(try opened.holds(.hasPrefix(\.name.first, "a", .caseInsensitive), for: person))
  }

  @Test func `what is not stored is refused when it is checked`() throws {
    for condition: Condition<Member> in [\.doubled == 4, \.name.first.count == 3] {
      let error = #expect(throws: StoreError.self) { try condition.resolved(in: opened.type) }
      guard case .invalidValue("Member", .some, _) = error else {
        Issue.record("\(error.map { "\($0)" } ?? "nothing")")
        return
      }
    }
  }
}
