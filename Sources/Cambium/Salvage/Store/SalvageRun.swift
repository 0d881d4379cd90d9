/// A salvage into a work directory beside its destination, which gets its name once everything is in it.
struct SalvageRun {
  private let source: SalvageSource
  private let medium: PosixFileSystem
  private let target: PosixFileSystem
  private let options: SalvageOptions
  private let choice: SalvageChoice
  private var report = SalvageReport()
  private var schemas: [Schema] = []
  /// Trees in which something is missing, or may be.
  private var state = SalvagedState()

  /// - Throws: as `PersistentStore.salvage`.
  static func run(
    from path: String, to newPath: String, _ options: SalvageOptions
  ) throws(StoreError) -> SalvageReport {
    let medium = try PosixFileSystem(at: path)
    try Salvage.refuseWriter(of: medium)
    try Salvage.refuseEmpty(medium)
    try PosixFileSystem.checkIsFree(newPath, for: "salvage")
    let source = try SalvageSource(medium)
    let work = try WorkDirectory(beside: newPath)
    try work.makeStoreDirectory(like: medium.access())
    let target = try PosixFileSystem(at: work.content)
    var run = SalvageRun(source, medium, target, options)
    try run.copy()
    let check = try PersistentStore.check(at: target.path, .deep, options: run.storeOptions)
    run.report.remainingFaults = check.faults.filter { !run.isOfLostBlob($0) }
    try work.finish()
    return run.report
  }

  private init(
    _ source: SalvageSource, _ medium: PosixFileSystem, _ target: PosixFileSystem,
    _ options: SalvageOptions
  ) {
    self.source = source
    self.medium = medium
    self.target = target
    self.options = options
    choice = options.extent.choice
  }

  private var storeOptions: StoreOptions {
    var options = StoreOptions()
    options.access = .writingExisting
    options.collations = self.options.collations
    return options
  }

  /// A blob that is lost is counted, and the deep check names each.
  private func isOfLostBlob(_ fault: StoreError) -> Bool {
    guard report.damagedBlobs > 0, case .corrupt(let place, _, _) = fault else { return false }
    switch place {
    case .blob, .blobSegment: return true
    default: return false
    }
  }
}

extension SalvageOptions.Extent {
  fileprivate var choice: SalvageChoice {
    switch self {
    case .everything: .everything
    case .newestState: .newest
    case .wholeState: .newestWhole
    }
  }
}

// MARK: - Copying

extension SalvageRun {
  private mutating func copy() throws(StoreError) {
    state = Salvage.state(of: source, checking: choice == .newestWhole ? .untilWhole : .none)
    guard let copy = SalvageCopy(of: source, choice, &state) else {
      throw nothing(
        source.pages == nil
          ? "no page segment says whose it is, and no log does" : missingState)
    }
    schemas = try schemas(copy)
    guard let newest = schemas.last else {
      throw nothing(
        "nothing says what its records are. Give the descriptions of its versions: `schema` in the options, or"
          + " --schema with the file of the schema lock")
    }
    let versions = SalvagedVersions(
      schemas, newest, log: source.log,
      covered: source.candidates.first?.reference.coveredSequence ?? 0,
      isStale: copy.base.staleness != nil, loose: copy.loose(use: LooseLeaves.isOfSystem))
    let loose = choice == .everything ? copy.loose(use: versions.rule()) : nil
    // A state from before a migration has trees that the newest version does not.
    let kept = TreePlaces(of: newest).trees
    let gone = Set(schemas.flatMap { TreePlaces(of: $0).trees }).subtracting(kept)
    let trees = source.trees(of: copy.base, or: newest.salvagedTrees, loose: loose)
      .filter { !$0.name.isOfMigration && !gone.contains($0.name) }
    var random = SystemRandomNumberGenerator()
    let salts = (random.next() as UInt64, random.next() as UInt64, random.next() as UInt64)
    let supply = Salts(salts)
    try copy.run(
      trees, to: target, options: EngineOptions(), makeSalt: { supply.next() }, &state)
    let backend = try EngineBackend(at: target.path, storeOptions)
    do throws(StoreError) {
      try finish(copy, loose, versions, backend)
    } catch {
      try? backend.close()
      throw error
    }
    try backend.close()
  }

  private func nothing(_ reason: String) -> StoreError {
    .nothingToSalvage(path: medium.path, reason: reason)
  }

  private var missingState: String {
    switch options.extent {
    case .wholeState: "none of the \(state.candidates.count) states that were found is whole"
    case .newestState, .everything: "no state was found in its pages"
    }
  }

  /// Adds the commits that only the log has, puts the records in order, and has the blobs follow.
  private mutating func finish(
    _ copy: SalvageCopy, _ loose: LooseLeaves?, _ versions: SalvagedVersions,
    _ backend: EngineBackend
  ) throws(StoreError) {
    let base = copy.base
    backend.collations.set(options.collations)
    report.faults = state.faults
    let covered = base.footer?.coveredSequence ?? 0
    report.sequence = covered
    let isTrue = source.log?.isTrue(for: source.candidates) ?? false
    // A footer that the log does not name may never have been true.
    let found = isTrue ? 0 : source.candidates.first?.reference.coveredSequence ?? 0
    report.newestSequence = max(source.log?.sequence ?? 0, found)
    var isExact = base.staleness == nil && state.losses.isEmpty
    if choice != .newestWhole, let log = source.log {
      try replay(log, after: covered, into: backend)
      report.sequence = max(covered, log.sequence)
      isExact = isExact && isTrue
    }
    report.unreadLog = source.log?.unread(after: report.sequence)
    if let unread = report.unreadLog, unread.wasFlushed {
      report.newestSequence = max(
        report.newestSequence, report.sequence + UInt64(unread.commitCount))
    }
    let schemas = schemas
    var repair = SalvageRepair(backend, schemas, losses: state.losses)
    try repair.writeSchemas()
    if isExact {
      try? DeferredOpening(backend).usePending()
    } else {
      try repair.keepReadable(versions)
      if choice == .everything { report.faults += versions.faults }
    }
    // With everything of the newest state, the copy has its last numbers, too.
    let hasNumbers = isExact && choice == .everything
    var numbers = try hasNumbers ? nil : foundNumbers(copy, loose, backend)
    if !isExact { try repair.run() }
    try numbers?.noteLost(in: try backend.trees())
    report.faults += try numbers?.write(to: backend) ?? []
    report.omissions = repair.omissions
    report.missing = repair.missing
    report.faults += repair.faults
    if let newest = schemas.last {
      report.losses = state.losses.compactMap { SalvageReport.Loss($0, newest) }
      let trees = try backend.trees()
      for record in newest.records {
        let slot = try backend.names.slot(of: Entity.name(ofRows: record.number))
        report.records[record.name] = try trees.count(in: slot)
      }
    }
    do throws(StoreError) {
      report.damagedBlobs = try BlobSalvage(from: medium, to: target, backend).run()
    } catch {
      guard case .corrupt = error else { throw error }
      // The content of its records is unknown, but the records exist.
      report.faults.append(error)
    }
  }

  /// Gathers the last numbers of sequences, also of states that are not copied; nil if there are no sequences.
  private func foundNumbers(
    _ copy: SalvageCopy, _ loose: LooseLeaves?, _ backend: EngineBackend
  ) throws(StoreError) -> SalvagedNumbers? {
    guard let newest = schemas.last,
      var numbers = SalvagedNumbers(try Entities(newest, model: nil, names: backend.names))
    else { return nil }
    var tree = SalvagedTree(
      name: Entities.sequencesName, source: .leaves(SequenceCheck.fault([])))
    tree.loose = loose ?? copy.loose(use: LooseLeaves.isOfSystem)
    numbers.note(try copy.entries(of: tree))
    if let log = source.log { numbers.note(log) }
    try numbers.noteRows(in: try backend.trees())
    return numbers
  }

  /// Carries out the operations of the log that the trees do not have.
  private func replay(
    _ log: SalvagedLog, after sequence: UInt64, into backend: EngineBackend
  ) throws(StoreError) {
    if log.sequence <= sequence { return }
    try backend.commit { trees throws(StoreError) in
      try log.forEachCommit(after: sequence) { operations, place throws(StoreError) in
        var reader = OperationReader(operations, at: place)
        var tree: TreeSlot?
        while let operation = try reader.next() {
          if operation.kind == .tree {
            let name = String(decoding: operation.key.array(), as: UTF8.self)
            tree = name.isOfMigration ? nil : try backend.names.slot(of: name)
          } else if let tree {
            try trees.carryOut(operation, in: tree)
          }
        }
      }
    }
  }
}

extension TransactionTrees {
  fileprivate func carryOut(
    _ operation: borrowing LogOperation, in tree: TreeSlot
  ) throws(StoreError) {
    switch operation.kind {
    case .tree, .schemaVersion: break
    case .add, .replace:
      try put(
        operation.key, operation.value, schemaVersion: operation.schemaVersion, in: tree)
    case .remove: _ = try remove(operation.key, in: tree)
    case .clear: try removeAll(in: tree)
    }
  }
}

/// A few random numbers, one after the other.
private final class Salts: @unchecked Sendable {
  private var rest: [UInt64]

  init(_ numbers: (UInt64, UInt64, UInt64)) {
    rest = [numbers.0, numbers.1, numbers.2]
  }

  func next() -> UInt64 { rest.popLast() ?? 0 }
}

extension String {
  /// True of the trees of a migration under way, which is not continued.
  fileprivate var isOfMigration: Bool {
    self == MigrationMark.treeName || TreeTag(of: self) != TreeTag(whole: self)
  }
}

extension TreeTag {
  /// The tag of a name as it is.
  fileprivate init(whole name: String) {
    var checksum = Checksum()
    checksum.update(Array(name.utf8).rawSpan)
    self.init(rawValue: checksum.rawValue)
  }
}

// MARK: - Records

extension SalvageRun {
  /// The schemas of all versions that anything says: the trees, the log, or else the options.
  private func schemas(_ copy: SalvageCopy) throws(StoreError) -> [Schema] {
    let loose = choice == .everything ? copy.loose(use: LooseLeaves.isOfSystem) : nil
    var values: [[UInt8]: [UInt8]] = [:]
    let trees = source.trees(of: copy.base, or: [Schema.treeName], loose: loose)
    for tree in trees where tree.name == Schema.treeName {
      for (key, value) in try copy.entries(of: tree, under: trees.level(over: tree)) {
        values[key] = value
      }
    }
    if choice != .newestWhole {
      try source.log?.forEachCommit(after: copy.base.footer?.coveredSequence ?? 0) {
        operations, place throws(StoreError) in
        var reader = OperationReader(operations, at: place)
        var isOfSchemas = false
        while let operation = try reader.next() {
          let key = operation.key.array()
          switch operation.kind {
          case .tree: isOfSchemas = key == Array(Schema.treeName.utf8)
          case .add, .replace: if isOfSchemas { values[key] = operation.value.array() }
          case .remove: if isOfSchemas { values[key] = nil }
          case .clear, .schemaVersion: break
          }
        }
      }
    }
    var found: [Schema] = []
    for (key, value) in values where key.count == 4 {
      let version = key.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      if let schema = try? Schema(
        decoding: value.rawSpan, version: version, path: medium.path)
      {
        found.append(schema.providing(options.collations))
      }
    }
    if found.isEmpty, let lock = options.schema {
      found = try StoreModel(lock).schemas().map { $0.providing(options.collations) }
    }
    return found.sortedRarely { $0.storedVersion < $1.storedVersion }
  }
}

extension Schema {
  /// The trees that are read where no footer names them: all but those that are rebuilt, and that of the last numbers, which
  /// `SalvagedNumbers` gathers.
  fileprivate var salvagedTrees: [String] {
    records.map { Entity.name(ofRows: $0.number) } + records.map { Entity.name(ofLost: $0.number) }
      + [Schema.treeName, Entities.metadataName, Entities.asideName] + BlobTrees.names
  }
}

extension SalvagedLog {
  /// Returns the operations that could not be carried out; nil if a state with all commits up to `copied` has that,
  /// too.
  fileprivate func unread(after copied: UInt64) -> SalvageReport.UnreadLog? {
    guard remains.byteCount > 0, max(remains.lastSequence, sequence + 1) > copied else {
      return nil
    }
    return SalvageReport.UnreadLog(
      byteCount: remains.byteCount,
      commitCount: Int(clamping: max(remains.lastSequence, copied) - copied),
      wasFlushed: wasFlushed)
  }
}

extension SalvageReport.Loss {
  /// - Returns: nil for a loss that is none, since the tree is rebuilt.
  init?(_ loss: SalvagedState.Loss, _ schema: Schema) {
    if loss.tree.first == "i", UInt32(loss.tree.dropFirst()) != nil { return nil }
    let record = schema.records.first { Entity.name(ofRows: $0.number) == loss.tree }
    // Without a footer it is unknown whether there was such a tree.
    if record == nil, loss.count == nil, loss.found == 0 { return nil }
    let layout = record.flatMap { try? RowLayout($0, version: schema.storedVersion) }
    func text(_ key: [UInt8]) -> String {
      if let text = layout?.text(ofKey: key.rawSpan) { return text }
      return String(validating: key, as: UTF8.self) ?? "\(key)"
    }
    self.init(
      record: record?.name, tree: loss.tree, from: loss.low.isEmpty ? nil : text(loss.low),
      to: loss.high.map(text), count: loss.count.map { Int(clamping: $0) },
      found: Int(clamping: loss.found), error: loss.fault)
  }
}
