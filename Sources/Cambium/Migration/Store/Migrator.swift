/// Makes a store of another version, task by task, in slices that are each a commit.
///
///     begin ─▶ tasks: copy trees, convert rows, put records together, build indexes ─▶ switch: what was made
///                                                         takes the places of what was, the schema is the new
///
/// Until the switch the store is one of the old version, whole, for every program; the old state is kept then.
/// A run that was interrupted is found by its mark, and resumed if its definitions are the same; else it is discarded,
/// as it is by a program of the old version that opens the store for writing.
struct Migrator {
  let backend: any StoreBackend
  let tasks: MigrationTasks
  let monitor: MigrationMonitor
  /// The highest number of records in a slice, and the time after which one ends, about.
  let sliceCount: Int
  let sliceTime: Duration
  /// Reads and converts ahead of the thread that writes.
  let crew = WorkCrew(name: "cambium-migrate", size: WorkCrew.processorCount - 1)
  /// The number of records from which on that is worth it.
  static var crewCountMin: Int { 10_000 }

  init(
    _ backend: any StoreBackend, _ tasks: MigrationTasks,
    monitor: MigrationMonitor = MigrationMonitor(), sliceCount: Int,
    sliceTime: Duration = MigrationOptions().sliceTime
  ) {
    self.backend = backend
    self.tasks = tasks
    self.monitor = monitor
    self.sliceCount = min(max(1, sliceCount), 1 << 40)
    self.sliceTime = sliceTime
  }

  /// - Parameter isRehearsal: Does everything but the switch, and throws away what was made.
  /// - Throws: `.invalidValue`, `.uniqueConflict`, `.stepFailed`, `.duplicateKey`: then the store is as it was.
  ///   `.migrationCancelled`, `.corrupt`, `.full`, `.io`: then the next run goes on.
  func run(isRehearsal: Bool = false) throws(StoreError) {
    do throws(StoreError) {
      var mark = try begin()
      for index in Int(mark.task)..<tasks.tasks.count {
        mark.task = UInt32(index)
        try perform(tasks.tasks[index], &mark)
        mark.cursor = []
      }
      if isRehearsal {
        try MigrationMark.discard(in: backend)
      } else {
        try switchOver()
      }
      monitor.end(isRehearsal: isRehearsal)
    } catch {
      monitor.end(error)
      if error.isOfContent { try? MigrationMark.discard(in: backend) }
      throw error
    }
  }

  /// Resumes the migration where it stopped, or begins it.
  private func begin() throws(StoreError) -> MigrationMark {
    let mark = MigrationMark(tasks)
    let standing = try MigrationMark.standing(in: backend)
    if let standing {
      if standing.identity == mark.identity, standing.task <= tasks.tasks.count {
        monitor.begin(tasks, skipping: Int(standing.task), in: backend, startedOver: false)
        return standing
      }
      try MigrationMark.discard(in: backend)
    }
    try backend.commit { trees throws(StoreError) in try mark.put(into: trees, backend.names) }
    monitor.begin(tasks, in: backend, startedOver: standing != nil)
    return mark
  }

  private func perform(
    _ task: MigrationTask, _ mark: inout MigrationMark
  ) throws(StoreError) {
    try monitor.begin(task)
    switch task {
    case .arrange(let arrangement): try arrange(arrangement, &mark)
    case .convert(let conversion): try convert(conversion, mark)
    case .remake(let remake): try self.remake(remake, &mark)
    case .build(let build): try self.build(build)
    case .derive(let task): try derive(task)
    case .run(let hook): try run(hook, &mark)
    case .check(let check): try self.check(check)
    case .prove(let proof): try prove(proof)
    }
    monitor.end(task)
  }

  func slot(_ name: String) throws(StoreError) -> TreeSlot { try backend.names.slot(of: name) }

  /// The records of a version while it is made.
  func entities(
    of world: MigrationTask.World, _ swiftTypes: [any Record.Type] = []
  ) throws(StoreError) -> Entities {
    try world.entities(backend.names, swiftTypes)
  }

  /// Returns the mark after a task is done.
  func done(_ mark: MigrationMark) -> MigrationMark {
    var next = mark
    next.task += 1
    next.cursor = []
    return next
  }
}

// MARK: Whole trees

extension Migrator {
  private func arrange(
    _ arrangement: MigrationTask.Arrangement, _ mark: inout MigrationMark
  ) throws(StoreError) {
    var operations: [TreeOperation] = []
    for (source, target) in arrangement.copies {
      operations.append(.copy(try slot(source), to: try slot(target)))
    }
    let next = done(mark)
    try backend.commit { trees throws(StoreError) in
      for name in arrangement.removed { try trees.removeAll(in: slot(name)) }
      try next.put(into: trees, backend.names)
      if !operations.isEmpty { trees.addWork { $0.operations = operations } }
    }
  }

  /// Makes the store one of the new version, in one commit.
  private func switchOver() throws(StoreError) {
    let switching = tasks.switching
    var operations: [TreeOperation] = []
    for (source, target) in switching.moves {
      operations.append(.move(try slot(source), to: try slot(target)))
    }
    let schemas = try slot(Schema.treeName)
    let (from, to) = (tasks.route.from, tasks.route.to)
    let kept = KeptStateChange.keep(version: from.storedVersion, label: from.label ?? "")
    let renames = FieldRenames(from: from, to: to, try tasks.route.moves())
    let oldMetadata = try slot(Entities.metadataName)
    // Hooks change a copy.
    let moved = switching.moves.first { $0.target == Entities.metadataName }
    let metadata = try moved.map { move throws(StoreError) in try slot(move.source) } ?? oldMetadata
    try backend.commit { trees throws(StoreError) in
      try renames.apply(to: trees, in: metadata, since: oldMetadata)
      for name in switching.removed { try trees.removeAll(in: slot(name)) }
      // A store is of the highest version that it has a schema of.
      if to.version < from.version {
        for version in to.storedVersion + 1...from.storedVersion {
          _ = try trees.remove(Schema.key(of: version).rawSpan, in: schemas)
        }
      }
      for schema in tasks.route.hops.map(\.change.to) where schema.version <= to.version {
        let (key, bytes) = (Schema.key(of: schema.storedVersion), try schema.published())
        try trees.put(key.rawSpan, bytes.rawSpan, in: schemas)
      }
      try MigrationMark.remove(from: trees, backend.names)
      if tasks.changesReferences { try BlobRecount.markDue(in: trees, backend.names) }
      trees.addWork {
        $0.operations = operations
        $0.keeping = [kept]
      }
    }
    // A reader beside a writer sees the commits that the log records as flushed.
    try backend.seal()
  }
}

// MARK: Rows

extension Migrator {
  /// The slice after the last finds its place by the versions beside the references. With the first, the tasks before are done
  /// for good: they would read rows of another version from now on.
  private func convert(
    _ conversion: MigrationTask.Conversion, _ mark: MigrationMark
  ) throws(StoreError) {
    let tree = try slot(conversion.tree)
    // Rows that were put together a moment ago are in no page before the first slice.
    let count = try backend.trees().count(in: tree)
    let crew = count < Self.crewCountMin ? nil : crew
    var isOn = count > 0
    var pace = SlicePace(atMost: sliceCount, sliceTime)
    while isOn {
      let (start, count) = (ContinuousClock.now, pace.count)
      try backend.commit { trees throws(StoreError) in
        try mark.put(into: trees, backend.names)
        trees.addWork {
          $0.transforms[tree] = TreeTransform(conversion.transform, .first(count), by: crew)
        }
      }
      pace.note(ContinuousClock.now - start)
      try monitor.advance(by: count)
      isOn = try backend.trees().lowestVersion(in: tree).map { $0 < conversion.version } ?? false
    }
  }
}

// MARK: What programs say

extension Migrator {
  private func run(
    _ hook: MigrationTask.HookRun, _ mark: inout MigrationMark
  ) throws(StoreError) {
    let entities = try entities(of: hook.world, hook.types)
    let next = done(mark)
    do {
      try backend.write(.durable) { trees in
        let writer = RecordWriter(trees, entities)
        defer { writer.end(path: backend.path) }
        var transaction = WriteTransaction(writer: writer)
        try hook.body(&transaction)
        try writer.checkUsable()
        try writer.keeper?.check()
        try writer.keepNumbers()
        try next.put(into: trees, backend.names)
        try OwnCommits.note(in: trees, backend.names)
      }
    } catch StoreError.unknownRecord(let name) {
      throw .stepFailed(
        version: hook.version, source: hook.name,
        reason:
          "\(name) is not among its types, or not in that version; name the type in parentheses, as in"
          + " RunBefore(\(name).self) { … }")
    } catch let error as StoreError {
      throw error.naming(hook.name, inStepTo: hook.version)
    } catch {
      throw .stepFailed(version: hook.version, source: hook.name, reason: "\(error)")
    }
  }

  private func check(_ task: MigrationTask.StepCheck) throws(StoreError) {
    let entities = try entities(of: task.world, task.check.types)
    do {
      try task.check.body(StoreSnapshot(entities, try backend.snapshot()))
    } catch {
      throw .stepFailed(
        version: task.world.schema.version, source: "the check that \(task.check.text)",
        reason: "\(error)")
    }
  }
}

extension StoreError {
  /// True if trying again is useless unless the records or the model change.
  fileprivate var isOfContent: Bool {
    switch self {
    case .invalidValue, .uniqueConflict, .invalidDescription, .limitExceeded, .stepFailed,
      .duplicateKey, .noSuchRecord, .unknownRecord, .sortTooLarge:
      true
    default: false
    }
  }
}

/// Goes a route to its end: the last steps by publishing them, where their rows can be made later, and those before by
/// rewriting rows.
struct RouteRun {
  private let backend: any StoreBackend
  private let mode: MigrationMode
  private let options: MigrationOptions
  private let monitor: MigrationMonitor

  init(
    _ backend: any StoreBackend, _ mode: MigrationMode, _ options: MigrationOptions,
    _ monitor: MigrationMonitor
  ) {
    self.backend = backend
    self.mode = mode
    self.options = options
    self.monitor = monitor
  }

  /// - Parameter isRehearsal: True if the store stays of the version that it has.
  /// - Throws: as `Migrator.run`; what a commit throws.
  func run(_ route: MigrationRoute, isRehearsal: Bool = false) throws(StoreError) {
    // Also for what only a version on the way has outside of its rows.
    for hop in route.hops { try BlobOpening(backend).open(for: hop.change.to) }
    let left = route.hops.suffix(route.countLeft(by: mode, options)).map(\.change)
    let done = route.prefix(route.hops.count - left.count)
    if !done.hops.isEmpty { try rewrite(done, isRehearsal: isRehearsal) }
    if !left.isEmpty {
      if !isRehearsal {
        try DeferredOpening(backend).publish(left, after: try StoredSchemas(backend).all())
      }
      monitor.publish(left, isRehearsal: isRehearsal)
    }
    let present = isRehearsal ? route.from : route.to
    // Records may be changed when what rows refer to is counted.
    try BlobRecount(backend).runIfDue(
      try Entities(present, model: nil, names: backend.names))
  }

  /// Rewrites rows. Finishes an earlier deferred migration first.
  private func rewrite(_ route: MigrationRoute, isRehearsal: Bool) throws(StoreError) {
    try finishPending()
    let tasks = try MigrationTasks(route, stepwise: options.stepwise)
    // Before the first of many slices.
    let misfits = tasks.misfits(backend.names)
    guard misfits.isEmpty else {
      throw .cannotMigrate(
        from: route.from.version, to: route.wanted, reasons: misfits.map(\.description))
    }
    try Migrator(
      backend, tasks, monitor: monitor, sliceCount: options.sliceCount,
      sliceTime: options.sliceTime
    ).run(isRehearsal: isRehearsal)
  }

  private func finishPending() throws(StoreError) {
    guard let entities = try backend.describedEntities() else { return }
    var finishing = DeferredFinishing(backend, entities, sliceCount: options.sliceCount) {
      body throws(StoreError) in try backend.commit(body)
    }
    _ = try finishing.run()
  }
}

extension Migrator {
  /// Rebuilds an index from the rows, whose entries the transaction sorts as it spills them.
  func build(_ build: MigrationTask.IndexBuild) throws(StoreError) {
    let entities = try entities(of: build.world)
    guard let record = entities.entity(number: build.record),
      let index = record.indexes.first(where: { $0.layout.schema.number == build.index })
    else { return }
    var count = 0
    try backend.commit { trees throws(StoreError) in
      try trees.removeAll(in: index.slot)
      let rows = try backend.trees()
      if try rows.count(in: record.rows) >= Self.crewCountMin { trees.expectMany() }
      let key = KeyEncoder()
      let cursor = try rows.cursor(in: record.rows)
      while try cursor.advance() {
        let row = try record.row(key: cursor.key, row: try cursor.value())
        try index.layout.forEachEntry(of: row, in: key) { key, value, _ throws(StoreError) in
          count += 1
          try trees.put(key, value, in: index.slot)
        }
        try monitor.step()
      }
    }
    guard try backend.trees().count(in: index.slot) == count else {
      throw try conflict(in: record, index, of: build.world.schema.storedVersion)
    }
  }

  /// Counts the records that have the same values as another: one of them has the entry, the others have none.
  private func conflict(
    in record: Entity, _ index: Entity.IndexTree, of version: UInt32
  ) throws(StoreError) -> StoreError {
    let trees = try backend.trees()
    let key = KeyEncoder()
    let cursor = try trees.cursor(in: record.rows)
    var (holder, other): ([UInt8], [UInt8]) = ([], [])
    var count = 0
    var first: (key: [UInt8], other: [UInt8])?
    while try cursor.advance() {
      let row = try record.row(key: cursor.key, row: try cursor.value())
      var isCounted = false
      try index.layout.forEachEntry(of: row, in: key) { key, _, isSole throws(StoreError) in
        guard isSole, !isCounted, try trees.copyValue(of: key, in: index.slot, to: &holder),
          holder.rawSpan.compare(cursor.key) != 0
        else { return }
        isCounted = true
        count += 1
        other.assign(cursor.key)
        if first == nil { first = (holder, other) }
      }
    }
    let name = record.record.name
    let pair = first.map {
      ": \(record.text(ofKey: $0.other.rawSpan)) as \(record.text(ofKey: $0.key.rawSpan)), for one"
    }
    return .stepFailed(
      version: Int(version), source: name,
      reason:
        "\(count) record\(count == 1 ? " has" : "s have") the same \(index.layout.schema.name) as another, which has to be"
        + " unique\(pair ?? ""). Change or delete all but one of each in a `RunBefore` of the step")
  }
}

extension SchemaChange {
  /// True if rows of the new version may refer to other blobs than those of the old one, or to the same a different number
  /// of times, though they are converted as they are: a field that is new has none.
  var changesReferences: Bool {
    !from.externalFields.isSubset(of: to.externalFields)
      || records.contains { change in
        change.fields.contains { $0.new.type.isExternal && change.drops($0) }
      }
  }
}

extension MigrationTasks {
  /// True if any of the work may change references to blobs.
  var changesReferences: Bool {
    !route.from.externalFields.isSubset(of: route.to.externalFields)
      || route.hops.contains(where: \.change.changesReferences)
      || tasks.contains { task in
        switch task {
        case .arrange, .convert, .build, .derive, .check, .prove: false
        case .remake, .run: true
        }
      }
  }
}

extension Schema {
  fileprivate var externalFields: Set<[UInt32]> {
    var fields: Set<[UInt32]> = []
    for record in records {
      for field in record.fields where field.type.isExternal {
        fields.insert([record.number, field.number])
      }
    }
    return fields
  }
}
