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
  /// The number of the record that the rows were of, if some of its rows went to another record by the step: the tree of each
  /// began with all of them, and rows that no way is for are not the record's. Nil if all rows are.
  var source: UInt32? = nil
  /// The changes of the rows; if there are several, each is for rows of other kinds.
  let ways: [PendingWay]

  /// The number of the record that the rows were of.
  var origin: UInt32 { source ?? record }
}

/// The change of the rows of one record by a step, or of its rows of some kinds.
struct PendingWay: Hashable, Sendable {
  /// The rows that it is of, by their kinds; nil for all of them.
  var share: KindShare? = nil
  /// By the numbers of new fields, those of the fields that they were; nil if fields keep their numbers.
  var origins: [UInt32: UInt32]? = nil
  /// The composites that all of the new rows have, since they are of these kinds.
  var present: Set<UInt32> = []
  /// The lists of which one element is kept, by the numbers of the new fields: true for the last, false for the first.
  var lastElements: [UInt32: Bool] = [:]
  /// The values of fields that have none, by number. Fields that are not in it are null then.
  var values: [UInt32: FieldValue] = [:]
}

// MARK: Made of steps

extension PendingSteps {
  /// Adds what steps leave to be done.
  ///
  /// - Parameter changes: In their order, each deferrable, and behind those that are there.
  mutating func add(_ changes: [SchemaChange]) {
    for change in changes {
      for record in change.records {
        let number = record.new.number
        let ways = change.ways(of: number)
        let isLeft = !ways.isEmpty && !change.departures(from: number).isEmpty
        if isLeft || ways.contains(where: \.rewritesRows) {
          add(ways, of: number, change, source: isLeft ? number : nil)
        }
      }
      for (number, ways) in change.leaving {
        add(ways, of: number, change, source: ways.first?.old.number)
      }
      for record in change.to.records {
        for index in change.builtIndexes(of: record) {
          assert(!record.leadsBack(index), "the way back of a checked reference is whole")
          builds[index.number] = []
        }
      }
    }
    steps = steps.sortedRarely { ($0.to, $0.record) < ($1.to, $1.record) }
    if let schema = changes.last?.to { removeWhatIsGone(from: schema) }
  }

  private mutating func add(
    _ ways: [RecordChange], of record: UInt32, _ change: SchemaChange, source: UInt32?
  ) {
    steps.append(
      PendingStep(
        from: change.from.storedVersion, to: change.to.storedVersion, record: record,
        source: source, ways: ways.map { PendingWay($0) }))
  }

  /// Leaves out the records and indexes that a version does not have, but for the steps that rows took before they became
  /// those of a record that it has.
  private mutating func removeWhatIsGone(from schema: Schema) {
    let left = Set(schema.records.flatMap { path(of: $0.number) })
    steps.removeAll { !left.contains($0) }
    let indexes = Set(schema.records.flatMap { $0.indexes.map(\.number) })
    builds = builds.filter { indexes.contains($0.key) }
  }
}

extension PendingWay {
  fileprivate init(_ change: RecordChange) {
    share = change.share
    origins = change.move?.fields
    present = change.move?.present ?? []
    for field in change.fields {
      let number = field.new.number
      if case .element(let source)? = change.sources[number] {
        lastElements[number] = source.choice == .last
      }
      if field.missing != .null, field.new.type != .composite { values[number] = field.missing }
    }
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
    let records = Set(schemas.last?.records.map(\.number) ?? []).intersection(steps.map(\.record))
    let paths = records.sortedRarely().map { path(of: $0) }
    let used = Set(paths.joined())
    for step in steps where !used.contains(step) {
      throw Self.fault("a step is of record \(step.record), which is not there")
    }
    for path in paths {
      guard let number = path.last?.record else { continue }
      var hops: [Hop] = []
      for (place, step) in path.enumerated() {
        guard place == 0 || step.origin == path[place - 1].record else {
          throw Self.fault("rows of record \(step.record) come from two records")
        }
        if let last = hops.last?.new.version, step.from < last {
          throw Self.fault("steps to versions \(last) and \(step.to) overlap")
        }
        hops.append(try step.hop(schemas))
      }
      do throws(StoreError) {
        upgrades[number] = RowUpgrade(try Self.routes(hops))
      } catch {
        throw Self.fault("steps of record \(number) do not go on where others end: \(error)")
      }
    }
    return upgrades
  }

  /// The steps that rows take to be those of a record, ascending: first those of the record that they were of.
  func path(of record: UInt32) -> [PendingStep] { path(of: record, until: .max) }

  private func path(of record: UInt32, until version: UInt32) -> [PendingStep] {
    let own = steps.filter { $0.record == record && $0.to <= version }
    guard let first = own.first, first.origin != record else { return own }
    // Each begins below the version that the next begins with, which ends this whatever the numbers are.
    return path(of: first.origin, until: first.from) + own
  }

  /// A step, compiled.
  fileprivate struct Hop {
    let old: RowLayout
    let new: RowLayout
    let ways: [RecordChange]
    let converter: any RowConverting
    /// The kinds of the rows that are not the record's, since no way is for them; nil if a way is for each.
    let leaving: KindShare?
  }

  /// From each version on, all steps behind it.
  private static func routes(_ hops: [Hop]) throws(StoreError) -> [RowUpgrade.Route] {
    var routes: [RowUpgrade.Route] = []
    for start in hops.indices {
      let rest = hops[start...]
      routes.append(
        try RowUpgrade.Route(
          below: hops[start].new.version, rest.map(\.converter), from: hops[start].old,
          to: hops[hops.count - 1].new, required: rest.flatMap(\.ways).filledFields,
          share: share(of: Array(rest))))
    }
    return routes
  }

  /// The rows that are the record's after all steps, by their kinds before the first; nil if all are.
  private static func share(of hops: [Hop]) -> RowShare? {
    guard let old = hops.first?.old, hops.contains(where: { $0.leaving != nil }) else { return nil }
    var share = KindShare()
    for kind in [nil] + old.record.kinds.map({ Optional($0.composite) }) {
      var (next, isLeft) = (kind, false)
      for hop in hops where !isLeft {
        isLeft = hop.leaving?.contains(next) ?? false
        let way = hop.ways.first { $0.share?.contains(next) ?? true }
        next = way.flatMap { $0.innermostKind(after: next) }
      }
      if !isLeft { share.insert(kind) }
    }
    return RowShare(share, in: old)
  }

  static func fault(_ reason: String, _ key: [UInt8] = []) -> StoreError {
    .corrupt(.entry(tree: treeName, key: key), invariant: .pendingSteps, reason: reason)
  }
}

extension PendingStep {
  fileprivate func hop(_ schemas: [Schema]) throws(StoreError) -> PendingSteps.Hop {
    let before = try Self.record(origin, schemas, from)
    let after = try Self.record(record, schemas, to)
    var steps: [RowStep] = []
    var changes: [RecordChange] = []
    for way in ways {
      let change = way.change(of: before, to: after)
      if let (field, reason) = change.rowFaults.first {
        throw PendingSteps.fault("\(after.name)\(field.map { ".\($0)" } ?? ""): \(reason)")
      }
      changes.append(change)
      steps.append(try RowStep(change, from: from, to: to, checksKinds: false))
    }
    return PendingSteps.Hop(
      old: try RowLayout(before, version: from), new: try RowLayout(after, version: to),
      ways: changes, converter: steps.count == 1 ? steps[0] : KindSteps(steps: steps),
      leaving: try checkShares(of: before))
  }

  /// Refuses ways of which none takes a row of the record, or two take one.
  ///
  /// - Returns: the kinds of rows that none takes, if these are another record's.
  private func checkShares(of before: RecordSchema) throws(StoreError) -> KindShare? {
    if source == nil, ways.count == 1, ways[0].share == nil { return nil }
    var (leaving, areAny) = (KindShare(), false)
    for kind in [nil] + before.kinds.map({ Optional($0.composite) }) {
      let count = ways.filter { $0.share?.contains(kind) ?? true }.count
      let isAbstract = kind.map { before.kind($0)?.isAbstract ?? false } ?? before.isAbstract
      guard count == 1 || count == 0 && (isAbstract || source != nil) else {
        throw PendingSteps.fault("\(count) ways are of the same rows of \(before.name)")
      }
      if count == 1 { continue }
      leaving.insert(kind)
      // There are no rows of an abstract kind.
      areAny = areAny || !isAbstract
    }
    return source != nil && areAny ? leaving : nil
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

extension PendingWay {
  fileprivate func change(of before: RecordSchema, to after: RecordSchema) -> RecordChange {
    let fields = after.fields.map { field in
      let origin = origins.map { $0[field.number] } ?? field.number
      let source = origin.flatMap { before.field($0) }
      let isPresent = source == nil && present.contains(field.number)
      return FieldChange(
        new: field, old: source,
        missing: values[field.number] ?? (isPresent ? .composite([:]) : .null))
    }
    let move = origins.map { origins in
      KindMove(
        source: before.number, kind: nil, target: after.number, targetKind: nil, fields: origins,
        present: present, share: share ?? KindShare())
    }
    return RecordChange(
      old: before, new: after, fields: fields,
      sources: lastElements.mapValues { .element(ElementSource($0 ? .last : .first)) },
      kind: .rows, share: share, move: move)
  }
}

// The bytes of what is pending: an entry for each step of each record, and one for each index.
//
//     key    01 │ version that the step leads to │ record         big-endian
//     value  version that it comes from │ count of ways │ ways
//     way    flags │ source │ kinds │ origins │ present composites │ elements │ fields │ length │ a row that has their values
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
    let layout = try RowLayout(PendingStep.record(step.record, schemas, step.to), version: step.to)
    var bytes: [UInt8] = []
    bytes.append(integer: step.from)
    bytes.append(integer: UInt32(step.ways.count))
    for way in step.ways { try way.append(to: &bytes, layout, step.source) }
    return bytes
  }
}

/// The bits of a way's first byte.
private enum WayFlags {
  /// It is of some kinds of rows only.
  static var isOfKinds: UInt8 { 1 }
  /// Rows of no kind are among them.
  static var hasPlain: UInt8 { 2 }
  /// Fields are stated to be others.
  static var isMoved: UInt8 { 4 }
  /// The record that the rows were of is stated, and rows that no way is for are not the record's.
  static var hasSource: UInt8 { 8 }
}

extension PendingWay {
  fileprivate func append(
    to bytes: inout [UInt8], _ layout: RowLayout, _ source: UInt32?
  ) throws(StoreError) {
    var flags: UInt8 = 0
    if share != nil { flags |= WayFlags.isOfKinds }
    if share?.hasPlain ?? false { flags |= WayFlags.hasPlain }
    if origins != nil { flags |= WayFlags.isMoved }
    if source != nil { flags |= WayFlags.hasSource }
    bytes.append(flags)
    if let source { bytes.append(integer: source) }
    bytes.append(numbers: share?.kinds ?? [])
    let origins = origins ?? [:]
    bytes.append(numbers: origins.keys)
    for (_, origin) in origins.sortedRarely(by: { $0.key < $1.key }) {
      bytes.append(integer: origin)
    }
    bytes.append(numbers: present)
    bytes.append(numbers: lastElements.keys)
    for (_, isLast) in lastElements.sortedRarely(by: { $0.key < $1.key }) {
      bytes.append(isLast ? 1 : 0)
    }
    bytes.append(numbers: values.keys)
    let writer = RowWriter()
    writer.begin(layout)
    for column in layout.columns {
      guard let value = values[column.field.number] else { continue }
      try writer.set(value, of: column, in: layout)
    }
    writer.finish()
    bytes.append(integer: UInt32(writer.row.byteCount))
    bytes.append(writer.row)
  }
}

extension [UInt8] {
  /// Appends how many numbers there are, and the numbers, ascending.
  fileprivate mutating func append(numbers: some Collection<UInt32>) {
    append(integer: UInt32(numbers.count))
    for number in numbers.sortedRarely() { append(integer: number) }
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
    let layout = try RowLayout(PendingStep.record(record, schemas, to), version: to)
    var ways: [PendingWay] = []
    var sources: Set<UInt32?> = []
    for _ in 0..<(try reader.integer(UInt32.self)) {
      var source: UInt32?
      ways.append(try PendingWay(&reader, layout, key, &source))
      sources.insert(source)
    }
    guard !ways.isEmpty, reader.remaining == 0 else {
      throw reader.fault("it has no way, or \(reader.remaining) bytes behind the last")
    }
    guard sources.count == 1, let source = sources.first else {
      throw reader.fault("its rows come from two records")
    }
    return PendingStep(from: from, to: to, record: record, source: source, ways: ways)
  }
}

extension PendingWay {
  fileprivate init(
    _ reader: inout ByteReader, _ layout: RowLayout, _ key: [UInt8], _ source: inout UInt32?
  ) throws(StoreError) {
    let flags = try reader.integer(UInt8.self)
    guard flags < 16 else { throw reader.fault("the flags of a way are \(flags)") }
    if flags & WayFlags.hasSource != 0 { source = try reader.integer(UInt32.self) }
    let kinds = try reader.numbers()
    let fields = try reader.numbers()
    var origins: [UInt32: UInt32] = [:]
    for field in fields { origins[field] = try reader.integer(UInt32.self) }
    present = Set(try reader.numbers())
    for field in try reader.numbers() {
      let place = try reader.integer(UInt8.self)
      guard place <= 1 else { throw reader.fault("an element is chosen by \(place)") }
      lastElements[field] = place == 1
    }
    if flags & WayFlags.isOfKinds != 0 {
      share = KindShare(kinds: Set(kinds), hasPlain: flags & WayFlags.hasPlain != 0)
    }
    if flags & WayFlags.isMoved != 0 { self.origins = origins }
    guard share != nil || kinds.isEmpty && flags & WayFlags.hasPlain == 0,
      self.origins != nil || origins.isEmpty && present.isEmpty
    else { throw reader.fault("the flags \(flags) of a way leave no room for what it has") }
    let numbers = try reader.numbers()
    let rowBytes = try reader.run(Int(try reader.integer(UInt32.self)))
    do throws(StoreError) {
      let empty: [UInt8] = []
      let row = try RowReader(key: empty.rawSpan, row: rowBytes, layout: layout)
      for number in numbers {
        guard let index = layout.index(number: number),
          [.fixed, .variable].contains(layout.columns[index].place.kind)
        else { throw PendingSteps.fault("field \(number) is none that has bytes") }
        values[number] = try row.value(index)
      }
    } catch {
      throw PendingSteps.fault("what fields get is no row: \(error)", key)
    }
    guard !values.values.contains(.null) else { throw reader.fault("a field gets no value") }
  }
}

extension ByteReader {
  /// Numbers that ascend, behind how many there are.
  fileprivate mutating func numbers() throws(StoreError) -> [UInt32] {
    var numbers: [UInt32] = []
    for _ in 0..<(try integer(UInt32.self)) {
      let number = try integer(UInt32.self)
      guard numbers.last.map({ $0 < number }) ?? true else {
        throw fault("the number \(number) is behind \(numbers.last ?? 0)")
      }
      numbers.append(number)
    }
    return numbers
  }
}
