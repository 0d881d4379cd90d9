import FoundationEssentials
import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// A record with indexes of every kind that a plan can take.
struct QueriedRecord: Record, Hashable {
  var id: Int
  var group = 0
  var name = ""
  var title: String?
  var score: Double?
  var flag = false
  var code: UInt8 = 0
  var mail: String?
  var note = ""
  var labels: [String]?
  var marks: [Int16] = []
  var tickets: [String] = []

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "group", type: .integer, indexed: true)
    Field(name: "name", type: .string)
    Field(name: "title", type: .string, optional: true, indexed: true)
    Field(name: "score", type: .double, optional: true)
    Field(name: "flag", type: .boolean)
    Field(name: "code", type: .uint8)
    Field(name: "mail", type: .string, optional: true)
    Field(name: "note", type: .string)
    Field(name: "labels", type: .array(of: .string), optional: true)
    Field(name: "marks", type: .array(of: .int16))
    Field(name: "tickets", type: .array(of: .string))
    Index("name", .descending("score"), named: "nameScore")
    Index(.descending("title"), "group", named: "titleGroup")
    Index(.caseInsensitive("name"), named: "anyCase")
    Index("score", named: "flagged", where: .comparison(field: "flag", .equal, true))
    Index("code", named: "low", where: .comparison(field: "score", .less, 2.5))
    Index(.elements("labels"), .descending("score"), named: "labels")
    Index("group", .elements("labels"), named: "groupLabels")
    Index(.elements("marks"), named: "marks", where: .comparison(field: "flag", .equal, true))
    Unique(.elements("tickets"), named: "tickets")
    Unique("group", "mail", named: "groupMail")
    Unique(.descending("mail"), named: "mail")
  }
}

/// One whose primary key has two parts, the last of them of any length, and another order than the indexes.
struct QueriedPlace: Record, Hashable {
  var row: Int16
  var name: String
  var weight: Float = 0
  var day: Date?

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(name: "row", type: .int16)
    Field(name: "name", type: .string)
    Field(name: "weight", type: .float)
    Field(name: "day", type: .date, optional: true)
    PrimaryKey(.descending("row"), "name")
    Index("weight", "name", named: "weightName")
    Index(.descending("day"), named: "day")
    Unique("name", named: "name")
  }
}

extension StoreModel {
  static let queried = StoreModel(records: [QueriedRecord.self, QueriedPlace.self])
}

/// Random records, conditions and orders.
struct QueryChoices {
  var random: SplitMix64

  init(seed: UInt64) {
    random = SplitMix64(seed: seed)
  }

  mutating func number(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }
  mutating func chance(_ count: Int) -> Bool { number(count) == 0 }
  mutating func one<Value>(of values: [Value]) -> Value { values[number(values.count)] }

  /// Now and then one that is too long for a key, and begins as others do.
  mutating func text(_ long: Int = 1_000) -> String {
    let texts = [
      "", "a", "A", "ab", "aB", "b", "ä", "Ä", "a\u{0}", "a\u{0}b", "e\u{301}", "é", "z",
    ]
    let text = one(of: texts)
    guard chance(12) else { return text }
    return text + String(repeating: "k", count: long + number(long == 1_000 ? 30 : 12))
      + (chance(2) ? "" : one(of: texts))
  }

  mutating func double() -> Double { one(of: [-1.5, -0.0, 0, 0.5, 1, 2, 2.5, 3, .infinity]) }
}

extension QueryChoices {
  mutating func record(_ id: Int) -> QueriedRecord {
    QueriedRecord(
      id: id, group: number(5) - 2, name: text(), title: chance(3) ? nil : text(),
      score: chance(4) ? nil : double(), flag: chance(2), code: UInt8(number(6)),
      mail: chance(3) ? nil : "\(text())\(number(1_000))", note: text(),
      labels: chance(5) ? nil : (0..<number(4)).map { _ in text() },
      marks: (0..<number(4)).map { _ in Int16(number(5)) },
      tickets: (0..<number(3)).map { _ in "\(text())\(number(1_000))" })
  }

  mutating func place() -> QueriedPlace {
    QueriedPlace(
      row: Int16(number(5) - 2), name: "\(text(990))\(number(1_000))",
      weight: Float(one(of: [-1, 0, 0.5, 3, Float.infinity])),
      day: chance(3) ? nil : Date(timeIntervalSinceReferenceDate: Double(number(6))))
  }

  /// A value of a field's type, mostly one that records have.
  mutating func value(_ type: ColumnType) -> FieldValue {
    switch type {
    case .int64, .int16:
      chance(4) ? .double(Double(number(7) - 3)) : .integer(Int64(number(7) - 3))
    case .uint8: chance(4) ? .integer(Int64(number(7))) : .unsigned(UInt64(number(7)))
    case .string: .string(chance(3) ? "\(text())\(number(1_000))" : text())
    case .double: .double(double())
    case .float: .double(one(of: [-1, 0, 0.5, 3, .infinity]))
    case .boolean: .boolean(chance(2))
    case .array(let element): value(.scalar(element))
    case .date:
      chance(3)
        ? .string("2001-01-01T00:00:0\(number(7))Z")
        : .date(Date(timeIntervalSinceReferenceDate: Double(number(7))))
    default: .null
    }
  }

  mutating func condition(_ schema: RecordSchema, depth: Int = 0) -> FieldCondition {
    switch number(depth > 2 ? 7 : 13) {
    case 0:
      let field = one(of: schema.scalars)
      return .isIn(
        field: field.name,
        (0..<number(4)).map { _ in chance(6) ? .null : value(field.type) })
    case 1:
      let field = one(of: schema.scalars)
      return .comparison(field: field.name, one(of: [.equal, .notEqual]), .null)
    case 2:
      return one(
        of: [
          .comparison(field: "flag", .equal, true), .comparison(field: "score", .less, 2),
          .comparison(field: "score", .lessOrEqual, 2.5),
        ].filter { condition in
          guard case .comparison(let field, _, _) = condition else { return false }
          return schema.field(named: field) != nil
        } + [comparison(schema)])
    case 3: return match(schema)
    case 4..<6: return comparison(schema)
    case 6: return contains(schema)
    case 7..<11:
      return .and((0..<number(4) + 1).map { _ in condition(schema, depth: depth + 1) })
    case 11: return .or((0..<number(4)).map { _ in condition(schema, depth: depth + 1) })
    default: return .not(condition(schema, depth: depth + 1))
    }
  }

  private mutating func contains(_ schema: RecordSchema) -> FieldCondition {
    let arrays = schema.fields.filter { !$0.type.canBeKey }
    if arrays.isEmpty { return comparison(schema) }
    let field = one(of: arrays)
    if case .array(.string) = field.type, chance(3) {
      return .match(field: field.name, TextMatch(.contains, text()))
    }
    return .contains(field: field.name, chance(12) ? .null : value(field.type))
  }

  private mutating func match(_ schema: RecordSchema) -> FieldCondition {
    let field = one(of: schema.fields.filter { $0.type == .string })
    let start = chance(3) ? text() : one(of: ["", "a", "A", "ab", "\\*"])
    let options: TextMatch.Options = chance(2) ? .caseInsensitive : []
    let match =
      chance(3)
      ? TextMatch(one(of: [.prefix, .equals, .suffix, .contains]), start, options)
      : TextMatch(.like, start + one(of: ["", "*", "?", "*b*", "?*", "**"]), options)
    return .match(field: field.name, match)
  }

  private mutating func comparison(_ schema: RecordSchema) -> FieldCondition {
    let field = one(of: schema.scalars)
    return .comparison(
      field: field.name,
      one(of: [.equal, .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual]),
      value(field.type))
  }

  mutating func order(_ schema: RecordSchema) -> [FieldOrder] {
    (0..<one(of: [0, 0, 1, 1, 2, 3])).map { _ in
      let field = one(of: schema.scalars)
      return FieldOrder(
        field: field.name, isDescending: chance(2),
        isCaseInsensitive: field.type == .string && chance(3))
    }
  }
}

extension RecordSchema {
  fileprivate var scalars: [FieldSchema] { fields.filter(\.type.canBeKey) }
}
