internal import Synchronization

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
  /// For keys by which results are known.
  private let knownKeys = KeyEncoder()
  /// True if results are known by the record itself, of a list or an inverse.
  private let isKnownByRecord: Bool
  // One owner on one thread uses them, so accesses cannot overlap.
  /// A cursor on the record that was looked up last, in a state that never changes.
  @exclusivity(unchecked) private var cursor: CursorAccess?
  /// A cursor in the reverse index; nil before the first key, and if there can be none.
  @exclusivity(unchecked) private var sourceCursor: CursorAccess?
  @exclusivity(unchecked) private var hasSoughtSources = false
  /// The key that was looked up last, and its row where that may change.
  @exclusivity(unchecked) private var lastKey: [UInt8] = []
  @exclusivity(unchecked) private var row: [UInt8] = []
  @exclusivity(unchecked) private var isThere: Bool?
  /// The results so far.
  @exclusivity(unchecked) private var known: KnownResults<Bool>
  /// The number of rows that were looked up so far.
  @exclusivity(unchecked) private(set) var lookUpCount = 0

  /// - Throws: `.invalidQuery` if there is no such relation, or the condition does not fit the records at its other end.
  init(
    _ relation: String, of record: Entity, where condition: FieldCondition, in scope: RelatedScope
  ) throws(StoreError) {
    let reader = scope.reader
    meter = reader.meter
    reads = reader.reads
    unsafe known = KnownResults(in: reader.trees)
    let side = try reader.entities.relation(relation, of: record)
    link = side.link
    isInverse = side.isInverse
    isKnownByRecord = scope.isNested
    other = side.other
    self.condition =
      condition == .and([])
      ? nil : try RowCondition(condition, in: other.layout, scope.nested)
    trees = reader.trees
    isSure =
      try self.condition == nil
      ? (side.isInverse ? true : side.link.leadsSomewhere(in: reader.trees)) : false
  }

  /// True if the other end is at most one record, which many may lead to.
  var isSingle: Bool { !isInverse && !link.isList }

  /// Returns the key by which the results for a record are known: that of the one record that it leads to, or its own. Nil
  /// if results need not be kept, since each record comes once. Until the next key.
  ///
  /// With known results, nested conditions and computations take time with the sum of their levels, not with the product,
  /// and a record that many lead to is looked up once.
  @_lifetime(borrow self)
  func knownKey(of record: RowReader) throws(StoreError) -> RawSpan? {
    let knownKeys = knownKeys
    knownKeys.begin()
    if isSingle {
      guard try link.appendKey(of: record, to: knownKeys) else { return nil }
    } else if isKnownByRecord {
      knownKeys.appendRaw(record.key)
    } else {
      return nil
    }
    return unsafe _overrideLifetime(knownKeys.key, borrowing: self)
  }

  /// Returns true if one of the records that one leads to meets the condition.
  ///
  /// - Complexity: A seek in the index of the reference without a condition; otherwise also a lookup for each related record
  ///   up to the first that meets it.
  func holds(for record: RowReader) throws(StoreError) -> Bool {
    if isSure, !isInverse { return try hasAny(of: record) }
    guard let key = try knownKey(of: record) else { return try isFound(for: record) }
    if let result = unsafe known.result(for: key) { return result }
    let isFound = try isFound(for: record)
    unsafe known.insert(isFound, for: key)
    return isFound
  }

  private func isFound(for record: RowReader) throws(StoreError) -> Bool {
    isSure ? try hasAny(of: record) : try hasOneThatMeets(of: record)
  }

  /// Returns true if one leads to any record, without reading its row.
  private func hasAny(of record: RowReader) throws(StoreError) -> Bool {
    var isFound = false
    if isInverse {
      try noteRowsRead()
      let cursor = try openedSourceCursor()
      try link.forEachSource(to: record.key, in: trees, encoder, by: cursor) { _ in
        isFound = true
        return false
      }
      try meter?.use()
      reads?.note(entries: isFound ? 1 : 0)
    } else {
      try link.visitKeys(
        of: record, in: encoder,
        while: { _ in
          isFound = true
          return false
        })
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
      let cursor = try openedSourceCursor()
      return try link.forEachSource(to: record.key, in: trees, encoder, by: cursor) {
        key throws(StoreError) in
        reads?.note(entries: 1)
        return try look(up: key, body)
      }
    }
    try link.visitKeys(
      of: record, in: encoder, while: { key throws(StoreError) in try look(up: key, body) })
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
    unsafe lookUpCount &+= 1
    if trees.isChanging { return try lookInChanges(up: key, body) }
    let cursor = try openedCursor()
    if !isLast(key) {
      reads?.note(rows: 1)
      unsafe isThere = nil
      unsafe lastKey.assign(key)
      // Records that follow one another mostly lead to the same leaf, or to the next.
      let isFound = try cursor.seek(to: key) && cursor.key.equals(key)
      unsafe isThere = isFound ? isOfKind(try cursor.value()) : false
    }
    guard unsafe isThere == true else { return true }
    return try pass(key, try cursor.value(), body)
  }

  private func openedSourceCursor() throws(StoreError) -> CursorAccess? {
    if unsafe !hasSoughtSources {
      unsafe sourceCursor = try link.sourceCursor(in: trees)
      unsafe hasSoughtSources = true
    }
    return unsafe sourceCursor
  }

  private func openedCursor() throws(StoreError) -> CursorAccess {
    if let cursor = unsafe cursor { return cursor }
    let opened = try trees.cursor(in: other.rows)
    unsafe cursor = opened
    return opened
  }

  /// The same in a transaction, whose records may change between two lookups.
  private func lookInChanges(
    up key: RawSpan, _ body: (RowReader) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    reads?.note(rows: 1)
    guard try unsafe trees.copyValue(of: key, in: other.rows, to: &row) else { return true }
    let bytes = unsafe row
    guard isOfKind(bytes.rawSpan) else { return true }
    return try pass(key, bytes.rawSpan, body)
  }

  private func isOfKind(_ row: RawSpan) -> Bool {
    isInverse || link.mayLead(to: row)
  }

  private func pass(
    _ key: RawSpan, _ row: RawSpan, _ body: (RowReader) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    let other = other
    let record = try other.row(key: key, row: row)
    if let condition, try !condition.holds(for: record) { return true }
    return try body(record)
  }
}

// MARK: All at once

extension RelatedRows {
  /// About the number of rows that `forEachOfAll` reads; nil if it cannot be called, since a transaction may change them, or
  /// the other end does not have the reference, or has a list.
  func countOfAll() throws(StoreError) -> Int? {
    guard isInverse, !link.isList, !trees.isChanging else { return nil }
    return try trees.estimatedCount(in: other.rows)
  }

  /// Calls `body` with each record of the other end that meets the condition and leads to any record, and with the primary
  /// key of that.
  ///
  /// - Throws: `.corrupt`, `.io`; rethrows errors of `body`.
  func forEachOfAll(
    _ body: (_ key: RawSpan, _ row: RowReader) throws(StoreError) -> Void
  ) throws(StoreError) {
    let (other, encoder) = (other, KeyEncoder())
    let cursor = try trees.cursor(in: other.rows)
    while try cursor.advance() {
      try meter?.use()
      reads?.note(rows: 1)
      let row = try other.row(key: cursor.key, row: try cursor.value())
      if let condition, try !condition.holds(for: row) { continue }
      encoder.begin()
      if try link.appendKey(of: row, to: encoder) { try body(encoder.key, row) }
    }
  }
}

/// The results of a condition or a computation, by keys of records.
struct KnownResults<Value> {
  private static var countMax: Int { 1 << 18 }
  /// The most bytes of keys, and of results that are no numbers.
  private static var sizeMax: Int { 64 << 20 }

  private var keys = KeyNumbers()
  private var results: [Value] = []
  private var size = 0
  private let trees: TreeAccess
  /// The changes before the results were known.
  private var changeCount = 0

  init(in trees: TreeAccess) {
    self.trees = trees
  }

  /// Returns the result for a record; nil if it is not known, or was before something changed.
  @inline(__always)
  mutating func result(for key: RawSpan) -> Value? {
    if results.isEmpty { return nil }
    guard !trees.isChanging || changeCount == trees.changeCount else {
      removeAll()
      return nil
    }
    return keys.existingNumber(of: key).map { results[$0] }
  }

  /// - Parameter size: The bytes that the value takes beyond its own.
  mutating func insert(_ value: Value, for key: RawSpan, size added: Int = 0) {
    if results.count == Self.countMax || size + keys.size + added > Self.sizeMax { removeAll() }
    if results.isEmpty { changeCount = trees.changeCount }
    guard keys.number(of: key).isNew else { return }
    results.append(value)
    size += added
  }

  private mutating func removeAll() {
    keys.removeAll()
    results.removeAll(keepingCapacity: true)
    size = 0
  }
}

/// A value of the records at the other end of a relation.
final class RelatedValue: @unchecked Sendable {
  private let rows: RelatedRows
  private let kind: Kind
  private let terms: ComputedTerms
  private let step: UInt32
  // One owner on one thread uses them, so accesses cannot overlap.
  /// The values that were computed.
  @exclusivity(unchecked) private var known: KnownResults<ComputedValue>
  /// The values of all records, once that many were computed one by one that it takes no longer to compute all at once.
  @exclusivity(unchecked) private var all: AllValues?
  /// The number of values that were computed one by one.
  @exclusivity(unchecked) private var oneByOneCount = 0
  /// The time from which on all are computed, in rows of a scan; nil before the first value.
  @exclusivity(unchecked) private var spentMax: Int?

  private enum Kind {
    case count
    /// With the sum of nothing.
    case sum(ComputedValue)
    case extreme(RowTerm.Orders)
  }

  /// The values by the primary keys of the records that others lead to.
  private struct AllValues {
    static var countMax: Int { 1 << 19 }
    static var sizeMax: Int { 64 << 20 }

    var keys = KeyNumbers()
    var values: [ComputedValue] = []

    mutating func value(for key: RawSpan, ofNothing: ComputedValue) -> ComputedValue {
      keys.existingNumber(of: key).map { values[$0] } ?? ofNothing
    }
  }

  init(countOf rows: RelatedRows, in scope: RelatedScope) {
    unsafe known = KnownResults(in: scope.reader.trees)
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
    unsafe known = KnownResults(in: scope.reader.trees)
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
    if let value = unsafe all?.value(for: record.key, ofNothing: ofNothing) { return value }
    let rows = rows
    guard let key = try rows.knownKey(of: record) else { return try computed(for: record) }
    if let value = unsafe known.result(for: key) { return value }
    let value = try computed(for: record)
    let size = if case .bytes(let bytes) = value { bytes.count } else { 0 }
    unsafe known.insert(value, for: key, size: size)
    return value
  }

  private func computed(for record: RowReader) throws(StoreError) -> ComputedValue {
    if try areAllComputed(), let value = unsafe all?.value(for: record.key, ofNothing: ofNothing) {
      return value
    }
    if case .count = kind { return .integer(Int128(small: Int64(try rows.count(of: record)))) }
    var value = ofNothing
    try rows.forEach(of: record) { row throws(StoreError) in
      try add(row, to: &value)
      return true
    }
    return value
  }

  /// The value of no records.
  private var ofNothing: ComputedValue {
    switch kind {
    case .count: .integer(0)
    case .sum(let zero): zero
    case .extreme: .null
    }
  }

  private func add(_ row: RowReader, to result: inout ComputedValue) throws(StoreError) {
    if case .count = kind {
      guard case .integer(let count) = result else { return }
      result = .integer(count &+ 1)
      return
    }
    let value = try terms.value(step, row)
    if case .null = value { return }
    switch kind {
    case .count: break
    case .sum: result = try terms.combined(result, .plus, value, row)
    case .extreme(let wanted):
      // The first value, and any value in place of NaN.
      guard let order = value.order(to: result) else { return }
      if wanted.has(order) || order == .null || order == .none && result.isNotANumber {
        result = value
      }
    }
  }
}

// MARK: All at once

// A query that is about to use the values of most records would look up each related record by itself. Whether it is about
// to is not known before; so values are computed one by one until that has taken about as long as a scan would have. That
// takes twice as long at most as the better of both.

extension RelatedValue {
  /// About the time that a seek, or the lookup of a row, takes, in rows of a scan.
  private static var lookUpCost: Int { 8 }

  /// Returns true if all values are known: then they are computed, if computing them one by one has taken long enough.
  private func areAllComputed() throws(StoreError) -> Bool {
    unsafe oneByOneCount &+= 1
    if unsafe spentMax == nil { unsafe spentMax = try rows.countOfAll() ?? .max }
    let (spent, isMuch) = unsafe (oneByOneCount &+ rows.lookUpCount)
      .multipliedReportingOverflow(by: Self.lookUpCost)
    guard unsafe isMuch || spent > spentMax ?? .max else { return false }
    // It is not tried again.
    unsafe spentMax = .max
    do throws(StoreError) {
      unsafe all = try computedOfAll()
    } catch {
      // A value that the query does not use has no result.
      guard case .invalidQuery = error else { throw error }
    }
    return unsafe all != nil
  }

  /// Nil if they take too much memory.
  private func computedOfAll() throws(StoreError) -> AllValues? {
    var all = AllValues()
    var size = 0
    let ofNothing = ofNothing
    var isTooLarge = false
    try rows.forEachOfAll { key, row throws(StoreError) in
      if isTooLarge { return }
      let (number, isNew) = all.keys.number(of: key)
      if isNew { all.values.append(ofNothing) }
      try add(row, to: &all.values[number])
      if case .bytes(let bytes) = all.values[number] { size += bytes.count }
      isTooLarge =
        all.values.count > AllValues.countMax || size + all.keys.size > AllValues.sizeMax
    }
    return isTooLarge ? nil : all
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
struct RelationSide: Sendable {
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

/// The relations of an open state that were asked for, and the names of properties that lead over them.
final class RelationSides: Sendable {
  /// A name, or a property, of a record, which it keeps.
  private struct Key<Name: Hashable & Sendable>: Hashable, Sendable {
    let record: Entity
    let name: Name

    static func == (one: Key, other: Key) -> Bool {
      one.record === other.record && one.name == other.name
    }

    func hash(into hasher: inout Hasher) {
      hasher.combine(ObjectIdentifier(record))
      hasher.combine(name)
    }
  }

  /// A program may make the names of properties while it runs.
  private static var namesMax: Int { 1_024 }

  private let sides = Mutex<[Key<String>: RelationSide]>([:])
  private let names = Mutex<[Key<PropertyReference>: String]>([:])

  func side(_ name: String, of record: Entity) -> RelationSide? {
    let key = Key(record: record, name: name)
    return sides.withLock { $0[key] }
  }

  func note(_ side: RelationSide, _ name: String, of record: Entity) {
    let key = Key(record: record, name: name)
    sides.withLock { $0[key] = side }
  }

  /// The stored name of a property that leads over relations.
  func name(of property: PropertyReference, of record: Entity) -> String? {
    let key = Key(record: record, name: property)
    return names.withLock { $0[key] }
  }

  func note(_ name: String, of property: PropertyReference, of record: Entity) {
    let key = Key(record: record, name: property)
    names.withLock { names in
      if names.count >= Self.namesMax { names.removeAll() }
      names[key] = name
    }
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
    if let side = sides.side(name, of: record) { return side }
    let side = try foundRelation(name, of: record)
    sides.note(side, name, of: record)
    return side
  }

  private func foundRelation(
    _ name: String, of record: Entity
  ) throws(StoreError) -> RelationSide {
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
