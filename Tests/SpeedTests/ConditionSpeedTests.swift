import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// The cost of conditions: printed, since a busy machine is no reason to fail.
@Suite struct ConditionSpeedTests {
  private static let count = scaled(100_000, debug: 1000)

  @Test func `a term is asked of a row`() throws {
    let opened = try OpenedType<Member>()
    let layout = opened.type.layout
    var rows: [(key: Bytes, row: Bytes)] = []
    for number in 0..<1000 {
      var member = Member()
      member.id = number
      member.age = number % 100
      member.height = Double(number)
      member.name.first = "name \(number)"
      member.nick = number % 2 == 0 ? nil : "Nick of \(number)"
      member.price = Decimal(number) / 7
      member.tags = ["a", "b\(number % 10)"]
      let (row, key) = (RowWriter(), KeyEncoder())
      try opened.type.encode(member, to: row, key: key)
      rows.append((key.key.array(), row.row.array()))
    }
    var found = 0
    let base = try nanoseconds(each: Self.count) {
      for index in 0..<Self.count {
        let stored = rows[index % 1000]
        let reader = try RowReader(
          key: stored.key.rawSpan, row: stored.row.rawSpan, layout: layout)
        found &+= reader.row.byteCount
      }
    }
    print("a row, unasked: \(base) ns")
    let conditions: [(String, Condition<Member>)] = [
      ("an integer", Condition { $0.age == 500 }),
      ("two integers", Condition { $0.age >= 0 && $0.age == 500 }),
      ("an optional double", Condition { $0.height > 1e9 }),
      ("a boolean", Condition { $0.isMember == true }),
      ("a string", Condition { $0.name.first == "name 1001" }),
      ("a prefix", Condition { $0.name.first.hasPrefix("nome") }),
      ("a text within", Condition { $0.nick.contains("dick") }),
      ("a text without case", Condition { $0.nick.contains("DICK", .caseInsensitive) }),
      ("a pattern", Condition { $0.nick.like("*x*y") }), ("the key", Condition { $0.id == -1 }),
      ("a decimal", Condition { $0.price == 999 }),
      ("a list of 4", Condition { $0.age.isIn([500, 600, 700, 800]) }),
      ("a list of 1000", Condition { $0.age.isIn(Array(1000..<2000)) }),
      ("an element", Condition { $0.tags.contains("c") }),
      ("a sum", Condition { $0.age + $0.id > 100_000 }),
      ("fields compared", Condition { $0.nick == $0.address.street }),
    ]
    for (name, condition) in conditions {
      let bound = try RowCondition(opened.resolved(condition), in: layout)
      let all = try nanoseconds(each: Self.count) {
        for index in 0..<Self.count {
          let stored = rows[index % 1000]
          let reader = try RowReader(
            key: stored.key.rawSpan, row: stored.row.rawSpan, layout: layout)
          if try bound.holds(for: reader) { found &+= 1 }
        }
      }
      print("\(name): \(all - base) ns")
    }
    #expect(found > 0)
  }

  @Test func `a condition of three terms is made, resolved and bound`() throws {
    let opened = try OpenedType<Member>()
    var depth = 0
    let made = nanoseconds(each: Self.count) {
      for number in 0..<Self.count {
        let condition: Condition<Member> =
          Condition { $0.age >= number && $0.name.first == "a name" && $0.isMember == true }
        if case .and = condition.tree.tree { depth &+= 1 }
      }
    }
    print("made: \(made) ns")
    let closure = nanoseconds(each: Self.count) {
      for number in 0..<Self.count {
        let condition = Condition<Member> {
          $0.age >= number && $0.name.first == "a name" && $0.isMember == true
        }
        if case .and = condition.tree.tree { depth &+= 1 }
      }
    }
    print("made in a closure: \(closure) ns")
    let condition = Condition<Member> {
      $0.age >= 5 && $0.name.first == "a name" && $0.isMember == true
    }
    let resolved = try nanoseconds(each: Self.count / 10) {
      for _ in 0..<Self.count / 10 {
        let fields = try opened.resolved(condition)
        depth &+= fields.isDeeper(than: 1) ? 1 : 0
      }
    }
    print("resolved: \(resolved) ns")
    let fields = try opened.resolved(condition)
    let bound = try nanoseconds(each: Self.count / 10) {
      for _ in 0..<Self.count / 10 {
        let bound = try RowCondition(fields, in: opened.type.layout)
        depth &+= bound.operands.bytes.count
      }
    }
    print("bound: \(bound) ns")
    let parsed = try nanoseconds(each: Self.count / 10) {
      for _ in 0..<Self.count / 10 {
        let fields = try FieldCondition(
          parsing: #"age >= 5 && name.first == "a name" && isMember == true"#)
        depth &+= fields.isDeeper(than: 1) ? 1 : 0
      }
    }
    print("parsed: \(parsed) ns")
    #expect(depth > 0)
  }
}
