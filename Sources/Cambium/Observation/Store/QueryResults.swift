/// The results of a query at one time.
public struct QueryResults<Subject: Record>: Sendable {
  /// The records, in the query's order.
  public let records: [Subject]
  /// The difference to the results before; at first, to none.
  public let difference: ResultDifference<Subject>
  /// The authors of the commits, as in a `ChangeSet`; none at first.
  public let authors: Set<String?>
  /// The last commit that is included.
  public let sequence: UInt64
}

/// The difference between two results of a query, record by record and by their offsets.
///
/// ```swift
/// records = change.difference.applying(to: records)
/// ```
///
/// To apply it, first take out the removals and moves, by their offsets in the old results; then put in the insertions
/// and moves, by ascending offsets in the new results; then replace the updates.
public struct ResultDifference<Subject: Record>: Sendable {
  /// The records that are gone, by their offsets in the old results.
  public internal(set) var removals: [Place] = []
  /// The new records, by their offsets in the new results.
  public internal(set) var insertions: [Place] = []
  /// The records that have moved, by their offsets in the new results. As few as possible; they have changed, too, or a record
  /// by which they are sorted has.
  public internal(set) var moves: [Move] = []
  /// The records that have changed without moving, by their offsets in the new results.
  public internal(set) var updates: [Update] = []

  /// A record that is new or gone.
  public struct Place: Sendable {
    /// The offset of the record in the results.
    public let offset: Int
    /// The record.
    public let record: Subject
  }

  /// A record that has moved.
  public struct Move: Sendable {
    /// The offset in the old results.
    public let oldOffset: Int
    /// The offset in the new results.
    public let newOffset: Int
    /// The record before and after. It may be unchanged, and have moved because others have.
    public let change: ChangeSet<Subject>.Update
  }

  /// A record that has changed without moving.
  public struct Update: Sendable {
    /// The offset in the new results.
    public let offset: Int
    /// The record before and after.
    public let change: ChangeSet<Subject>.Update
  }

  /// True if nothing has changed.
  public var isEmpty: Bool {
    removals.isEmpty && insertions.isEmpty && moves.isEmpty && updates.isEmpty
  }

  /// Returns the new results, made of the old ones.
  ///
  /// - Complexity: O(results), but little if there are few changes.
  /// - Precondition: `records` are the old results.
  public func applying(to records: [Subject]) -> [Subject] {
    var records = records
    apply(to: &records)
    return records
  }

  func apply(to records: inout [Subject]) {
    let removed = removals.map(\.offset) + moves.map(\.oldOffset)
    let inserted =
      insertions.map { ($0.offset, $0.record) } + moves.map { ($0.newOffset, $0.change.new) }
    records.replace(
      removing: removed.sorted(), inserting: inserted.sorted { $0.0 < $1.0 })
    for update in updates { records[update.offset] = update.change.new }
  }
}

/// Makes the results of a query, and their differences to those before. It keeps them in memory.
///
/// One loop uses it at a time, and copies share nothing that changes after `first`.
struct QueryResultsMaker<Subject: Record>: ElementMaker, @unchecked Sendable {
  private let type: RecordType<Subject>
  private var results: ObservedResults
  private var records: [Subject] = []

  /// - Throws: as `ObservedResults.init`.
  init(
    _ query: FieldQuery, of type: RecordType<Subject>, in reader: RecordReader
  ) throws(StoreError) {
    self.type = type
    results = try ObservedResults(query, of: type, in: reader)
  }

  mutating func first(in state: any ObservedState) throws -> QueryResults<Subject>? {
    let blobs = StepBlobs(old: nil, new: state.trees.blobFinder(of: type))
    return try take(try results.begin(in: state.trees), authors: [], state.sequence, blobs)
  }

  mutating func element(of step: ObservedStep) throws -> QueryResults<Subject>? {
    let changes = try results.advance(step)
    if changes.steps.isEmpty { return nil }
    let results = try take(
      changes, authors: step.changes.authors, step.after.sequence, type.blobs(step))
    return results.difference.isEmpty ? nil : results
  }

  private mutating func take(
    _ changes: ResultChanges, authors: Set<String?>, _ sequence: UInt64, _ blobs: StepBlobs
  ) throws -> QueryResults<Subject> {
    let difference = try type.difference(changes, blobs) { records[$0] }
    difference.apply(to: &records)
    return QueryResults(
      records: records, difference: difference, authors: authors, sequence: sequence)
  }
}

extension RecordType {
  /// - Parameter oldRecord: Returns the record at an offset in the results as they were.
  /// - Throws: `.corrupt`; errors of the type's hook after loading.
  func difference(
    _ result: ResultChanges, _ blobs: StepBlobs, oldRecord: (Int) -> Subject
  ) throws -> ResultDifference<Subject> {
    var difference = ResultDifference<Subject>()
    let (changes, steps) = (result.changes, result.steps)
    difference.removals = steps.removals.map { step in
      .init(offset: step.offset, record: oldRecord(step.offset))
    }
    for step in steps.insertions {
      guard let new = changes[step.change].new else { continue }
      difference.insertions.append(
        .init(offset: step.offset, record: try load(changes[step.change].key, new, blobs.new)))
    }
    for move in steps.moves {
      // One that others' values have moved may be as it was.
      guard let change = try update(changes[move.change], blobs) else { continue }
      difference.moves.append(.init(oldOffset: move.old, newOffset: move.new, change: change))
    }
    for step in steps.updates {
      guard let change = try update(changes[step.change], blobs),
        !change.changedFields.isEmpty
      else { continue }
      difference.updates.append(.init(offset: step.offset, change: change))
    }
    return difference
  }

  private func update(
    _ change: EntryChange, _ blobs: StepBlobs
  ) throws -> ChangeSet<Subject>.Update? {
    guard let old = change.old, let new = change.new else { return nil }
    return try update(change.key, from: old, to: new, blobs)
  }
}
