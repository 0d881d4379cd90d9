/// The versions whose rows can be read as rows of the newest.
///
/// A deferred migration states its steps only until it has rewritten the last row. The leaves of before are whole long after
/// that, and if newer pages are lost, they are all that is left. So the steps are looked for everywhere, and the newest
/// statement of a step counts:
///
///     commits in the log ────────────────────────┐
///     leaves of the tree `pending`, of any state ┼──▶ of each record, the steps that lead to its newest layout without a gap
///     commits after the newest footer ───────────┘
///
/// Nothing says what becomes of the rows of any other version. Such a row is left out: reading it by the layout of another
/// version would be a guess.
final class SalvagedVersions {
  let schemas: [Schema]
  private let newest: Schema
  private let log: SalvagedLog?
  private let covered: UInt64
  private let isStale: Bool
  /// All leaves but those of rows.
  private let loose: LooseLeaves
  /// Of each record that changed, the steps to the newest version, ascending.
  private lazy var paths = findPaths()
  /// Of each record, the versions that were not the same each time: the store was rolled back, and a program made others.
  private lazy var disputed = findDisputed()

  /// - Parameters:
  ///   - schemas: Of all versions that are known, ascending.
  ///   - newest: The last of them.
  ///   - covered: The last commit in the newest footer.
  ///   - isStale: True if trees and schemas may be of different states, since the newest footer is lost.
  ///   - loose: Where leaves are looked for.
  init(
    _ schemas: [Schema], _ newest: Schema, log: SalvagedLog?, covered: UInt64, isStale: Bool,
    loose: LooseLeaves
  ) {
    self.schemas = schemas
    self.newest = newest
    self.log = log
    self.covered = covered
    self.isStale = isStale
    self.loose = loose
  }
}

extension LooseLeaves {
  /// The rule for all trees but those of rows.
  static func isOfSystem(_: TreeTag, _ version: UInt32) -> Use {
    version == Entities.systemVersion ? .readable : .none
  }
}

// MARK: - Which rows can be read

extension SalvagedVersions {
  /// Returns true if rows of a version can be read, as they are or through steps.
  func isReadable(_ version: UInt32, of record: RecordSchema) -> Bool {
    let path = paths[record.number] ?? []
    let next = path.firstIndex { version < $0.to }
    // Rows may have been of another record before the step.
    let number = next.map { path[$0].origin } ?? record.number
    guard let own = self.record(number, version) else { return false }
    if isStale, isDisputed(version, of: own) { return false }
    guard let next else { return own.hasLayout(of: record) }
    // Rows between two steps are of the layout with which the second begins.
    return self.record(number, path[next].from)?.hasLayout(of: own) ?? false
  }

  private func isDisputed(_ version: UInt32, of record: RecordSchema) -> Bool {
    disputed[record.number]?.contains(version) ?? false
  }

  /// Which leaves are of a tree: rows of any version up to the newest, and all that is no row.
  func rule() -> LooseLeaves.Rule {
    var records: [TreeTag: RecordSchema] = [:]
    /// Of keys without rows.
    var removals: Set<TreeTag> = []
    for record in newest.records {
      let rows = Entity.name(ofRows: record.number)
      for name in [rows, LevelPart.added.name(over: rows), LevelPart.replaced.name(over: rows)] {
        records[TreeTag(of: name)] = record
      }
      removals.insert(TreeTag(of: LevelPart.removed.name(over: rows)))
    }
    return { [self] tag, version in
      if removals.contains(tag) { return .readable }
      guard let record = records[tag] else { return LooseLeaves.isOfSystem(tag, version) }
      if version > newest.storedVersion { return .none }
      // The rows of a state's own trees are of its own version.
      if !isStale, isDisputed(version, of: record) { return .none }
      return isReadable(version, of: record) ? .readable : .keysOnly
    }
  }

  /// The steps that rows of these versions take to the newest.
  ///
  /// - Parameter lowest: Of each record with rows, the lowest version that they are of.
  func pending(_ lowest: [UInt32: UInt32]) -> PendingSteps {
    var pending = PendingSteps()
    // The rows of two records may have taken the same steps.
    var steps: Set<PendingStep> = []
    for (number, path) in paths {
      guard let lowest = lowest[number] else { continue }
      steps.formUnion(path.filter { lowest < $0.to })
    }
    pending.steps = steps.sortedRarely { ($0.to, $0.record) < ($1.to, $1.record) }
    return pending
  }

  /// The leaves that are not used since the store had several versions of one number.
  var faults: [StoreError] {
    disputed.sortedRarely { $0.key < $1.key }.flatMap { number, versions in
      versions.sortedRarely().map { version in
        let name = newest.record(number: number)?.name ?? "record \(number)"
        return .corrupt(
          .entry(tree: Schema.treeName, key: Schema.key(of: version)), invariant: .rowVersion,
          reason:
            "the store had several versions \(version) of \(name), so rows of that version are used only if the newest state leads to them"
        )
      }
    }
  }

  private func record(_ number: UInt32, _ version: UInt32) -> RecordSchema? {
    schemas.first { $0.storedVersion == version }?.record(number: number)
  }
}

// MARK: - Finding steps

extension SalvagedVersions {
  private func findPaths() -> [UInt32: [PendingStep]] {
    var steps: [UInt32: [UInt32: PendingStep]] = [:]
    func note(_ key: [UInt8], _ value: [UInt8]) {
      var read = PendingSteps()
      do throws(StoreError) { try read.read(key, value.rawSpan, schemas) } catch { return }
      for step in read.steps { steps[step.record, default: [:]][step.to] = step }
    }
    noteCommits(after: 0, note)
    loose.forEachEntry(of: TreeTag(of: PendingSteps.treeName), note)
    noteCommits(after: covered, note)
    var paths: [UInt32: [PendingStep]] = [:]
    for record in newest.records {
      let path = path(of: record, steps)
      if !path.isEmpty { paths[record.number] = path }
    }
    return paths
  }

  private func noteCommits(after sequence: UInt64, _ note: ([UInt8], [UInt8]) -> Void) {
    try? log?.forEachCommit(after: sequence) { operations, place throws(StoreError) in
      var reader = OperationReader(operations, at: place)
      var isOfSteps = false
      while let operation = try reader.next() {
        switch operation.kind {
        case .tree: isOfSteps = operation.key.array() == Array(PendingSteps.treeName.utf8)
        case .add, .replace:
          if isOfSteps { note(operation.key.array(), operation.value.array()) }
        case .remove, .clear, .schemaVersion: break
        }
      }
    }
  }

  /// The steps that end with the newest layout, ascending: from the last step back, as long as each leads to the layout with
  /// which the next begins.
  ///
  /// - Parameter steps: By the records that they lead to, and their versions.
  private func path(
    of record: RecordSchema, _ steps: [UInt32: [UInt32: PendingStep]]
  ) -> [PendingStep] {
    var path: [PendingStep] = []
    var (begin, version) = (record, newest.storedVersion)
    while let step = steps[begin.number]?.values.filter({ $0.to <= version })
      .max(by: { $0.to < $1.to }),
      let reached = self.record(begin.number, step.to), reached.hasLayout(of: begin),
      let before = self.record(step.origin, step.from)
    {
      path.append(step)
      (begin, version) = (before, step.from)
    }
    return path.reversed()
  }

  private func findDisputed() -> [UInt32: Set<UInt32>] {
    var disputed: [UInt32: Set<UInt32>] = [:]
    loose.forEachEntry(of: TreeTag(of: Schema.treeName)) { key, value in
      guard key.count == 4 else { return }
      let version = key.rawSpan.load(0, as: UInt32.self).byteSwapped
      guard let own = schemas.first(where: { $0.storedVersion == version }),
        let other = try? Schema(decoding: value.rawSpan, version: version, path: "")
      else { return }
      for record in own.records {
        if let found = other.record(number: record.number), !found.hasLayout(of: record) {
          disputed[record.number, default: []].insert(version)
        }
      }
    }
    return disputed
  }
}

extension RecordSchema {
  /// True if keys and rows of both have the same bytes for the same values.
  fileprivate func hasLayout(of other: RecordSchema) -> Bool {
    func columns(_ record: RecordSchema) -> [[Int]] {
      record.fields.map { [Int($0.number), Int($0.composite ?? 0), $0.isOptional ? 1 : 0] }
    }
    return columns(self) == columns(other) && primaryKey == other.primaryKey
      && fields.map(\.type.asStored) == other.fields.map(\.type.asStored)
  }
}

extension ColumnType {
  /// The type without options that only decide where new values go.
  fileprivate var asStored: ColumnType {
    if case .external(let type, _) = self { .external(of: type, BlobOptions()) } else { self }
  }
}
