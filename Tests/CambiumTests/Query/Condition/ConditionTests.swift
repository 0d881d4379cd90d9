import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Conditions as a program writes them.
@Suite struct ConditionTests {
  private let opened: OpenedType<Member>

  init() throws {
    opened = try OpenedType()
  }

  private func fields(_ condition: Condition<Member>) throws -> String {
    try opened.resolved(condition).description
  }

  @Test func `G2: operators on key paths are conditions on stored fields`() throws {
    #expect(try fields(Condition { $0.age >= 18 }) == "years >= 18")
    #expect(
      try fields(Condition { $0.age >= 18 && $0.name.first == "A" })
        == #"(years >= 18 && called.given == "A")"#)
    #expect(try fields(Condition { $0.nick == nil }) == "nick == null")
    #expect(
      try fields(Condition { $0.nick != nil || $0.score > 3 }) == "(nick != null || score > 3)")
    #expect(try fields(Condition { !($0.isMember == true) }) == "!(isMember == true)")
    #expect(try fields(Condition { $0.rank == .high }) == "rank == 2")
    #expect(try fields(Condition { $0.color == .red }) == #"color == "red""#)
    #expect(try fields(Condition { $0.color != nil }) == "color != null")
    #expect(try fields(Condition { $0.address == nil }) == "address == null")
    #expect(try fields(Condition { $0.address.street == "S" }) == #"address.street == "S""#)
    #expect(
      try fields(Condition { $0.address.place.latitude > 1 }) == "address.place.latitude > 1.0")
    #expect(try fields(Condition { $0.tags == ["a"] }) == #"tags == ["a"]"#)
    #expect(try fields(Condition { $0.notes == nil }) == "notes == null")
    #expect(try fields(Condition { $0.age.isIn(1...5) }) == "(years >= 1 && years <= 5)")
    #expect(try fields(Condition { $0.age.isIn([1, 2]) }) == "years in [1, 2]")
  }

  @Test func `G2 G4: lists, texts and elements are conditions on stored fields`() throws {
    #expect(try fields(Condition { $0.age.isIn([1, 2]) }) == "years in [1, 2]")
    #expect(try fields(Condition { $0.score.isIn([1, nil]) }) == "score in [1, null]")
    #expect(try fields(Condition { $0.age.isIn(1..<5) }) == "(years >= 1 && years < 5)")
    #expect(try fields(Condition { $0.age.isIn(1...5) }) == "(years >= 1 && years <= 5)")
    #expect(
      try fields(Condition { $0.name.first.hasPrefix("A") }) == #"called.given beginswith "A""#)
    #expect(
      try fields(Condition { $0.nick.hasSuffix("A", [.caseInsensitive]) })
        == #"nick endswith[c] "A""#)
    #expect(
      try fields(Condition { $0.nick.contains("A", [.caseInsensitive, .diacriticInsensitive]) })
        == #"nick contains[cd] "A""#)
    #expect(try fields(Condition { $0.page.like("h*") }) == #"page like "h*""#)
    #expect(try fields(Condition { $0.nick.matches("a b*") }) == #"nick matches "a b*""#)
    #expect(
      try fields(Condition { $0.nick.equals("A", .diacriticInsensitive) }) == #"nick equals[d] "A""#
    )
    #expect(try fields(Condition { $0.tags.contains("x") }) == #"tags has "x""#)
    #expect(try fields(Condition { $0.numbers.contains(4) }) == "numbers has 4")
    #expect(try fields(Condition { $0.notes == nil }) == "notes == null")
    #expect(try fields(Condition { !($0.address != nil) }) == "!(address != null)")
    #expect(try fields(.all([])) == "true")
    #expect(try fields(.any([Condition { $0.age == 1 }, .never])) == "years == 1")
  }

  private func matching(
    _ condition: (Fields<Member>) -> Condition<Member>
  ) throws -> String {
    try fields(Condition(condition))
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
    #expect(try opened.holds(Condition { $0.age == 36 && $0.nick == nil }, for: person))
    #expect(try opened.holds(Condition { $0.address.street == nil }, for: person))
    person.address = .init(street: "S", zip: nil, place: .init(latitude: 4, names: ["n"]))
    #expect(try opened.holds(Condition { $0.address.street == "S" }, for: person))
    #expect(try opened.holds(Condition { $0.address.place.latitude < 5 }, for: person))
    #expect(try opened.holds(Condition { $0.age / 5 == 7 && $0.age % 5 == 1 }, for: person))
    #expect(try !opened.holds(Condition { $0.name.first.hasPrefix("a") }, for: person))
    #expect(
      try opened.holds(Condition { $0.name.first.hasPrefix("a", .caseInsensitive) }, for: person))
  }

  @Test func `what is not stored is refused when it is checked`() throws {
    for condition: Condition<Member> in [
      Condition { $0.doubled == 4 }, Condition { $0[dynamicMember: \.name.first.count] == 3 },
    ] {
      let error = #expect(throws: StoreError.self) { try opened.resolved(condition) }
      guard case .invalidQuery("Member", .some, _) = error else {
        Issue.record("\(error.map { "\($0)" } ?? "nothing")")
        return
      }
    }
  }
}

// MARK: any FileSystem types

extension ConditionTests {
  struct Coded: Record {
    struct Part: Codable, Sendable {
      var text: String
    }

    var id = 0
    var title = ""
    var part: Part? = nil

    enum CodingKeys: String, CodingKey {
      case id
      case title
      case part
    }

    static var coding: RecordCoding { .codable }

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "heading", type: .string, property: "title")
      Field(
        name: "part", type: .composite { Field(name: "text", type: .string) }, optional: true)
    }
  }

  final class Shared: Record {
    let id: Int
    let title: String

    init(title: String) {
      (id, self.title) = (0, title)
    }

    static var coding: RecordCoding { .codable }

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "title", type: .string)
    }
  }

  @Test func `properties of types that encode themselves are found by name`() throws {
    let coded = try OpenedType<Coded>()
    #expect(
      try coded.resolved(Condition { $0.title == "a" && $0.part.text == "b" }).description
        == #"(heading == "a" && part.text == "b")"#)
    let shared = try OpenedType<Shared>()
    #expect(try shared.resolved(Condition { $0.title == "a" }).description == #"title == "a""#)
    #expect(try shared.holds(Condition { $0.title == "a" }, for: Shared(title: "a")))
  }

  @Test func `what the compiler lets through is refused by the field's name`() throws {
    let wrong: [(FieldCondition, String)] = [
      (.match(field: "age", TextMatch(.prefix, "x")), "years"),
      (.contains(field: "nick", "x"), "nick"), (.comparison(field: "tags", .less, []), "tags"),
      (.comparison(field: "rank", .equal, "high"), "rank"), (.isIn(field: "born", [1]), "born"),
      (.computed(.field("nick"), .less, .value(5)), "nick"),
      (.computed(.arithmetic(.field("token"), .plus, .value(5)), .less, .value(5)), "token"),
      (.computed(.arithmetic(.field("price"), .remainder, .value(5)), .less, .value(5)), "price"),
      (.computed(.length(.field("age")), .less, .value(5)), "years"),
      (.computed(.field("address"), .less, .value(5)), "address"),
    ]
    for (condition, field) in wrong {
      let error = #expect(throws: StoreError.self) {
        try opened.resolved(Condition<Member>(condition))
      }
      guard case .invalidQuery("Member", field, _) = error else {
        Issue.record("\(condition): \(error.map { "\($0)" } ?? "nothing")")
        continue
      }
    }
  }

  @Test func `G3: texts stand for dates, identifiers and URLs`() throws {
    var member = Member()
    member.page = URL(string: "http://a.example/")
    let id = member.token.uuidString
    for text in [
      #"born == "2001-01-01""#, #"born < "2001-01-01T00:00:01Z""#, #"page == "http://a.example/""#,
      #"token == "\#(id)""#, #"token in ["\#(id)"]"#, #"born + 5 == "2001-01-01T00:00:05Z""#,
      "age == 36.0", "price < 1", "price == 0.0", #"rank in [1, 5]"#,
      #"tags contains "x" || age > 1"#,
    ] {
      let condition = Condition<Member>(try FieldCondition(parsing: text))
      #expect(try opened.holds(condition, for: member), "\(text)")
    }
  }
}

// MARK: Predicates

extension ConditionTests {
  private func fields(_ predicate: Predicate<Member>) throws -> String {
    try fields(Condition(predicate))
  }

  @Test func `G2: Foundation's predicates are conditions`() throws {
    let (low, list) = (18, [1, 2])
    #expect(try fields(#Predicate { $0.age >= low }) == "years >= 18")
    #expect(
      try fields(#Predicate { low < $0.age && $0.name.first == "A" })
        == #"(years > 18 && called.given == "A")"#)
    #expect(
      try fields(#Predicate { $0.nick == nil || !$0.isMember })
        == "(nick == null || !(isMember == true))")
    #expect(try fields(#Predicate { $0.address?.street == "S" }) == #"address.street == "S""#)
    #expect(try fields(#Predicate { list.contains($0.age) }) == "years in [1, 2]")
    #expect(try fields(#Predicate { (1...low).contains($0.age) }) == "(years >= 1 && years <= 18)")
    #expect(try fields(#Predicate { $0.tags.contains("x") }) == #"tags has "x""#)
    #expect(try fields(#Predicate { $0.name.first.contains("x") }) == #"called.given contains "x""#)
    #expect(
      try fields(#Predicate { $0.name.first.starts(with: "x") }) == #"called.given beginswith "x""#)
    #expect(try fields(#Predicate { $0.tags.count > 2 }) == "length(tags) > 2")
    #expect(try fields(#Predicate { $0.tags.isEmpty }) == "length(tags) == 0")
    #expect(try fields(#Predicate { $0.age * 2 + $0.id != 5 }) == "((years * 2) + id) != 5")
    #expect(try fields(#Predicate { ($0.score ?? 0) > 3 }) == "(score ?? 0) > 3")
    #expect(
      try fields(#Predicate { $0.nick?.contains("x") == true })
        == #"(nick != null && nick contains "x")"#)
    #expect(
      try fields(#Predicate { $0.nick?.contains("x") ?? true })
        == #"((nick != null && nick contains "x") || !(nick != null))"#)
  }

  @Test func `a choice in a predicate is one of two conditions, or compared with each value`()
    throws
  {
    #expect(
      try fields(#Predicate { $0.isMember ? $0.age > 1 : $0.age > 2 })
        == "((isMember == true && years > 1) || (!(isMember == true) && years > 2))")
    #expect(
      try fields(#Predicate { ($0.isMember ? $0.age : $0.id) > 2 })
        == "((isMember == true && years > 2) || (!(isMember == true) && id > 2))")
    #expect(
      try fields(#Predicate { ($0.age > 1 ? 2 : 3) * $0.id == 6 })
        == "((years > 1 && (2 * id) == 6) || (!(years > 1) && (3 * id) == 6))")
  }

  @Test func `if and if let in a predicate mean what they do in Swift`() throws {
    let predicate = #Predicate<Member> {
      if let nick = $0.nick {
        nick.contains("x")
      } else {
        if $0.isMember {
          $0.age > 1
        } else {
          false
        }
      }
    }
    var member = Member()
    for nick in ["ax", "b", nil] {
      for isMember in [true, false] {
        for age in [1, 2] {
          (member.nick, member.isMember, member.age) = (nick, isMember, age)
          #expect(
            try opened.holds(Condition(predicate), for: member) == predicate.evaluate(member),
            "\(member)")
        }
      }
    }
  }

  @Test func `a predicate that no condition can be is refused by what it has`() throws {
    let error = #expect(throws: StoreError.self) {
      try Condition(#Predicate<Member> { $0.tags.allSatisfy { $0 == "x" } })
    }
    guard case .invalidQuery("Member", nil, let reason) = error else {
      Issue.record("\(error.map { "\($0)" } ?? "nothing")")
      return
    }
    #expect(reason.contains("SequenceAllSatisfy"))
  }

  @Test func `a condition survives being encoded`() throws {
    let conditions: [Condition<Member>] = [
      Condition { $0.age >= 18 }, .all([]), Condition { $0.address.street == "\"" },
      Condition { $0.born.isIn([Date(timeIntervalSinceReferenceDate: 0.1)]) },
      Condition { ($0.score ?? 0) * 2 > $0.age && !$0.nick.hasPrefix("x", .caseInsensitive) },
    ]
    for condition in conditions {
      let data = try JSONEncoder().encode([condition])
      let decoded = try JSONDecoder().decode([Condition<Member>].self, from: data)
      #expect(decoded[0].description == condition.description)
      #expect(try fields(decoded[0]) == fields(condition))
    }
    let again = Condition<Member> { $0.age >= 18 }
    #expect(conditions[0] == again)
    #expect(again.description == "age >= 18")
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([Condition<Member>].self, from: Data(#"["age >="]"#.utf8))
    }
  }

  @Test func `many terms make a wide condition, and too deep a one is refused`() throws {
    var wide = Condition<Member> { $0.age == 0 }
    for number in 1..<20_000 { wide = Condition { wide || $0.age == number } }
    #expect(try opened.holds(wide, for: Member()))
    var deep = Condition<Member> { $0.age == 0 }
    for number in 1..<100_000 { deep = Condition { !(deep && $0.age == number) } }
    #expect(throws: StoreError.self) { try opened.resolved(deep) }
    #expect(throws: EncodingError.self) { try JSONEncoder().encode([deep]) }
  }
}
