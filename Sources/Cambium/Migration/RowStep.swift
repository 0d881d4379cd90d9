/// What one step does to the records of one type, compiled.
///
///     keys stay     column by column: bytes where these are the same, else values
///     keys change   all values, then the record that they are; so too where composites are given as wholes, or values
///                   are set aside
struct RowStep: Sendable {
  let old: RowLayout
  let new: RowLayout
  /// True if the record keeps its key, and only its row is another.
  let keepsKey: Bool
  /// In step with the new columns.
  private let moves: [ColumnMove]
  /// Those of columns in the row.
  private let rowMoves: [ColumnMove]
  /// True if a closure wants to see the whole old record.
  private let needsRecord: Bool
  /// True if a closure or a path reads other records of the old version.
  let readsVersion: Bool
  /// The kinds of new rows, if old ones may be of none that they can be of.
  private let checkedKinds: RowKinds?
  /// The rows that it is of; nil for all of them.
  private let share: RowShare?
  /// The place of a list in the old layout's columns without whose elements a row is not taken; nil if there is none.
  private let neededList: Int?
  /// The values of derived fields before they are computed, for composites that the step makes.
  private let underived: [Int: FieldValue]

  /// - Parameters:
  ///   - from: The version that the change leads from.
  ///   - to: The version that it leads to.
  ///   - checksKinds: True to refuse rows of no kind that they can be of.
  /// - Throws: `.invalidDescription` where a schema contradicts itself.
  init(
    _ change: RecordChange, from: UInt32, to: UInt32, checksKinds: Bool = true
  ) throws(StoreError) {
    let (old, new) = (
      try RowLayout(change.old, version: from), try RowLayout(change.new, version: to)
    )
    self.old = old
    self.new = new
    keepsKey = change.kind != .records
    moves = zip(new.columns, change.fields).map { column, field in
      ColumnMove(column, field, change, from: old, to: new)
    }
    rowMoves = moves.filter { !$0.isInKey }
    checkedKinds = checksKinds && (change.narrowsKinds || change.move != nil) ? new.kinds : nil
    share = change.share.map { RowShare($0, in: old) }
    neededList = change.move?.neededList.flatMap { old.index(number: $0) }
    underived = new.underivedInMigration
    needsRecord = change.sources.values.contains(where: \.readsRecord)
    readsVersion = change.sources.values.contains(where: \.readsVersion)
  }
}

// MARK: Rows

extension RowStep {
  /// True if it is of some of the rows only.
  var isOfShare: Bool { share != nil || neededList != nil }

  /// Returns true if it is of a row: if that is not of a kind that goes elsewhere, and has the elements that are needed.
  ///
  /// - Throws: `.corrupt` for a damaged row.
  func takes(key: RawSpan, row: RawSpan) throws(StoreError) -> Bool {
    guard isOfShare else { return true }
    let layout = old
    let reader = try RowReader(key: key, row: row, layout: layout)
    if let neededList {
      guard case .array(let elements) = try reader.value(neededList), !elements.isEmpty else {
        return false
      }
    }
    return share?.contains(reader.row) ?? true
  }
}

extension RowStep: RowConverting {
  /// Puts the new row together; the key stays as it is.
  ///
  /// - Throws: `.corrupt` for a damaged row; `.invalidValue` where a value is missing that must be there;
  ///   `.limitExceeded`; `.stepFailed` where a closure throws.
  func convert(key: RawSpan, row: RawSpan, to writer: RowWriter) throws(StoreError) {
    let (old, new) = (old, new)
    let reader = try RowReader(key: key, row: row, layout: old)
    let record = needsRecord ? try OldRecord(reader) : nil
    writer.begin(new)
    for move in rowMoves { try move.run(reader, record, writer, new) }
    writer.finish()
    try checkKinds(of: writer.row)
  }

  /// - Throws: `.invalidValue` for a row that is of more kinds than it can be, or of fewer.
  private func checkKinds(of row: RawSpan) throws(StoreError) {
    guard let fault = checkedKinds?.fault(of: row) else { return }
    throw .invalidValue(
      record: new.record.name, field: nil,
      reason: "\(fault); delete such records before, or say in a step which kind they are of")
  }
}

// MARK: Records

extension RowStep {
  /// Puts the new record together, in `row` and `key`.
  ///
  /// - Parameters:
  ///   - version: The version that the record is of; nil if no source reads it.
  ///   - setAside: Called with the old number of each field whose old value has no counterpart and is to be kept aside.
  /// - Throws: as `convert(key:row:to:)`.
  func convert(
    key oldKey: RawSpan, row oldRow: RawSpan, _ blobs: BlobFinder?, _ version: OldVersion?,
    to row: RowWriter, _ key: KeyEncoder, setAside: (UInt32) -> Void
  ) throws(StoreError) {
    if keepsKey {
      key.begin()
      key.appendRaw(oldKey)
      return try convert(key: oldKey, row: oldRow, to: row)
    }
    let (old, new) = (old, new)
    let reader = try RowReader(key: oldKey, row: oldRow, layout: old, blobs: blobs)
    let record = needsRecord ? try OldRecord(reader) : nil
    var values = [FieldValue](repeating: .null, count: new.columns.count)
    for (index, move) in moves.enumerated() where !move.isWithinGiven {
      let made = try move.value(reader, record, version, new, setAside)
      values[index] = made == .null ? move.valueWithout : made
      if values[index] == .null { values[index] = underived[index] ?? .null }
      guard move.given != nil else { continue }
      if made != .null {
        // A part that is given a value makes the composites that it is in.
        for place in move.composites where values[place] == .null {
          values[place] = .composite([:])
        }
      }
      let column = new.columns[index]
      if column.field.type == .composite, case .composite(let parts) = values[index] {
        try new.spread(parts, over: column, defaults: underived, into: &values)
      }
    }
    try new.encode(values, to: row, key: key)
    try checkKinds(of: row.row)
  }
}

// MARK: Routes

extension RowUpgrade {
  /// Creates the upgrade of the rows of one record by consecutive steps.
  ///
  /// - Parameters:
  ///   - changes: With the versions that each is from and to; some of them change the rows.
  ///   - version: That the rows are of afterwards.
  /// - Throws: `.invalidDescription`; what the conversion of a row without values does.
  convenience init?(
    _ changes: [(change: RecordChange, from: UInt32, to: UInt32)], to version: UInt32
  ) throws(StoreError) {
    guard let first = changes.first, let last = changes.last else { return nil }
    var steps: [RowStep] = []
    for (change, from, to) in changes where change.rewritesRows {
      steps.append(try RowStep(change, from: from, to: to))
    }
    if steps.isEmpty { return nil }
    let (old, new) = (
      try RowLayout(first.change.old, version: first.from),
      try RowLayout(last.change.new, version: last.to)
    )
    let route =
      if changes.count == 1, first.change.leavesShapes {
        try Route(below: version, steps[0], givenBy: first.change, from: old, to: new)
      } else {
        try Route(
          below: version, steps, from: old, to: new,
          required: changes.map(\.change).filter(\.rewritesRows).filledFields)
      }
    self.init([route])
  }
}

extension [RecordChange] {
  /// The numbers of the fields whose nulls are left to the steps when rows are copied; nil if no row is copied.
  var filledFields: Set<UInt32>? {
    var filled: Set<UInt32> = []
    for change in self {
      // A value that becomes a list is read, and a row without values, of which copies are made, has none to be read. One
      // that moves into a composite and out again is dropped where the composite is not.
      if !change.sources.isEmpty || change.narrowsKinds || change.move != nil
        || change.fields.contains(where: { $0.becomesList || $0.isMoved })
      {
        return nil
      }
      filled.formUnion(change.fields.filter(change.fillsNulls).map(\.new.number))
    }
    return filled
  }
}

/// One step of rows that go different ways, by the kinds that they are of.
struct KindSteps: RowConverting {
  /// Of each kind of row, one takes it.
  let steps: [RowStep]

  /// - Throws: as `RowStep.convert`; `.corrupt` for a row of no kind that its layout has.
  func convert(key: RawSpan, row: RawSpan, to writer: RowWriter) throws(StoreError) {
    for step in steps where try step.takes(key: key, row: row) {
      return try step.convert(key: key, row: row, to: writer)
    }
    throw PendingSteps.fault("no step is of a row of the record \(steps.first?.old.name ?? "")")
  }
}

extension RowUpgrade.Route {
  /// Creates the way of rows by a step that gives fixed columns other values of the same types, and else only changes their
  /// shape: they are copied, and the values that it gives are stored over the old ones.
  fileprivate convenience init(
    below version: UInt32, _ step: RowStep, givenBy change: RecordChange, from old: RowLayout,
    to new: RowLayout
  ) throws(StoreError) {
    let plain = RecordChange(
      old: change.old, new: change.new, fields: change.fields, sources: [:], kind: change.kind)
    try self.init(
      below: version, [step], from: old, to: new,
      copyingBy: try RowStep(plain, from: old.version, to: new.version),
      givenValues: GivenValues(change, from: old, to: new))
  }
}

extension RecordChange {
  /// True if all that the step gives are values of fixed columns by closures, of the types that they were, and rows are
  /// copied otherwise.
  fileprivate var leavesShapes: Bool {
    if sources.isEmpty || kind != .rows || narrowsKinds { return false }
    return fields.allSatisfy { field in
      if fillsNulls(of: field) || field.becomesList { return false }
      guard let source = sources[field.new.number] else { return true }
      guard case .value = source, let before = field.old else { return false }
      return before.type == field.new.type && before.isOptional == field.new.isOptional
        && before.composite == nil && field.new.composite == nil
        && field.new.type.scalar?.fixedWidth != nil
    }
  }
}

// MARK: Columns

/// The origin of one column of a new record.
///
/// An object, since one is used for every column of every row, and copies of its values would be counted.
private final class ColumnMove: Sendable {
  private let target: Column
  private let kind: Kind
  /// The place in the old row; nil if the column is new.
  private let source: ColumnPlace?
  /// The place in the old layout's columns.
  private let sourceIndex: Int
  /// The number of the old field; that of the new one if the column is new.
  private let sourceNumber: UInt32
  private let missing: FieldValue
  /// The source that the step names; nil if it names none.
  let given: FieldSource?
  /// True if the column is a part of a composite that the step gives as a whole.
  let isWithinGiven: Bool
  /// True if it was in other composites, or in none: then its value says nothing of those that it is in.
  private let isMoved: Bool
  /// The places of the composites that it is a part of, among the new columns.
  let composites: [Int]
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
    _ target: Column, _ change: FieldChange, _ record: RecordChange, from old: RowLayout,
    to new: RowLayout
  ) {
    let around = new.record.composites(target.field)
    let given = record.sources[target.field.number]
    self.target = target
    self.given = given
    isWithinGiven = around.contains { record.sources[$0] != nil }
    composites = around.compactMap { new.index(number: $0) }
    missing = change.missing
    let needs = record.needs
    isMoved =
      change.old.map { before in
        new.record.composites(around: target.field).map(needs.origin)
          != old.record.composites(before).map { .some($0) }
      } ?? false
    sourceIndex = change.old.flatMap { old.index(number: $0.number) } ?? 0
    source = change.old == nil ? nil : old.columns[sourceIndex].place
    sourceNumber = change.old?.number ?? target.field.number
    switch (target.place.kind, given) {
    case (_, .value?), (_, .record?), (_, .version?), (_, .related?), (_, .conversion?),
      (_, .constant?), (_, .element?), (_, .distinctElements?):
      kind = given.map { .given($0) } ?? .flag
    case _ where target.field.type == .composite: kind = .flag
    case _ where change.old.map({ $0.type.stored != target.field.type.stored }) ?? false:
      kind = .convert
    case (.fixed, _) where source?.kind == .fixed:
      kind = .copyFixed(width: target.field.type.fixedWidth ?? 0)
    case (.variable, _) where source?.kind == .variable: kind = .copyBytes
    default: kind = .convert
    }
    outer = new.record.composites(around: target.field)
      .filter { $0.isOptional && !needs.isSure($0) }
      .map { composite in
        let source = needs.origin(of: composite).flatMap { old.index(number: $0) }
        return Outer(source: source.map { old.columns[$0].place })
      }
  }

  var isInKey: Bool { target.place.kind == .key }

  @inline(__always)
  func run(
    _ reader: borrowing RowReader, _ record: OldRecord?, _ writer: RowWriter,
    _ layout: RowLayout
  ) throws(StoreError) {
    if case .given(let given) = kind { return try run(given, reader, record, writer, layout) }
    guard let source, !reader.isNull(source) else {
      return try runWithoutValue(reader, writer, layout)
    }
    if isMoved, isWithinNull(reader) { return nullWithin(writer) }
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
    let made = try given.made(of: value, record, nil, for: target, in: layout)
    // What is null has the default, or is refused.
    guard made != .null else { return try runWithoutValue(reader, writer, layout) }
    if isMoved, isWithinNull(reader) { return nullWithin(writer) }
    try writer.set(made, of: target, in: layout)
  }

  @inline(never)
  private func runWithoutValue(
    _ reader: borrowing RowReader, _ writer: RowWriter, _ layout: RowLayout
  ) throws(StoreError) {
    // The composite's own bit says that there is nothing.
    if isWithinNull(reader) { return nullWithin(writer) }
    if missing != .null { return try writer.set(missing, of: target, in: layout) }
    if target.field.isOptional { return writer.setNull(target) }
    if case .flag = kind { return }
    throw layout.refusal(
      target,
      "it has no value, is no longer optional, and has no default; give it one by MigrationInfo(default:), or say in"
        + " a step how it is computed")
  }

  /// Returns true if a composite that the column is in is null in the new row.
  private func isWithinNull(_ reader: borrowing RowReader) -> Bool {
    for composite in outer {
      guard let place = composite.source else { return true }
      if reader.isNull(place) { return true }
    }
    return false
  }

  /// A part of a composite that is null: an optional one has a bit of its own, which is set too.
  private func nullWithin(_ writer: RowWriter) {
    if target.field.isOptional { writer.setNull(target) }
  }

  // MARK: By value

  /// The column's value in a record that is put together value by value; null where it has none.
  func value(
    _ reader: borrowing RowReader, _ record: OldRecord?, _ version: OldVersion?,
    _ layout: RowLayout, _ setAside: (UInt32) -> Void
  ) throws(StoreError) -> FieldValue {
    var value = FieldValue.null
    if source != nil { value = try reader.value(sourceIndex) }
    if case .related(let path)? = given, let version {
      value = try path.value(of: reader, in: version)
    }
    if case .element(let source)? = given {
      value = try source.narrowed(value, of: reader, in: version)
    }
    let type = target.field.type
    guard let given else {
      // The parts of a composite are looked at by themselves, unless the step gives it as a whole.
      if case .composite = value { value = .composite([:]) }
      return type == .composite ? value : try value.widened(to: type)
    }
    if try given.setsAside(value, type) { setAside(sourceNumber) }
    return try given.made(of: value, record, version, for: target, in: layout)
  }

  /// What the column is without a value.
  var valueWithout: FieldValue {
    if missing != .null { return missing }
    // A composite that is new is there, unless it can be null.
    return target.field.type == .composite && !target.field.isOptional ? .composite([:]) : .null
  }
}
