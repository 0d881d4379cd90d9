/// Makes new records of the old ones of one type.
final class Remaking {
  let source: Entity
  /// The records that it makes, and the kinds of them.
  let targets: [EmissionTarget]
  /// The kind whose records it takes, by its place; nil for all.
  private let kind: Int?
  private let work: Work
  private let rules: [String: EmissionRules]
  private let old: Entities
  let new: Entities
  let aside: TreeSlot
  /// The version before the step, if its closures or paths read it.
  private let version: OldVersion?
  /// A finder of the blobs of the old records; nil if they have none.
  private let blobs: BlobFinder?
  private let row = RowWriter()
  private let key = KeyEncoder()

  init(
    _ task: MigrationTask.Remake, from old: Entities, to new: Entities, aside: TreeSlot,
    in snapshot: SnapshotTrees
  ) throws(StoreError) {
    let trees = TreeAccess.state(snapshot)
    version = task.readsVersion ? OldVersion(entities: old, trees: snapshot) : nil
    self.old = old
    self.new = new
    self.aside = aside
    let source = try old.entity(named: task.source.name)
    self.source = source
    blobs = trees.blobFinder(of: source)
    switch task.kind {
    case .values(let conversion):
      work = .values(conversion)
      rules = [:]
      targets = [new.entity(number: task.target)].compactMap { $0 }.map {
        EmissionTarget(entity: $0)
      }
      kind = nil
    case .closure(let transform, let rules):
      work = .closure(transform.body.copy())
      self.rules = rules
      targets = EmissionTarget.all(
        transform.targets.compactMap { $0.place(in: new.schema) }, in: new)
      kind = transform.source.place(in: old.schema)?.kind.flatMap {
        source.layout.kinds?.place(named: $0.name)
      }
    }
  }

  /// Its own, so that nothing of it is shared with other threads.
  private enum Work {
    case values(RowStep)
    case closure(RecordTransform)
  }

  /// True if records can be made ahead of the commit that takes them: blobs are made in it.
  var isAhead: Bool { source.blobs == nil && targets.allSatisfy { $0.entity.blobs == nil } }

  var newVersion: UInt32 { new.schema.storedVersion }

  func target(_ number: UInt32) -> Entity? {
    targets.first { $0.entity.record.number == number }?.entity
  }

  func emitter(to sink: any EmitterSink) -> RecordEmitter {
    RecordEmitter(new, targets: targets, rules: rules, to: sink)
  }

  /// Makes new records of one.
  func remake(
    _ oldKey: RawSpan, _ oldRow: RawSpan, _ emit: RecordEmitter
  ) throws(StoreError) {
    let (row, key) = (row, key)
    do {
      switch work {
      case .values(let conversion):
        guard try conversion.takes(key: oldKey, row: oldRow) else { return }
        var setAside: [UInt32] = []
        try conversion.convert(key: oldKey, row: oldRow, blobs, version, to: row, key) {
          setAside.append($0)
        }
        try emit.add(key.key, row, to: targets[0].entity)
        for field in setAside {
          try emit.setAside(
            SetAsideEntry(
              version: old.schema.storedVersion, record: source.record.number, field: field,
              key: oldKey, row: oldRow), in: aside)
        }
      case .closure(let transform):
        if let kind, let kinds = source.layout.kinds,
          !kinds.has(oldRow, kind: kind, in: source.layout)
        {
          return
        }
        try transform.run(
          OldRow(key: oldKey, row: oldRow, of: source, blobs, old, version), emit)
      }
    } catch let error as StoreError {
      throw error.naming(
        "\(source.record.name) \(source.text(ofKey: oldKey))", inStepTo: Int(newVersion))
    } catch {
      throw .stepFailed(
        version: Int(newVersion), source: "\(source.record.name) \(source.text(ofKey: oldKey))",
        reason: "\(error)")
    }
  }
}

// Records that are rebuilt: value by value if keys change, or by a program's closure.

extension Migrator {
  /// Goes through the records of a tree in slices. What it makes is added to other trees, in the commit that
  /// also says how far it came.
  func remake(
    _ task: MigrationTask.Remake, _ mark: inout MigrationMark
  ) throws(StoreError) {
    let snapshot = try backend.snapshot()
    func makeRemaking() throws(StoreError) -> Remaking {
      try Remaking(
        task, from: try entities(of: task.from, task.oldTypes),
        to: try entities(of: task.to, task.newTypes), aside: try slot(task.to.places.aside),
        in: snapshot)
    }
    let remaking = try makeRemaking()
    if mark.cursor.isEmpty { mark.counts = try counts(of: remaking) }
    let source = TreeAccess.state(snapshot)
    let isLarge = try source.count(in: remaking.source.rows) >= Self.crewCountMin
    var isAhead = isLarge && remaking.isAhead
    var others: [Remaking] = []
    if isAhead { for _ in 0...crew.size { others.append(try makeRemaking()) } }
    let pool = RemakingPool(others)
    // While one slice is committed, the crew is at the next.
    let ahead = TasksAhead(crew, window: RemadeRecords.window) { RemadeRecords(pool) }
    defer { ahead.withdraw() }
    let slices = try RecordSlices(
      source.cursor(in: remaking.source.rows), behind: mark.cursor, count: sliceCount)
    var isDone = false
    while !isDone {
      try monitor.look()
      let before = try backend.trees()
      let start = mark.cursor
      var (next, left) = (mark, slices.nextCount)
      let end = ContinuousClock.now + sliceTime
      try backend.commit { trees throws(StoreError) in
        if isLarge { trees.expectMany() }
        let sink = AddingSink(trees, remaking.new)
        let emit = remaking.emitter(to: sink)
        while left > 0 {
          while isAhead, ahead.hasRoom, !slices.isAtEnd {
            ahead.submit(try slices.read(into: ahead.spare()))
          }
          var first = ahead.takeFirst()
          if first == nil, !slices.isAtEnd { first = try slices.read(into: ahead.spare()) }
          guard let records = first else { break }
          let old = records.old
          if records.isWhole {
            try records.add(to: sink, of: remaking)
          } else {
            isAhead = isAhead && !records.wasAsked
            for index in 0..<old.count {
              try remaking.remake(old.key(index), old.row(index), emit)
            }
          }
          left -= records.count
          next.cursor = old.key(old.count - 1).array()
          for _ in 0..<records.count { try monitor.step() }
          ahead.recycle(records)
          // A closure may take its time.
          if ContinuousClock.now >= end { break }
        }
        for (number, count) in unsafe sink.added {
          next.counts[number, default: 0] += UInt64(count)
        }
        isDone = slices.isAtEnd && ahead.isEmpty
        try (isDone ? self.done(next) : next).put(into: trees, backend.names)
      }
      let count = slices.nextCount - left
      slices.advance(by: count)
      for (number, expected) in next.counts {
        guard let trees = remaking.target(number) else { continue }
        if try backend.trees().count(in: trees.rows) == Int(expected) { continue }
        throw try duplicate(remaking, behind: start, count: count, before)
      }
      mark = next
    }
  }

  private func counts(of remaking: Remaking) throws(StoreError) -> [UInt32: UInt64] {
    var counts: [UInt32: UInt64] = [:]
    let trees = try backend.trees()
    for target in remaking.targets.map(\.entity) {
      counts[target.record.number] = UInt64(try trees.count(in: target.rows))
    }
    return counts
  }

  /// Finds a key that was emitted twice in a slice, or in it and before, and the records that it is of.
  private func duplicate(
    _ remaking: Remaking, behind start: [UInt8], count: Int, _ before: TreeAccess
  ) throws(StoreError) -> StoreError {
    var seen: [EmittedKey: [UInt8]] = [:]
    var found: (key: EmittedKey, source: [UInt8], other: [UInt8]?)?
    try forEachSource(remaking, in: before, behind: start, count: count) {
      source, key throws(StoreError) in
      guard found == nil else { return }
      if let other = seen.updateValue(source, forKey: key) {
        found = (key, source, other)
      } else if let trees = remaking.target(key.record),
        try before.contains(key.bytes.rawSpan, in: trees.rows)
      {
        found = (key, source, nil)
      }
    }
    guard let found, let trees = remaking.target(found.key.record) else {
      return .stepFailed(
        version: Int(remaking.newVersion), source: remaking.source.record.name,
        reason: "it does not emit the same each time")
    }
    var other = found.other
    if other == nil {
      try forEachSource(remaking, in: before, behind: [], count: .max) {
        source, key throws(StoreError) in
        if other == nil, key == found.key { other = source }
      }
    }
    let name = remaking.source.record.name
    let first = other.map { "\(name) \(remaking.source.text(ofKey: $0.rawSpan))" }
    return .stepFailed(
      version: Int(remaking.newVersion),
      source: "\(name) \(remaking.source.text(ofKey: found.source.rawSpan))",
      reason:
        "it makes the \(trees.record.name) \(trees.text(ofKey: found.key.bytes.rawSpan)), which "
        + (first.map { "\($0) makes too" } ?? "is there already"))
  }

  private func forEachSource(
    _ remaking: Remaking, in trees: TreeAccess, behind start: [UInt8], count: Int,
    _ body: @escaping (_ source: [UInt8], _ emitted: EmittedKey) throws(StoreError) -> Void
  ) throws(StoreError) {
    let sink = SearchingSink(body)
    let emit = remaking.emitter(to: sink)
    let cursor = try trees.cursor(in: remaking.source.rows)
    var isOn = try cursor.seek(behind: start)
    var left = count
    while isOn, left > 0 {
      sink.source = cursor.key.array()
      try remaking.remake(cursor.key, try cursor.value(), emit)
      left -= 1
      isOn = try cursor.next()
    }
  }
}

extension MigrationTask.Remake {
  /// True if its closures or paths read the version before.
  fileprivate var readsVersion: Bool {
    switch kind {
    case .values(let step): step.readsVersion
    case .closure(let transform, _): transform.body.readsVersion
    }
  }

  fileprivate var oldTypes: [any Record.Type] {
    guard case .closure(let transform, _) = kind else { return [] }
    return [transform.source.type].compactMap { $0 } + transform.read
  }

  fileprivate var newTypes: [any Record.Type] {
    guard case .closure(let transform, _) = kind else { return [] }
    return transform.targets.compactMap(\.type)
  }
}

/// The records of a tree, in one pass, and how many of them are one slice after the other.
private final class RecordSlices {
  private let cursor: CursorAccess
  private let countMin: Int
  private(set) var isAtEnd: Bool
  /// The number of records before the slice to come.
  private var doneCount = 0
  /// The number of records that are still to be read in the slice that is being read.
  private var unreadCount: Int
  /// The number of records up to the end of that slice.
  private var readEnd: Int

  /// - Parameters:
  ///   - key: That of the last record before; empty to begin with the first.
  ///   - count: The number of records in a slice, at least.
  init(_ cursor: CursorAccess, behind key: [UInt8], count: Int) throws(StoreError) {
    self.cursor = cursor
    countMin = count
    isAtEnd = try !cursor.seek(behind: key)
    unreadCount = count
    readEnd = count
  }

  /// Each slice goes over all that was made before, so slices grow with it, unless their time ends them.
  private func size(behind count: Int) -> Int { max(countMin, count / 4) }

  /// The number of records in the slice to come, unless fewer are left.
  var nextCount: Int { size(behind: doneCount) }

  /// Goes on to the slice after the one that has had so many records.
  func advance(by count: Int) { doneCount += count }

  /// Reads records, all of one slice.
  ///
  /// - Precondition: `isAtEnd` is false.
  func read(into records: RemadeRecords) throws(StoreError) -> RemadeRecords {
    let cursor = cursor
    records.removeAll()
    if unreadCount == 0 {
      unreadCount = size(behind: readEnd)
      readEnd += unreadCount
    }
    while !isAtEnd, unreadCount > 0, !records.isFull {
      records.append(cursor.key, try cursor.value())
      unreadCount -= 1
      isAtEnd = try !cursor.next()
    }
    return records
  }
}

// MARK: - Looking

/// A key of a new record.
private struct EmittedKey: Hashable {
  let record: UInt32
  let bytes: [UInt8]
}

/// Looks at what is emitted, and keeps nothing.
private final class SearchingSink: EmitterSink {
  var source: [UInt8] = []
  private let body: ([UInt8], EmittedKey) throws(StoreError) -> Void

  init(_ body: @escaping ([UInt8], EmittedKey) throws(StoreError) -> Void) {
    self.body = body
  }

  func add(
    _ key: RawSpan, _ row: RawSpan, _ waiting: [Blob], to target: Entity
  ) throws(StoreError) {
    try body(source, EmittedKey(record: target.record.number, bytes: key.array()))
  }

  /// Writes a record; merged records never exist twice.
  func put(
    _ key: RawSpan, _ row: RawSpan, _ waiting: [Blob], to target: Entity
  ) throws(StoreError) {}

  func setAside(_ key: RawSpan, _ value: RawSpan, in tree: TreeSlot) {}

  func blobFinder(of target: Entity) -> BlobFinder? { nil }

  func copy(
    _ key: RawSpan, of target: Entity, to row: inout [UInt8]
  ) throws(StoreError) -> Bool { false }
}

/// Adds what is emitted to the trees of a transaction, without looking whether it is there.
final class AddingSink: EmitterSink {
  private let trees: TransactionTrees
  private let writer: RecordWriter
  // One owner uses them, so accesses cannot overlap.
  /// The number of records that are added, by the number of the record.
  @exclusivity(unchecked) private(set) var added: [(record: UInt32, count: Int)] = []

  init(_ trees: TransactionTrees, _ entities: Entities) {
    self.trees = trees
    writer = RecordWriter(trees, entities)
  }

  func add(
    _ key: RawSpan, _ row: RawSpan, _ waiting: [Blob], to target: Entity
  ) throws(StoreError) {
    note(1, target.record.number)
    try put(key, row, waiting, in: target)
  }

  /// Adds records that have nothing outside of their rows.
  func add(_ batch: borrowing PutBatch, to target: Entity) throws(StoreError) {
    note(batch.count, target.record.number)
    try trees.put(batch, schemaVersion: target.layout.version, in: target.rows)
  }

  private func note(_ count: Int, _ record: UInt32) {
    for place in unsafe 0..<added.count where unsafe added[place].record == record {
      unsafe added[place].count += count
      return
    }
    unsafe added.append((record, count))
  }

  /// Puts a row into its tree, and what belongs outside of it there.
  private func put(
    _ key: RawSpan, _ row: RawSpan, _ waiting: [Blob], in target: Entity
  ) throws(StoreError) {
    guard target.blobs != nil else {
      return try trees.put(key, row, schemaVersion: target.layout.version, in: target.rows)
    }
    let stored =
      try writer.settled(key, row, waiting, over: [], of: target) ?? row.array()
    try trees.put(key, stored.rawSpan, schemaVersion: target.layout.version, in: target.rows)
    try writer.count(key, from: [], to: stored.rawSpan, of: target)
  }

  func put(
    _ key: RawSpan, _ row: RawSpan, _ waiting: [Blob], to target: Entity
  ) throws(StoreError) {
    var old: [UInt8] = []
    if try !trees.copyValue(of: key, in: target.rows, to: &old) {
      note(1, target.record.number)
    }
    try put(key, row, waiting, in: target)
  }

  func blobFinder(of target: Entity) -> BlobFinder? { writer.blobFinder(of: target) }

  func copy(
    _ key: RawSpan, of target: Entity, to row: inout [UInt8]
  ) throws(StoreError) -> Bool {
    try trees.copyValue(of: key, in: target.rows, to: &row)
  }

  func setAside(_ key: RawSpan, _ value: RawSpan, in tree: TreeSlot) throws(StoreError) {
    try trees.put(key, value, in: tree)
  }
}
