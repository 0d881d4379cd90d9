/// Compares every record with the rules for rows and keys, and every index with its records.
///
/// Every record's entries are looked up in each index, and the entries of the index are counted one by one. All entries
/// of records differ, so an index with the entries of all records and no more entries than that has nothing else.
///
/// - Complexity: reads everything, with a lookup for each index entry. Memory for a few entries.
struct RecordCheck {
  private let trees: TreeAccess
  /// True if strings that lie in blobs are read.
  private let readsBlobs: Bool
  private let key = KeyEncoder()
  private var row: [UInt8] = []
  /// The faults that were found, at most `faultsMax`.
  private(set) var faults: [StoreError] = []
  /// The records that were looked at.
  private(set) var count = 0
  /// Told of every record that is looked at.
  private var watch: (() -> Void)?
  /// The versions that the store has schemas of; nil if those of rows are not looked at.
  private var versions: Set<UInt32>?

  /// One damaged page makes thousands of faults; the first say enough.
  static var faultsMax: Int { 100 }

  private init(_ trees: TreeAccess, readsBlobs: Bool) {
    self.trees = trees
    self.readsBlobs = readsBlobs
  }

  /// The faults of all records of a state. None: every record can be read, every index entry has its record
  /// and every record its entries.
  ///
  /// - Parameters:
  ///   - versions: The versions that the store has schemas of; nil if those of rows are not looked at.
  ///   - readingBlobs: True if strings that lie in blobs are read.
  ///   - watch: Told of every record that is looked at.
  /// - Throws: `.io`. Damage to pages is a fault, too.
  static func faults(
    of types: [Entity], in trees: TreeAccess, describedIn versions: Set<UInt32>? = nil,
    readingBlobs: Bool = false, watch: (() -> Void)? = nil
  ) throws(StoreError) -> [StoreError] {
    var check = RecordCheck(trees, readsBlobs: readingBlobs)
    check.versions = versions
    check.watch = watch
    for type in types {
      do throws(StoreError) { try check.check(type) } catch { try check.note(error) }
    }
    return check.faults
  }

  private mutating func note(_ fault: StoreError) throws(StoreError) {
    switch fault {
    case .corrupt, .newerFormat, .missing:
      if faults.count < Self.faultsMax { faults.append(fault) }
    default: throw fault
    }
  }
}

extension RecordCheck {
  private mutating func check(_ record: Entity) throws(StoreError) {
    var entryCounts = [Int](repeating: 0, count: record.indexes.count)
    let faultsBefore = faults.count
    var rowCount = 0
    let cursor = try trees.cursor(in: record.rows)
    while try cursor.advance() {
      do throws(StoreError) {
        try checkVersion(at: cursor, of: record)
        try checkRow(cursor.key, try cursor.value(), of: record, &entryCounts)
      } catch {
        try note(error)
      }
      rowCount += 1
      count += 1
      watch?()
    }
    try checkCount(
      in: record.rows, named: Entity.name(ofRows: record.record.number), found: rowCount)
    let isWhole = faults.count == faultsBefore
    for (index, expected) in zip(record.indexes, entryCounts) {
      do throws(StoreError) {
        try check(index, of: record, expected: isWhole ? expected : nil)
      } catch {
        try note(error)
      }
    }
  }

  private func checkVersion(at cursor: CursorAccess, of record: Entity) throws(StoreError) {
    guard let versions, let version = cursor.storedVersion, !versions.contains(version) else {
      return
    }
    throw record.layout.fault(
      key: cursor.key, .rowVersion, "it is of version \(version), of which there is no schema")
  }

  /// Checks that an index has no other entries than those of records.
  ///
  /// - Parameter expected: How many entries the records have, where all of them are there.
  private mutating func check(
    _ index: Entity.IndexTree, of record: Entity, expected: Int?
  ) throws(StoreError) {
    let found = try entryCount(in: index.slot)
    try checkCount(
      in: index.slot, named: Entity.name(ofIndex: index.layout.schema.number), found: found)
    if index.layout.isProvided, found == expected, try trees.isWhole(index.slot) { return }
    try checkEntries(of: index, record)
  }

  private func entryCount(in tree: TreeSlot) throws(StoreError) -> Int {
    let cursor = try trees.cursor(in: tree)
    var count = 0
    while try cursor.advance() {
      count += 1
    }
    return count
  }

  /// Compares the number of a tree's entries, which the log's operations change, with the entries.
  private mutating func checkCount(
    in tree: TreeSlot, named name: String, found: Int
  ) throws(StoreError) {
    let counted = try trees.count(in: tree)
    if counted == found { return }
    try note(
      .corrupt(
        .entry(tree: name, key: []), invariant: .logOperations,
        reason: "\(counted) entries are counted, and there are \(found)"))
  }

  /// Reads every column of a record, and looks for its entries in every index.
  private mutating func checkRow(
    _ primaryKey: RawSpan, _ row: RawSpan, of record: Entity, _ entryCounts: inout [Int]
  ) throws(StoreError) {
    let blobs = readsBlobs ? trees.blobFinder(of: record) : nil
    let reader = try record.row(key: primaryKey, row: row, blobs: blobs)
    // The check of the map of blobs finds missing blobs.
    try reader.check()
    if let fault = reader.layout.kinds?.fault(of: row) { throw reader.fault(.rowKinds, fault) }
    for (place, index) in record.indexes.enumerated() where index.layout.isProvided {
      try forEachEntry(of: reader, in: index) { key, value, _ throws(StoreError) in
        entryCounts[place] += 1
        var found: [UInt8] = []
        let isThere = try trees.copyValue(of: key, in: index.slot, to: &found)
        if !isThere, try trees.isUnbuilt(index.slot, at: primaryKey) { return }
        if !isThere || found.rawSpan.compare(value) != 0 {
          throw record.layout.fault(
            key: primaryKey, .indexEntries,
            "index \(index.layout.schema.name) has \(isThere ? "another" : "no") entry for it")
        }
      }
    }
  }

  /// Calls `body` with the entries of a record; a value that cannot be in an index is a fault of the record.
  private func forEachEntry(
    of record: RowReader, in index: Entity.IndexTree,
    _ body: (RawSpan, RawSpan, Bool) throws(StoreError) -> Void
  ) throws(StoreError) {
    do throws(StoreError) {
      try index.layout.forEachEntry(of: record, in: key, body)
    } catch .invalidValue(_, _, let reason) {
      throw record.layout.fault(
        key: record.key, .rowValues, "index \(index.layout.schema.name) cannot have it: \(reason)")
    }
  }

  /// Looks for the record of every entry of an index.
  private mutating func checkEntries(
    of index: Entity.IndexTree, _ record: Entity
  ) throws(StoreError) {
    let cursor = try trees.cursor(in: index.slot)
    while try cursor.advance() {
      do throws(StoreError) {
        try checkEntry(cursor.key, try cursor.value(), of: index, record)
      } catch {
        try note(error)
      }
    }
  }

  private mutating func checkEntry(
    _ entry: RawSpan, _ value: RawSpan, of index: Entity.IndexTree, _ record: Entity
  ) throws(StoreError) {
    let primaryKey = try index.layout.primaryKey(key: entry, value: value, layout: record.layout)
    var isRight = false
    if try trees.copyValue(of: primaryKey, in: record.rows, to: &row) {
      let row = row
      let reader = try record.row(key: primaryKey, row: row.rawSpan)
      // Without its collation, only that there is such a record can be told.
      isRight = !index.layout.isProvided
      if !isRight {
        try forEachEntry(of: reader, in: index) { key, _, _ in
          isRight = isRight || key.compare(entry) == 0
        }
      }
    }
    if !isRight {
      throw .corrupt(
        .entry(tree: Entity.name(ofIndex: index.layout.schema.number), key: entry.array()),
        invariant: .indexEntries,
        reason: "there is no \(record.record.name) that it is the entry of")
    }
  }
}
