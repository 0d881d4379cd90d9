// Conditions across relations, decided on rows: the related records are looked up for each.

/// The state that conditions across relations read, and the keys that were found from the other end.
struct RelatedScope {
  let reader: RecordReader
  var keys: [FieldCondition: any RelatedTerm] = [:]
  /// True for conditions on related records, which are evaluated each time that a record leads to them.
  var isNested = false

  /// The scope for the records at the other end of a relation.
  var nested: RelatedScope { RelatedScope(reader: reader, isNested: true) }

  func entity(of layout: RowLayout) throws(StoreError) -> Entity {
    try reader.entities.entity(named: layout.record.name)
  }
}

/// A condition across a relation, in a row condition. One query has it, on one thread.
protocol RelatedTerm: AnyObject, Sendable {
  /// Returns true if a record meets it.
  ///
  /// - Throws: `.corrupt`, `.io`, `.sortTooLarge`.
  func holds(for record: RowReader) throws(StoreError) -> Bool
}

/// The records at the other end of a relation, as one record of a query leads to them.
final class RelatedRows: RelatedTerm, @unchecked Sendable {
  /// The record at the other end.
  let other: Entity
  private let link: Link
  /// True if the other end has the reference.
  private let isInverse: Bool
  /// A condition on the related records; nil for all.
  private let condition: RowCondition?
  private let trees: TreeAccess
  private let meter: QueryMeter?
  private let reads: RelatedReads?
  /// True if an entry of the index, or a reference that is sure to lead to a record, says that one exists.
  private let isSure: Bool
  private let encoder = KeyEncoder()
  // One owner on one thread uses them, so accesses cannot overlap.
  /// The key that was looked up last, and its row.
  @exclusivity(unchecked) private var lastKey: [UInt8] = []
  @exclusivity(unchecked) private var row: [UInt8] = []
  @exclusivity(unchecked) private var isThere: Bool?
  /// The results so far, by record; nil if each record comes once.
  @exclusivity(unchecked) private var known: KnownResults<Bool>?

  /// - Throws: `.invalidQuery` if there is no such relation, or the condition does not fit the records at its other end.
  init(
    _ relation: String, of record: Entity, where condition: FieldCondition, in scope: RelatedScope
  ) throws(StoreError) {
    let reader = scope.reader
    meter = reader.meter
    reads = reader.reads
    unsafe known = KnownResults(in: scope)
    let side = try reader.entities.relation(relation, of: record)
    link = side.link
    isInverse = side.isInverse
    other = side.other
    self.condition =
      condition == .and([])
      ? nil : try RowCondition(condition, in: other.layout, scope.nested)
    trees = reader.trees
    isSure =
      try self.condition == nil
      ? (side.isInverse ? true : side.link.leadsSomewhere(in: reader.trees)) : false
  }

  /// Returns true if one of the records that one leads to meets the condition.
  ///
  /// - Complexity: A seek in the index of the reference without a condition; otherwise also a lookup for each related record
  ///   up to the first that meets it.
  func holds(for record: RowReader) throws(StoreError) -> Bool {
    if let result = unsafe known?.result(for: record.key) { return result }
    let isFound = isSure ? try hasAny(of: record) : try hasOneThatMeets(of: record)
    unsafe known?.insert(isFound, for: record.key)
    return isFound
  }

  /// Returns true if one leads to any record, without reading its row.
  private func hasAny(of record: RowReader) throws(StoreError) -> Bool {
    var isFound = false
    if isInverse {
      try noteRowsRead()
      try link.forEachSource(to: record.key, in: trees, encoder) { _ in
        isFound = true
        return false
      }
      try meter?.use()
      reads?.note(entries: isFound ? 1 : 0)
    } else {
      try link.forEachKey(of: record, in: encoder) { _ in isFound = true }
    }
    return isFound
  }

  private func hasOneThatMeets(of record: RowReader) throws(StoreError) -> Bool {
    var isFound = false
    try forEach(of: record) { _ in
      isFound = true
      return false
    }
    return isFound
  }

  /// Notes the rows that are read to find the records of the other end without an index.
  private func noteRowsRead() throws(StoreError) {
    if meter == nil, reads == nil { return }
    let count = try link.rowsRead(in: trees)
    try meter?.use(count)
    reads?.note(rows: count)
  }

  /// Calls `body` with each record that one leads to and that meets the condition, until it returns false.
  ///
  /// - Throws: `.corrupt`, `.io`.
  func forEach(
    of record: RowReader, _ body: (RowReader) throws(StoreError) -> Bool
  ) throws(StoreError) {
    if isInverse {
      try noteRowsRead()
      return try link.forEachSource(to: record.key, in: trees, encoder) {
        key throws(StoreError) in
        reads?.note(entries: 1)
        return try look(up: key, body)
      }
    }
    var goesOn = true
    try link.forEachKey(of: record, in: encoder) { key throws(StoreError) in
      if goesOn { goesOn = try look(up: key, body) }
    }
  }

  /// The number of records that one leads to.
  func count(of record: RowReader) throws(StoreError) -> Int {
    if isInverse, condition == nil {
      return try link.count(to: record.key, in: trees, encoder)
    }
    var count = 0
    try forEach(of: record) { _ in
      count += 1
      return true
    }
    return count
  }

  private func isLast(_ key: RawSpan) -> Bool {
    let last = unsafe lastKey
    return unsafe isThere != nil && last.rawSpan.equals(key)
  }

  /// - Returns: The result of `body`; true if there is no such record.
  private func look(
    up key: RawSpan, _ body: (RowReader) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    try meter?.use()
    if !isLast(key) || trees.isChanging {
      reads?.note(rows: 1)
      unsafe lastKey.assign(key)
      unsafe isThere = try trees.copyValue(of: key, in: other.rows, to: &row)
      if !isInverse, link.kind != nil, unsafe isThere == true {
        let bytes = unsafe row
        unsafe isThere = link.mayLead(to: bytes.rawSpan)
      }
    }
    guard unsafe isThere == true else { return true }
    let other = other
    let bytes = unsafe row
    let row = try other.row(key: key, row: bytes.rawSpan)
    if let condition, try !condition.holds(for: row) { return true }
    return try body(row)
  }
}

/// The results of a condition or a computation, by the primary keys of records to which many lead: with them, nested ones
/// take time with the sum of their levels, not with the product.
private struct KnownResults<Value> {
  private static var countMax: Int { 1 << 18 }
  /// The most bytes of results that are no numbers.
  private static var sizeMax: Int { 64 << 20 }

  private var results: [[UInt8]: Value] = [:]
  private var size = 0
  private let trees: TreeAccess
  /// The changes before the results were known.
  private var changeCount: Int

  /// Nil if each record comes once.
  init?(in scope: RelatedScope) {
    guard scope.isNested else { return nil }
    trees = scope.reader.trees
    changeCount = trees.changeCount
  }

  /// Returns the result for a record; nil if it is not known, or was before something changed.
  mutating func result(for key: RawSpan) -> Value? {
    if results.isEmpty { return nil }
    guard changeCount == trees.changeCount else {
      results = [:]
      size = 0
      return nil
    }
    return results[key.array()]
  }

  /// - Parameter size: The bytes that the value takes beyond its own.
  mutating func insert(_ value: Value, for key: RawSpan, size added: Int = 0) {
    if results.count == Self.countMax || size + added > Self.sizeMax {
      results.removeAll(keepingCapacity: true)
      size = 0
    }
    if results.isEmpty { changeCount = trees.changeCount }
    results[key.array()] = value
    size += added
  }
}

/// A value of the records at the other end of a relation.
final class RelatedValue: @unchecked Sendable {
  private let rows: RelatedRows
  private let kind: Kind
  private let terms: ComputedTerms
  private let step: UInt32
  /// The values that were computed; nil if each record comes once.
  // One owner on one thread uses them, so accesses cannot overlap.
  @exclusivity(unchecked) private var known: KnownResults<ComputedValue>?

  private enum Kind {
    case count
    /// With the sum of nothing.
    case sum(ComputedValue)
    case extreme(RowTerm.Orders)
  }

  init(countOf rows: RelatedRows, in scope: RelatedScope) {
    unsafe known = KnownResults(in: scope)
    self.rows = rows
    kind = .count
    terms = ComputedTerms()
    step = 0
  }

  /// - Parameter zero: The sum of nothing; nil if the values cannot be added.
  init(
    _ aggregate: RelatedAggregate, of rows: RelatedRows, _ terms: ComputedTerms, _ step: UInt32,
    zero: ComputedValue?, in scope: RelatedScope
  ) {
    unsafe known = KnownResults(in: scope)
    self.rows = rows
    self.terms = terms
    self.step = step
    kind =
      switch aggregate {
      case .sum: .sum(zero ?? .null)
      case .minimum: .extreme(.less)
      case .maximum: .extreme(.greater)
      }
  }

  func value(for record: RowReader) throws(StoreError) -> ComputedValue {
    if let value = unsafe known?.result(for: record.key) { return value }
    let value = try computed(for: record)
    let size = if case .bytes(let bytes) = value { bytes.count } else { 0 }
    unsafe known?.insert(value, for: record.key, size: size)
    return value
  }

  private func computed(for record: RowReader) throws(StoreError) -> ComputedValue {
    switch kind {
    case .count: return .integer(Int128(try rows.count(of: record)))
    case .sum(let zero):
      var sum = zero
      let terms = terms
      try forEachValue(of: record) { value, row throws(StoreError) in
        sum = try terms.combined(sum, .plus, value, row)
      }
      return sum
    case .extreme(let wanted):
      var extreme = ComputedValue.null
      try forEachValue(of: record) { value, _ in
        // The first value, and any value in place of NaN.
        guard let order = value.order(to: extreme) else { return }
        if wanted.has(order) || order == .null || order == .none && extreme.isNotANumber {
          extreme = value
        }
      }
      return extreme
    }
  }

  private func forEachValue(
    of record: RowReader, _ body: (ComputedValue, RowReader) throws(StoreError) -> Void
  ) throws(StoreError) {
    let (terms, step) = (terms, step)
    try rows.forEach(of: record) { row throws(StoreError) in
      let value = try terms.value(step, row)
      if case .null = value { return true }
      try body(value, row)
      return true
    }
  }
}

extension ComputedValue {
  var isNotANumber: Bool {
    switch self {
    case .double(let value): value.isNaN
    case .decimal(let value): value.isNaN
    default: false
    }
  }
}

extension RowLayout {
  /// The error of a condition across a relation where there can be none.
  func refusal(ofRelation relation: String) -> StoreError {
    .invalidQuery(
      record: record.name, field: relation,
      reason:
        "the condition leads to other records, whose changes nothing tells of here; results(of:) observes them"
    )
  }
}

/// A relation as one of its ends sees it.
struct RelationSide {
  let link: Link
  /// True if the other end has the reference.
  let isInverse: Bool
  /// The record at the other end.
  let other: Entity

  /// Returns a condition on related records with the one that they are of the kind that the reference leads to, where that is
  /// not sure: in a transaction, and of a reference that is not checked. Nil for all.
  func restricted(_ condition: FieldCondition, isChanging: Bool) -> FieldCondition? {
    guard !isInverse, let kind = link.kind, isChanging || !link.isChecked else {
      return condition == .and([]) ? nil : condition
    }
    return .and([.comparison(field: kind.name, .notEqual, .null), condition])
  }
}

extension Entities {
  /// Returns the entity of the records that a reference leads to: that of the type of the kind, if there is one.
  func destination(of reference: ReferenceSchema) throws(StoreError) -> Entity {
    let root = try entity(named: reference.destination)
    guard let kind = reference.kind.flatMap({ root.layout.kinds?.place(named: $0) }) else {
      return root
    }
    return type(ofKind: kind, of: root) ?? root
  }

  /// Returns the entity at the other end of a relation with a name, that of the type of the kind which has the reference or
  /// which it leads to; nil if the record has none.
  func related(by name: String, from record: Entity) -> Entity? {
    if let reference = record.record.field(named: name)?.reference {
      return try? destination(of: reference)
    }
    guard let inverse = record.record.inverses.first(where: { $0.name == name }),
      let root = try? entity(named: inverse.related)
    else { return nil }
    let kinds = root.layout.kinds?.all ?? []
    // The innermost kind has the longest name.
    let kind = kinds.indices.filter { inverse.reference.hasPrefix(kinds[$0].name + ".") }
      .max { kinds[$0].name.utf8.count < kinds[$1].name.utf8.count }
    return kind.flatMap { type(ofKind: $0, of: root) } ?? root
  }

  /// Returns the relation of a record with a name: a reference, or an inverse.
  ///
  /// - Throws: `.invalidQuery` if there is none.
  func relation(_ name: String, of record: Entity) throws(StoreError) -> RelationSide {
    let schema = record.record
    if let reference = schema.field(named: name)?.reference {
      let other = try destination(of: reference)
      return RelationSide(
        link: try link(of: record, name, to: other), isInverse: false, other: other)
    }
    guard let inverse = schema.inverses.first(where: { $0.name == name }) else {
      throw schema.refusal(ofUnknownRelation: name)
    }
    let other = try entity(named: inverse.related)
    return RelationSide(
      link: try link(of: other, inverse.reference, to: record), isInverse: true, other: other)
  }
}
