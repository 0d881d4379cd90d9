/// The plan of a migration: its steps, the amount of work, and the reasons for which it cannot run.
///
/// It is plain data, to print, keep or send.
public struct MigrationPlan: Hashable, Codable, Sendable {
  /// The version that the store has.
  public let from: Int
  /// The version that it would have.
  public let to: Int
  /// The steps, in order; none if the store has the version already.
  public let steps: [PlannedStep]
  /// The reasons for which it cannot run, and what to write instead; empty if it can.
  public let faults: [Fault]
  /// The refusals that cannot be counted, since the program changes records before or after a step: those of the records
  /// as they are, if there are any, and the advice to rehearse. Empty if everything was counted.
  public let uncertainties: [Uncertainty]
  /// The parts of the work, in order.
  public let work: [Work]
  /// The number of records to be read, once for each part of the work that reads them.
  public let records: Int
  /// The approximate bytes of pages to be read and written.
  public let bytesToRead: Int
  public let bytesToWrite: Int
  /// The bytes of values that move out of rows, before compression: 0 if no step moves any. The values that closures make
  /// are not known before.
  public let blobBytesToWrite: Int
  /// The bytes by which the log's files may grow. They do not shrink afterwards.
  public let logBytesToGrow: Int
  /// The bytes free on the disk; nil if that is not known.
  public let bytesFree: Int?

  /// One step of a plan.
  public struct PlannedStep: Hashable, Codable, Sendable {
    public let from: Int
    public let to: Int
    public let label: String?
    public let kind: Kind
    /// True if `.deferred` can leave the step to be done later, together with all steps after it if they are deferrable, too.
    public let isDeferrable: Bool
    /// The changes that it makes.
    public let changes: [Change]

    public enum Kind: String, Hashable, Codable, Sendable {
      /// The step follows from the descriptions.
      case inferred
      /// The program states a part of the step.
      case given
    }
  }

  /// True if nothing that is known before it keeps it from being done; `uncertainties` says what is not known.
  public var canRun: Bool { faults.isEmpty }

  /// True if the whole plan follows from the descriptions, without any step of the program.
  public var isInferred: Bool { steps.allSatisfy { $0.kind == .inferred } }

  /// The estimated time, from the speed of such work on a machine of today.
  public var estimatedTime: Duration {
    let bytes = Double(bytesToRead) + Double(bytesToWrite) + Double(blobBytesToWrite)
    return .seconds(Double(records) / 1_000_000 + bytes / 1_000_000_000)
  }
}

extension MigrationPlan: CustomStringConvertible {
  public var description: String {
    if from == to { return "The store has version \(to) already." }
    var lines = ["version \(from) → \(to), \(steps.count) step\(steps.count == 1 ? "" : "s")"]
    for step in steps {
      let label = step.label.map { " “\($0)”" } ?? ""
      lines.append(
        "  \(step.from) → \(step.to)\(label), \(step.kind.rawValue)"
          + (step.isDeferrable ? ", deferrable" : ""))
      lines += step.changes.map { "    \($0)" }
      if step.changes.isEmpty { lines.append("    nothing that is stored") }
    }
    lines.append("work")
    lines += work.map { "  \($0)" }
    lines.append(
      "  \(records) records to look at, about \(bytesToRead.megabytes) to read and"
        + " \(bytesToWrite.megabytes) to write"
        + (blobBytesToWrite > 0 ? ", and \(blobBytesToWrite.megabytes) of blobs," : "")
        + (logBytesToGrow > 0 ? ", and \(logBytesToGrow.megabytes) by which the log may grow," : "")
        + (bytesFree.map { " of \($0.megabytes) free" } ?? ""))
    if !faults.isEmpty {
      lines.append("it cannot be done:")
      lines += faults.map { "  \($0)" }
    }
    if !uncertainties.isEmpty {
      lines.append("not known before a rehearsal:")
      lines += uncertainties.map { "  \($0)" }
    }
    return lines.joined(separator: "\n")
  }
}

// MARK: Making one

extension MigrationPlan {
  /// - Throws: as `PersistentStore.migration`.
  init(
    of backend: ReadingBackend, to model: StoreModel, _ steps: [MigrationStep],
    _ options: MigrationOptions
  ) throws(StoreError) {
    // Rows of older versions are read through what is pending.
    try DeferredOpening(backend).usePending()
    let schemas = StoredSchemas(
      try backend.trees(), try backend.names.slot(of: Schema.treeName),
      path: backend.path)
    guard let stored = try schemas.newest() else { throw .missing(path: backend.path) }
    try BlobOpening(backend).open(for: stored)
    from = stored.version
    to = model.version
    bytesFree = try? Syscall.bytesFree(at: backend.path).get()
    guard from != to else {
      (self.steps, faults, uncertainties, work) = ([], [], [], [])
      (records, bytesToRead, bytesToWrite, blobBytesToWrite, logBytesToGrow) = (0, 0, 0, 0, 0)
      return
    }
    let route = try MigrationRoute(
      from: stored, history: try schemas.all(), to: model, steps, options)
    self.steps = route.hops.map { PlannedStep($0) }
    guard route.faults.isEmpty else {
      faults = route.faults.map {
        .change(record: $0.record, field: $0.field, reason: $0.reason)
      }
      (uncertainties, work) = ([], [])
      (records, bytesToRead, bytesToWrite, blobBytesToWrite, logBytesToGrow) = (0, 0, 0, 0, 0)
      return
    }
    let tasks = try MigrationTasks(route, stepwise: options.stepwise)
    let measure = try WorkMeasure(tasks, in: backend)
    work = measure.work
    records = measure.records
    bytesToRead = measure.bytesRead
    bytesToWrite = measure.bytesWritten
    blobBytesToWrite = try MovedValues(by: route, in: backend).bytes
    let log = EngineOptions().logSize
    logBytesToGrow = log.growth(of: backend.logUse.size, writing: measure.bytesLogged)
    let findings = try RecordCounting.findings(of: route, in: backend)
    uncertainties = findings.uncertainties
    var faults = findings.faults
    // New pages may be less full than those that are read, and rows may grow: allow an eighth.
    let bytesNeeded =
      bytesToWrite + bytesToWrite / 8 + blobBytesToWrite + logBytesToGrow
      + measure.commits(of: options.sliceCount) * WorkMeasure.bytesPerCommit
    if let bytesFree, bytesFree < bytesNeeded {
      faults.append(.noSpace(needed: bytesNeeded, free: bytesFree))
    }
    self.faults = faults
  }
}
