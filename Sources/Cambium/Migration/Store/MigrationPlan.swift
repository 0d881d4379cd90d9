/// The plan of a migration: its steps, the amount of work, and the reasons for which it cannot run.
///
/// It is plain data, to print, keep or send.
public struct MigrationPlan: Hashable, Codable, Sendable {
  /// The version that the store has.
  public let from: Int
  /// The version that it would have.
  public let to: Int
  /// The steps, in order; none if the store has the version already.
  public private(set) var steps: [PlannedStep] = []
  /// The reasons for which it cannot run, and what to write instead; empty if it can.
  public private(set) var faults: [Fault] = []
  /// The refusals that cannot be counted, since the program changes records before or after a step: those of the records
  /// as they are, if there are any, and the advice to rehearse. Empty if everything was counted.
  public var uncertainties: [String] { uncertain.map(\.description) }
  package private(set) var uncertain: [Uncertainty] = []
  /// The parts of the work, in order.
  package private(set) var work: [Work] = []
  /// The number of records to be read, once for each part of the work that reads them.
  public private(set) var records = 0
  /// The approximate bytes of pages to be read.
  package private(set) var bytesToRead = 0
  /// The approximate bytes of pages to be written.
  public private(set) var bytesToWrite = 0
  /// The bytes of values that move out of rows, before compression: 0 if no step moves any. The values that closures make
  /// are not known before.
  package private(set) var blobBytesToWrite = 0
  /// The bytes by which the log's files may grow. They do not shrink afterwards.
  public private(set) var logBytesToGrow = 0
  /// The bytes free on the disk; nil if that is not known.
  public let bytesFree: Int?

  /// One step of a plan.
  public struct PlannedStep: Hashable, Codable, Sendable {
    /// The version that the step begins with.
    public let from: Int
    /// The version that the step leads to.
    public let to: Int
    /// The label of the step, or else that of the version that it leads to; nil if neither has one.
    public let label: String?
    /// True if the step follows from the descriptions, and the program states no part of it.
    public var isInferred: Bool { kind == .inferred }
    package let kind: Kind
    /// True if `.deferred` can leave the step to be done later, together with all steps after it if they are deferrable, too.
    public let isDeferrable: Bool
    /// The changes that it makes, as sentences.
    public var changes: [String] { plannedChanges.map(\.description) }
    package let plannedChanges: [Change]
    /// Why it cannot be deferred, by record and field, beside the plan's faults; empty if it can.
    public let deferralFaults: [Fault]

    /// The origin of a step.
    package enum Kind: String, Hashable, Codable, Sendable {
      /// The step follows from the descriptions.
      case inferred
      /// The program states a part of the step.
      case given
    }
  }

  /// True if nothing that is known before it keeps it from being done; `uncertainties` says what is not known.
  public var canRun: Bool { faults.isEmpty }

  /// True if the whole plan follows from the descriptions, without any step of the program.
  public var isInferred: Bool { steps.allSatisfy(\.isInferred) }

  /// The estimated time, from the speed of such work on a machine of today.
  package var estimatedTime: Duration {
    let bytes = Double(bytesToRead) + Double(bytesToWrite) + Double(blobBytesToWrite)
    return .seconds(Double(records) / 1_000_000 + bytes / 1_000_000_000)
  }
}

extension MigrationPlan: CustomStringConvertible {
  /// The plan in words: its steps, work, faults and uncertainties, each on a line.
  public var description: String {
    if from == to { return "The store already has version \(to)." }
    var lines = ["version \(from) → \(to), \(steps.count) step\(steps.count == 1 ? "" : "s")"]
    for step in steps {
      let label = step.label.map { " “\($0)”" } ?? ""
      lines.append(
        "  \(step.from) → \(step.to)\(label), \(step.kind.rawValue)"
          + (step.isDeferrable ? ", deferrable" : ""))
      lines += step.changes.map { "    \($0)" }
      if step.changes.isEmpty { lines.append("    no change to what is stored") }
      if !step.deferralFaults.isEmpty { lines.append("    it cannot be deferred:") }
      lines += step.deferralFaults.map { "      \($0)" }
    }
    lines.append("work")
    lines += work.map { "  \($0)" }
    lines.append(
      "  reads \(records) record\(records == 1 ? "" : "s"), about \(bytesToRead.byteText), and writes about"
        + " \(bytesToWrite.byteText)"
        + (blobBytesToWrite > 0 ? " and \(blobBytesToWrite.byteText) of blobs" : "")
        + (logBytesToGrow > 0 ? "; the log may grow by \(logBytesToGrow.byteText)" : "")
        + (bytesFree.map { "; \($0.byteText) are free" } ?? ""))
    if !faults.isEmpty {
      lines.append("it cannot run:")
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
    _ storeOptions: StoreOptions
  ) throws(StoreError) {
    let options = storeOptions.migration
    guard let old = try backend.describedEntities() else { throw .missing(path: backend.path) }
    let stored = old.schema
    from = stored.version
    to = model.version
    bytesFree = try? Syscall.bytesFree(at: backend.path).get()
    if from == to { return }
    let route = try MigrationRoute(
      from: stored, history: try StoredSchemas(backend).all(), to: model, steps, options)
    var left: Int?
    if !storeOptions.allowsMigrationAfterRollback {
      do throws(StoreError) {
        try RollbackMark.refuse(
          from: stored.storedVersion, to: route.to.storedVersion, in: try backend.trees(),
          backend.names)
      } catch {
        guard case .rolledBack(let version, _) = error else { throw error }
        left = version
      }
    }
    self.steps = route.hops.map { PlannedStep($0) }
    defer {
      if let left { faults.append(.rolledBack(from: left, to: Int(from))) }
    }
    guard route.faults.isEmpty else {
      faults = route.faults.map {
        .change(record: $0.record, field: $0.field, reason: $0.reason)
      }
      return
    }
    if route.countLeft(by: .automatic, options) > 0 {
      if route.hops.contains(where: { $0.change.records.contains(where: \.rewritesRows) }) {
        let task = "one commit; rows become new when they are read"
        work = [Work(kind: .publish, task: task, records: nil)]
      }
      return
    }
    let tasks = try MigrationTasks(route, stepwise: options.stepwise)
    let misfits = tasks.misfits(backend.names)
    guard misfits.isEmpty else {
      faults = misfits
      return
    }
    let measure = try WorkMeasure(tasks, in: backend)
    work = measure.work
    records = measure.records
    bytesToRead = measure.bytesRead
    bytesToWrite = measure.bytesWritten
    let trees = try backend.trees()
    blobBytesToWrite = try MovedValues(by: route, from: old, in: trees).bytes
    logBytesToGrow = EngineOptions().logGrowth(
      of: backend.logUse.size, writing: measure.bytesLogged)
    let new = try Entities(route.to, model: nil, names: backend.names)
    let findings = try RecordCounting.findings(of: route, from: old, to: new, in: trees)
    uncertain = findings.uncertainties
    faults = findings.faults
    // New pages may be less full than those that are read, and rows may grow: allow an eighth.
    let bytesNeeded =
      bytesToWrite + bytesToWrite / 8 + blobBytesToWrite + logBytesToGrow
      + measure.commits(of: options.sliceCount) * WorkMeasure.bytesPerCommit
    if let bytesFree, bytesFree < bytesNeeded {
      faults.append(.noSpace(needed: bytesNeeded, free: bytesFree))
    }
  }

  /// Creates the plan of a route of records that are not in a store: its steps and faults, without work.
  init(_ route: MigrationRoute) throws(StoreError) {
    from = route.from.version
    to = route.wanted
    bytesFree = nil
    steps = route.hops.map { PlannedStep($0) }
    faults = route.faults.map { .change(record: $0.record, field: $0.field, reason: $0.reason) }
    if faults.isEmpty {
      faults = try MigrationTasks(route, stepwise: false).misfits(TreeNames())
    }
  }

  /// Adds the work, and the faults of the records, that were found elsewhere than in a store.
  package mutating func add(_ work: [Work], reading records: Int, faults: [Fault]) {
    self.work += work
    self.records += records
    self.faults += faults
  }
}

extension MigrationPlan {
  /// A reason for which a migration cannot run. Its `description` says what to write instead.
  @nonexhaustive public enum Fault: Hashable, Codable, Sendable {
    /// A change can be neither inferred nor made as a step states it. The record is “Step” for a fault of a step itself.
    case change(record: String, field: String?, reason: String)
    /// Values of records would be refused, or records as a whole, if `field` is empty; `first` is the first such record, the
    /// reason, and the keys of the next two.
    case refusedValues(record: String, field: String, count: Int, of: Int, first: String)
    /// Records have the same values in a new unique constraint, or in a primary key that is new or made of other values.
    /// `first` names the first two of them, by their old keys.
    case duplicates(record: String, constraint: String, count: Int, first: String)
    /// References that are checked in the new version lead to no record; `first` says of which record the first is, and
    /// where it leads.
    case danglingReferences(
      record: String, field: String, destination: String, count: Int, first: String)
    /// The store was rolled back from the version or a later one, and migrates again only with
    /// `StoreOptions.allowsMigrationAfterRollback`.
    case rolledBack(from: Int, to: Int)
    /// The disk has too little space, in bytes.
    case noSpace(needed: Int, free: Int)
  }

  /// A number of refused records that is not final, since the program changes records in the course of the migration.
  package struct Uncertainty: Hashable, Codable, Sendable {
    /// The stored name of the record.
    package let record: String
    /// The number of the records as they are.
    package let recordCount: Int
    /// The fault of the records as they are; nil if there is none.
    package let fault: Fault?
    /// When the program changes records first: “before the step to version 2”.
    package let change: String
  }

  /// A part of the work of a migration.
  package struct Work: Hashable, Codable, Sendable {
    /// The kind of the work.
    package let kind: Kind
    /// The part in words: “converting Item”.
    package let task: String
    /// The number of records to be read; nil if it reads none.
    package let records: Int?

    package init(kind: Kind, task: String, records: Int?) {
      self.kind = kind
      self.task = task
      self.records = records
    }

    /// A kind of work.
    package enum Kind: String, Hashable, Codable, Sendable {
      /// Whole trees are copied or removed, without reading their records.
      case arrange
      /// Rows are converted in place.
      case convert
      /// Records are built from their values, under new keys or in other trees.
      case rebuild
      /// A closure of the program transforms records.
      case transform
      /// An index is built.
      case buildIndex
      /// The derived fields of records are computed, from records that lead to them or their own values.
      case derive
      /// The program changes records before or after a step.
      case program
      /// The program checks records.
      case check
      /// It is proved that a reference leads somewhere, by one pass over its index and the records that it leads to.
      case prove
      /// One commit states the new version; rows become new when they are read, as those of a deferred migration.
      case publish
    }
  }
}

extension MigrationPlan.PlannedStep {
  /// A change that a step makes.
  package enum Change: Hashable, Codable, Sendable {
    /// A difference between the two versions. For a field that is new or no longer optional, `value` is that of records
    /// without one, if they get any; for a record that is removed, it says which of its records are, if not all.
    case difference(SchemaDifference, value: String?)
    /// A step states how the values of a field are made; `text` is the second half of a sentence.
    case values(record: String, field: String, text: String)
    /// A closure transforms the records.
    case transformed(record: String)
    /// The records are built from their values, one by one.
    case rebuilt(record: String)
    /// Primary keys change. Fields of other records that hold such keys do not.
    case keys(record: String)
    /// The program changes records before the step.
    case before
    /// The program changes records after the step.
    case after
    /// The program checks the result.
    case check(String)
  }
}

// MARK: - In words

extension MigrationPlan.Fault: CustomStringConvertible {
  /// The fault as a sentence.
  public var description: String {
    switch self {
    case .change(let record, let field, let reason):
      "\(record)\(field.map { ".\($0)" } ?? ""): \(reason)"
    case .refusedValues(let record, let field, let count, let total, let first):
      "\(record)\(field.isEmpty ? "" : ".\(field)"): \(count) of \(total) records would be refused, the first since \(first)"
    case .duplicates(let record, let constraint, let count, let first):
      "\(record): \(count) record\(count == 1 ? " has" : "s have") the same \(constraint) as another, the first \(first)"
    case .danglingReferences(let record, let field, let destination, let count, let first):
      "\(record).\(field): \(count) reference\(count == 1 ? " leads" : "s lead") to no \(destination), the first \(first)"
    case .rolledBack(let from, let to):
      "the store was rolled back from version \(from) to \(to); allow its migration after a rollback in the options"
    case .noSpace(let needed, let free):
      "it needs about \(needed.byteText) on the disk, where \(free.byteText) are free"
    }
  }
}

extension MigrationPlan.Uncertainty: CustomStringConvertible {
  /// The uncertainty as a sentence.
  package var description: String {
    (fault.map(\.description) ?? "\(record): none of \(recordCount) records would be refused")
      + "; that is so of the records as they are, but the program changes records \(change), so only a"
      + " rehearsal shows what is refused then"
  }
}

extension MigrationPlan.Work: CustomStringConvertible {
  /// The work in words, with the number of records that it reads.
  package var description: String { task + (records.map { ", \($0) records" } ?? "") }
}

extension MigrationPlan.PlannedStep.Change: CustomStringConvertible {
  /// The change in words.
  package var description: String {
    switch self {
    case .difference(let difference, let value):
      switch difference.change {
      case .added where value != nil: "\(difference), \(value ?? "") in all records"
      case .becameRequired where value != nil: "\(difference), \(value ?? "") where it was null"
      case .removed where difference.field == nil:
        "\(difference), and \(value ?? "all of its records")"
      default: "\(difference)"
      }
    case .values(let record, let field, let text): "\(record).\(field) \(text)"
    case .transformed(let record): "\(record): its records are transformed"
    case .rebuilt(let record): "\(record): its records are put together anew"
    case .keys(let record):
      "\(record): its primary keys change; fields of other records that hold them do not, unless a step changes them"
    case .before: "before it, the program changes records"
    case .after: "after it, the program changes records"
    case .check(let text): "it is checked that \(text)"
    }
  }
}

extension Int {
  /// The number of bytes in the unit that fits it: "512 bytes", "1.5 MiB".
  package var byteText: String {
    var (value, unit, units) = (Double(self), "", ["KiB", "MiB", "GiB", "TiB"][...])
    while value >= 1024, let next = units.popFirst() { (value, unit) = (value / 1024, next) }
    if unit.isEmpty { return self == 1 ? "1 byte" : "\(self) bytes" }
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10) \(unit)"
  }
}

// MARK: - The changes of a step

extension MigrationPlan.PlannedStep {
  init(_ hop: MigrationRoute.Hop) {
    let change = hop.change
    from = change.from.version
    to = change.to.version
    label = hop.step?.label ?? change.to.label
    isDeferrable = hop.isDeferrable
    deferralFaults = hop.deferralFaults
    kind = (hop.step?.parts.isEmpty ?? true) ? .inferred : .given
    let replaced = change.replaced
    let inherited = Set(replaced.map(\.new.number))
    var changes: [Change] = (change.added + replaced.map(\.new)).map {
      .difference(SchemaDifference(.added(as: nil), of: $0.name), value: nil)
    }
    changes += change.moveDifferences.map { .difference($0, value: nil) }
    for record in change.removed + replaced.map(\.old) {
      let moves = change.moves.filter { $0.old.number == record.number }
      if moves.contains(where: { $0.move?.kind == nil }) { continue }
      changes.append(
        .difference(
          SchemaDifference(.removed, of: record.name),
          value: moves.isEmpty ? nil : "its other records"))
    }
    changes += change.transformed.map { .transformed(record: $0.name) }
    let kept = change.records.filter { !inherited.contains($0.new.number) }
    for record in kept { changes += record.planned }
    let known = Set(kept.map(\.new.number))
    for move in change.moves where !known.contains(move.new.number) {
      changes += move.plannedValues.filter { !changes.contains($0) }
    }
    for part in hop.step?.parts ?? [] {
      switch part.kind {
      case .before: changes.append(.before)
      case .after: changes.append(.after)
      case .check(let check): changes.append(.check(check.text))
      case .update, .transform, .elsewhere: break
      }
    }
    plannedChanges = changes
  }
}

extension RecordChange {
  fileprivate var planned: [MigrationPlan.PlannedStep.Change] {
    let byName = Dictionary(
      fields.map { ($0.new.name, $0) }, uniquingKeysWith: { first, _ in first })
    var planned: [MigrationPlan.PlannedStep.Change] = []
    for difference in old.differences(to: new, by: .number) {
      let field = difference.field.flatMap { byName[$0] }
      // What a step states of a field is all that there is to say of its values.
      if let field, difference.change != .removed, sources[field.new.number] != nil { continue }
      let missing = field?.missing ?? .null
      planned.append(.difference(difference, value: missing == .null ? nil : "\(missing)"))
    }
    planned += plannedValues
    if kind == .records || share != nil { planned.append(.rebuilt(record: new.name)) }
    if changesKeys { planned.append(.keys(record: new.name)) }
    return planned
  }

  /// How the values of fields are made that do not follow.
  fileprivate var plannedValues: [MigrationPlan.PlannedStep.Change] {
    fields.compactMap { field in
      sources[field.new.number].map {
        .values(record: new.name, field: field.new.name, text: $0.text(of: field))
      }
    }
  }
}

extension FieldSource {
  fileprivate func text(of field: FieldChange) -> String {
    switch self {
    case .value: "is made of its old value"
    case .record: "is computed from the old record"
    case .version: "is computed from the version before"
    case .related(let path): "is \(path.name) of the old record"
    case .field(let name): "is \(name) of the old record"
    case .conversion(let policy):
      switch policy {
      case .refuse: "is converted to \(field.new.type)"
      case .replace(let value):
        "is converted to \(field.new.type), \(value) where it does not convert"
      case .setAside:
        "is converted to \(field.new.type), and set aside where it does not convert"
      }
    case .constant(let value): "is \(value)"
    case .element(let source): source.text
    case .distinctElements: "leads to each record once"
    }
  }
}
