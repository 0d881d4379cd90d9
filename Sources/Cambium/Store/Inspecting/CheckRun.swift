/// One look at all of a store.
struct CheckRun {
  private let depth: StoreCheck.Depth
  private let progress: (StoreCheck.Progress) -> Void
  private var faults: [StoreError] = []
  private var nodeCount = 0
  private let records = CheckedCount()
  private var sequence: UInt64?
  /// True if something was missing that a writer may have removed.
  private(set) var hasMissed = false

  init(_ depth: StoreCheck.Depth, _ progress: @escaping (StoreCheck.Progress) -> Void) {
    self.depth = depth
    self.progress = progress
  }

  var result: StoreCheck {
    StoreCheck(
      depth: depth, faults: faults, nodeCount: nodeCount, recordCount: records.count,
      sequence: sequence)
  }

  /// - Throws: `.missing`, `.newerFormat`, `.io`.
  mutating func run(
    in medium: PosixFileSystem, _ path: String, _ options: StoreOptions
  ) throws(StoreError) {
    let log = try openLog(medium)
    let backend: ReadingBackend
    do throws(StoreError) {
      backend = try ReadingBackend(at: path, options)
    } catch {
      try note(error)
      // Perhaps more can be said of the state that the log began with.
      if let header = log?.header {
        add(PageFile.report(header.footer, of: header.identity, in: medium))
      }
      return
    }
    sequence = backend.report.sequence
    let file = backend.pages
    let total = file.footer.pageBytes
    add(
      PageFile.report(
        file.reference, of: file.pages.identity, in: medium, watch: watch(.pages, total)))
    do throws(StoreError) { try checkRecords(backend) } catch { try note(error) }
    if depth == .deep { checkKept(file, medium) }
  }

  /// Throws only where there is no store, or one that cannot be looked at.
  private mutating func openLog(_ medium: PosixFileSystem) throws(StoreError) -> LogFiles? {
    // A store exists by its first log file.
    _ = try medium.open(.log(0), .read, at: .logOpen)
    do throws(StoreError) { return try LogFiles(opening: medium, writing: false) } catch {
      guard error.isDamage else { throw error }
      return nil
    }
  }

  /// Keeps a fault; what is none, is thrown.
  private mutating func note(_ fault: StoreError) throws(StoreError) {
    guard fault.isDamage else { throw fault }
    if case .missing = fault { hasMissed = true }
    if !faults.contains(fault) { faults.append(fault) }
  }

  private mutating func add(_ report: PageFileReport) {
    for fault in report.faults where !faults.contains(fault) {
      if case .missing = fault { hasMissed = true }
      faults.append(fault)
    }
    nodeCount += report.nodeCount
  }

  private func watch(_ part: StoreCheck.Progress.Part, _ total: Int) -> (Int) -> Void {
    let (count, progress) = (CheckedCount(), progress)
    return { bytes in
      count.count += bytes
      progress(StoreCheck.Progress(part: part, done: count.count, total: max(total, count.count)))
    }
  }
}

extension CheckRun {
  /// Checks the descriptions of versions and, in a deep check, every record.
  private mutating func checkRecords(_ backend: ReadingBackend) throws(StoreError) {
    let file = backend.pages
    _ = try CompactionPlace(in: file.footer, at: file.reference.position)
    guard let schema = try StoredSchemas(backend).all().last else {
      return try checkUndescribed(backend)
    }
    try DeferredOpening(backend).usePending()
    try BlobOpening(backend).open(for: schema)
    let entities = try Entities(schema, model: nil, names: backend.names)
    let snapshot = StoreSnapshot(entities, try backend.snapshot())
    _ = try snapshot.pendingMigration()
    if depth == .quick { return }
    let total = try snapshot.statistics().recordCount
    let (records, progress) = (records, progress)
    let found = try snapshot.check(readingBlobs: true) {
      records.count += 1
      progress(StoreCheck.Progress(part: .records, done: records.count, total: total))
    }
    // A damaged page was named when pages were looked at.
    for fault in found where !faults.contains(fault) { faults.append(fault) }
  }

  /// Checks that a store without a schema has no records.
  private mutating func checkUndescribed(_ backend: ReadingBackend) throws(StoreError) {
    for name in backend.names.all.sortedRarely() where Entity.isName(name) {
      if try backend.trees().count(in: backend.names.slot(of: name)) == 0 { continue }
      try note(
        .corrupt(
          .entry(tree: name, key: []), invariant: .schemaContents,
          reason: "there are records, and no schema describes them"))
    }
  }

  private mutating func checkKept(_ file: PageFile, _ medium: PosixFileSystem) {
    for state in file.footer.keptStates {
      let watch = watch(.keptPages, file.footer.pageBytes)
      add(PageFile.report(state.footer, of: file.pages.identity, in: medium, watch: watch))
    }
  }
}

/// A number that closures count.
private final class CheckedCount {
  var count = 0
}

extension StoreError {
  /// True if the store's files are not as they were written, or some are missing.
  fileprivate var isDamage: Bool {
    switch self {
    case .corrupt, .missing: true
    default: false
    }
  }
}

extension Footer {
  /// The bytes of the pages that its trees reach.
  fileprivate var pageBytes: Int {
    trees.reduce(0) { $0 + Int(clamping: $1.root?.reference.liveBytes ?? 0) }
  }
}
