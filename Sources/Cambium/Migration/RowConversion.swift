/// Makes rows of one version from those of the version before, column by column, without making records.
struct RowConversion: RowConverting {
  private let old: RowLayout
  private let new: RowLayout
  /// One for each column of the new rows that has bytes or a bit, in their order.
  private let moves: [ColumnMove]
  /// True if a closure wants to see the whole old record.
  private let needsRecord: Bool

  init(_ change: RecordChange, from old: RowLayout, to new: RowLayout) {
    self.old = old
    self.new = new
    moves = zip(new.columns, change.fields).compactMap { column, field in
      if column.place.kind == .key { return nil }
      return ColumnMove(column, field, change.sources[field.new.number], from: old, to: new)
    }
    needsRecord = change.sources.values.contains { if case .record = $0 { true } else { false } }
  }

  /// Puts the new row together; the key stays as it is.
  ///
  /// - Throws: `.corrupt` for a damaged row; `.invalidValue` where a value is missing that must be there;
  ///   `.limitExceeded`; `.stepFailed` where a closure throws.
  func convert(key: RawSpan, row: RawSpan, to writer: RowWriter) throws(StoreError) {
    let (old, new) = (old, new)
    let reader = try RowReader(key: key, row: row, layout: old)
    let record = needsRecord ? try OldRecord(reader) : nil
    writer.begin(new)
    for move in moves { try move.run(reader, record, writer, new) }
    writer.finish()
  }
}

/// The origin of one column of a new row.
///
/// An object, since one is used for every column of every row, and copies of its values would be counted.
private final class ColumnMove: Sendable {
  private let target: Column
  private let kind: Kind
  /// The place in the old row; nil if the column is new.
  private let source: ColumnPlace?
  /// The place in the old layout's columns.
  private let sourceIndex: Int
  private let missing: FieldValue
  /// The old places of the composites that the new column is in, and whether these can be null.
  private let outer: [Outer]

  private enum Kind: Sendable {
    case copyFixed(width: Int)
    case copyBytes
    /// By the value, of another type.
    case convert
    /// A composite, which has a bit at most.
    case flag
    /// By what a step says.
    case given(FieldSource)
  }

  /// A composite that can be null, and where the old row says so; a new one is, in every record.
  private struct Outer: Sendable {
    let source: ColumnPlace?
  }

  init(
    _ target: Column, _ change: FieldChange, _ given: FieldSource?, from old: RowLayout,
    to new: RowLayout
  ) {
    self.target = target
    missing = change.missing
    sourceIndex = change.old.flatMap { old.index(number: $0.number) } ?? 0
    source = change.old == nil ? nil : old.columns[sourceIndex].place
    switch (target.place.kind, given) {
    case (_, .value?), (_, .record?), (_, .conversion?): kind = given.map { .given($0) } ?? .flag
    case _ where target.field.type == .composite: kind = .flag
    case _ where change.old.map({ $0.type.stored != target.field.type.stored }) ?? false:
      kind = .convert
    case (.fixed, _) where source?.kind == .fixed:
      kind = .copyFixed(width: target.field.type.fixedWidth ?? 0)
    case (.variable, _) where source?.kind == .variable: kind = .copyBytes
    default: kind = .convert
    }
    var outer: [Outer] = []
    var number = target.field.composite
    while let composite = number, let index = new.index(number: composite) {
      let field = new.columns[index].field
      if field.isOptional {
        outer.append(Outer(source: old.index(number: composite).map { old.columns[$0].place }))
      }
      number = field.composite
    }
    self.outer = outer
  }

  @inline(__always)
  func run(
    _ reader: borrowing RowReader, _ record: OldRecord?, _ writer: RowWriter,
    _ layout: RowLayout
  ) throws(StoreError) {
    if case .given(let given) = kind { return try run(given, reader, record, writer, layout) }
    guard let source, !reader.isNull(source) else {
      return try runWithoutValue(reader, writer, layout)
    }
    switch kind {
    case .flag, .given: return
    case .copyFixed(let width):
      let (from, to) = (source.index, target.place.index)
      switch width {
      case 1: writer.store(reader.load(from, as: UInt8.self), at: to)
      case 2: writer.store(reader.load(from, as: UInt16.self), at: to)
      case 4: writer.store(reader.load(from, as: UInt32.self), at: to)
      case 8: writer.store(reader.load(from, as: UInt64.self), at: to)
      default: writer.store(reader.load(from, as: UInt128.self), at: to)
      }
    case .copyBytes: try writer.append(reader.bytes(source.index), to: target.place.index)
    case .convert:
      let value = try reader.value(sourceIndex)
      // What widens converts, always, but for what is no number, and that is the same in all types.
      let widened = try value.widened(to: target.field.type)
      try writer.set(widened, of: target, in: layout)
    }
  }

  /// Asks a closure, or converts.
  @inline(never)
  private func run(
    _ given: FieldSource, _ reader: borrowing RowReader, _ record: OldRecord?,
    _ writer: RowWriter, _ layout: RowLayout
  ) throws(StoreError) {
    var value = FieldValue.null
    if let source, !reader.isNull(source) { value = try reader.value(sourceIndex) }
    let made = try given.made(of: value, record, for: target, in: layout)
    // What is null has the default, or is refused.
    guard made != .null else { return try runWithoutValue(reader, writer, layout) }
    try writer.set(made, of: target, in: layout)
  }

  @inline(never)
  private func runWithoutValue(
    _ reader: borrowing RowReader, _ writer: RowWriter, _ layout: RowLayout
  ) throws(StoreError) {
    for composite in outer {
      // The composite's own bit says that there is nothing.
      guard let place = composite.source else { return nullWithin(writer) }
      if reader.isNull(place) { return nullWithin(writer) }
    }
    if missing != .null { return try writer.set(missing, of: target, in: layout) }
    if target.field.isOptional { return writer.setNull(target) }
    if case .flag = kind { return }
    throw layout.refusal(
      target,
      "it has no value, is no longer optional, and has no default; give it one by MigrationInfo(default:), or say in"
        + " a step how it is computed")
  }

  /// A part of a composite that is null: an optional one has a bit of its own, which is set too.
  private func nullWithin(_ writer: RowWriter) {
    if target.field.isOptional { writer.setNull(target) }
  }
}
