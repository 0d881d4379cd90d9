@testable import Cambium

/// Answers queries across relations by looking at every record, as the documentation says it.
struct RelatedOracle {
  private let schema: Schema
  private var records: [String: [Found]] = [:]

  struct Found {
    let record: RecordSchema
    let fields: [String: FieldValue]

    var key: FieldValue { fields["id"] ?? .null }
  }

  init(_ reader: RecordReader) throws {
    schema = reader.entities.schema
    for record in schema.records {
      let entity = try reader.entities.entity(named: record.name)
      let cursor = try reader.trees.cursor(in: entity.rows)
      var found: [Found] = []
      while try cursor.advance() {
        let row = try entity.row(key: cursor.key, row: try cursor.value())
        var fields: [String: FieldValue] = [:]
        for (place, column) in entity.layout.columns.enumerated() {
          fields[column.field.name] = try row.value(place)
        }
        found.append(Found(record: record, fields: fields))
      }
      records[record.name] = found
    }
  }

  /// The primary keys of a query's records.
  func keys(_ query: FieldQuery, of name: String) -> [FieldValue] {
    var found = records[name, default: []]
    if let condition = query.condition { found = found.filter { holds(condition, for: $0) } }
    // Sorted by primary key already.
    let places = found.indices.sorted { one, other in
      for order in query.order {
        let values = (value(order.value, of: found[one]), value(order.value, of: found[other]))
        let sign = Self.order(values.0, values.1)
        if sign != 0 { return order.isDescending ? sign > 0 : sign < 0 }
      }
      return one < other
    }
    let left = places.dropFirst(query.offset)
    return (query.limit.map { left.prefix($0) } ?? left).map { found[$0].key }
  }

  /// Null first, not a number last.
  private static func order(_ one: FieldValue, _ other: FieldValue) -> Int {
    let (low, high) = (rank(one), rank(other))
    return low != high ? low - high : one.compare(to: other) ?? 0
  }

  private static func rank(_ value: FieldValue) -> Int {
    switch value {
    case .null: 0
    case .double(let value) where value.isNaN: 2
    default: 1
    }
  }
}

// MARK: Relations

extension RelatedOracle {
  /// The records at the other end of a relation, which may lead over others.
  private func related(_ relation: String, of found: Found) -> [Found] {
    guard let dot = relation.firstIndex(of: ".") else {
      return directlyRelated(relation, of: found)
    }
    let rest = String(relation[relation.index(after: dot)...])
    return directlyRelated(String(relation[..<dot]), of: found).flatMap { related(rest, of: $0) }
  }

  private func directlyRelated(_ relation: String, of found: Found) -> [Found] {
    if let field = found.record.field(named: relation), let reference = field.reference {
      let keys = Self.keys(found.fields[relation] ?? .null)
      return keys.flatMap { key in
        records[reference.destination, default: []].filter { Self.isSame($0.key, key) }
      }
    }
    guard let inverse = found.record.inverses.first(where: { $0.name == relation }) else {
      return []
    }
    return records[inverse.related, default: []].filter { other in
      Self.keys(other.fields[inverse.reference] ?? .null).contains { Self.isSame($0, found.key) }
    }
  }

  private static func keys(_ value: FieldValue) -> [FieldValue] {
    switch value {
    case .null: []
    case .array(let keys): keys
    default: [value]
    }
  }

  private static func isSame(_ one: FieldValue, _ other: FieldValue) -> Bool {
    one.compare(to: other) == 0
  }

  /// The value of a field, which may lead over single references; null where there is no such record.
  private func value(_ name: String, of found: Found) -> FieldValue {
    guard let dot = name.firstIndex(of: ".") else { return found.fields[name] ?? .null }
    guard let other = directlyRelated(String(name[..<dot]), of: found).first else { return .null }
    return value(String(name[name.index(after: dot)...]), of: other)
  }
}

// MARK: Conditions

extension RelatedOracle {
  func holds(_ condition: FieldCondition, for found: Found) -> Bool {
    switch condition {
    case .comparison(let name, let comparison, let value):
      return Self.holds(self.value(name, of: found), comparison, value)
    case .isIn(let name, let values):
      return values.contains { Self.holds(value(name, of: found), .equal, $0) }
    case .match(let name, let match):
      guard case .string(let text) = value(name, of: found) else { return false }
      return match.kind == .prefix && text.utf8.starts(with: match.text.utf8)
    case .contains(let name, let element):
      guard case .array(let elements) = value(name, of: found) else { return false }
      return elements.contains { Self.isSame($0, element) }
    // None of these records has kinds.
    case .kind, .isInQuery: return false
    case .any(let relation, let inner):
      return related(relation, of: found).contains { holds(inner, for: $0) }
    case .computed(let computed):
      return Self.holds(
        value(computed.one, of: found), computed.comparison, value(computed.other, of: found))
    case .and(let operands): return operands.allSatisfy { holds($0, for: found) }
    case .or(let operands): return operands.contains { holds($0, for: found) }
    case .not(let operand): return !holds(operand, for: found)
    }
  }

  private static func holds(
    _ one: FieldValue, _ comparison: FieldComparison, _ other: FieldValue
  ) -> Bool {
    let isNull = (one == .null, other == .null)
    if isNull.0 || isNull.1 {
      switch comparison {
      case .equal: return isNull.0 && isNull.1
      case .notEqual: return isNull.0 != isNull.1
      default: return false
      }
    }
    guard let order = number(one).compare(to: number(other)) else { return comparison == .notEqual }
    return comparison.holds(Int64(order.signum()), 0)
  }

  /// Numbers as doubles, which all of these are exactly.
  private static func number(_ value: FieldValue) -> FieldValue {
    if case .integer(let value) = value { .double(Double(value)) } else { value }
  }

  private func value(_ expression: FieldExpression, of found: Found) -> FieldValue {
    switch expression {
    case .field(let name): return value(name, of: found)
    case .value(let value): return value
    case .length(.field(let name)):
      switch value(name, of: found) {
      case .array(let elements): return .integer(Int64(elements.count))
      case .string(let text): return .integer(Int64(text.count))
      default:
        let isInverse = found.record.inverses.contains { $0.name == name }
        return isInverse ? .integer(Int64(related(name, of: found).count)) : .null
      }
    case .coalesced(let one, let other):
      let value = value(one, of: found)
      return value == .null ? self.value(other, of: found) : value
    case .arithmetic(let one, .plus, let other):
      guard let one = Self.double(value(one, of: found)),
        let other = Self.double(value(other, of: found)), (one + other).isFinite
      else { return .null }
      return .double(one + other)
    case .count(let relation, let condition):
      return .integer(
        Int64(related(relation, of: found).filter { holds(condition, for: $0) }.count))
    case .aggregate(let aggregate, let relation, let operand, let condition):
      return value(
        of: aggregate,
        related(relation, of: found).filter { holds(condition, for: $0) }
          .map { value(operand, of: $0) }.filter { $0 != .null })
    default: return .null
    }
  }

  private func value(of aggregate: RelatedAggregate, _ values: [FieldValue]) -> FieldValue {
    if aggregate == .sum {
      let numbers = values.compactMap { Self.double($0) }
      var sum = 0.0
      for number in numbers {
        sum += number
        if !sum.isFinite { return .null }
      }
      return .double(sum)
    }
    let ordered = values.filter { Self.rank($0) == 1 }
      .sorted { ($0.compare(to: $1) ?? 0) < 0 }
    if ordered.isEmpty { return values.first ?? .null }
    return aggregate == .minimum ? ordered[0] : ordered[ordered.count - 1]
  }

  private static func double(_ value: FieldValue) -> Double? {
    switch value {
    case .integer(let value): Double(value)
    case .double(let value): value
    default: nil
    }
  }
}
