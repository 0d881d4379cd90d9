/// Puts records of one version together from those of the version before, value by value: where their keys
/// change, or composites are given as wholes.
struct RecordConversion: Sendable {
  let old: RowLayout
  let new: RowLayout
  private let change: RecordChange
  private let needsRecord: Bool
  /// In step with the new columns.
  private let columns: [Origin]

  /// The origin of a column's value.
  private struct Origin: Sendable {
    /// The place in the old columns of what it was.
    let place: Int?
    /// The source that the step names; nil if it names none.
    let given: FieldSource?
    /// True if the field is a part of a composite that the step gives as a whole.
    let isWithinGiven: Bool
    /// The places of the composites that it is a part of.
    let composites: [Int]
  }

  init(_ change: RecordChange, from old: RowLayout, to new: RowLayout) {
    self.old = old
    self.new = new
    self.change = change
    columns = zip(new.columns, change.fields).map { column, field in
      let composites = new.record.composites(column.field)
      return Origin(
        place: field.old.flatMap { old.index(number: $0.number) },
        given: change.sources[column.field.number],
        isWithinGiven: composites.contains { change.sources[$0] != nil },
        composites: composites.compactMap { new.index(number: $0) })
    }
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
    for (index, column) in new.columns.enumerated() where !columns[index].isWithinGiven {
      let origin = columns[index]
      let value =
        try origin.place.map { place throws(StoreError) in
          let value = try reader.value(place)
          // The parts of a composite are looked at by themselves, unless the step gives it as a whole.
          return origin.given == nil ? value.emptied : value
        } ?? .null
      let made = try self.value(of: column, origin, value, record, setAside)
      values[index] = made == .null ? missing(column, index) : made
      guard origin.given != nil else { continue }
      if made != .null {
        // A part that is given a value makes the composites that it is in.
        for place in origin.composites where values[place] == .null {
          values[place] = .composite([:])
        }
      }
      if column.field.type == .composite, case .composite(let parts) = values[index] {
        try new.spread(parts, over: column, into: &values)
      }
    }
    try new.encode(values, to: row, key: key)
  }

  private func value(
    of column: Column, _ origin: Origin, _ value: FieldValue, _ record: OldRecord?,
    _ setAside: (UInt32) -> Void
  ) throws(StoreError) -> FieldValue {
    guard let given = origin.given else {
      return column.field.type == .composite ? value : try value.widened(to: column.field.type)
    }
    if try given.setsAside(value, column.field.type) { setAside(column.field.number) }
    return try given.made(of: value, record, for: column, in: new)
  }

  /// Returns what a column is without a value.
  private func missing(_ column: Column, _ index: Int) -> FieldValue {
    if change.fields[index].missing != .null { return change.fields[index].missing }
    // A composite that is new is there, unless it can be null.
    if column.field.type == .composite, !column.field.isOptional { return .composite([:]) }
    return .null
  }
}

extension FieldValue {
  /// A composite without its parts.
  fileprivate var emptied: FieldValue {
    if case .composite = self { .composite([:]) } else { self }
  }
}
