// Finds and loads the records of inclusions: keys first, sorted and each once, then their rows in that order.

/// Primary keys as they were added, and each once in their own order.
private struct KeyTable {
  private(set) var added: SortedKeys
  private(set) var sorted: SortedKeys

  init(of record: Entity) {
    added = SortedKeys(of: record.record.name)
    sorted = added
  }

  mutating func append(_ key: RawSpan) throws(StoreError) {
    try added.add(key, keyLength: key.byteCount)
  }

  /// Sorts the keys, once all were added.
  mutating func sort() {
    sorted = added
    sorted.sort()
    sorted.removeDuplicates()
  }

  /// Returns the place among the sorted keys of the one that was added as number `index`.
  func place(_ index: Int) -> Int? {
    let added = added
    return sorted.place(of: added.key(index))
  }
}

/// The records of sorted keys, each looked up and decoded once.
@usableFromInline
final class LoadedRecords<Subject: Record> {
  @usableFromInline let type: RecordType<Subject>
  @usableFromInline let blobs: BlobFinder?
  @usableFromInline let source: KeySource
  private let order: BoundOrder?
  private let encoder = KeyEncoder()
  @usableFromInline var records: [Subject] = []
  /// By the place of a key, the place of its record; −1 for a key without a record that is wanted.
  private var places: [Int]
  /// The sort keys, by the place of a record; empty without an order.
  fileprivate private(set) var sortKeys: [[UInt8]] = []

  /// - Parameter mayMiss: False if every key has a row, as those in an index.
  fileprivate init(
    _ keys: SortedKeys, of type: RecordType<Subject>, in reader: RecordReader, mayMiss: Bool,
    where condition: RowCondition? = nil, order: BoundOrder? = nil
  ) {
    self.type = type
    self.order = order
    blobs = reader.blobs(of: type)
    places = [Int](repeating: -1, count: keys.count)
    source = KeySource(
      keys, condition, FoundRow(of: type, in: reader.trees), isChanging: mayMiss)
  }

  @inlinable
  func load() throws {
    let (type, source, blobs) = (type, source, blobs)
    while try source.next() {
      try note()
      records.append(try type.load(key: source.key, row: try source.row(), blobs: blobs))
    }
  }

  /// Notes the place of the record that is loaded next, and its sort key.
  @usableFromInline
  func note() throws(StoreError) {
    let (type, source, encoder) = (type, source, encoder)
    places[unsafe source.place] = records.count
    guard let order else { return }
    let row = try type.row(key: source.key, row: try source.row())
    try order.encode(row, to: encoder)
    sortKeys.append(encoder.key.array())
  }

  fileprivate func place(ofKey place: Int?) -> Int? {
    guard let place, places[place] >= 0 else { return nil }
    return places[place]
  }
}

// MARK: - The records that references lead to

/// The records that some references lead to, each once.
@usableFromInline
final class SharedRecords<Target: Record & Identifiable> where Target.ID: RecordKey {
  private let reader: RecordReader
  private let type: RecordType<Target>
  private let encoder = KeyEncoder()
  private var keys: KeyTable
  private var loaded: LoadedRecords<Target>?
  @usableFromInline private(set) var records: [Target] = []

  fileprivate init(_ type: RecordType<Target>, in reader: RecordReader) {
    self.type = type
    self.reader = reader
    keys = KeyTable(of: type)
  }

  @usableFromInline
  func append(_ reference: Reference<Target>) throws(StoreError) {
    let encoder = encoder
    try encoder.encode(primaryKey: [reference.id], of: type)
    try keys.append(encoder.key)
  }

  /// Loads the records, once all references were added.
  @inlinable
  func load() throws {
    let loaded = prepare()
    try loaded.load()
    finish(loaded)
  }

  @usableFromInline
  func prepare() -> LoadedRecords<Target> {
    keys.sort()
    return LoadedRecords(keys.sorted, of: type, in: reader, mayMiss: true)
  }

  @usableFromInline
  func finish(_ loaded: LoadedRecords<Target>) {
    self.loaded = loaded
    records = loaded.records
  }

  /// Returns the place of the record that the reference that was added as number `index` leads to; nil if it leads nowhere.
  @usableFromInline
  func place(_ index: Int) -> Int? { loaded?.place(ofKey: keys.place(index)) }
}

// MARK: - The records that lead to others

/// The records that lead to some others, each once.
@usableFromInline
final class RelatedRecords<Owner: Record & Identifiable, Related: Record>
where Owner.ID: RecordKey {
  private let reader: RecordReader
  private let owner: RecordType<Owner>
  private let related: RecordType<Related>
  private let link: Link
  private let condition: RowCondition?
  private let order: BoundOrder?
  private let limit: Int?
  private let encoder = KeyEncoder()
  private var owners: KeyTable
  private var sources: KeyTable
  /// By the number of a source, the place of the owner that it leads to.
  private var ends: [Int] = []
  /// By the place of an owner, the places of the records that lead to it.
  private var lists: [[Int]] = []
  @usableFromInline private(set) var records: [Related] = []

  fileprivate init(
    _ inverse: Inverse<Owner, Related>, _ query: Query<Related>, in reader: RecordReader
  ) throws(StoreError) {
    self.reader = reader
    owner = try reader.entities.type(Owner.self)
    related = try reader.entities.type(Related.self)
    link = try reader.entities.link(
      of: related, try related.field(of: inverse.property), to: owner)
    let resolved = try query.resolved(in: related, reader.entities)
    let layout = related.layout
    if let condition = resolved.condition {
      self.condition = try RowCondition(condition, of: related, in: reader)
    } else {
      condition = nil
    }
    order =
      resolved.order.isEmpty
      ? nil
      : try BoundOrder(
        resolved.order, Conjunction(resolved.condition, in: layout), isAfter: false, of: related,
        in: reader)
    limit = query.limit
    owners = KeyTable(of: owner)
    sources = KeyTable(of: related)
  }

  @usableFromInline
  func append(_ reference: Reference<Owner>) throws(StoreError) {
    let encoder = encoder
    try encoder.encode(primaryKey: [reference.id], of: owner)
    try owners.append(encoder.key)
  }

  /// Finds and loads the records, once all owners were added.
  @inlinable
  func load() throws {
    let loaded = try find()
    try loaded.load()
    divide(loaded)
  }

  @usableFromInline
  func find() throws(StoreError) -> LoadedRecords<Related> {
    owners.sort()
    try link.forEachSource(toEach: owners.sorted, in: reader.trees) {
      (owner, key) throws(StoreError) in
      try sources.append(key)
      ends.append(owner)
    }
    sources.sort()
    return LoadedRecords(
      sources.sorted, of: related, in: reader, mayMiss: false, where: condition, order: order)
  }

  /// Divides the records among those that they lead to.
  @usableFromInline
  func divide(_ loaded: LoadedRecords<Related>) {
    let sortKeys = loaded.sortKeys
    var lists = [[Int]](repeating: [], count: owners.sorted.count)
    for (index, end) in ends.enumerated() {
      if let place = loaded.place(ofKey: sources.place(index)) { lists[end].append(place) }
    }
    for place in lists.indices {
      if order == nil {
        lists[place].sort()
      } else {
        lists[place].sort { Self.isBefore(sortKeys[$0], sortKeys[$1]) }
      }
      if let limit { lists[place].removeLast(max(0, lists[place].count - max(0, limit))) }
    }
    self.lists = lists
    records = loaded.records
    if limit != nil { dropUnlisted() }
  }

  private static func isBefore(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    one.rawSpan.compare(other.rawSpan) < 0
  }

  /// Keeps only the records that are in a list.
  private func dropUnlisted() {
    var kept: [Related] = []
    var places = [Int](repeating: -1, count: records.count)
    for list in lists.indices {
      for index in lists[list].indices {
        let place = lists[list][index]
        if places[place] < 0 {
          places[place] = kept.count
          kept.append(records[place])
        }
        lists[list][index] = places[place]
      }
    }
    records = kept
  }

  /// Returns the places of the records that lead to the owner that was added as number `index`.
  @usableFromInline
  func places(_ index: Int) -> [Int] { owners.place(index).map { lists[$0] } ?? [] }
}

extension RecordReader {
  @usableFromInline
  func sharedRecords<Target: Record & Identifiable>(
    of target: Target.Type
  ) throws(StoreError) -> SharedRecords<Target> {
    SharedRecords(try entities.type(target), in: self)
  }

  @usableFromInline
  func relatedRecords<Owner: Record & Identifiable, Related: Record>(
    at inverse: Inverse<Owner, Related>, _ query: Query<Related>
  ) throws(StoreError) -> RelatedRecords<Owner, Related> {
    try RelatedRecords(inverse, query, in: self)
  }
}
