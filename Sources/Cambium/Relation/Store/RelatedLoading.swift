// Finds and loads the records of inclusions: keys first, sorted and each once, then their rows in that order.
//
// Only `load` knows the types of the records, so records without types are found by the same code.

/// Primary keys, each once in their order, with the places of those that were added.
private struct KeyTable {
  var keys: SortedKeys
  /// By the number of a key that was added, its place among the sorted ones.
  private(set) var places: [Int] = []

  init(of record: Entity) { keys = SortedKeys(of: record.record.name) }

  mutating func append(_ key: RawSpan) throws(StoreError) {
    try keys.add(key, keyLength: key.byteCount)
  }

  /// Sorts the keys, once all were added.
  mutating func sort() {
    var places = [Int](repeating: 0, count: keys.count)
    keys.sort()
    keys.removeDuplicates { number, place in places[number] = place }
    self.places = places
  }
}

/// The rows of sorted keys that exist and meet a condition, each looked up once.
@usableFromInline
final class WantedRows {
  private let record: Entity
  @usableFromInline let source: KeySource
  @usableFromInline let blobs: BlobFinder?
  private let order: BoundOrder
  private let encoder = KeyEncoder()
  // One owner on one thread uses them, so accesses cannot overlap.
  /// By the place of a key, the place of its row; −1 for a key without a row that is wanted.
  @exclusivity(unchecked) fileprivate private(set) var places: [Int]
  /// The number of rows up to the one that it stands on.
  @exclusivity(unchecked) private var count = 0
  /// The sort keys, by the place of a row; empty if rows are sorted by primary key.
  @exclusivity(unchecked) fileprivate private(set) var sortKeys: SortedKeys
  /// By the place of a row, its mark; empty without an observer.
  @exclusivity(unchecked) private(set) var marks: [RowMarks.Mark] = []

  /// - Parameter mayMiss: False if every key has a row, as those in an index.
  fileprivate init(
    _ keys: SortedKeys, of record: Entity, in reader: RecordReader, mayMiss: Bool,
    where condition: RowCondition? = nil, order: BoundOrder = .byPrimaryKey
  ) {
    self.record = record
    self.order = order
    blobs = reader.blobs(of: record)
    unsafe places = [Int](repeating: -1, count: keys.count)
    unsafe sortKeys = SortedKeys(of: record.record.name)
    source = KeySource(
      keys, condition, FoundRow(of: record, in: reader.trees, reader.meter), isChanging: mayMiss)
  }

  /// Moves on. False after the last.
  @usableFromInline
  func next() throws(StoreError) -> Bool {
    guard try nextOfKind() else { return false }
    unsafe places[source.place] = count
    unsafe count += 1
    if !order.columns.isEmpty {
      let (record, source, encoder) = (record, source, encoder)
      try order.encode(try record.row(key: source.key, row: try source.row()), to: encoder)
      try unsafe sortKeys.add(encoder.key, keyLength: 0)
    }
    return true
  }

  /// Moves on to the next row of the kind that is wanted.
  private func nextOfKind() throws(StoreError) -> Bool {
    let (record, source) = (record, source)
    while try source.next() {
      let row = try source.row()
      if record.has(row) { return true }
    }
    return false
  }

  /// Returns the records that are left.
  ///
  /// - Parameter isMarked: True to keep the marks of their rows.
  @inlinable
  func load<Subject: Record>(
    _ type: RecordType<Subject>, marked isMarked: Bool = false
  ) throws -> [Subject] {
    let (source, blobs) = (source, blobs)
    var records: [Subject] = []
    while try next() {
      if isMarked { try mark() }
      records.append(try type.load(key: source.key, row: try source.row(), blobs: blobs))
    }
    return records
  }

  @usableFromInline
  func mark() throws(StoreError) {
    let source = source
    var stream = RowMarks.Mark.Stream(key: .format)
    stream.update(source.key)
    stream.update(try source.row())
    unsafe marks.append(stream.finish())
  }

  /// Returns the records that are left, as their fields' values.
  func load(stringsAsBlobs: Bool) throws(StoreError) -> [DynamicRecord] {
    let (record, source) = (record, source)
    var records: [DynamicRecord] = []
    while try next() {
      let row = try record.row(key: source.key, row: try source.row(), blobs: blobs)
      records.append(try DynamicRecord(row, stringsAsBlobs: stringsAsBlobs))
    }
    return records
  }
}

// MARK: - The records that references lead to

/// Finds the records that some references lead to, each once.
@usableFromInline
final class SharedRows {
  private let reader: RecordReader
  private let record: Entity
  private let encoder = KeyEncoder()
  // One owner on one thread uses them, so accesses cannot overlap.
  @exclusivity(unchecked) private var keys: KeyTable
  @exclusivity(unchecked) private var rows: WantedRows?

  @usableFromInline
  init(of record: Entity, in reader: RecordReader) {
    self.record = record
    self.reader = reader
    unsafe keys = KeyTable(of: record)
  }

  /// Adds a reference by the primary key that it leads to.
  @usableFromInline
  func append(_ key: FieldValue) throws(StoreError) {
    let encoder = encoder
    try encoder.encode(primaryKey: [key], of: record)
    try unsafe keys.append(encoder.key)
  }

  /// Returns the rows to load, once all references were added.
  @usableFromInline
  func find() -> WantedRows {
    unsafe keys.sort()
    let rows = WantedRows(unsafe keys.keys, of: record, in: reader, mayMiss: true)
    unsafe self.rows = rows
    return rows
  }

  /// Returns the place of the record that the reference that was added as number `index` leads to, once they are loaded;
  /// nil if it leads nowhere.
  @usableFromInline
  func place(_ index: Int) -> Int? {
    guard let rows = unsafe rows else { return nil }
    let place = unsafe rows.places[keys.places[index]]
    return place < 0 ? nil : place
  }
}

// MARK: - The records that lead to others

/// Finds the records that lead to some others, each once.
@usableFromInline
final class SourceRows {
  private let reader: RecordReader
  private let link: Link
  private let condition: RowCondition?
  private let order: BoundOrder
  private let limit: Int?
  private let encoder = KeyEncoder()
  // One owner on one thread uses them, so accesses cannot overlap.
  @exclusivity(unchecked) private var owners: KeyTable
  @exclusivity(unchecked) private var sources: KeyTable
  /// By the number of a source, the place of the owner that it leads to.
  @exclusivity(unchecked) private var ends: [Int] = []
  /// By the place of an owner, the places of the sources that lead to it: first those of their keys, at last those of
  /// their records.
  @exclusivity(unchecked) private var lists: [[Int]] = []
  /// True if the lists have only the wanted records, in their order.
  @exclusivity(unchecked) private var areArranged = false

  /// - Parameter query: The condition, order and limit of the records that lead to one.
  /// - Throws: `.invalidQuery` if the query does not fit the record.
  init(_ link: Link, _ query: FieldQuery, in reader: RecordReader) throws(StoreError) {
    self.reader = reader
    self.link = link
    let layout = link.source.layout
    try query.checkWindow(of: layout.record)
    if let condition = query.condition {
      self.condition = try RowCondition(condition, of: link.source, in: reader)
    } else {
      condition = nil
    }
    order = try BoundOrder(
      query.order, Conjunction(query.condition, in: layout), isAfter: false, of: link.source,
      in: reader)
    limit = query.limit
    unsafe owners = KeyTable(of: link.destination)
    unsafe sources = KeyTable(of: link.source)
  }

  /// Adds a record that others may lead to, by its primary key.
  @usableFromInline
  func append(_ key: FieldValue) throws(StoreError) {
    let encoder = encoder
    try encoder.encode(primaryKey: [key], of: link.destination)
    try unsafe owners.append(encoder.key)
  }

  /// Returns the rows to load, once all owners were added.
  ///
  /// If the entries that lead to an owner come in the order of its list, only rows within the limit are looked up.
  /// Otherwise, with a limit, all rows are looked up to find which are wanted, and those once more to be loaded.
  @usableFromInline
  func find() throws(StoreError) -> WantedRows {
    unsafe owners.sort()
    try findSources()
    if unsafe !areArranged {
      let found = rows(where: condition, order: order)
      if limit == nil { return found }
      while try found.next() {}
      arrange(found)
      dropUnlisted()
    }
    return rows()
  }

  /// Divides the records among those that they lead to, once they are loaded.
  @usableFromInline
  func divide(_ loaded: WantedRows) {
    if unsafe areArranged { return }
    arrange(loaded)
    unsafe replacePlaces(loaded.places)
  }

  /// Returns the places of the records that lead to the owner that was added as number `index`.
  @usableFromInline
  func places(_ index: Int) -> [Int] { unsafe lists[owners.places[index]] }

  private func rows(
    where condition: RowCondition? = nil, order: BoundOrder = .byPrimaryKey
  ) -> WantedRows {
    WantedRows(
      unsafe sources.keys, of: link.source, in: reader, mayMiss: false, where: condition,
      order: order)
  }
}

// MARK: Lists

extension SourceRows {
  /// Finds the keys of the records that lead to each owner: no more than are wanted, if they come in order.
  private func findSources() throws(StoreError) {
    let key = link.source.layout.key.columns
    if condition == nil, let parts = link.backParts,
      let isBackward = order.isBackward(in: parts, key: key)
    {
      unsafe areArranged = try addSources(backward: isBackward, limit: limit ?? .max)
    }
    if unsafe !areArranged {
      unsafe ends.removeAll()
      unsafe sources = KeyTable(of: link.source)
      _ = try addSources(backward: false, limit: .max)
    }
    unsafe sources.sort()
    unsafe lists = [[Int]](repeating: [], count: owners.keys.count)
    for (number, end) in unsafe ends.enumerated() {
      unsafe lists[end].append(sources.places[number])
    }
  }

  /// Returns true if those of each owner came in the order of the index's parts.
  private func addSources(backward isBackward: Bool, limit: Int) throws(StoreError) -> Bool {
    if limit == 0 { return true }
    var counts = unsafe [Int](repeating: 0, count: owners.keys.count)
    return try link.forEachSource(
      toEach: unsafe owners.keys, in: reader.trees, backward: isBackward
    ) { (owner, key) throws(StoreError) in
      try unsafe sources.append(key)
      unsafe ends.append(owner)
      counts[owner] += 1
      return counts[owner] < limit
    }
  }

  /// Puts the lists in order, without the sources whose rows are not wanted.
  private func arrange(_ rows: WantedRows) {
    let (places, sortKeys) = unsafe (rows.places, rows.sortKeys)
    for owner in unsafe lists.indices {
      var list = unsafe lists[owner].filter { places[$0] >= 0 }
      if order.columns.isEmpty {
        list.sort()
      } else {
        list.sort { sortKeys.isBefore(places[$0], places[$1]) }
      }
      if let limit, list.count > limit { list.removeSubrange(limit...) }
      unsafe lists[owner] = list
    }
    unsafe areArranged = true
  }

  /// Keeps only the sources that are in a list.
  private func dropUnlisted() {
    var isListed = unsafe [Bool](repeating: false, count: sources.keys.count)
    for place in unsafe lists.joined() { isListed[place] = true }
    let kept = isListed.indices.filter { isListed[$0] }
    var places = [Int](repeating: -1, count: isListed.count)
    for (new, place) in kept.enumerated() { places[place] = new }
    unsafe sources.keys.keep(kept)
    replacePlaces(places)
  }

  /// Replaces each place in the lists by another.
  private func replacePlaces(_ places: [Int]) {
    for owner in unsafe lists.indices {
      for index in unsafe lists[owner].indices {
        unsafe lists[owner][index] = unsafe places[lists[owner][index]]
      }
    }
  }
}

extension RecordReader {
  @usableFromInline
  func relatedRows<Owner: Record & Identifiable, Related: Record>(
    at inverse: Inverse<Owner, Related>, _ query: Query<Related>
  ) throws(StoreError) -> SourceRows {
    let related = try entities.type(Related.self)
    let link = try entities.link(
      of: related, try related.field(of: inverse.property), to: try entities.type(Owner.self))
    return try SourceRows(link, try query.resolved(in: related, entities), in: self)
  }
}
