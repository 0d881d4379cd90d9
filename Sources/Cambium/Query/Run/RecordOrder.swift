#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// An order as a query of one condition needs it: columns whose values can differ, and no more of them than
/// it takes to tell all records apart. The primary key comes after, ascending.
struct BoundOrder {
  /// With the forms in which keys to sort by have them.
  private(set) var columns: [KeyColumn] = []
  /// The values that are no columns of the record, by their places among the columns, which say only their forms.
  private var terms: [Int: any OrderTerm] = [:]
  /// True if a primary key comes after; otherwise the columns have all of it.
  private(set) var hasWholeKey = false
  /// Columns that have one value in all records of the query. They are left out, unless records are to come
  /// after one that may have another.
  private(set) var fixed: [(column: KeyColumn, value: FieldValue)] = []
  /// The collations of the query, which columns refer to.
  private var collations: [Collation] = []

  static var byPrimaryKey: BoundOrder { BoundOrder() }

  private init() {}

  /// - Parameter isAfter: True if records are to come after one that may not meet the condition.
  /// - Throws: `.invalidQuery` where there is no such field, or its values have no order.
  init(
    _ order: [FieldOrder], _ condition: Conjunction, isAfter: Bool, of record: Entity,
    in reader: RecordReader
  ) throws(StoreError) {
    var exact: Set<Int> = []
    let layout = record.layout
    let key = layout.key.columns
    for field in order {
      var field = field.providingCollation(of: layout)
      if let name = field.field, let part = layout.datePart(named: name) {
        field = FieldOrder(part, isDescending: field.isDescending)
      }
      if field.field == nil {
        append(try ComputedColumn(field, of: record, in: reader))
        continue
      }
      if let collation = field.collation { collations.append(collation) }
      if reader.entities.hasReferences {
        field = try field.resolved(
          from: record, in: reader.entities, isChanging: reader.trees.isChanging)
        if let column = try RelatedColumn(field, of: record, in: reader) {
          append(column)
          continue
        }
      }
      let column = try Self.column(of: field, in: layout)
      let index = Int(column.column)
      if exact.contains(index) { continue }
      if let values = condition.fixedValues(of: index) {
        if !isAfter { continue }
        fixed.append((column, values[0]))
      }
      if column.isExact { exact.insert(index) }
      columns.append(column)
      hasWholeKey = key.allSatisfy { exact.contains(Int($0.column)) }
      if hasWholeKey { break }
    }
    dropPrimaryKey(key)
  }

  /// The first column, if it is a field of a record that a reference leads to.
  var firstRelated: RelatedColumn? { terms[0] as? RelatedColumn }

  private mutating func append(_ term: any OrderTerm) {
    terms[columns.count] = term
    columns.append(term.form)
  }

  /// Drops the primary key from the end of the order, which ends with it anyway.
  private mutating func dropPrimaryKey(_ key: [KeyColumn]) {
    guard columns.count >= key.count else { return }
    let isThere = zip(columns.suffix(key.count), key).allSatisfy { one, other in
      one.isSameValue(as: other) && one.isDescending == other.isDescending
    }
    guard isThere else { return }
    columns.removeLast(key.count)
    hasWholeKey = false
  }

  /// - Throws: as `init`.
  static func column(
    of field: FieldOrder, in layout: RowLayout
  ) throws(StoreError) -> KeyColumn {
    let index = try layout.place(ofQueried: field.field ?? field.value.description)
    let column = layout.columns[index]
    guard column.field.type.canBeKey, let type = column.field.type.scalar else {
      throw layout.queryRefusal(column, "values of \(column.field.type) have no order")
    }
    guard !field.isCaseInsensitive || type == .string else {
      throw layout.queryRefusal(column, "values of \(column.field.type) have no case")
    }
    if let collation = field.collation {
      guard type == .string, !field.isCaseInsensitive else {
        throw layout.queryRefusal(
          column,
          type == .string ? "a collation says what case means" : "only strings have a collation")
      }
      guard collation.isProvided else {
        throw CollationReference(collation).missing(in: layout.record.name)
      }
    }
    var form: KeyForm = []
    if column.place.nullBit != nil { form.insert(.isOptional) }
    if field.isDescending { form.insert(.isDescending) }
    if field.isCaseInsensitive { form.insert(.isCaseInsensitive) }
    return KeyColumn(
      column: UInt32(index), place: column.place,
      type: field.collation == nil ? type : .binaryData, form: form,
      collation: field.collation.map { CollationReference($0) })
  }
}

extension FieldOrder {
  /// Returns the order with the function of its collation, if an index of the record has it.
  func providingCollation(of layout: RowLayout) -> FieldOrder {
    guard let collation, !collation.isProvided else { return self }
    return FieldOrder(
      value, isDescending: isDescending, isCaseInsensitive: isCaseInsensitive,
      collation: layout.record.collations.providing(collation))
  }
}

extension KeyColumn {
  var isDescending: Bool { form.contains(.isDescending) }
  var isCaseInsensitive: Bool { form.contains(.isCaseInsensitive) }
  /// True if different values are in different places.
  var isExact: Bool { !isCaseInsensitive && collation == nil }
}

// MARK: The order of a tree

/// The part of a query's order that the order of a tree's keys gives.
struct GivenOrder: Sendable {
  enum Extent: Hashable, Sendable {
    /// Entries come as they are wanted.
    case all
    /// Entries that have the same first parts come together: those are to be sorted.
    case groups
    case nothing
  }

  var extent = Extent.nothing
  var isBackward = false
  /// The number of parts of the key that make a group.
  var partCount = 0
  /// True if records of a group differ in nothing that is wanted but the primary key.
  var isByKeyInGroups = false
}

extension BoundOrder {
  /// - Parameters:
  ///   - parts: Of the tree's keys; after those of an index the primary key comes.
  ///   - fixed: The values of parts that can have only one.
  ///   - index: The index whose parts they are; nil for the primary key.
  func given(by parts: [KeyColumn], fixed: [FieldValue?], of index: IndexLayout?) -> GivenOrder {
    var given = GivenOrder()
    var matched = 0
    var isBackward: Bool?
    for (place, part) in parts.enumerated() {
      passFixed(&matched)
      if place < fixed.count, case .some = fixed[place] {
        if matched < columns.count, columns[matched].isSameValue(as: part),
          place != index?.expanded?.place
        {
          matched += 1
        }
        given.partCount = place + 1
        continue
      }
      guard matched < columns.count, columns[matched].isSameValue(as: part) else { break }
      let isOther = columns[matched].isDescending != part.isDescending
      guard isBackward == nil || isBackward == isOther else { break }
      isBackward = isOther
      matched += 1
      given.partCount = place + 1
    }
    passFixed(&matched)
    given.isBackward = isBackward ?? false
    given.isByKeyInGroups = matched == columns.count
    let isWhole = given.partCount == parts.count
    let isAll = index != nil ? isWhole && !given.isBackward : isWhole || !given.isBackward
    if matched == columns.count, isAll {
      given.extent = .all
    } else if matched > 0 {
      given.extent = .groups
    }
    return given
  }

  private func isFixed(_ column: KeyColumn) -> Bool {
    fixed.contains { $0.column.column == column.column }
  }

  private func passFixed(_ matched: inout Int) {
    while matched < columns.count, isFixed(columns[matched]) { matched += 1 }
  }
}

extension BoundOrder {
  /// Returns whether entries that agree in their first part come in this order if they are read backward, true, or
  /// forward, false; nil if they come in another one.
  ///
  /// - Parameters:
  ///   - parts: Of the tree's keys, without the primary key that ends those of an index. None was cut.
  ///   - key: The primary key's parts.
  func isBackward(in parts: [KeyColumn], key: [KeyColumn]) -> Bool? {
    let wanted = (hasWholeKey ? columns : columns + key).withoutRepetitions(of: parts[0])
    let entry = (parts.dropFirst() + key).withoutRepetitions(of: parts[0])
    let pairs = Array(zip(wanted, entry))
    guard pairs.count == wanted.count, pairs.allSatisfy({ $0.isSameValue(as: $1) }) else {
      return nil
    }
    let directions = Set(pairs.map { $0.isDescending != $1.isDescending })
    return directions.count > 1 ? nil : directions.first ?? false
  }
}

extension Sequence<KeyColumn> {
  /// These, without those that the first one or an earlier one implies.
  fileprivate func withoutRepetitions(of first: KeyColumn) -> [KeyColumn] {
    var seen = [first]
    for column in self where !seen.contains(where: { $0.isSameValue(as: column) }) {
      seen.append(column)
    }
    return Array(seen.dropFirst())
  }
}

extension KeyColumn {
  /// True if both are of one column, and equal for the same values.
  func isSameValue(as other: KeyColumn) -> Bool {
    column == other.column && isCaseInsensitive == other.isCaseInsensitive
      && collation == other.collation
  }
}

// MARK: - At work

/// The order of a query's records, and the record after which the first comes.
final class RecordOrder {
  let columns: BoundOrder
  private let record: Entity
  private let encoder: KeyEncoder
  // One owner on one thread uses them, so accesses cannot overlap.
  /// The primary key of the record to come after, after its sort key.
  @exclusivity(unchecked) private var start: [UInt8] = []
  /// The record itself; its row is empty if the order asks for none.
  @exclusivity(unchecked) private(set) var startKey: [UInt8] = []
  @exclusivity(unchecked) private(set) var startRow: [UInt8] = []
  /// True if the records that come now differ in nothing but the primary key; without a start.
  var isByKey = false
  /// True if there is such a record, and the next may be before it.
  var hasStart = false

  /// - Parameter encoder: For this alone, from now on.
  init(_ columns: BoundOrder, of record: Entity, _ encoder: KeyEncoder) {
    self.encoder = encoder
    self.columns = columns
    self.record = record
  }
}

// MARK: Sorting

extension RecordOrder {
  /// Adds the record at a source's place to keys that are to be sorted, unless it comes before the start.
  ///
  /// - Returns: False if it was not added, as there are enough before it.
  /// - Throws: `.corrupt`, `.io`, `.sortTooLarge`.
  @discardableResult
  func add(_ source: RecordSource, to keys: inout SortedKeys) throws(StoreError) -> Bool {
    if columns.columns.isEmpty || isByKey {
      if hasStart, !isBehindStart(source.key) { return false }
      return try keys.add(source.key, keyLength: source.key.byteCount)
    }
    let (layout, encoder) = (record.layout, encoder)
    let row = try source.row()
    let reader = try RowReader(key: source.key, row: row, layout: layout)
    guard try columns.encode(reader, to: encoder, unlessBehind: keys) else { return false }
    if hasStart, !isBehindStart(encoder.key) { return false }
    let keyLength = source.key.byteCount
    guard keys.hasRows else { return try keys.add(encoder.key, keyLength: keyLength) }
    return try keys.add(encoder.key, keyLength: keyLength, row: row)
  }

  /// Returns a filter that rejects rows that come after all of the keys; nil if each row has to be looked at.
  func limit(behind keys: SortedKeys) -> QuickTerm? {
    guard keys.isFull, keys.count > 0, let column = columns.columns.first, !column.isRelated
    else { return nil }
    let layout = record.layout
    var reader = KeyReader(keys.whole(0), layout: layout)
    guard let value = try? reader.value(column) else { return nil }
    return QuickTerm(notBehind: value, column, layout)
  }

  /// Returns true if the record at a source's place comes after the start.
  func isBehindStart(_ source: RecordSource) throws(StoreError) -> Bool {
    if !hasStart { return true }
    if columns.columns.isEmpty { return isBehindStart(source.key) }
    let (layout, encoder) = (record.layout, encoder)
    let reader = try RowReader(key: source.key, row: try source.row(), layout: layout)
    try columns.encode(reader, to: encoder)
    return isBehindStart(encoder.key)
  }

  private func isBehindStart(_ key: RawSpan) -> Bool {
    let start = unsafe start
    return key.compare(start.rawSpan) > 0
  }
}

// MARK: Starting

extension RecordOrder {
  /// Lets the first record be the one after a place.
  ///
  /// - Throws: `.noSuchRecord` where the order asks for a record that is not there; `.invalidQuery` where its
  ///   key is of other types; `.corrupt`, `.io`.
  func begin(after place: FieldQuery.Place, in trees: TreeAccess) throws(StoreError) {
    hasStart = true
    switch place {
    case .record(let key, let row):
      unsafe startKey = key
      unsafe startRow = row
    case .key(let parts):
      let encoder = encoder
      try encoder.encode(primaryKey: parts, of: record)
      unsafe startKey = encoder.key.array()
      if !columns.columns.isEmpty { try findRow(in: trees) }
    }
    guard !columns.columns.isEmpty else {
      unsafe start = startKey
      return
    }
    let (key, row, layout) = unsafe (startKey, startRow, record.layout)
    let encoder = encoder
    try columns.encode(
      try RowReader(key: key.rawSpan, row: row.rawSpan, layout: layout), to: encoder)
    unsafe start = encoder.key.array()
  }

  private func findRow(in trees: TreeAccess) throws(StoreError) {
    let key = unsafe startKey
    guard try unsafe trees.copyValue(of: key.rawSpan, in: record.rows, to: &startRow) else {
      throw .noSuchRecord(record: record.record.name, key: record.text(ofKey: key.rawSpan))
    }
  }

  /// The bytes that the first parts of a tree's keys have where the start is. Nil if it would be elsewhere,
  /// since a part can have only another value.
  ///
  /// - Parameter expanded: The place of the expanded part; the start need have no entry with its
  ///   value.
  /// - Throws: `.corrupt`, `.invalidQuery`.
  func startPrefix(
    _ parts: [KeyColumn], fixed: [FieldValue?], expanded: Int?
  ) throws(StoreError) -> [UInt8]? {
    let layout = record.layout
    let (key, row) = unsafe (startKey, startRow)
    let encoder = encoder
    var known = columns.fixed
    for (place, (part, value)) in zip(parts, fixed).enumerated() where place != expanded {
      if let value { known.append((part, value)) }
    }
    for (part, value) in known where value != .null || part.form.contains(.isOptional) {
      let reader = try RowReader(key: key.rawSpan, row: row.rawSpan, layout: layout)
      encoder.begin()
      try encoder.append(part, from: reader)
      let own = encoder.key.array()
      encoder.begin()
      try encoder.append(value, part, of: layout)
      if !own.rawSpan.equals(encoder.key) { return nil }
    }
    encoder.begin()
    for (place, part) in parts.enumerated() {
      if place == expanded, let value = fixed[place] {
        try encoder.append(value, part, of: layout)
        continue
      }
      let reader = try RowReader(key: key.rawSpan, row: row.rawSpan, layout: layout)
      // It has no entry, and its place is before all that begin so.
      if reader.isNull(part.place), !part.form.contains(.isOptional) { break }
      try encoder.append(part, from: reader)
    }
    return encoder.key.array()
  }
}

extension BoundOrder {
  /// Builds a record's sort key: bytes that sort as records do, of which the primary key is the
  /// end.
  ///
  /// - Throws: `.corrupt` for a damaged record, `.limitExceeded`.
  func encode(_ record: RowReader, to key: KeyEncoder) throws(StoreError) {
    key.begin()
    for place in columns.indices { try append(place, of: record, to: key) }
    key.appendRaw(record.key)
  }

  /// The same, unless the key comes after enough others. False if its first column says so.
  ///
  /// - Throws: as `encode(_:to:)`.
  fileprivate func encode(
    _ record: RowReader, to key: KeyEncoder, unlessBehind keys: SortedKeys
  ) throws(StoreError) -> Bool {
    key.begin()
    for place in columns.indices {
      try append(place, of: record, to: key)
      if place == 0, keys.isFull, keys.areBefore(start: key.key) { return false }
    }
    key.appendRaw(record.key)
    return true
  }

  @inline(__always)
  private func append(
    _ place: Int, of record: RowReader, to key: KeyEncoder
  ) throws(StoreError) {
    if !terms.isEmpty, let term = terms[place] { return try term.append(of: record, to: key) }
    try key.appendSorted(columns[place], from: record)
  }
}

extension RowReader {
  /// Returns true if a column's value is of numbers and none; those come after all.
  func isNotANumber(_ column: KeyColumn) throws(StoreError) -> Bool {
    guard column.place.kind != .key, !isNull(column.place) else { return false }
    return switch column.type {
    case .double, .date: double(column.place.index).isNaN
    case .float: float(column.place.index).isNaN
    case .decimal: try decimal(column.place.index).isNaN
    default: false
    }
  }
}

extension KeyEncoder {
  /// Appends a record's value of a column, so that it sorts as the value does, also where it is not a number.
  ///
  /// - Throws: `.corrupt`.
  func appendSorted(_ column: KeyColumn, from record: RowReader) throws(StoreError) {
    if try record.isNotANumber(column) {
      appendNotANumber(column)
    } else {
      try append(column, from: record)
    }
  }

  /// Appends bytes that sort after every number.
  fileprivate func appendNotANumber(_ column: KeyColumn) {
    let mask: UInt8 = column.isDescending ? 0xff : 0
    var bytes = [UInt8](repeating: 0xff ^ mask, count: column.type.fixedWidth ?? 1)
    if column.form.contains(.isOptional) { bytes.insert(1 ^ mask, at: 0) }
    appendRaw(bytes.rawSpan)
  }
}
