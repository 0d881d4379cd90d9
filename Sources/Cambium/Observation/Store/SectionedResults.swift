/// The results of a query in sections, at one time.
public struct SectionedResults<Subject: Record, Key: Sendable>: Sendable {
  /// The sections, sorted by their keys; within each, the records in the query's order. No section is empty.
  public let sections: [RecordSection<Subject, Key>]
  /// The difference to the previous sections; of the first element, to no sections.
  public let difference: SectionDifference<Subject, Key>
  /// The authors of the commits since the previous element, as in a `ChangeSet`; none for the first element.
  public let authors: Set<String?>
  /// The number of the last commit that is included.
  public let sequence: UInt64
}

extension PersistentStore {
  /// Returns the results of a query in sections, and the new ones whenever commits change them, in order. The first
  /// element has the initial sections; each later one has newer sections and the difference to those before.
  ///
  /// ```swift
  /// let books = Book.sorted(by: .ascending(\.title))
  /// for try await results in try store.results(of: books, sectionedBy: \.genre) {
  ///   show(results.sections, results.difference)
  /// }
  /// ```
  ///
  /// Each element has the sections that `sections(of:by:)` returns for the same state: sorted by the property, with the
  /// query's limit and offset applied to the whole list. If the query begins after a record, it keeps beginning at the place
  /// that this record has now. A store that is opened for reading includes commits of other processes.
  ///
  /// Idea: `NSFetchedResultsController` of Core Data, `ListPublisher` of CoreStore.
  ///
  /// - Parameters:
  ///   - query: The records, and their order within each section.
  ///   - field: The key path of a stored property whose values have an order.
  /// - Returns: An asynchronous sequence of the sections and their differences.
  /// - Complexity: O(1); the query runs when the consumer requests the first element. Each later element takes two lookups for
  ///   every changed record of the type, a search for its place among the results, and time linear in the sections; with a
  ///   limit or an offset, the query runs again if a change may affect it.
  /// - Throws: `StoreError.invalidQuery` if the property is not stored, its values have no order, or the query does not fit
  ///   the record; `.noSuchRecord` if the record to begin after does not exist; `.unknownRecord`, `.closed`, `.forked`,
  ///   `.corrupt`, `.io`.
  public func results<Subject: Record, Key: Sendable>(
    of query: Query<Subject>, sectionedBy field: KeyPath<Subject, Key>
  ) throws(StoreError) -> StoreObservation<SectionedResults<Subject, Key>> {
    let type = try entities.type(Subject.self)
    let keys = try type.sectionKeys(of: query, by: PropertyReference(field), in: entities)
    let place = try observe(type, key: nil, try keys.query.relatedRecords(of: type, in: entities))
    let reader = RecordReader(entities: entities, trees: place.state.trees)
    return StoreObservation(
      try SectionedResultsMaker(keys, field, of: type, in: reader), at: place)
  }
}

/// Makes the sections of a query's results, and their differences to those before. It keeps them in memory.
///
/// One loop uses it at a time, and copies share nothing that changes after `first`. The key path is one of stored
/// properties, which captures nothing that threads could share.
struct SectionedResultsMaker<Subject: Record, Key: Sendable>: ElementMaker, @unchecked Sendable {
  private let type: RecordType<Subject>
  private let field: KeyPath<Subject, Key>
  private let keys: SectionKeys
  private var encoder = KeyEncoder()
  private var results: ObservedResults
  private var ordered = OrderedSections()
  private var sections: [RecordSection<Subject, Key>] = []

  /// - Throws: as `ObservedResults.init`.
  init(
    _ keys: SectionKeys, _ field: KeyPath<Subject, Key>, of type: RecordType<Subject>,
    in reader: RecordReader
  ) throws(StoreError) {
    self.type = type
    self.field = field
    self.keys = keys
    results = try ObservedResults(keys.query, sections: keys, of: type, in: reader)
  }

  mutating func first(in state: any ObservedState) throws -> SectionedResults<Subject, Key>? {
    encoder = KeyEncoder()
    let blobs = StepBlobs(old: nil, new: state.trees.blobFinder(of: type))
    return try take(try results.begin(in: state.trees), authors: [], state.sequence, blobs)
  }

  mutating func element(of step: ObservedStep) throws -> SectionedResults<Subject, Key>? {
    let changes = try results.advance(step)
    if changes.steps.isEmpty { return nil }
    let results = try take(
      changes, authors: step.changes.authors, step.after.sequence, type.blobs(step))
    return results.difference.isEmpty ? nil : results
  }

  private mutating func take(
    _ changes: ResultChanges, authors: Set<String?>, _ sequence: UInt64, _ blobs: StepBlobs
  ) throws -> SectionedResults<Subject, Key> {
    let (old, sections, field) = (ordered, sections, field)
    let flat = try type.difference(changes, blobs) { offset in
      let place = old.place(at: offset)
      return sections[place.section].records[place.row]
    }
    ordered.apply(try sectionChanges(changes.changes))
    let difference = SectionDifference(
      flat, from: old, to: ordered, oldKey: { sections[$0].key }, newKey: { $0[keyPath: field] })
    self.sections = difference.applying(to: sections)
    return SectionedResults(
      sections: self.sections, difference: difference, authors: authors, sequence: sequence)
  }

  private func sectionChanges(
    _ changes: [EntryChange]
  ) throws(StoreError) -> [OrderedSections.Change] {
    var sections: [OrderedSections.Change] = []
    for change in changes {
      func section(_ row: [UInt8]) throws(StoreError) -> [UInt8] {
        try keys.section(of: change.key, row, encoder)
      }
      sections.append(.init(old: try change.old.map(section), new: try change.new.map(section)))
    }
    return sections
  }
}
