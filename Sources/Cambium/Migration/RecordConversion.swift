/// Puts records of one version together from those of the version before, value by value: where their keys
/// change, or composites are given as wholes.
struct RecordConversion: Sendable {
  let old: RowLayout
  let new: RowLayout
  private let change: RecordChange
  private let needsRecord: Bool
  /// In step with the new columns: the place in the old ones of what each was.
  private let sources: [Int?]

  init(_ change: RecordChange, from old: RowLayout, to new: RowLayout) {
    self.old = old
    self.new = new
    self.change = change
    sources = change.fields.map { field in field.old.flatMap { old.index(number: $0.number) } }
    needsRecord = change.sources.values.contains { if case .record = $0 { true } else { false } }
  }

  /// The new record, in `row` and `key`.
  ///
  /// - Parameter setAside: Called with the new number of each field whose old value has no counterpart and is
  ///   to be kept aside.
  /// - Throws: as `RowConversion.convert`.
  func convert(
    key oldKey: RawSpan, row oldRow: RawSpan, _ blobs: BlobFinder?, to row: RowWriter,
    _ key: KeyEncoder,
    setAside: (UInt32) -> Void
  ) throws(StoreError) {
    let (old, new) = (old, new)
    let reader = try RowReader(key: oldKey, row: oldRow, layout: old, blobs: blobs)
    let record = needsRecord ? try OldRecord(reader) : nil
    var values = [FieldValue](repeating: .null, count: new.columns.count)
    for (index, column) in new.columns.enumerated() {
      if let composite = column.field.composite.flatMap({ new.index(number: $0) }),
        change.sources[new.columns[composite].field.number] != nil
      {
        // The value of the whole was given, and it with it.
        continue
      }
      let source = sources[index]
      let isGiven = change.sources[column.field.number] != nil
      let value =
        try source.map { source throws(StoreError) in
          let value = try reader.value(source)
          return isGiven ? value : value.emptied
        } ?? .null
      values[index] = try self.value(of: column, value, record, setAside)
      if column.field.type == .composite, change.sources[column.field.number] != nil,
        case .composite(let parts) = values[index]
      {
        try new.spread(parts, over: column, into: &values)
      }
    }
    try new.encode(values, to: row, key: key)
  }

  private func value(
    of column: Column, _ value: FieldValue, _ record: OldRecord?, _ setAside: (UInt32) -> Void
  ) throws(StoreError) -> FieldValue {
    let index = new.index(number: column.field.number) ?? 0
    var made = value
    if let given = change.sources[column.field.number] {
      if try given.setsAside(value, column.field.type) { setAside(column.field.number) }
      made = try given.made(of: value, record, for: column, in: new)
    } else if column.field.type != .composite {
      made = try value.widened(to: column.field.type)
    }
    if made != .null { return made }
    if change.fields[index].missing != .null { return change.fields[index].missing }
    // A composite that is new is there, unless it can be null.
    if column.field.type == .composite, !column.field.isOptional { return .composite([:]) }
    return .null
  }
}

extension FieldValue {
  /// A composite without its parts, which are looked at by themselves.
  fileprivate var emptied: FieldValue {
    if case .composite = self { .composite([:]) } else { self }
  }
}
