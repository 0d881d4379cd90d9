/// A column whose values a sequence gives.
struct SequenceColumn: DerivedColumn {
  /// The place among the columns.
  let column: Int
  let absentBit: Int?
  let rule: SequenceSchema
  let identity: SequenceIdentity
  /// True if it is the primary key.
  let isKey: Bool
  /// The place of the unique index of the column alone, among the record's; nil if there is none, as of a primary key.
  private let index: Int?
  private let isDescending: Bool

  /// - Returns: Nil of a column that has no sequence.
  init?(_ column: Int, of layout: RowLayout) {
    let record = layout.record
    let field = layout.columns[column].field
    guard let rule = field.derivation?.sequence else { return nil }
    self.column = column
    self.rule = rule
    absentBit = layout.absentBit(of: column)
    identity = SequenceIdentity(record: record.number, field: field.number)
    isKey = layout.columns[column].place.kind == .key
    index = isKey ? nil : record.sequenceIndex(of: field)
    let parts = index.map { record.indexes[$0].parts } ?? record.primaryKey
    isDescending = parts.first?.isDescending ?? false
  }

  /// Returns the greatest number that a record has; 0 if none has one.
  ///
  /// - Complexity: O(log records); O(records) while the index is being built, or if `bySearching` is true.
  /// - Throws: `.corrupt`, `.io`.
  func greatest(
    of entity: Entity, in trees: TreeAccess, bySearching: Bool = false
  ) throws(StoreError) -> UInt64 {
    // A migration builds indexes after it has numbered the records.
    let index = index.flatMap { entity.indexes.indices.contains($0) ? entity.indexes[$0] : nil }
    if !bySearching,
      try index.map({ index throws(StoreError) in try trees.isWhole(index.slot) })
        ?? isKey
    {
      let layout = entity.layout
      let cursor = try trees.cursor(in: index?.slot ?? entity.rows)
      guard try isDescending ? cursor.first() : cursor.last() else { return 0 }
      var reader = KeyReader(cursor.key, layout: layout, index: index?.layout.place)
      guard let part = index?.layout.parts.columns.first ?? layout.key.columns.first else {
        return 0
      }
      return try reader.value(part).sequenceNumber ?? 0
    }
    var greatest: UInt64 = 0
    let cursor = try trees.cursor(in: entity.rows)
    while try cursor.advance() {
      let row = try entity.row(key: cursor.key, row: try cursor.value())
      if isThere(in: row), let number = try row.value(column).sequenceNumber {
        greatest = max(greatest, number)
      }
    }
    return greatest
  }

  /// Returns the number after another as a value of the column.
  ///
  /// - Throws: `.invalidValue` if the column's type does not hold it.
  func next(after last: UInt64, in layout: RowLayout) throws(StoreError) -> (UInt64, FieldValue) {
    let field = layout.columns[column].field
    if let next = rule.next(after: last),
      let value = FieldValue(number: next).converted(to: field.type)
    {
      return (next, value)
    }
    throw .invalidValue(
      record: layout.record.name, field: field.name,
      reason:
        "its \(rule) is used up: after \(last), no number fits into \(field.type). Give the field a wider type in the next version"
    )
  }
}

/// The numbers of a record and of a field in it, under which the store keeps the last number of the field's sequence.
struct SequenceIdentity: Hashable, Sendable {
  let record: UInt32
  let field: UInt32

  static var keyLength: Int { 8 }

  var key: [UInt8] {
    var key: [UInt8] = []
    key.append(integer: record.byteSwapped)
    key.append(integer: field.byteSwapped)
    return key
  }
}

extension FieldValue {
  /// True if it is null or 0, by which a program leaves a field open.
  var isOpen: Bool {
    switch self {
    case .null, .integer(0), .unsigned(0): true
    default: false
    }
  }

  /// The number of a sequence that it is; nil of others, also of those below 1.
  var sequenceNumber: UInt64? {
    switch self {
    case .integer(let value) where value > 0: UInt64(value)
    case .unsigned(let value) where value > 0: value
    default: nil
    }
  }

  init(number: UInt64) {
    self = Int64(exactly: number).map { .integer($0) } ?? .unsigned(number)
  }
}
