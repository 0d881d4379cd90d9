import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

// Random conditions across relations.

extension LibraryChoices {
  /// The single references of a record, and all of its relations.
  private static func references(of record: RecordSchema) -> [FieldSchema] {
    record.fields.filter { $0.reference != nil && $0.type.scalar != nil }
  }

  private static func relations(of record: RecordSchema) -> [String] {
    record.fields.filter { $0.reference != nil }.map(\.name) + record.inverses.map(\.name)
  }

  /// A field by a name that may lead over references, with its type.
  private mutating func field(
    _ record: RecordSchema, _ schema: Schema, hops: Int = 2
  ) -> (name: String, field: FieldSchema) {
    let references = Self.references(of: record)
    if hops > 0, !references.isEmpty, chance(2) {
      let reference = one(of: references)
      if let name = reference.reference?.destination, let other = schema.record(named: name) {
        let inner = field(other, schema, hops: hops - 1)
        return ("\(reference.name).\(inner.name)", inner.field)
      }
    }
    let field = one(of: record.fields.filter { $0.type.scalar != nil })
    return (field.name, field)
  }

  private mutating func value(_ type: ColumnType) -> FieldValue {
    switch type {
    case .int64: .integer(Int64(number(5)))
    case .double: .double(one(of: [-1.5, 0, 0.5, 1, 2, 2.5, 3]))
    default: .string(chance(3) ? one(of: Self.poetIDs) : text())
    }
  }

  private mutating func comparison() -> FieldComparison {
    one(of: [.equal, .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual])
  }

  mutating func condition(
    _ record: RecordSchema, _ schema: Schema, depth: Int = 0
  ) -> FieldCondition {
    switch number(depth > 2 ? 6 : 16) {
    case 0:
      let (name, field) = field(record, schema)
      return .isIn(
        field: name, (0..<number(4)).map { _ in chance(5) ? .null : value(field.type) })
    case 1:
      let (name, field) = field(record, schema)
      guard field.type == .string else { return .comparison(field: name, .equal, .null) }
      return .match(field: name, TextMatch(.prefix, one(of: ["", "a", "e", "long"])))
    case 2:
      return .comparison(
        field: field(record, schema).name, one(of: [.equal, .notEqual]), .null)
    case 3..<6:
      let (name, field) = field(record, schema)
      return .comparison(field: name, comparison(), value(field.type))
    case 6..<10:
      let relation = one(of: Self.relations(of: record))
      guard let other = other(relation, record, schema) else { return .and([]) }
      let inner =
        chance(4) ? FieldCondition.and([]) : condition(other, schema, depth: depth + 1)
      return one(
        of: [
          .any(relation: relation, inner), .not(.any(relation: relation, inner)),
          .not(.any(relation: relation, .not(inner))),
        ])
    case 10, 11:
      return .computed(
        expression(record, schema, depth), comparison(), .value(.integer(Int64(number(4)))))
    case 12:
      return .and((0..<number(3) + 1).map { _ in condition(record, schema, depth: depth + 1) })
    case 13: return .or((0..<number(3)).map { _ in condition(record, schema, depth: depth + 1) })
    case 14: return .not(condition(record, schema, depth: depth + 1))
    default:
      let names = [field(record, schema), field(record, schema)]
      guard names[0].field.type == names[1].field.type else {
        return .comparison(field: names[0].name, .notEqual, .null)
      }
      return .computed(.field(names[0].name), comparison(), .field(names[1].name))
    }
  }

  /// A condition that there is a related record, or none, or so many: one that meets another condition, which may lead on.
  mutating func relation(
    _ record: RecordSchema, _ schema: Schema, depth: Int = 0
  ) -> FieldCondition {
    let relation = one(of: Self.relations(of: record))
    guard let other = other(relation, record, schema) else { return .and([]) }
    let inner =
      switch number(depth > 1 ? 2 : 3) {
      case 0: FieldCondition.and([])
      case 1:
        FieldCondition.comparison(
          field: other.fields[0].name, comparison(), value(other.fields[0].type))
      default: self.relation(other, schema, depth: depth + 1)
      }
    let any = FieldCondition.any(relation: relation, inner)
    let count = FieldExpression.count(relation: relation, where: inner)
    return one(
      of: [
        any, .not(any), .not(.any(relation: relation, .not(inner))),
        .computed(count, comparison(), .value(.integer(Int64(number(3))))),
      ])
  }

  private func other(
    _ relation: String, _ record: RecordSchema, _ schema: Schema
  ) -> RecordSchema? {
    record.related(by: relation).flatMap { schema.record(named: $0) }
  }

  /// A number of related records.
  private mutating func expression(
    _ record: RecordSchema, _ schema: Schema, _ depth: Int
  ) -> FieldExpression {
    let relation = one(of: Self.relations(of: record))
    guard let other = other(relation, record, schema) else { return .value(.integer(0)) }
    let inner = chance(2) ? FieldCondition.and([]) : condition(other, schema, depth: depth + 1)
    let numbers = other.fields.filter { $0.type == .int64 || $0.type == .double }
    guard chance(2), !numbers.isEmpty else {
      // The number of a list is that of its elements, which may lead nowhere.
      return .count(relation: relation, where: inner)
    }
    return .aggregate(
      one(of: [.sum, .minimum, .maximum]), relation: relation, of: .field(one(of: numbers).name),
      where: inner)
  }

  mutating func query(_ record: RecordSchema, _ schema: Schema) -> FieldQuery {
    var query = FieldQuery(condition: chance(8) ? nil : condition(record, schema))
    for _ in 0..<number(3) {
      query.order.append(
        FieldOrder(field: field(record, schema).name, isDescending: chance(2)))
    }
    if chance(2) { query.limit = number(8) }
    if chance(3) { query.offset = number(4) }
    return query
  }
}

@Suite struct RelatedQueryTests {
  /// Compares what every plan finds, in every way, with the oracle. Returns the number of plans.
  ///
  /// - Parameter makeQuery: Makes a query of a record.
  private static func compare(
    _ choices: inout LibraryChoices, _ reader: RecordReader, queries: Int,
    _ makeQuery: (inout LibraryChoices, RecordSchema, Schema) -> FieldQuery = {
      $0.query($1, $2)
    }
  ) throws -> Int {
    let oracle = try RelatedOracle(reader)
    let schema = reader.entities.schema
    var planCount = 0
    for _ in 0..<queries {
      let record = choices.one(of: schema.records)
      let query = makeQuery(&choices, record, schema)
      let expected = oracle.keys(query, of: record.name)
      let runner = QueryRunner(try reader.entities.entity(named: record.name), in: reader)
      for way in [nil, .first, .lookedUp] as [RelatedPlan.Way?] {
        var planner = runner.planner()
        planner.relatedWay = way
        let (_, candidates) = try planner.candidates(query, for: .records)
        planCount += candidates.count
        for forced in candidates.indices {
          let found = try runner.find(query, forced: forced, way)
          let keys = try Self.keys(found)
          let access = runner.text(of: found.plan.access)
          try agree(
            Self.isSame(keys, expected),
            "\(keys) and not \(expected) of \(record.name) where \(query.condition ?? .and([])), \(query), by \(access), \(way.map { "\($0)" } ?? "chosen")"
          )
        }
      }
      try agree(try runner.count(query) == expected.count, "the count of \(query)")
      if let condition = query.condition {
        try agree(
          try FieldCondition(parsing: condition.description) == condition, "the text \(condition)")
      }
      _ = try runner.explain(query, running: false)
    }
    return planCount
  }

  private static func keys(_ found: FoundRecords) throws -> [FieldValue] {
    var keys: [FieldValue] = []
    let layout = found.layout
    while try found.next() {
      var key = KeyReader(found.key, layout: layout)
      keys.append(try key.value(layout.key.columns[0]))
      _ = try found.row().byteCount
    }
    return keys
  }

  /// Swift takes strings for equal that are different keys.
  private static func isSame(_ one: [FieldValue], _ other: [FieldValue]) -> Bool {
    one.count == other.count && zip(one, other).allSatisfy { $0.compare(to: $1) == 0 }
  }

  @Test(arguments: 0..<4)
  func `every plan of a condition across relations gives the answer of a full look`(shard: Int) {
    replaying(Seeds.range(scaled(30, debug: 4), shard: 160 + shard)) { seed in
      var choices = LibraryChoices(seed: seed)
      let store = try PersistentStore(inMemory: .library)
      var planCount = 0
      for size in [1, 3, scaled(40, debug: 12)] {
        try store.write { transaction in
          var copy = choices
          defer { choices = copy }
          try copy.fill(size, &transaction)
        }
        let reader = try store.snapshot().recordReader()
        planCount += try Self.compare(&choices, reader, queries: scaled(60, debug: 30))
      }
      try store.expectSound()
      try agree(planCount > 300, "\(planCount) plans only")
    }
  }

  @Test(arguments: 0..<2)
  func `references to lost records lead nowhere by every plan`(shard: Int) {
    replaying(Seeds.range(scaled(20, debug: 3), shard: 174 + shard)) { seed in
      var choices = LibraryChoices(seed: seed)
      let store = try PersistentStore(inMemory: .library)
      try store.write { transaction in
        var copy = choices
        defer { choices = copy }
        try copy.fill(12, &transaction)
        for id in 0..<12 where copy.chance(2) {
          var poem = copy.poem(id, of: 12)
          // A sequel is of one poem alone.
          poem.sequel = copy.chance(2) ? Reference(100 + id) : nil
          if copy.chance(2) { poem.poet = Reference(copy.one(of: ["lost", "b"])) }
          if copy.chance(2) { poem.themes.append(Reference(50)) }
          if copy.chance(2) { poem.others.insert(Reference(200)) }
          try transaction.save(poem)
        }
        try transaction.save(Poem(id: 12, name: "t", year: 1, poet: Reference("lost")))
        let lost = try transaction.acceptMissing()
        try agree(!lost.isEmpty, "nothing is lost")
      }
      let reader = try store.snapshot().recordReader()
      let planCount = try Self.compare(&choices, reader, queries: scaled(120, debug: 60)) {
        choices, record, schema in
        FieldQuery(
          condition: choices.relation(record, schema),
          limit: choices.chance(3) ? choices.number(6) : nil)
      }
      try agree(planCount > 120, "\(planCount) plans only")
      try store.expectSound()
    }
  }

  @Test func `queries across relations see what their transaction has written`() {
    replaying(Seeds.range(scaled(20, debug: 4), shard: 170)) { seed in
      var choices = LibraryChoices(seed: seed)
      let store = try PersistentStore(inMemory: .library)
      try store.write { transaction in
        var copy = choices
        defer { choices = copy }
        try copy.fill(8, &transaction)
        for _ in 0..<4 {
          try copy.change(8, &transaction)
          _ = try Self.compare(&copy, try transaction.recordReader(), queries: 10)
        }
        // Every reference leads somewhere in the end.
        try copy.fill(8, &transaction)
      }
    }
  }
}
