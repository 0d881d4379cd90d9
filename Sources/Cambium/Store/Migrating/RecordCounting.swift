/// Counts the records that a migration would refuse: values that are missing or do not convert, keys and unique
/// values that would be there twice.
///
/// It takes them through the steps as the migration does. Closures are not called: a field that one makes has a value that
/// is never refused, and is in no constraint that is counted. What closures make is known to a rehearsal only. Where
/// the program changes records before or after a step, what comes behind that is counted for the records as they are.
struct RecordCounting {
  private let links: [(link: Link, isCertain: Bool)]
  private let layout: RowLayout
  private let rows: TreeSlot
  private let trees: TreeAccess
  /// A finder of the records' blobs; nil if none has any.
  private let blobs: BlobFinder?
  /// The new unique constraints: the name, and the entry's layout; a nil layout for the primary key.
  private let constraints: [(name: String, layout: IndexLayout?)]
  /// Where the program first changes records, if what comes behind that can be refused: “before the step to version 2”.
  private let change: String?
  private var refused: [Refusal: (count: Int, first: String)] = [:]

  private struct Refusal: Hashable {
    let field: String
    /// False if the program changes records before.
    let isCertain: Bool
  }

  /// What was counted: a fault for each field and constraint with records that would be refused.
  struct Findings {
    var faults: [MigrationPlan.Fault] = []
    /// What is so only if the program does not change it, and what that makes unknown.
    var uncertainties: [MigrationPlan.Uncertainty] = []
  }

  /// One step of one record.
  private enum Link {
    case rows(RowConversion)
    case records(RecordConversion)
  }

  /// Hashes of keys that are kept at once: 64 MiB.
  private static var hashesMax: Int { 4 << 20 }

  /// - Throws: `.corrupt`, `.io`.
  static func findings(
    of route: MigrationRoute, in backend: any StoreBackend
  ) throws(StoreError) -> Findings {
    var findings = Findings()
    for record in route.from.records {
      if var counting = try RecordCounting(record, route, in: backend) {
        try counting.count(record.name, in: &findings)
      }
    }
    return findings
  }

  /// - Returns: nil if nothing can be refused, or if only a closure would tell.
  private init?(
    _ record: RecordSchema, _ route: MigrationRoute, in backend: any StoreBackend
  ) throws(StoreError) {
    var links: [(link: Link, isCertain: Bool)] = []
    var hook: String?
    var isUncertain = false
    var isRisky = false
    var hasNewKeys = false
    var last: RecordChange?
    var computed: Set<UInt32> = []
    for hop in route.hops {
      let version = hop.change.to.version
      if hook == nil, let step = hop.step, !step.before.isEmpty {
        hook = "before the step to version \(version)"
      }
      guard let given = hop.change.records.first(where: { $0.old.number == record.number })
      else { return nil }
      computed = given.computed(after: computed)
      let change = given.standingIn(for: computed)
      let layouts = (
        try RowLayout(change.old, version: hop.change.from.version),
        try RowLayout(change.new, version: hop.change.to.version)
      )
      switch change.kind {
      case .same: break
      case .rows:
        links.append((.rows(RowConversion(change, from: layouts.0, to: layouts.1)), hook == nil))
      case .records:
        links.append(
          (.records(RecordConversion(change, from: layouts.0, to: layouts.1)), hook == nil))
        hasNewKeys = hasNewKeys || change.old.primaryKey != change.new.primaryKey
      }
      if change.kind == .records || change.canRefuse(except: computed) {
        isRisky = true
        isUncertain = isUncertain || hook != nil
      }
      if hook == nil, let step = hop.step, !step.after.isEmpty {
        hook = "after the step to version \(version)"
      }
      last = change
    }
    guard let new = last?.new else { return nil }
    let known = Set(record.indexes.map(\.number))
    let newLayout = try RowLayout(new, version: route.to.version)
    var constraints: [(name: String, layout: IndexLayout?)] = []
    for layout in try newLayout.indexLayouts()
    where layout.schema.isUnique && !known.contains(layout.schema.number)
      && (computed.isEmpty || layout.schema.condition == nil)
      && layout.schema.parts.allSatisfy({ !computed.contains($0.field) })
    {
      constraints.append((layout.schema.name, layout))
    }
    if hasNewKeys, new.primaryKey.allSatisfy({ !computed.contains($0.field) }) {
      constraints.append(("primary key", nil))
    }
    guard isRisky || !constraints.isEmpty else { return nil }
    self.links = links
    self.constraints = constraints
    change = isUncertain || !constraints.isEmpty ? hook : nil
    layout = try RowLayout(record, version: route.from.version)
    self.newLayout = newLayout
    rows = try backend.names.slot(of: RecordTrees.name(ofRows: record.number))
    let trees = try backend.trees()
    self.trees = trees
    blobs = try trees.blobs.map { segments throws(StoreError) in
      BlobFinder(trees, try BlobTrees(backend.names), segments)
    }
  }

  private let newLayout: RowLayout
}

extension RecordChange {
  /// Returns true if a record may be refused for a field that no closure makes.
  fileprivate func canRefuse(except computed: Set<UInt32>) -> Bool {
    fields.contains { field in
      if computed.contains(field.new.number) { return false }
      if case .conversion(.refuse) = sources[field.new.number] { return true }
      guard let before = field.old else { return false }
      return old.canBeNull(before) && !new.canBeNull(field.new) && field.missing == .null
    }
  }
}

extension RecordCounting {
  private mutating func count(
    _ name: String, in findings: inout Findings
  ) throws(StoreError) {
    let count = try trees.count(in: rows)
    let parts = UInt64(max(1, count / Self.hashesMax + 1))
    var doubles = [Int](repeating: 0, count: constraints.count)
    for part in 0..<(constraints.isEmpty ? 1 : parts) {
      var hashes = [[UInt128]](repeating: [], count: constraints.count)
      refused = [:]
      try collect(&hashes, part, of: parts)
      for index in constraints.indices {
        hashes[index].sort()
        for (one, other) in zip(hashes[index], hashes[index].dropFirst()) where one == other {
          doubles[index] += 1
        }
      }
    }
    var uncertain: [MigrationPlan.Fault] = []
    for (refusal, found) in refused.sorted(by: { $0.key.field < $1.key.field }) {
      let fault = MigrationPlan.Fault.refusedValues(
        record: name, field: refusal.field, count: found.count, of: count, first: found.first)
      if refusal.isCertain { findings.faults.append(fault) } else { uncertain.append(fault) }
    }
    for (constraint, count) in zip(constraints, doubles) where count > 0 {
      let fault = MigrationPlan.Fault.duplicates(
        record: name, constraint: constraint.name, count: count)
      if change == nil { findings.faults.append(fault) } else { uncertain.append(fault) }
    }
    guard let change else { return }
    let faults = uncertain.isEmpty ? [nil] : uncertain.map { Optional($0) }
    findings.uncertainties += faults.map {
      MigrationPlan.Uncertainty(record: name, recordCount: count, fault: $0, change: change)
    }
  }

  /// Takes every record through all steps.
  private mutating func collect(
    _ hashes: inout [[UInt128]], _ part: UInt64, of parts: UInt64
  ) throws(StoreError) {
    let (row, other, key, entry) = (RowWriter(), RowWriter(), KeyEncoder(), KeyEncoder())
    let cursor = try trees.cursor(in: rows)
    var isOn = try cursor.first()
    while isOn {
      var isCertain = true
      do throws(StoreError) {
        var bytes = try cursor.value().array()
        var place = cursor.key.array()
        var waiting: [Blob] = []
        for (link, isCertainLink) in links {
          isCertain = isCertainLink
          switch link {
          case .rows(let conversion):
            try conversion.convert(key: place.rawSpan, row: bytes.rawSpan, to: row)
            bytes = row.row.array()
          case .records(let conversion):
            try conversion.convert(
              key: place.rawSpan, row: bytes.rawSpan, blobs?.with(waiting) ?? BlobFinder(waiting),
              to: other, key
            ) { _ in }
            bytes = other.row.array()
            waiting = other.waiting
            place = key.key.array()
          }
        }
        try note(place, bytes, entry, &hashes, part, of: parts)
      } catch {
        guard case .invalidValue(_, let field, let reason) = error else { throw error }
        let name = layout.text(ofKey: cursor.key)
        let refusal = Refusal(field: field ?? "", isCertain: isCertain)
        refused[refusal, default: (0, "of the record \(name): \(reason)")].count += 1
      }
      isOn = try cursor.next()
    }
  }

  private func note(
    _ key: [UInt8], _ row: [UInt8], _ entry: KeyEncoder, _ hashes: inout [[UInt128]],
    _ part: UInt64, of parts: UInt64
  ) throws(StoreError) {
    if constraints.isEmpty { return }
    let layout = newLayout
    for (index, constraint) in constraints.enumerated() {
      var hash = SipHash128(of: key.rawSpan)
      if let unique = constraint.layout {
        let reader = try RowReader(key: key.rawSpan, row: row.rawSpan, layout: layout)
        guard try unique.encode(reader, to: entry) == .primaryKey else { continue }
        hash = SipHash128(of: entry.key)
      }
      if hash.low % parts == part {
        hashes[index].append(UInt128(hash.high) << 64 | UInt128(hash.low))
      }
    }
  }
}
