// Names that lead over relations, in conditions: they become conditions on the related records.

extension FieldCondition {
  /// True if a part of it may lead over a relation, or if it is nested too deep to tell; false is certain.
  func mayLeadOn(from layout: RowLayout) -> Bool {
    isDeeper(than: RowConditionBuilder.depthMax) || hasRelation(from: layout)
  }

  private func hasRelation(from layout: RowLayout) -> Bool {
    switch self {
    case .comparison(let field, _, _), .isIn(let field, _), .match(let field, _),
      .contains(let field, _):
      field.mayLeadOn
    case .any, .isInQuery: true
    case .kind: false
    case .computed(let computed):
      computed.one.mayLeadOn(from: layout) || computed.other.mayLeadOn(from: layout)
    case .and(let operands), .or(let operands): operands.contains { $0.hasRelation(from: layout) }
    case .not(let operand): operand.hasRelation(from: layout)
    }
  }

  /// Returns the condition with each name that leads over a relation as a condition on the related records.
  ///
  /// Where there is no related record, its fields are null: `author.name != "x"` holds for records without an author.
  ///
  /// - Parameter isChanging: True in a transaction, in which a checked reference may lead to a record that does not exist yet.
  /// - Throws: `.invalidQuery` for a name that leads over a list or an inverse, without saying which of the records is meant;
  ///   for a condition that is nested too deep, or leads over too many relations.
  func resolved(
    from record: Entity, in entities: Entities, isChanging: Bool
  ) throws(StoreError) -> FieldCondition {
    guard !isDeeper(than: RowConditionBuilder.depthMax) else {
      throw RowConditionBuilder.tooDeep(record.layout)
    }
    return try resolved(
      by: RelatedNames(record: record, entities: entities, isChanging: isChanging))
  }

  fileprivate func resolved(by names: RelatedNames) throws(StoreError) -> FieldCondition {
    switch self {
    case .comparison(let field, let comparison, let value):
      if let part = names.record.layout.datePart(named: field) {
        return .computed(part, comparison, .value(value))
      }
      return try names.leading(over: field, holdsForNull: comparison.holds(value)) {
        .comparison(field: $0, comparison, value)
      }
    case .isIn(let field, let values):
      return try names.leading(over: field, holdsForNull: values.contains { $0 == .null }) {
        .isIn(field: $0, values)
      }
    case .match(let field, let match):
      return try names.leading(over: field, holdsForNull: false) { .match(field: $0, match) }
    case .contains(let field, let value):
      return try names.leading(over: field, holdsForNull: false) { .contains(field: $0, value) }
    // Queries are run before, unless only the records that they are of are asked for.
    case .kind, .isInQuery: return self
    case .any(let relation, let operand):
      if let (first, rest) = names.divided(relation) {
        return try FieldCondition.any(relation: first, .any(relation: rest, operand))
          .resolved(by: names)
      }
      return .any(relation: relation, try operand.resolved(by: try names.leading(over: relation)))
    case .computed(let computed):
      return Self.compared(
        try names.resolved(computed.one), computed.comparison, try names.resolved(computed.other))
    case .and(let operands): return .and(try names.resolved(operands))
    case .or(let operands): return .or(try names.resolved(operands))
    case .not(let operand): return .not(try operand.resolved(by: names))
    }
  }

  /// Compares two values; that there is a related record, or at least so many, in the form that is found from the other end.
  private static func compared(
    _ one: FieldExpression, _ comparison: FieldComparison, _ other: FieldExpression
  ) -> FieldCondition {
    switch (one, other) {
    case (.value, .count): return compared(other, comparison.exchanged, one)
    case (.count(let relation, let condition), .value(.integer(let number))):
      guard comparison.holds(0, number) else {
        return comparison == .greater && number == 0 || comparison == .greaterOrEqual && number == 1
          || comparison == .notEqual && number == 0
          ? .any(relation: relation, condition) : .computed(one, comparison, other)
      }
      return .not(compared(one, comparison.opposite, other))
    default: return .computed(one, comparison, other)
    }
  }
}

extension FieldOrder {
  /// Returns the order with the reference in place of the primary key that it leads to, where a record is sure to be there.
  func resolved(
    from record: Entity, in entities: Entities, isChanging: Bool
  ) throws(StoreError) -> FieldOrder {
    guard let field, field.mayLeadOn,
      let reference = try RelatedNames(
        record: record, entities: entities, isChanging: isChanging
      ).reference(withKey: field)
    else { return self }
    return FieldOrder(
      field: reference, isDescending: isDescending, isCaseInsensitive: isCaseInsensitive,
      collation: collation)
  }
}

extension FieldQuery {
  /// Returns the records whose rows it depends on besides its own, each once; its own if it leads back to them.
  ///
  /// - Throws: `.invalidQuery` for a relation that is not there.
  func relatedRecords(of record: Entity, in entities: Entities) throws(StoreError) -> [Entity] {
    var records: [Entity] = []
    let conditions =
      [condition].compactMap { $0 } + order.map { .computed($0.value, .less, .value(.null)) }
    for condition in conditions where condition.mayLeadOn(from: record.layout) {
      try condition.resolved(from: record, in: entities, isChanging: false)
        .forEachRelated(of: record, in: entities) { records.append($0) }
    }
    var places: Set<Int> = []
    return records.filter { places.insert($0.place).inserted }
  }
}

extension FieldCondition {
  /// Calls `body` with the record at the other end of each relation; names lead over none.
  fileprivate func forEachRelated(
    of record: Entity, in entities: Entities, _ body: (Entity) -> Void
  ) throws(StoreError) {
    switch self {
    case .comparison, .isIn, .match, .contains, .kind: break
    case .isInQuery(_, let queried):
      try queried.query.forEachRecord(with: queried.value, in: entities, body)
    case .any(let relation, let operand):
      let other = try entities.relation(relation, of: record).other
      body(other)
      try operand.forEachRelated(of: other, in: entities, body)
    case .computed(let computed):
      try computed.one.forEachRelated(of: record, in: entities, body)
      try computed.other.forEachRelated(of: record, in: entities, body)
    case .and(let operands), .or(let operands):
      for operand in operands { try operand.forEachRelated(of: record, in: entities, body) }
    case .not(let operand): try operand.forEachRelated(of: record, in: entities, body)
    }
  }
}

extension FieldExpression {
  fileprivate func forEachRelated(
    of record: Entity, in entities: Entities, _ body: (Entity) -> Void
  ) throws(StoreError) {
    switch self {
    case .field, .value: break
    case .arithmetic(let one, _, let other), .coalesced(let one, let other):
      try one.forEachRelated(of: record, in: entities, body)
      try other.forEachRelated(of: record, in: entities, body)
    case .negated(let operand), .length(let operand), .lowercased(let operand),
      .function(_, let operand):
      try operand.forEachRelated(of: record, in: entities, body)
    case .count(let relation, let condition):
      try FieldCondition.any(relation: relation, condition)
        .forEachRelated(of: record, in: entities, body)
    case .aggregate(_, let relation, let operand, let condition):
      let other = try entities.relation(relation, of: record).other
      body(other)
      try operand.forEachRelated(of: other, in: entities, body)
      try condition.forEachRelated(of: other, in: entities, body)
    case .query(_, let operand, let query):
      try query.forEachRecord(with: operand, in: entities, body)
    }
  }
}

extension FieldSubquery {
  /// Calls `body` with the record that the query is of, and with each that its parts lead to.
  fileprivate func forEachRecord(
    with value: FieldExpression, in entities: Entities, _ body: (Entity) -> Void
  ) throws(StoreError) {
    let record = try entities.entity(named: self.record)
    body(record)
    let conditions =
      [condition] + ([value] + order.map(\.value)).map { .computed($0, .less, .value(.null)) }
    for condition in conditions where condition.mayLeadOn(from: record.layout) {
      try condition.resolved(from: record, in: entities, isChanging: false)
        .forEachRelated(of: record, in: entities, body)
    }
  }
}

extension FieldComparison {
  /// Returns true if null compares so with a value.
  fileprivate func holds(_ value: FieldValue) -> Bool {
    switch self {
    case .equal: value == .null
    case .notEqual: value != .null
    case .less, .lessOrEqual, .greater, .greaterOrEqual: false
    }
  }

  func holds(_ one: Int64, _ other: Int64) -> Bool {
    switch self {
    case .equal: one == other
    case .notEqual: one != other
    case .less: one < other
    case .lessOrEqual: one <= other
    case .greater: one > other
    case .greaterOrEqual: one >= other
    }
  }

  /// The comparison of numbers that holds where this one does not.
  fileprivate var opposite: FieldComparison {
    switch self {
    case .equal: .notEqual
    case .notEqual: .equal
    case .less: .greaterOrEqual
    case .lessOrEqual: .greater
    case .greater: .lessOrEqual
    case .greaterOrEqual: .less
    }
  }
}

extension FieldExpression {
  fileprivate func mayLeadOn(from layout: RowLayout) -> Bool {
    switch self {
    case .field(let name): name.mayLeadOn
    case .value: false
    case .length(.field(let name)): name.mayLeadOn || layout.index(named: name) == nil
    case .arithmetic(let one, _, let other), .coalesced(let one, let other):
      one.mayLeadOn(from: layout) || other.mayLeadOn(from: layout)
    case .negated(let operand), .length(let operand), .lowercased(let operand),
      .function(_, let operand):
      operand.mayLeadOn(from: layout)
    case .count, .aggregate, .query: true
    }
  }
}

extension Entity {
  /// The number of relations over which a condition or an order may lead, one after the other: each is a level of
  /// planning, of which a thread with little stack has to hold all.
  private static var stepsMax: Int { 24 }

  /// Returns the number of relations that led on, with one more.
  ///
  /// - Throws: `.invalidQuery` if those are too many.
  func steps(after steps: Int, _ relation: String) throws(StoreError) -> Int {
    guard steps < Self.stepsMax else {
      throw .invalidQuery(
        record: record.name, field: relation.count < 100 ? relation : nil,
        reason: "a query leads over \(Self.stepsMax) relations at most, one after the other")
    }
    return steps + 1
  }
}

extension String {
  fileprivate var mayLeadOn: Bool { utf8.contains(UInt8(ascii: ".")) }
}

extension RowLayout {
  /// Returns the part of a date that a name says, as `date.month` does, in UTC; nil for any other name.
  func datePart(named name: String) -> FieldExpression? {
    guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")),
      let part = DatePart(named: name[name.index(after: dot)...]),
      column(named: String(name[..<dot]))?.field.type == .scalar(.date)
    else { return nil }
    return .function(.part(part, in: .utc), .field(String(name[..<dot])))
  }
}

/// The names of a record's fields and relations, for those that lead on.
private struct RelatedNames {
  let record: Entity
  let entities: Entities
  /// True if a checked reference may lead to a record that does not exist yet.
  let isChanging: Bool
  /// The number of relations that led to the record, one after the other.
  var steps = 0

  /// Returns the names of the records at the other end of a relation.
  ///
  /// - Throws: `.invalidQuery` if there is no such relation, or too many relations have led here.
  func leading(over relation: String) throws(StoreError) -> RelatedNames {
    let other = try entities.relation(relation, of: record).other
    return RelatedNames(
      record: other, entities: entities, isChanging: isChanging,
      steps: try record.steps(after: steps, relation))
  }

  /// Divides a name that leads over a relation after the first one; nil for a name of the record's own.
  func divided(_ name: String) -> (relation: String, rest: String)? {
    if record.layout.index(named: name) != nil || record.record.related(by: name) != nil {
      return nil
    }
    return record.record.divided(name)
  }

  /// Returns the entity that a single reference leads to.
  ///
  /// - Throws: `.invalidQuery` if the relation leads to several records.
  private func single(_ relation: String, _ name: String) throws(StoreError) -> RelatedNames {
    let side = try entities.relation(relation, of: record)
    guard !side.isInverse, !side.link.isList else {
      throw .invalidQuery(
        record: record.record.name, field: name,
        reason:
          "\(relation) leads to several records: say which is meant by any, all, none, count, sum, minimum"
          + " or maximum")
    }
    return try leading(over: relation)
  }

  /// Returns a term on a name that may lead over a single reference.
  ///
  /// - Parameter holdsForNull: True if null meets the term.
  func leading(
    over name: String, holdsForNull: Bool, _ term: (String) -> FieldCondition
  ) throws(StoreError) -> FieldCondition {
    guard let (relation, rest) = divided(name) else { return term(name) }
    if let reference = try reference(withKey: name) { return term(reference) }
    let other = try single(relation, name)
    let met = FieldCondition.any(
      relation: relation, try term(rest).resolved(by: other))
    return holdsForNull ? .or([met, .not(.any(relation: relation, .and([])))]) : met
  }

  /// Returns the checked reference of which a name is the primary key that it leads to, as `author` of `author.id`; else nil.
  ///
  /// In a transaction there may be no such record yet, of which the key is null as every other field is.
  func reference(withKey name: String) throws(StoreError) -> String? {
    guard !isChanging, let (relation, rest) = divided(name),
      record.record.field(named: relation)?.reference?.isChecked == true
    else { return nil }
    let other = try single(relation, name).record.record
    let key = other.field(other.primaryKey[0].field)
    return key?.name == rest ? relation : nil
  }

  func resolved(_ operands: [FieldCondition]) throws(StoreError) -> [FieldCondition] {
    var resolved: [FieldCondition] = []
    for operand in operands {
      resolved.append(try operand.resolved(by: self))
    }
    return resolved
  }

  func resolved(_ expression: FieldExpression) throws(StoreError) -> FieldExpression {
    switch expression {
    case .value, .query: return expression
    case .field(let name):
      if let part = record.layout.datePart(named: name) { return part }
      return try leading(over: name) { .field($0) } ?? expression
    case .length(.field(let name)):
      if let value = try leading(over: name, { .length(.field($0)) }) { return value }
      let isInverse = record.record.inverses.contains { $0.name == name }
      return isInverse ? .count(relation: name, where: .and([])) : expression
    case .arithmetic(let one, let operation, let other):
      return .arithmetic(try resolved(one), operation, try resolved(other))
    case .coalesced(let one, let other): return .coalesced(try resolved(one), try resolved(other))
    case .negated(let operand): return .negated(try resolved(operand))
    case .length(let operand): return .length(try resolved(operand))
    case .lowercased(let operand): return .lowercased(try resolved(operand))
    case .function(let function, let operand): return .function(function, try resolved(operand))
    case .count(let relation, let condition):
      if let (first, rest) = divided(relation) {
        return try resolved(
          .aggregate(
            .sum, relation: first, of: .count(relation: rest, where: condition), where: .and([])))
      }
      let condition = try condition.resolved(by: try leading(over: relation))
      return .count(relation: relation, where: condition)
    case .aggregate(let aggregate, let relation, let operand, let condition):
      if let (first, rest) = divided(relation) {
        return try resolved(
          .aggregate(
            aggregate, relation: first,
            of: .aggregate(aggregate, relation: rest, of: operand, where: condition),
            where: .and([])))
      }
      let other = try leading(over: relation)
      return .aggregate(
        aggregate, relation: relation, of: try other.resolved(operand),
        where: try condition.resolved(by: other))
    }
  }

  /// Returns the value of the one record that a reference leads to; nil for a name of the record's own.
  private func leading(
    over name: String, _ expression: (String) -> FieldExpression
  ) throws(StoreError) -> FieldExpression? {
    guard let (relation, rest) = divided(name) else { return nil }
    let other = try single(relation, name)
    return .aggregate(
      .minimum, relation: relation,
      of: try other.resolved(expression(rest)),
      where: .and([]))
  }
}

extension FieldExpression {
  /// Returns the expression with each name that leads over a relation as a value of the related records.
  ///
  /// - Throws: as `FieldCondition.resolved(from:in:isChanging:)`.
  func resolved(
    from record: Entity, in entities: Entities, isChanging: Bool
  ) throws(StoreError) -> FieldExpression {
    guard !isDeeper(than: RowConditionBuilder.depthMax) else {
      throw RowConditionBuilder.tooDeep(record.layout)
    }
    guard mayLeadOn(from: record.layout) else { return self }
    return try RelatedNames(record: record, entities: entities, isChanging: isChanging)
      .resolved(self)
  }
}

extension RowCondition {
  /// Creates a condition that may lead over relations, which are looked up.
  convenience init(
    _ condition: FieldCondition, of record: Entity, in reader: RecordReader
  ) throws(StoreError) {
    var condition = condition
    if condition.mayLeadOn(from: record.layout) {
      guard !condition.isDeeper(than: RowConditionBuilder.depthMax) else {
        throw RowConditionBuilder.tooDeep(record.layout)
      }
      if condition.mayHaveQuery() {
        var values = QueriedValues(reader)
        condition = try values.evaluated(condition, on: record.layout)
      }
      condition = try condition.resolved(
        from: record, in: reader.entities, isChanging: reader.trees.isChanging)
    }
    try self.init(condition, in: record.layout, RelatedScope(reader: reader))
  }
}
