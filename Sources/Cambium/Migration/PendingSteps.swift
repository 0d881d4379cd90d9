/// The published but unfinished work that a store states: steps whose rows are still those of older versions, and
/// indexes that are not complete.
///
/// With the schemas, which the store has of every version, it suffices to read such rows: no program is needed.
/// `FORMAT.md`, “Pending steps”, has it byte by byte.
struct PendingSteps: Hashable, Sendable {
  /// By version, then by record.
  var steps: [PendingStep] = []
  /// The indexes that are not whole, by number: up to which primary key they are.
  var builds: [UInt32: [UInt8]] = [:]

  /// The tree that it is in.
  static var treeName: String { "pending" }

  var isEmpty: Bool { steps.isEmpty && builds.isEmpty }
}

/// The change of the rows of one record by a step.
struct PendingStep: Hashable, Sendable {
  let from: UInt32
  let to: UInt32
  /// The record's number.
  let record: UInt32
  /// The values of new fields, by number. Fields that are not in it are null.
  let defaults: [UInt32: FieldValue]
}

// MARK: Made of steps

extension PendingSteps {
  /// Adds what steps leave to be done.
  ///
  /// - Parameter changes: In their order, each deferrable, and behind those that are there.
  mutating func add(_ changes: [SchemaChange]) {
    for change in changes {
      for record in change.records {
        if record.rewritesRows {
          steps.append(
            PendingStep(record, from: change.from.storedVersion, to: change.to.storedVersion))
        }
        let known = Set(record.old.indexes.map(\.number))
        for index in record.new.indexes
        where !known.contains(index.number) && !record.leavesEmpty(index) {
          assert(!record.new.leadsBack(index), "the way back of a checked reference is whole")
          builds[index.number] = []
        }
      }
    }
    if let schema = changes.last?.to { removeWhatIsGone(from: schema) }
  }

  /// Leaves out the records and indexes that a version does not have.
  private mutating func removeWhatIsGone(from schema: Schema) {
    steps.removeAll { schema.record(number: $0.record) == nil }
    let indexes = Set(schema.records.flatMap { $0.indexes.map(\.number) })
    builds = builds.filter { indexes.contains($0.key) }
  }
}

extension PendingStep {
  fileprivate init(_ change: RecordChange, from: UInt32, to: UInt32) {
    self.from = from
    self.to = to
    record = change.new.number
    var defaults: [UInt32: FieldValue] = [:]
    for field in change.fields where field.old == nil && field.missing != .null {
      defaults[field.new.number] = field.missing
    }
    self.defaults = defaults
  }
}

// MARK: What reading takes

extension PendingSteps {
  /// Returns the upgrades of rows of older versions to the last, by record.
  ///
  /// - Parameter schemas: By version, ascending; the last is that of the store.
  /// - Throws: `.corrupt` (M1) where they do not go together; `.invalidDescription`.
  func upgrades(_ schemas: [Schema]) throws(StoreError) -> [UInt32: RowUpgrade] {
    var upgrades: [UInt32: RowUpgrade] = [:]
    for number in Set(steps.map(\.record)) {
      guard schemas.last?.record(number: number) != nil else {
        throw Self.fault("a step is of record \(number), which is not there")
      }
      let path = steps.filter { $0.record == number }
      var rowSteps: [RowStep] = []
      for step in path {
        if let last = rowSteps.last?.new.version, step.from < last {
          throw Self.fault("steps to versions \(last) and \(step.to) overlap")
        }
        rowSteps.append(try step.rowStep(schemas))
      }
      do throws(StoreError) {
        upgrades[number] = RowUpgrade(try Self.routes(rowSteps))
      } catch {
        throw Self.fault("steps of record \(number) do not go on where others end: \(error)")
      }
    }
    return upgrades
  }

  /// From each version on, all steps behind it.
  private static func routes(_ steps: [RowStep]) throws(StoreError) -> [RowUpgrade.Route] {
    var routes: [RowUpgrade.Route] = []
    for start in steps.indices {
      routes.append(
        try RowUpgrade.Route(
          below: steps[start].new.version, Array(steps[start...]), from: steps[start].old,
          to: steps[steps.count - 1].new))
    }
    return routes
  }

  static func fault(_ reason: String, _ key: [UInt8] = []) -> StoreError {
    .corrupt(.entry(tree: treeName, key: key), invariant: .pendingSteps, reason: reason)
  }
}

extension PendingStep {
  fileprivate func rowStep(_ schemas: [Schema]) throws(StoreError) -> RowStep {
    let before = try Self.record(record, schemas, from)
    let after = try Self.record(record, schemas, to)
    let fields = after.fields.map { field in
      let source = before.field(field.number)
      return FieldChange(
        new: field, old: source,
        missing: source == nil ? defaults[field.number] ?? .null : .null)
    }
    let change = RecordChange(
      old: before, new: after, fields: fields, sources: [:], kind: .rows)
    if let fault = change.fault { throw PendingSteps.fault(fault) }
    return try RowStep(change, from: from, to: to)
  }

  fileprivate static func record(
    _ number: UInt32, _ schemas: [Schema], _ version: UInt32
  ) throws(StoreError) -> RecordSchema {
    guard let schema = schemas.first(where: { $0.version == version }),
      let record = schema.record(number: number)
    else { throw PendingSteps.fault("version \(version) has no record \(number)") }
    return record
  }
}

extension RecordChange {
  /// Why no row can be made by it, as no step would be that was deferred.
  fileprivate var fault: String? {
    for field in fields {
      guard let old = field.old else {
        let isWithinNew = field.new.composite.map { self.old.field($0) == nil } ?? false
        if field.missing == .null, field.new.type != .composite, !isWithinNew,
          !needs.canBeNull(field.new)
        {
          return "\(new.name).\(field.new.name) is new, not optional, and gets no value"
        }
        continue
      }
      if old.type.stored != field.new.type.stored, !old.type.widens(to: field.new.type) {
        return "\(new.name).\(field.new.name) was \(old.type) and is \(field.new.type)"
      }
      if canLackNeeded(field) {
        return "\(new.name).\(field.new.name) may be missing and must not"
      }
    }
    let isSameKey =
      new.primaryKey == self.old.primaryKey
      && new.primaryKey.allSatisfy { new.field($0.field)?.type == self.old.field($0.field)?.type }
    return isSameKey ? nil : "the primary key of \(new.name) is another"
  }
}

// The bytes of what is pending: an entry for each step of each record, and one for each index.
//
//     key    01 │ version that the step leads to │ record         big-endian
//     value  version that it comes from │ count │ numbers of fields │ a row that has their values
//
//     key    02 │ index                                           big-endian
//     value  the primary key up to which it has all entries

extension PendingSteps {
  private static var stepTag: UInt8 { 1 }
  private static var buildTag: UInt8 { 2 }

  /// The entry of an index.
  static func key(ofIndex number: UInt32) -> [UInt8] {
    var key = [buildTag]
    key.append(integer: number.byteSwapped)
    return key
  }

  /// - Parameter schemas: Of all versions.
  /// - Throws: `.invalidValue` for a default that no column can hold; `.limitExceeded`.
  func entries(
    _ schemas: [Schema]
  ) throws(StoreError) -> [(key: [UInt8], value: [UInt8])] {
    var entries: [(key: [UInt8], value: [UInt8])] = []
    for step in steps {
      var key = [Self.stepTag]
      key.append(integer: step.to.byteSwapped)
      key.append(integer: step.record.byteSwapped)
      entries.append((key, try Self.value(of: step, schemas)))
    }
    for (index, end) in builds.sortedRarely(by: { $0.key < $1.key }) {
      entries.append((Self.key(ofIndex: index), end))
    }
    return entries
  }

  private static func value(
    of step: PendingStep, _ schemas: [Schema]
  ) throws(StoreError) -> [UInt8] {
    let numbers = step.defaults.keys.sortedRarely()
    var bytes: [UInt8] = []
    bytes.append(integer: step.from)
    bytes.append(integer: UInt32(numbers.count))
    for number in numbers { bytes.append(integer: number) }
    let layout = try RowLayout(PendingStep.record(step.record, schemas, step.to), version: step.to)
    let writer = RowWriter()
    writer.begin(layout)
    for column in layout.columns {
      guard let value = step.defaults[column.field.number] else { continue }
      try writer.set(value, of: column, in: layout)
    }
    writer.finish()
    bytes.append(writer.row)
    return bytes
  }

}

// MARK: Reading

extension PendingSteps {
  /// Reads what a state says, which may be anything.
  ///
  /// - Parameter schemas: Of all versions.
  /// - Throws: `.corrupt` (M1), `.io`.
  init(
    reading trees: TreeAccess, _ tree: TreeSlot, _ schemas: [Schema]
  ) throws(StoreError) {
    if try trees.count(in: tree) == 0 { return }
    let cursor = try trees.cursor(in: tree)
    while try cursor.advance() {
      try read(cursor.key.array(), try cursor.value(), schemas)
    }
  }

  mutating func read(
    _ key: [UInt8], _ value: RawSpan, _ schemas: [Schema]
  ) throws(StoreError) {
    switch (key.first, key.count) {
    case (Self.stepTag, 9):
      let to = key.rawSpan.load(1, as: UInt32.self).byteSwapped
      let record = key.rawSpan.load(5, as: UInt32.self).byteSwapped
      steps.append(try Self.step(value, to: to, record, key, schemas))
    case (Self.buildTag, 5):
      let index = key.rawSpan.load(1, as: UInt32.self).byteSwapped
      let isThere = schemas.last?.records.contains { $0.indexes.contains { $0.number == index } }
      guard isThere ?? false else { throw Self.fault("there is no index \(index)", key) }
      builds[index] = value.array()
    default: throw Self.fault("its key is neither of a step nor of an index", key)
    }
  }

  private static func step(
    _ value: RawSpan, to: UInt32, _ record: UInt32, _ key: [UInt8], _ schemas: [Schema]
  ) throws(StoreError) -> PendingStep {
    var reader = ByteReader(
      value, at: .entry(tree: treeName, key: key), invariant: .pendingSteps)
    let from = try reader.integer(UInt32.self)
    guard from < to else { throw reader.fault("a step from version \(from) to \(to)") }
    var numbers: [UInt32] = []
    for _ in 0..<(try reader.integer(UInt32.self)) {
      numbers.append(try reader.integer(UInt32.self))
    }
    let layout = try RowLayout(PendingStep.record(record, schemas, to), version: to)
    let rowBytes = try reader.run(reader.remaining)
    var defaults: [UInt32: FieldValue] = [:]
    do throws(StoreError) {
      let key: [UInt8] = []
      let row = try RowReader(key: key.rawSpan, row: rowBytes, layout: layout)
      for number in numbers {
        guard let index = layout.index(number: number),
          [.fixed, .variable].contains(layout.columns[index].place.kind)
        else { throw fault("field \(number) is none that has bytes") }
        defaults[number] = try row.value(index)
      }
    } catch {
      throw fault("what fields get is no row: \(error)", key)
    }
    guard !defaults.values.contains(.null), defaults.count == numbers.count else {
      throw reader.fault("a field gets no value, or two")
    }
    return PendingStep(from: from, to: to, record: record, defaults: defaults)
  }
}
