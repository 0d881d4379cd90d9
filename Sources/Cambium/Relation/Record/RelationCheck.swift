/// Checks that every checked reference leads to an existing record, or to one that a salvage knows to be lost (K4).
///
/// The entries of a reference's reverse index are read in their order, which is that of the records that it leads to;
/// so both are read from the beginning to the end, side by side.
///
/// - Complexity: reads all entries of reverse indexes, and the rows that they lead to.
struct RelationCheck {
  private let trees: TreeAccess
  /// The highest number of faults; nil if references are counted, and none is a fault.
  private let faultsMax: Int?
  /// Called for each entry.
  private let watch: (() throws(StoreError) -> Void)?
  /// Called with the key of each record to which a reference leads and which does not exist; nil if references are faults,
  /// or counted.
  private let visit: (([UInt8]) -> Void)?
  private let encoder = KeyEncoder()
  private var faults: [StoreError] = []
  private var dangling = Dangling()

  /// The references of one relation that lead nowhere.
  struct Dangling {
    fileprivate(set) var count = 0
    /// The first of them: the primary key of the record that has it, and where it leads.
    fileprivate(set) var first: (source: [UInt8], destination: FieldValue)?
  }

  private init(
    _ trees: TreeAccess, faultsMax: Int?, watch: (() throws(StoreError) -> Void)? = nil,
    visit: (([UInt8]) -> Void)? = nil
  ) {
    self.visit = visit
    self.trees = trees
    self.faultsMax = faultsMax
    self.watch = watch
  }

  /// The references that lead nowhere, at most `faultsMax`, each with its record.
  ///
  /// - Throws: `.io`. Damage to pages is a fault, too.
  static func faults(
    of map: RelationMap, in trees: TreeAccess, atMost faultsMax: Int
  ) throws(StoreError) -> [StoreError] {
    var check = RelationCheck(trees, faultsMax: faultsMax)
    for link in map.links {
      do throws(StoreError) { try check.check(link) } catch {
        guard case .corrupt = error else { throw error }
        check.note(error)
      }
    }
    return check.faults
  }

  /// Counts the references of one relation that lead nowhere.
  ///
  /// - Parameter watch: Called for each entry of the reverse index.
  /// - Throws: `.corrupt`, `.io`; rethrows errors of `watch`.
  static func dangling(
    _ link: Link, in trees: TreeAccess, watch: @escaping () throws(StoreError) -> Void
  ) throws(StoreError) -> Dangling {
    var check = RelationCheck(trees, faultsMax: nil, watch: watch)
    try check.check(link)
    return check.dangling
  }

  /// Calls `body` with the keys of the records to which references of one relation lead, and which do not exist and are not
  /// known to be lost.
  ///
  /// - Throws: `.corrupt`, `.io`.
  static func forEachMissing(
    of link: Link, in trees: TreeAccess, _ body: @escaping ([UInt8]) -> Void
  ) throws(StoreError) {
    var check = RelationCheck(trees, faultsMax: nil, visit: body)
    try check.check(link)
  }

  private var isFull: Bool { faultsMax.map { faults.count >= $0 } ?? false }

  private mutating func note(_ fault: StoreError) {
    if !isFull { faults.append(fault) }
  }

  /// - Parameter destination: The key of the record that does not exist.
  private mutating func note(
    _ link: Link, _ key: [UInt8], _ target: FieldValue, _ destination: [UInt8]
  ) throws(StoreError) {
    if try trees.contains(destination.rawSpan, in: link.destination.lost) { return }
    if let visit { return visit(destination) }
    if faultsMax != nil { return note(fault(link, key, target)) }
    dangling.count += 1
    if dangling.first == nil { dangling.first = (key, target) }
  }
}

extension RelationCheck {
  private mutating func check(_ link: Link) throws(StoreError) {
    var records = try ComparedRecords(of: link, in: trees)
    let source = link.source
    switch source.record.wayBack(of: link.field) {
    case .rows:
      try check(link, of: source.rows, source.layout.key.columns[0], nil, &records)
    case .index(let place):
      let number = source.record.indexes[place].number
      guard let index = source.indexes.first(where: { $0.layout.schema.number == number }),
        try trees.isWhole(index.slot)
      else { return try checkRows(link, &records) }
      let isWhole = index.layout.schema.isUnique && index.layout.parts.columns.count == 1
      let parts = isWhole ? index.layout.wholeParts : index.layout.parts
      try check(link, of: index.slot, parts.columns[0], index.layout, &records)
    case nil: try checkRows(link, &records)
    }
  }

  /// Reads the entries of an index, or rows, whose keys begin with the reference.
  private mutating func check(
    _ link: Link, of tree: TreeSlot, _ part: KeyColumn, _ index: IndexLayout?,
    _ records: inout ComparedRecords
  ) throws(StoreError) {
    let layout = link.source.layout
    let target = link.destination.layout.key.columns[0]
    let cursor = try trees.cursor(in: tree)
    while !isFull, try cursor.advance() {
      try watch?()
      if let index, cursor.key.byteCount >= IndexLayout.cutLength {
        let key = try index.primaryKey(
          key: cursor.key, value: try cursor.value(), layout: layout)
        try checkRow(link, key.array(), &records)
        continue
      }
      if try isNull(cursor.key, part, layout) { continue }
      var reader = KeyReader(cursor.key, layout: layout, index: index?.place)
      let value = try reader.value(part)
      encoder.begin()
      try encoder.append(value, target, of: link.destination.layout)
      let encoder = encoder
      if try records.contains(encoder.key) { continue }
      let key =
        if let index {
          try index.primaryKey(key: cursor.key, value: try cursor.value(), layout: layout).array()
        } else {
          cursor.key.array()
        }
      try note(link, key, value, encoder.key.array())
    }
  }

  private func isNull(
    _ key: RawSpan, _ part: KeyColumn, _ layout: RowLayout
  ) throws(StoreError) -> Bool {
    var reader = KeyReader(key, layout: layout)
    return try reader.isNull(part.form)
  }

  /// Reads all rows of the records with a reference, whose index is not whole.
  private mutating func checkRows(
    _ link: Link, _ records: inout ComparedRecords
  ) throws(StoreError) {
    let cursor = try trees.cursor(in: link.source.rows)
    while !isFull, try cursor.advance() {
      try watch?()
      try checkRow(link, cursor.key.array(), &records)
    }
  }

  private mutating func checkRow(
    _ link: Link, _ key: [UInt8], _ records: inout ComparedRecords
  ) throws(StoreError) {
    let source = link.source
    var row: [UInt8] = []
    // An entry without its record is another fault.
    guard try trees.copyValue(of: key.rawSpan, in: source.rows, to: &row) else { return }
    let reader = try source.row(key: key.rawSpan, row: row.rawSpan)
    var missing: [[UInt8]] = []
    var found = records
    do throws(StoreError) {
      try link.forEachKey(of: reader, in: encoder) { key throws(StoreError) in
        if try !found.contains(key) { missing.append(key.array()) }
      }
    } catch .invalidValue(_, _, let reason) {
      throw source.layout.fault(key: key.rawSpan, .rowValues, reason)
    }
    records = found
    for target in missing {
      try note(link, key, try link.value(ofKey: target.rawSpan), target)
    }
  }

  private func fault(_ link: Link, _ key: [UInt8], _ target: FieldValue) -> StoreError {
    link.source.layout.fault(
      key: key.rawSpan, .references,
      "\(link.field.name) leads to \(link.destinationName) \(target), which does not exist")
  }
}

/// The records of a type, beside which references are read in their order.
private struct ComparedRecords {
  private let trees: TreeAccess
  private let link: Link
  private let cursor: CursorAccess
  private var isOn: Bool
  /// The key that was looked for last; nil before the first, since a key may be empty.
  private var last: [UInt8]?
  private var lastIsThere = false

  init(of link: Link, in trees: TreeAccess) throws(StoreError) {
    self.trees = trees
    self.link = link
    cursor = try trees.cursor(in: link.destination.rows)
    isOn = try cursor.first()
  }

  /// Returns true if a record with a primary key exists, of the kind that the reference leads to. Cheap for ascending keys.
  mutating func contains(_ key: RawSpan) throws(StoreError) -> Bool {
    if let last, last.rawSpan.equals(key) { return lastIsThere }
    if isOn, cursor.key.compare(key) < 0 { isOn = try cursor.next() }
    if isOn, cursor.key.compare(key) < 0 { isOn = try cursor.seek(to: key) }
    // Keys of a descending index do not ascend.
    if isOn, cursor.key.equals(key) {
      lastIsThere = if link.kind == nil { true } else { link.mayLead(to: try cursor.value()) }
    } else {
      lastIsThere = try link.leads(to: key, in: trees)
    }
    last = key.array()
    return lastIsThere
  }
}
