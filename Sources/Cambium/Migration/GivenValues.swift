/// Values that closures make of old ones, for fixed columns of rows that are copied.
final class GivenValues: RowAmending {
  private let change: RecordChange
  private let old: RowLayout
  private let new: RowLayout
  private let columns: [Given]

  private struct Given: Sendable {
    let source: Int
    let target: Column
    let width: Int
    let body: FieldSource
  }

  init(_ change: RecordChange, from old: RowLayout, to new: RowLayout) {
    self.change = change
    self.old = old
    self.new = new
    columns = zip(new.columns, change.fields).compactMap { column, field in
      guard let body = change.sources[field.new.number], let before = field.old,
        let source = old.index(number: before.number), let width = column.field.type.fixedWidth
      else { return nil }
      return Given(source: source, target: column, width: width, body: body)
    }
  }

  func copy() -> any RowAmending {
    guard let old = try? RowLayout(old.record, version: old.version),
      let new = try? RowLayout(new.record, version: new.version)
    else { return self }
    return GivenValues(change, from: old, to: new)
  }

  /// A value that is null, or becomes it, is left to the conversion.
  func amend(
    _ copied: UpgradedRow, key: RawSpan, row: RawSpan, by writer: RowWriter
  ) throws(StoreError) -> Bool {
    let (old, new) = (old, new)
    let reader = try RowReader(key: key, row: row, layout: old)
    writer.begin(new)
    for column in columns {
      let value = try reader.value(column.source)
      if value == .null { return false }
      let made = try column.body.made(of: value, nil, nil, for: column.target, in: new)
      if made == .null { return false }
      try writer.set(made, of: column.target, in: new)
    }
    writer.finish()
    for column in columns {
      let place = column.target.place.index
      copied.store(writer.row.part(place, column.width), at: place)
    }
    return true
  }
}
