/// The results of a query at one time, with related records.
public struct IncludedResults<Subject: Record, Related: Sendable>: Sendable {
  /// The records, in the query's order.
  public let records: [Subject]
  /// The related records of each record, in step with `records`; a tuple of several inclusions' results.
  public let related: [Related]
  /// The difference of the records to those before; at first, to none.
  public let difference: ResultDifference<Subject>
  /// The offsets of the records that were among the results before, and whose related records have changed.
  public let relatedChanges: [Int]
  /// The authors of the commits, as in a `ChangeSet`; none at first.
  public let authors: Set<String?>
  /// The last commit that is included.
  public let sequence: UInt64
}

extension PersistentStore {
  /// Returns the records of a query with related ones, and newer ones whenever commits change any of them.
  ///
  /// ```swift
  /// let query = Book.sorted(by: .ascending(\.title))
  /// for try await results in try store.results(of: query, including: .one(\.author), .all(\.tags)) {
  ///   for (book, (author, tags)) in zip(results.records, results.related) { show(book, author, tags) }
  /// }
  /// ```
  ///
  /// A commit that changes neither the records nor the records included with them gives nothing.
  ///
  /// - Parameters:
  ///   - query: The records.
  ///   - first: A relation of the records.
  ///   - others: Further relations.
  /// - Complexity: As `results(of:)`; and all inclusions are fetched again, as by `fetch(_:after:including:_:)`, whenever a
  ///   record of their types changes.
  /// - Throws: As `results(of:)`.
  public func results<Subject: Record, First: Sendable, each Other: Sendable>(
    of query: Query<Subject>, including first: Inclusion<Subject, First>,
    _ others: repeat Inclusion<Subject, each Other>
  ) throws(StoreError) -> StoreObservation<IncludedResults<Subject, (First, repeat each Other)>> {
    let type = try entities.type(Subject.self)
    let resolved = try query.resolved(in: type, entities)
    var related = try resolved.relatedRecords(of: type, in: entities)
    for included in first.types + includedTypes(repeat each others) {
      guard let entity = entities.opened(included) else { throw entities.unknown(included) }
      if !related.contains(where: { $0.place == entity.place }) { related.append(entity) }
    }
    let place = try observe(type, key: nil, related)
    let reader = RecordReader(entities: entities, trees: place.state.trees)
    let maker = IncludedResultsMaker(
      of: type, in: entities, try ObservedResults(resolved, of: type, in: reader)
    ) { reader, records in
      try reader.related(to: records, first, repeat each others)
    }
    return StoreObservation(maker, at: place)
  }
}

/// Makes the results of a query with related records, and their differences to those before. It keeps them in memory.
///
/// One loop uses it at a time, and copies share nothing that changes after `first`.
struct IncludedResultsMaker<Subject: Record, Related: Sendable>: ElementMaker, @unchecked Sendable {
  private let type: RecordType<Subject>
  private let entities: Entities
  private let include: @Sendable (InclusionReader, [Subject]) throws -> [Related]
  private var results: ObservedResults
  private var records: [Subject] = []
  /// The marks of their related records, in step with them.
  private var marks: [RowMarks.Mark?] = []

  init(
    of type: RecordType<Subject>, in entities: Entities, _ results: ObservedResults,
    include: @escaping @Sendable (InclusionReader, [Subject]) throws -> [Related]
  ) {
    self.type = type
    self.entities = entities
    self.results = results
    self.include = include
  }

  mutating func first(in state: any ObservedState) throws -> IncludedResults<Subject, Related>? {
    let blobs = StepBlobs(old: nil, new: state.trees.blobFinder(of: type))
    return try take(try results.begin(in: state.trees), blobs, state, authors: [])
  }

  mutating func element(of step: ObservedStep) throws -> IncludedResults<Subject, Related>? {
    let changes = try results.advance(step)
    let taken = try take(changes, type.blobs(step), step.after, authors: step.changes.authors)
    return taken.difference.isEmpty && taken.relatedChanges.isEmpty ? nil : taken
  }

  private mutating func take(
    _ changes: ResultChanges, _ blobs: StepBlobs, _ state: any ObservedState,
    authors: Set<String?>
  ) throws -> IncludedResults<Subject, Related> {
    let difference = try type.difference(changes, blobs) { records[$0] }
    difference.apply(to: &records)
    difference.applyPlaces(to: &marks)
    let reader = RecordReader(entities: entities, trees: state.trees)
    let now = RowMarks()
    let related = try include(InclusionReader(reader, now), records)
    let newMarks = now.taken()
    let changed = newMarks.indices.filter { place in
      marks[place].map { $0 != newMarks[place] } ?? false
    }
    marks = newMarks
    return IncludedResults(
      records: records, related: related, difference: difference, relatedChanges: changed,
      authors: authors, sequence: state.sequence)
  }
}

extension InclusionReader {
  /// Returns the related records of some records.
  fileprivate func related<Subject: Record, First, each Other>(
    to records: [Subject], _ first: Inclusion<Subject, First>,
    _ others: repeat Inclusion<Subject, each Other>
  ) throws -> [(First, repeat each Other)] {
    marks?.begin(records.count)
    let firsts = try load(first, records)
    let results = (repeat try load(each others, records))
    marks?.end()
    return records.indices.map { index in (firsts[index], repeat (each results)[index]) }
  }
}

extension ResultDifference {
  /// Changes values that are in step with the records; new records have none.
  fileprivate func applyPlaces<Value>(to values: inout [Value?]) {
    let removed = removals.map(\.offset) + moves.map(\.oldOffset)
    let inserted =
      insertions.map { ($0.offset, Value?.none) }
      + moves.map { ($0.newOffset, values[$0.oldOffset]) }
    values.replace(removing: removed.sorted(), inserting: inserted.sorted { $0.0 < $1.0 })
  }
}
