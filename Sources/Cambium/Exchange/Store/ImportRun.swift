/// The records that the sources of an import are to become: found by their identifiers, in batches.
///
///     identifiers, as keys ─▶ sorted, each once ─▶ rows, looked up in the order of the keys, a chunk at a time
///                                                  ─▶ handed out in the order of the sources
///
/// Rows are copied, so that they stay while others are written. After a change that is not the import's own, a row is
/// looked up again when its turn comes.
@usableFromInline
final class ImportRun {
  /// How sources with one identifier are treated.
  enum Duplicates {
    /// The last one counts, in the place of the first.
    case last
    /// Each of them counts, in their order.
    case all
  }

  private enum Stored {
    /// It was not looked up, or was written since.
    case unknown
    case missing
    /// Where its primary key and its row are among the copied bytes.
    case row(key: Range<Int>, row: Range<Int>)

    var isUnknown: Bool { if case .unknown = self { true } else { false } }
  }

  private let entity: Entity
  private let writer: RecordWriter
  /// The unique field that the identifiers are of; nil if they are primary keys.
  private let field: UniqueField?
  /// The places of the columns that the store computes; the values that an import has for them are ignored.
  private let derived: Set<Int>
  /// The places of the columns that sequences number: a source that leaves one open changes nothing there.
  private let numbered: Set<Int>
  private let encoder = KeyEncoder()
  // One owner on one thread uses them, so accesses cannot overlap.
  /// The identifiers as keys: in the order of the sources, then sorted.
  @exclusivity(unchecked) private var keys: SortedKeys
  /// The values of the unique field, in the order of the sources; empty if identifiers are primary keys.
  @exclusivity(unchecked) private var values: [FieldValue] = []
  /// The sources to import, and the places of their keys among the sorted ones.
  @exclusivity(unchecked) private var order: [(source: Int, place: Int)] = []
  /// By the place of a key.
  @exclusivity(unchecked) private var stored: [Stored] = []
  @exclusivity(unchecked) private var bytes: [UInt8] = []
  @exclusivity(unchecked) private var batch = KeyBatch()
  @exclusivity(unchecked) private var found = LayeredBatch()
  /// The place in the order.
  @exclusivity(unchecked) private var position = -1
  /// The end of the chunk that was looked up.
  @exclusivity(unchecked) private var chunkEnd = 0
  /// The changes of the transaction, as far as the import knows them.
  @exclusivity(unchecked) private var changeCount = 0
  @exclusivity(unchecked) private var isStale = false
  @exclusivity(unchecked) private var storedKey: [UInt8] = []
  @exclusivity(unchecked) private var storedRow: [UInt8] = []
  /// The number of records that the import has written.
  @exclusivity(unchecked) private var writtenCount = 0
  /// True if nothing but the import changes the transaction while it runs.
  @exclusivity(unchecked) private var isAlone = false
  /// The rows as they were when the import's writes began to be sorted: those of the sources to come are still in them. Nil
  /// before, and after a change that is not the import's own.
  @exclusivity(unchecked) private var rowsBefore: LayeredTree?
  /// True if there is a record with the identifier of the present source.
  @exclusivity(unchecked) private(set) var isFound = false

  /// The number of sources whose rows are looked up together: enough that neighbours in a tree come together, and few
  /// enough that their rows are no burden.
  private static var chunkSize: Int { 1 << 14 }

  /// The number of writes after which further ones are sorted, if many may follow.
  private static var sortedCountMin: Int { 1 << 10 }
  /// The number of rows for each source to come, up to which that takes less time: all leaves that they fall into are written
  /// again.
  private static var rowsPerSourceMax: Int { 8 }

  /// - Parameter fieldName: The stored name of a unique field that the identifiers are of; nil for the primary key.
  /// - Throws: `.invalidQuery` if the field is not unique.
  init(_ entity: Entity, _ writer: RecordWriter, by fieldName: String? = nil) throws(StoreError) {
    self.entity = entity
    self.writer = writer
    let derivations = writer.entities.derivations
    derived = Set(
      (derivations?.own(entity) ?? []).map(\.column)
        + (derivations?.aggregates(entity) ?? []).map(\.column))
    numbered = Set((derivations?.sequences(entity) ?? []).map(\.column))
    field =
      if let fieldName, !entity.isPrimaryKey(fieldName) {
        try UniqueField(fieldName, of: entity)
      } else {
        nil
      }
    unsafe keys = SortedKeys(of: entity.record.name)
  }

  private var trees: TransactionTrees { writer.trees }
  /// True if a write of a record changes no other record.
  private var writesAlone: Bool {
    writer.entities.derivations?.feeds(of: entity).isEmpty ?? true
  }

  /// For errors.
  var recordName: String { entity.record.name }
}

extension Entity {
  /// Returns true of the only field of the primary key.
  fileprivate func isPrimaryKey(_ field: String) -> Bool {
    layout.key.columns.count == 1
      && layout.key.columns.allSatisfy { layout.columns[Int($0.column)].field.name == field }
  }
}

/// A field whose values are different in all records, with the layout of its index's keys.
private struct UniqueField {
  let name: String
  let column: KeyColumn
  let place: Int

  init(_ name: String, of entity: Entity) throws(StoreError) {
    let layout = entity.layout
    let index = entity.indexes.first { index in
      let schema = index.layout.schema
      guard schema.isUnique, schema.condition == nil, schema.parts.count == 1,
        schema.parts[0].expansion == .none, !schema.parts[0].isCaseInsensitive,
        schema.parts[0].collation == nil
      else { return false }
      return layout.record.fields.contains { $0.name == name && $0.number == schema.parts[0].field }
    }
    guard let index, let place = layout.index(named: name) else {
      throw .invalidQuery(
        record: layout.record.name, field: name,
        reason: "an import finds records by a unique field, and it is not unique")
    }
    self.name = name
    self.place = place
    column = index.layout.wholeParts.columns[0]
  }
}

// MARK: Identifiers

extension ImportRun {
  /// Makes room for the identifiers of a number of sources.
  @usableFromInline
  func reserve(_ count: Int) {
    unsafe keys.reserve(count)
    if field != nil { unsafe values.reserveCapacity(count) }
  }

  /// Adds the identifier of the next source.
  ///
  /// - Throws: `.invalidQuery` if the primary key has several parts; `.invalidValue` if it is of another type.
  @usableFromInline
  func append(_ id: FieldValue) throws(StoreError) {
    let (layout, encoder) = (entity.layout, encoder)
    encoder.begin()
    if let field {
      let id = id.converted(to: layout.columns[field.place].field.type) ?? id
      try encoder.append(id, field.column, of: layout)
      unsafe values.append(id)
    } else {
      guard layout.key.columns.count == 1, let column = layout.key.columns.first else {
        throw .invalidQuery(
          record: layout.record.name, field: nil,
          reason: "the primary key has \(layout.key.columns.count) parts; import by a unique field")
      }
      let type = layout.columns[Int(column.column)].field.type
      try encoder.append(id.converted(to: type) ?? id, column, of: layout)
      try encoder.finishPrimaryKey(of: layout)
    }
    try append(key: encoder.key)
  }

  /// Adds the primary key that the fields of the next source have.
  ///
  /// - Throws: `.invalidValue` if a part is missing, or of another type.
  func append(keyOf fields: [String: FieldValue], _ buffers: WriteBuffers) throws(StoreError) {
    let key = buffers.key
    try key.encode(primaryKeyIn: fields, of: entity)
    try append(key: key.key)
  }

  /// Adds the primary key of the next source.
  func append(key: RawSpan) throws(StoreError) {
    try unsafe keys.add(key, keyLength: key.byteCount)
  }

  /// Puts the identifiers in order, once all were added.
  ///
  /// - Returns: The number of sources that are passed over.
  func begin(_ duplicates: Duplicates = .last) -> Int {
    let count = unsafe keys.count
    var places = [Int](repeating: 0, count: count)
    unsafe keys.sort()
    unsafe keys.removeDuplicates { number, place in places[number] = place }
    unsafe stored = [Stored](repeating: .unknown, count: keys.count)
    switch duplicates {
    case .all: unsafe order = places.enumerated().map { ($0.offset, $0.element) }
    case .last:
      var last = unsafe [Int](repeating: -1, count: keys.count)
      for (source, place) in places.enumerated() { last[place] = source }
      unsafe order.reserveCapacity(keys.count)
      for place in places where last[place] >= 0 {
        unsafe order.append((last[place], place))
        last[place] = -1
      }
    }
    return unsafe count - order.count
  }

  @usableFromInline
  func beginWithLast() -> Int { begin(.last) }

  /// Says that nothing but the import changes the transaction, and that each record is written once.
  @usableFromInline
  func expectNoOthers() { unsafe isAlone = true }
}

// MARK: Finding

extension ImportRun {
  /// Moves to the next source, and finds its record.
  ///
  /// - Returns: The number of the source, counted as the identifiers were added; nil after the last.
  /// - Throws: `.corrupt`, `.io`, errors of a transaction that spills.
  @usableFromInline
  func next() throws(StoreError) -> Int? {
    unsafe position += 1
    guard unsafe position < order.count else { return nil }
    if isChanged { unsafe rowsBefore = nil }
    if unsafe position == chunkEnd { try lookAhead() }
    if isChanged {
      unsafe isStale = true
      unsafe changeCount = trees.changeCount
    }
    let (source, place) = unsafe order[position]
    if unsafe isStale || stored[place].isUnknown { try find(alone: place) }
    if field == nil { unsafe keys.copy(place, to: &storedKey) }
    switch unsafe stored[place] {
    case .row(let key, let row):
      if field != nil { unsafe storedKey.assign(bytes.rawSpan.extracting(key)) }
      unsafe storedRow.assign(bytes.rawSpan.extracting(row))
      unsafe isFound = true
    case .unknown, .missing: unsafe isFound = false
    }
    unsafe stored[place] = .unknown
    return source
  }

  /// True if something else has changed since the present source's record was found.
  private var isChanged: Bool { unsafe trees.changeCount != changeCount }

  private func lookAhead() throws(StoreError) {
    let start = unsafe chunkEnd
    unsafe chunkEnd = min(order.count, start + Self.chunkSize)
    unsafe bytes.removeAll(keepingCapacity: true)
    unsafe changeCount = trees.changeCount
    unsafe isStale = false
    var places = unsafe order[start..<chunkEnd].map(\.place)
    if let field {
      return try find(places, sources: unsafe order[start..<chunkEnd].map(\.source), by: field)
    }
    places.sort()
    try find(places)
  }

  /// Looks up the rows of primary keys.
  private func find(_ places: [Int]) throws(StoreError) {
    let before = unsafe rowsBefore
    guard let tree = if before != nil { before } else { try trees.layered(entity.rows) } else {
      for place in places { try find(alone: place) }
      return
    }
    let keys = unsafe keys
    var start = 0
    while start < places.count {
      let end = min(start + RowsAhead.countMax, places.count)
      unsafe batch.removeAll()
      for place in places[start..<end] { unsafe batch.append(keys.whole(place)) }
      try unsafe found.find(batch, in: tree)
      let found = unsafe found
      for (index, place) in places[start..<end].enumerated() {
        guard let entry = found.entry(index) else {
          unsafe stored[place] = .missing
          continue
        }
        let begin = unsafe bytes.count
        try unsafe tree.append(entry, to: &bytes)
        unsafe stored[place] = .row(key: begin..<begin, row: begin..<bytes.count)
      }
      start = end
    }
  }

  /// Looks up one row, as the transaction has it now.
  private func find(alone place: Int) throws(StoreError) {
    if let field {
      let source = unsafe order[position].source
      return try find([place], sources: [source], by: field)
    }
    unsafe stored[place] = .missing
    let keys = unsafe keys
    var row: [UInt8] = []
    if try trees.copyValue(of: keys.whole(place), in: entity.rows, to: &row) {
      keep(key: RawSpan(), row: row.rawSpan, at: place)
    }
  }

  private func keep(key: RawSpan, row: RawSpan, at place: Int) {
    let start = unsafe bytes.count
    unsafe bytes.append(key)
    let middle = unsafe bytes.count
    unsafe bytes.append(row)
    unsafe stored[place] = .row(key: start..<middle, row: middle..<bytes.count)
  }

  /// Looks up the records with values of a unique field, in its index.
  private func find(
    _ places: [Int], sources: [Int], by field: UniqueField
  ) throws(StoreError) {
    for place in places { unsafe stored[place] = .missing }
    let (entity, encoder, keys) = unsafe (entity, encoder, keys)
    let values = unsafe values
    let wanted = sources.map { values[$0] }
    let reader = RecordReader(entities: writer.entities, trees: .transaction(trees))
    let records = try QueryRunner(entity, in: reader).find(
      FieldQuery(condition: .isIn(field: field.name, wanted)))
    while try records.next() {
      let row = try entity.row(key: records.key, row: try records.row(), blobs: records.blobs)
      encoder.begin()
      try encoder.append(try row.value(field.place), field.column, of: entity.layout)
      guard let place = keys.place(of: encoder.key) else { continue }
      keep(key: records.key, row: row.row, at: place)
    }
  }
}

extension ImportRun {
  /// The primary key of the present source; of no meaning for a new record that is found by another field.
  @usableFromInline
  var key: RawSpan {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(storedKey.rawSpan, borrowing: self) }
  }

  /// The row of the present source's record, if it is found.
  @usableFromInline
  var row: RawSpan {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(storedRow.rawSpan, borrowing: self) }
  }

  /// Returns the record of the present source; nil if there is none, or if it is of another kind.
  ///
  /// - Throws: as `RecordType.load`.
  @inlinable
  func load<Subject: Record>(_ type: RecordType<Subject>) throws -> Subject? {
    guard has(type) else { return nil }
    return try type.load(key: key, row: row, blobs: blobs(of: type))
  }

  /// True if the present source has a record, of the kind that a type stands for.
  @usableFromInline
  func has(_ type: Entity) -> Bool { unsafe isFound && type.has(row) }

  @usableFromInline
  func blobs(of type: Entity) -> BlobFinder? { writer.blobFinder(of: type) }

  /// Returns a lookup of the tracked values that the records of a type have; nil if it has no tracked properties.
  func unstored(of type: Entity) -> ((RawSpan) -> UnstoredEntry)? {
    TreeAccess.transaction(trees).unstored(of: type)
  }
}

// MARK: Writing

extension ImportRun {
  /// True if rows are written as they are encoded, and are the same only if their bytes are.
  @usableFromInline
  func isPlain<Subject: Record>(_ type: RecordType<Subject>) -> Bool {
    !type.hasWriteHook && !type.isOfHierarchy && !type.isTracked && type.blobs == nil
  }

  /// Writes the row in the buffers for the present source, unless its record has it already.
  ///
  /// - Throws: `.invalidValue` if it has another primary key; as `RecordWriter.write`.
  @usableFromInline
  func write(_ buffers: WriteBuffers, _ report: inout ImportReport) throws(StoreError) {
    let (key, row) = (buffers.key, buffers.row)
    try check(key.key)
    let isChanged = isChanged
    if unsafe isFound, !isChanged, try isSame(row.row, key.key) {
      report.unchanged += 1
      return
    }
    if unsafe writtenCount == Self.sortedCountMin { try sortWrites() }
    let isFound = unsafe isFound
    // Rows that were looked up need not be looked up again.
    let known: [UInt8]? =
      unsafe isChanged || !isFound && field != nil ? nil : isFound ? storedRow : []
    try writer.write(
      key.key, row.row, row.waiting, of: entity, over: known,
      presence: !isFound && field != nil ? .isNew : .any, onConflict: .refuse)
    if !isChanged, writesAlone { unsafe changeCount = trees.changeCount }
    unsafe writtenCount += 1
    report.count(isNew: !isFound)
  }

  /// Has further writes sorted, and committed by a footer, if that takes less time.
  @inline(never)
  private func sortWrites() throws(StoreError) {
    let leftCount = unsafe order.count - position
    guard unsafe isAlone, field == nil, writesAlone, !isChanged,
      leftCount >= TransactionTrees.manyMin,
      let tree = try trees.layered(entity.rows), tree.count / Self.rowsPerSourceMax <= leftCount
    else { return }
    unsafe rowsBefore = tree
    trees.expectMany()
  }

  /// Returns true if a row has the same values as the record of the current source, apart from derived ones.
  private func isSame(_ new: RawSpan, _ key: RawSpan) throws(StoreError) -> Bool {
    if new.equals(self.row) { return true }
    if derived.isEmpty, numbered.isEmpty { return false }
    let entity = entity
    let row = try entity.row(key: key, row: new)
    let stored = try entity.row(key: key, row: self.row)
    return areSame(try row.columnValues(), try stored.columnValues())
  }

  /// Returns true if two rows have the same values, apart from derived ones and numbers that the first leaves open.
  private func areSame(_ one: [FieldValue], _ other: [FieldValue]) -> Bool {
    one.count == other.count
      && one.indices.allSatisfy {
        derived.contains($0) || numbered.contains($0) && one[$0].isOpen
          || one[$0].isSame(as: other[$0])
      }
  }

  /// The values of a row that may only number some of them.
  private func values(of row: RowWriter, _ key: KeyEncoder) throws(StoreError) -> [FieldValue] {
    let entity = entity
    return try entity.row(key: key.key, row: row.row, blobs: BlobFinder(row.waiting))
      .columnValues()
  }

  /// Throws if a record was given another primary key than that of its source.
  func check(_ key: RawSpan) throws(StoreError) {
    if unsafe field != nil && !isFound { return }
    guard !key.equals(self.key) else { return }
    throw .invalidValue(
      record: entity.record.name, field: nil,
      reason:
        "an import has made a record with the primary key \(entity.text(ofKey: key)) for \(entity.text(ofKey: self.key)); keep the identifier"
    )
  }

  /// Writes a record whose row cannot be compared as bytes, or that hooks change first.
  @usableFromInline
  func write<Subject: Record>(
    _ record: Subject, over existing: Subject?, of type: RecordType<Subject>,
    in transaction: borrowing WriteTransaction, _ report: inout ImportReport
  ) throws {
    let buffers = transaction.buffers
    let (key, row) = (buffers.key, buffers.row)
    var old: (values: [FieldValue], tracked: UnstoredEntry?)?
    if let existing, !isChanged {
      try type.encodeKey(existing, to: key, row: row)
      old = (try values(of: row, key), row.tracked)
    }
    try type.encodeKey(record, to: key, row: row)
    try check(key.key)
    if let old, areSame(try values(of: row, key), old.values),
      !(row.tracked?.differs(from: old.tracked ?? UnstoredEntry()) ?? false)
    {
      report.unchanged += 1
      return
    }
    let isFound = unsafe isFound
    let isOfAnotherKind = isFound && existing == nil
    let presence: RecordWriter.Presence =
      isChanged && field == nil || isOfAnotherKind ? .any : isFound ? .isThere : .isNew
    let isOwn = !isChanged && !type.hasWriteHook && writesAlone
    try transaction.write(record, of: type, presence, .refuse)
    if isOwn { unsafe changeCount = trees.changeCount }
    report.count(isNew: !isFound)
  }
}

extension ImportReport {
  fileprivate mutating func count(isNew: Bool) {
    if isNew { inserted += 1 } else { updated += 1 }
  }
}
