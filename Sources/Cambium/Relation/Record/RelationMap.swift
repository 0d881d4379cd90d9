/// The checked references of an open state, by the records that have them and by those that they lead to.
final class RelationMap: Sendable {
  /// In the order of the schema's records and fields.
  let links: [Link]
  /// By the place of the record that has them.
  private let outgoing: [[Link]]
  /// By the place of the record that they lead to.
  private let incoming: [[Link]]
  /// By the place of a record: the possible consequences of its deletion.
  private let consequences: [Consequences]

  private struct Consequences {
    /// The deletion may be denied.
    var mayBeDenied = false
    /// A hook before deletion may run.
    var runsHooks = false
  }

  /// - Parameter entities: In the order of the schema's records.
  /// - Returns: nil if no reference is checked.
  init?(_ schema: Schema, _ entities: [Entity]) {
    var links: [Link] = []
    var outgoing = [[Link]](repeating: [], count: entities.count)
    var incoming = outgoing
    for (place, source) in entities.enumerated() {
      for field in source.record.fields {
        guard let reference = field.reference, reference.isChecked,
          let target = schema.records.firstIndex(where: { $0.number == reference.record }),
          let link = Link(
            links.count, field, of: source, to: entities[target],
            inverse: schema.inverse(of: field, in: source.record))
        else { continue }
        links.append(link)
        outgoing[place].append(link)
        incoming[target].append(link)
      }
    }
    if links.isEmpty { return nil }
    self.links = links
    self.outgoing = outgoing
    self.incoming = incoming
    consequences = entities.map { Self.consequences(of: $0, outgoing, incoming) }
  }

  private static func consequences(
    of entity: Entity, _ outgoing: [[Link]], _ incoming: [[Link]]
  ) -> Consequences {
    var consequences = Consequences()
    // The record types that may be deleted with it.
    var reached = [entity]
    var next = 0
    while next < reached.count {
      let entity = reached[next]
      next += 1
      let (from, to) = (outgoing[entity.place], incoming[entity.place])
      if entity.hasDeletionHook { consequences.runsHooks = true }
      if from.contains(where: { $0.ownRule == .deny })
        || to.contains(where: { $0.rule == .deny || $0.rule == .nullify && $0.bounds != nil })
      {
        consequences.mayBeDenied = true
      }
      let others =
        to.filter { $0.rule == .cascade }.map(\.source)
        + from.filter { $0.ownRule == .cascade }.map(\.destination)
      for other in others where !reached.contains(where: { $0.place == other.place }) {
        reached.append(other)
      }
    }
    return consequences
  }

  /// The references that a record has.
  func links(from entity: Entity) -> [Link] { outgoing[entity.place] }

  /// The references that lead to a record.
  func links(to entity: Entity) -> [Link] { incoming[entity.place] }

  /// True if something is checked when such a record is written.
  func isChecked(_ entity: Entity) -> Bool {
    !outgoing[entity.place].isEmpty
      || incoming[entity.place].contains { $0.inverse?.bounds?.least ?? 0 > 0 || $0.kind != nil }
  }

  /// True if the deletion of such a record may be denied, or that of one that is deleted with it.
  func mayBeDenied(deleting entity: Entity) -> Bool { consequences[entity.place].mayBeDenied }

  /// True if a hook may run before the deletion of such a record, or of one that is deleted with it.
  func runsHooks(deleting entity: Entity) -> Bool { consequences[entity.place].runsHooks }

  /// True if the deletion of such a record may do more than delete it.
  func hasRules(for entity: Entity) -> Bool {
    !incoming[entity.place].isEmpty || outgoing[entity.place].contains { $0.ownRule != .nullify }
  }
}

/// A checked reference of an open state: how its keys are read, and how the records with a key are found.
final class Link: Sendable {
  /// Its place in the map.
  let number: Int
  let field: FieldSchema
  /// The record that has it.
  let source: Entity
  /// The record that it leads to.
  let destination: Entity
  /// The kind of that record; nil for any.
  let kind: RowKinds.Kind?
  /// Its place among the kinds of the destination.
  private let kindPlace: Int?
  // Read for each record: a struct of a description would be copied for that.
  /// The bit that is set in rows that are not of the kind; nil for any.
  private let kindBit: Int?
  let isList: Bool
  /// The rule for the record with the reference when its destination is deleted.
  let rule: DeleteRule
  /// The rule for the destination when the record with the reference is deleted.
  let ownRule: DeleteRule
  /// The allowed numbers of elements of a list.
  let bounds: RelationBounds?
  let inverse: InverseSchema?
  /// The place among the source's columns.
  let column: Int
  /// The destination's primary key, encoded from the field's values.
  private let key: KeyColumn
  /// Where every primary key of the source has the destination's as it is; nil if it has to be encoded.
  private let keyPlace: Range<Int>?
  /// The bytes before a key of the destination as it is, where those are the part by which the reverse index has it; nil if
  /// the part has to be encoded.
  private let backPrefix: [UInt8]?
  private let way: Way

  /// The tree in which the records that lead to a key are found.
  private enum Way: Sendable {
    /// By entries that begin with it, in an index, or among the rows.
    case prefix(KeyColumn, IndexLayout?, TreeSlot)
    /// By the one entry whose key it is.
    case exact(KeyColumn, IndexLayout?, TreeSlot)
    /// By reading all rows: an index that is not there yet, in a migration.
    case rows
  }

  /// - Parameter number: Of no meaning for a reference that is not checked.
  init?(
    _ number: Int, _ field: FieldSchema, of source: Entity, to destination: Entity,
    inverse: InverseSchema?
  ) {
    guard let reference = field.reference, destination.layout.key.columns.count == 1,
      let column = source.layout.index(number: field.number)
    else { return nil }
    self.number = number
    self.field = field
    self.source = source
    self.destination = destination
    let kinds = destination.layout.kinds
    kindPlace = reference.composite.flatMap { destination.record.field($0) }
      .flatMap { kinds?.place(named: $0.name) }
    kind = kindPlace.flatMap { kinds?.all[$0] }
    kindBit = kind?.nullBit
    isList = field.type.scalar == nil
    self.inverse = inverse
    self.column = column
    ownRule = reference.deleteRule
    bounds = reference.bounds
    rule = inverse?.deleteRule ?? (source.record.canCut(field) ? .nullify : .deny)
    let target = destination.layout.key.columns[0]
    key = KeyColumn(
      column: UInt32(column), place: source.layout.columns[column].place, type: target.type,
      form: target.form)
    let parts = source.layout.key
    keyPlace =
      key.place.kind == .key && parts.columns[key.place.index].hasFixedBytes(of: key)
      ? parts.fixedPlace(of: key.place.index) : nil
    way = Self.way(back: field, to: source)
    backPrefix = Self.backPrefix(way, target)
  }

  private static func backPrefix(_ way: Way, _ target: KeyColumn) -> [UInt8]? {
    switch way {
    case .prefix(let part, _, _), .exact(let part, _, _):
      let isDescending = part.form.contains(.isDescending)
      // Types of which all bytes are values, so that a key which is none is noticed.
      guard target.fixedWidth != nil, part.type == target.type, part.collation == nil,
        !part.type.isFraction, part.type != .date, part.type != .boolean,
        isDescending == target.form.contains(.isDescending)
      else { return nil }
      if !part.form.contains(.isOptional) { return [] }
      return [isDescending ? ~1 : 1]
    case .rows: return nil
    }
  }

  private static func way(back field: FieldSchema, to source: Entity) -> Way {
    switch source.record.wayBack(of: field) {
    case .rows:
      let parts = source.layout.key.columns
      return parts.count == 1
        ? .exact(parts[0], nil, source.rows) : .prefix(parts[0], nil, source.rows)
    case .index(let place):
      let number = source.record.indexes[place].number
      guard let index = source.indexes.first(where: { $0.layout.schema.number == number }) else {
        return .rows
      }
      let layout = index.layout
      if layout.schema.isUnique, layout.parts.columns.count == 1 {
        return .exact(layout.wholeParts.columns[0], layout, index.slot)
      }
      return .prefix(layout.parts.columns[0], layout, index.slot)
    case nil: return .rows
    }
  }

  /// The reference as people name it: `Book.author`.
  var name: String { "\(source.record.name).\(field.name)" }
  /// The record that it leads to, or the kind of it: `Trip.BusinessTrip`.
  var destinationName: String { destination.record.name + (kind.map { ".\($0.name)" } ?? "") }

  /// Returns true if it may lead to a record with a row: of the kind that it leads to.
  ///
  /// - Parameter row: A row of the destination, whose frame was checked or is checked later.
  @inline(__always)
  func mayLead(to row: RawSpan) -> Bool {
    guard let kindBit else { return true }
    return row.byteCount < destination.layout.fixedEnd || !row.isNull(bit: kindBit)
  }

  /// Returns true if a record with a key exists that it may lead to.
  ///
  /// - Complexity: A lookup.
  @inline(__always)
  func leads(to key: RawSpan, in trees: TreeAccess) throws(StoreError) -> Bool {
    if kindBit == nil { return try trees.contains(key, in: destination.rows) }
    return try leadsToKind(key, in: trees)
  }

  @inline(never)
  private func leadsToKind(_ key: RawSpan, in trees: TreeAccess) throws(StoreError) -> Bool {
    var row: [UInt8] = []
    guard try trees.copyValue(of: key, in: destination.rows, to: &row) else { return false }
    return mayLead(to: row.rawSpan)
  }
}

// MARK: - From a record to those that it leads to

extension Link {
  /// Calls `body` with the primary key of each record that a record leads to.
  ///
  /// - Parameter encoder: Memory for the key.
  /// - Throws: `.invalidValue` for NaN, `.corrupt`; rethrows errors of `body`.
  @inline(__always)
  func forEachKey(
    of record: RowReader, in encoder: KeyEncoder,
    _ body: (RawSpan) throws(StoreError) -> Void
  ) throws(StoreError) {
    try visitKeys(
      of: record, in: encoder,
      while: { key throws(StoreError) in
        try body(key)
        return true
      })
  }

  /// The same until `body` returns false.
  @inline(__always)
  func visitKeys(
    of record: RowReader, in encoder: KeyEncoder,
    while body: (RawSpan) throws(StoreError) -> Bool
  ) throws(StoreError) {
    guard isList else {
      encoder.begin()
      if try appendKey(of: record, to: encoder) { _ = try body(encoder.key) }
      return
    }
    if record.isNull(key.place) { return }
    let array = try elements(of: record)
    try visitKeys(of: record, in: encoder, at: 0..<array.count, while: body)
  }

  /// Appends the primary key of the record that a record leads to, if the reference is no list. False if it is null.
  ///
  /// - Throws: `.invalidValue` for NaN, `.corrupt`.
  @inline(__always)
  func appendKey(of record: RowReader, to encoder: KeyEncoder) throws(StoreError) -> Bool {
    if record.isNull(key.place) { return false }
    if let keyPlace, keyPlace.upperBound <= record.key.byteCount {
      encoder.appendRaw(record.key.part(keyPlace.lowerBound, keyPlace.count))
    } else {
      try encoder.append(key, from: record)
    }
    return true
  }

  /// Calls `body` with the primary key of each record that a record's list leads to with the elements at some places.
  @inline(__always)
  func forEachKey(
    of record: RowReader, in encoder: KeyEncoder, at places: Range<Int>,
    _ body: (RawSpan) throws(StoreError) -> Void
  ) throws(StoreError) {
    try visitKeys(
      of: record, in: encoder, at: places,
      while: { key throws(StoreError) in
        try body(key)
        return true
      })
  }

  /// The same until `body` returns false.
  ///
  /// Dynamic, so that it is compiled once: the optimizer would make a copy for every closure that it is called with.
  dynamic func visitKeys(
    of record: RowReader, in encoder: KeyEncoder, at places: Range<Int>,
    while body: (RawSpan) throws(StoreError) -> Bool
  ) throws(StoreError) {
    let array = try elements(of: record)
    for index in places {
      encoder.begin()
      try encoder.append(array.element(index), key, of: record)
      guard try body(encoder.key) else { return }
    }
  }

  /// The elements of a record's list; none if it is null.
  @_lifetime(copy record)
  func elements(of record: RowReader) throws(StoreError) -> ArrayReader {
    guard let array = ArrayReader(record.bytes(key.place.index), of: key.type) else {
      throw record.fault(.rowValues, "an array is not whole elements")
    }
    return array
  }

  /// Returns true if two rows of one record have the same value in the reference for certain, since it is the same bytes.
  ///
  /// - Complexity: O(bytes).
  func isSame(in one: RowReader, _ other: RowReader) -> Bool {
    guard isList else { return false }
    return one.isNull(key.place) == other.isNull(key.place)
      && one.bytes(key.place.index).equals(other.bytes(key.place.index))
  }

  /// The bytes of a record's list without the elements of some values.
  ///
  /// - Complexity: O(bytes).
  func list(of record: RowReader, without values: [FieldValue]) throws(StoreError) -> [UInt8]? {
    let array = try elements(of: record)
    var others: Set<[UInt8]> = []
    for value in values {
      guard let bytes = FieldValue.array([value]).rowBytes(of: .array(of: key.type)),
        let reader = ArrayReader(bytes.rawSpan, of: key.type), reader.count == 1
      else { return nil }
      others.insert(reader.element(0).array())
    }
    let rest = array.bytes(without: others, of: key.type)
    return ArrayReader(rest.rawSpan, of: key.type)?.count == array.count - others.count ? rest : nil
  }

  /// The value of a field that leads to the record with a primary key.
  func value(ofKey key: RawSpan) throws(StoreError) -> FieldValue {
    let layout = destination.layout
    var reader = KeyReader(key, layout: layout)
    return try reader.value(layout.key.columns[0])
  }
}

extension Entities {
  /// Returns the reference of a record to another, checked or not.
  ///
  /// - Throws: `.invalidQuery` if the field is no such reference.
  func link(
    of source: Entity, _ field: String, to destination: Entity
  ) throws(StoreError) -> Link {
    guard let schema = source.record.field(named: field),
      schema.reference?.record == destination.record.number,
      let link = relations?.links(from: source).first(where: { $0.field.number == schema.number })
        ?? Link(0, schema, of: source, to: destination, inverse: nil)
    else {
      throw .invalidQuery(
        record: source.record.name, field: field,
        reason: "it is no reference to \(destination.record.name)")
    }
    return link
  }
}

// MARK: - From a record to those that lead to it

extension Link {
  /// Calls `body` with the primary key of each record that leads to the one with a key, until it returns false.
  ///
  /// - Parameters:
  ///   - encoder: Memory for the key to find.
  ///   - cursor: A `sourceCursor`, which is faster for many keys; nil for another one.
  ///   - body: Must not change anything, and must not use the cursor.
  /// - Complexity: A seek, and a step for each.
  func forEachSource(
    to key: RawSpan, in trees: TreeAccess, _ encoder: KeyEncoder, by cursor: CursorAccess? = nil,
    _ body: (RawSpan) throws(StoreError) -> Bool
  ) throws(StoreError) {
    _ = try forEachSource(to: key, in: trees, cursor, backward: false, encoder, body)
  }

  /// Returns a cursor for the sources of several keys, one after the other: of keys that ascend, it mostly stays in a leaf. Nil
  /// if there is no reverse index, or a transaction may change it from one key to the next.
  func sourceCursor(in trees: TreeAccess) throws(StoreError) -> CursorAccess? {
    guard !trees.isChanging, case .prefix(_, _, let tree) = way, try trees.isWhole(tree) else {
      return nil
    }
    return try trees.cursor(in: tree)
  }

  /// Calls `body` for each record that leads to one of several, with the place of the key and its own primary key.
  ///
  /// - Parameters:
  ///   - isBackward: True if the entries of each key are read from the last to the first.
  ///   - body: Returns false if no more of the key are needed. Must not change anything.
  /// - Returns: True if those of each key came in the order of the index's parts; false if they may have come in any, since
  ///   an entry was cut, or there is no index.
  /// - Complexity: One pass over the tree from the first key to the last: a seek for each, which mostly stays in a leaf.
  ///   Without an index, one pass over all rows.
  func forEachSource(
    toEach keys: SortedKeys, in trees: TreeAccess, backward isBackward: Bool = false,
    _ body: (_ place: Int, _ source: RawSpan) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    let (source, encoder) = (source, KeyEncoder())
    guard let tree, try trees.isWhole(tree) else {
      let cursor = try trees.cursor(in: source.rows)
      while try cursor.advance() {
        var places: [Int] = []
        let row = try source.row(key: cursor.key, row: try cursor.value())
        try forEachKey(of: row, in: encoder) { key in
          if let place = keys.place(of: key) { places.append(place) }
        }
        for place in places { _ = try body(place, cursor.key) }
      }
      return false
    }
    let cursor = try trees.cursor(in: tree)
    var areWhole = true
    for place in 0..<keys.count {
      let isWhole = try forEachSource(
        to: keys.key(place), in: trees, cursor, backward: isBackward, encoder
      ) { source throws(StoreError) in try body(place, source) }
      areWhole = areWhole && isWhole
    }
    return areWhole
  }

  /// The parts of the keys by which the records that lead to one are found, the first of which leads to it; nil if all rows
  /// have to be read. After those of an index comes the primary key.
  var backParts: [KeyColumn]? {
    switch way {
    case .prefix(_, let index, _), .exact(_, let index, _):
      index?.parts.columns ?? source.layout.key.columns
    case .rows: nil
    }
  }

  /// The way in which the records that lead to one are found, for people.
  var wayBackText: String {
    switch way {
    case .prefix(_, let index?, _), .exact(_, let index?, _): "by index \(index.schema.name)"
    case .prefix, .exact: "by its rows"
    case .rows: "among all rows"
    }
  }

  /// The tree of the reverse index; nil if all rows have to be read.
  private var tree: TreeSlot? {
    switch way {
    case .prefix(_, _, let tree), .exact(_, _, let tree): tree
    case .rows: nil
    }
  }

  /// - Parameter cursor: A cursor in the tree of the reverse index; nil for another one.
  /// - Returns: True if they came in the order of the index's parts.
  // Dynamic, as `visitKeys(of:in:at:while:)`: 6 KB for every closure otherwise.
  private dynamic func forEachSource(
    to key: RawSpan, in trees: TreeAccess, _ cursor: CursorAccess?, backward isBackward: Bool,
    _ encoder: KeyEncoder, _ body: (RawSpan) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    let layout = source.layout
    if let tree, try !trees.isWhole(tree) { return try forEachRow(to: key, in: trees, body) }
    switch way {
    case .exact(let part, let index, let tree):
      try encode(key, as: part, to: encoder)
      guard encoder.key.byteCount < IndexLayout.cutLength else {
        return try forEachRow(to: key, in: trees, body)
      }
      guard let index else {
        if try trees.contains(encoder.key, in: tree) { _ = try body(encoder.key) }
        return true
      }
      var value: [UInt8] = []
      guard try trees.copyValue(of: encoder.key, in: tree, to: &value) else { return true }
      _ = try body(
        try index.primaryKey(key: encoder.key, value: value.rawSpan, layout: layout))
    case .prefix(let part, let index, let tree):
      try encode(key, as: part, to: encoder)
      guard encoder.key.byteCount <= IndexLayout.cutPrefix else {
        return try forEachRow(to: key, in: trees, body)
      }
      let cursor = if let cursor { cursor } else { try trees.cursor(in: tree) }
      var isOn = try cursor.seek(toPrefix: encoder.key, backward: isBackward)
      var areWhole = true
      while isOn, cursor.key.byteCount >= encoder.key.byteCount,
        cursor.key.begins(with: encoder.key)
      {
        let goesOn: Bool
        if let index {
          areWhole = areWhole && cursor.key.byteCount < IndexLayout.cutPrefix
          goesOn = try body(
            try index.primaryKey(key: cursor.key, value: try cursor.value(), layout: layout))
        } else {
          goesOn = try body(cursor.key)
        }
        guard goesOn else { break }
        isOn = isBackward ? try cursor.previous() : try cursor.next()
      }
      return areWhole
    case .rows: return try forEachRow(to: key, in: trees, body)
    }
    return true
  }

  /// The same by reading all rows: for keys too long for those of indexes, and if the index is not built yet.
  ///
  /// - Returns: False, since they come in the order of their rows.
  // Dynamic, as `visitKeys(of:in:at:while:)`.
  private dynamic func forEachRow(
    to key: RawSpan, in trees: TreeAccess, _ body: (RawSpan) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    let (source, encoder) = (source, KeyEncoder())
    let cursor = try trees.cursor(in: source.rows)
    while try cursor.advance() {
      var leads = false
      let row = try source.row(key: cursor.key, row: try cursor.value())
      try forEachKey(of: row, in: encoder) { found in leads = leads || found.equals(key) }
      if leads, try !body(cursor.key) { break }
    }
    return false
  }

  /// Returns about how many records lead to one record, if `isInverse` is true; else about how many it leads to.
  func entriesPerRecord(isInverse: Bool, in trees: TreeAccess) throws(StoreError) -> Double {
    let entries = try trees.estimatedCount(in: tree ?? source.rows)
    let records =
      try isInverse ? destinationCount(in: trees) : trees.estimatedCount(in: source.rows)
    return Double(entries) / Double(max(1, records))
  }

  /// Returns about the number of records that it may lead to: of the kind, if it leads to one.
  func destinationCount(in trees: TreeAccess) throws(StoreError) -> Int {
    try destination.estimatedCount(ofKind: kindPlace, in: trees)
  }

  /// The number of rows that have to be read without a reverse index; 0 if there is one.
  func rowsRead(in trees: TreeAccess) throws(StoreError) -> Int {
    if let tree, try trees.isWhole(tree) { return 0 }
    return try trees.estimatedCount(in: source.rows)
  }

  /// True if the reference leads somewhere in every committed state.
  var isChecked: Bool { field.reference?.isChecked ?? false }

  /// Returns true if the reference is sure to lead to a record: it is checked, and a salvage has lost none.
  func leadsSomewhere(in trees: TreeAccess) throws(StoreError) -> Bool {
    guard isChecked, !trees.isChanging else { return false }
    return try trees.count(in: destination.lost) == 0
  }

  /// Returns true if the records that lead to one are found without reading all rows.
  func isFoundBack(in trees: TreeAccess) throws(StoreError) -> Bool {
    guard let tree else { return false }
    return try trees.isWhole(tree)
  }

  /// The number of records that lead to the one with a key.
  ///
  /// - Complexity: O(log entries).
  func count(
    to key: RawSpan, in trees: TreeAccess, _ encoder: KeyEncoder
  ) throws(StoreError) -> Int {
    if case .prefix(let part, _, let tree) = way, try trees.isWhole(tree) {
      try encode(key, as: part, to: encoder)
      if encoder.key.byteCount <= IndexLayout.cutPrefix {
        let low = try trees.rank(of: encoder.key, in: tree)
        guard let end = encoder.key.array().rangeEnd else { return try trees.count(in: tree) - low }
        return try trees.rank(of: end.rawSpan, in: tree) - low
      }
    }
    var count = 0
    try forEachSource(to: key, in: trees, encoder) { _ in
      count += 1
      return true
    }
    return count
  }

  private func encode(
    _ key: RawSpan, as part: KeyColumn, to encoder: KeyEncoder
  ) throws(StoreError) {
    encoder.begin()
    if let backPrefix, key.byteCount == part.type.fixedWidth {
      encoder.appendRaw(backPrefix.rawSpan)
      return encoder.appendRaw(key)
    }
    try encoder.append(try value(ofKey: key), part, of: source.layout)
  }
}

extension CursorAccess {
  /// Goes to the first entry whose key is not below a prefix; backward, to the last that is not above all that begin with
  /// it. False if there is none.
  fileprivate func seek(
    toPrefix prefix: RawSpan, backward isBackward: Bool
  ) throws(StoreError) -> Bool {
    guard isBackward else { return try seek(to: prefix) }
    guard let end = prefix.array().rangeEnd, try seek(to: end.rawSpan) else { return try last() }
    return try previous()
  }
}

extension [UInt8] {
  /// The lowest key above all that begin with this one; nil if no key is.
  fileprivate var rangeEnd: [UInt8]? {
    guard let last = lastIndex(where: { $0 != 0xff }) else { return nil }
    var end = Array(self[...last])
    end[last] += 1
    return end
  }
}
