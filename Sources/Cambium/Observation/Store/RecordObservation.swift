/// Changes of records, or results of a query, of any `RecordStore`, one after the other, as an asynchronous sequence.
///
/// ```swift
/// for try await changes in try await store.observeChanges(of: Order.self) {
///   print(changes.inserted, changes.updated, changes.deleted)
/// }
/// ```
///
/// Each element is the difference of two states of the store, or the results in one state, computed when your loop requests it. A slow
/// consumer receives fewer, larger elements. The sequence ends when the task is cancelled, when the store is closed, or with an error.
/// Use it in one loop at a time; the next loop continues where the one before was.
public struct RecordObservation<Element: Sendable>: AsyncSequence, Sendable {
  private let step: @Sendable () async throws -> Element?

  /// Creates a sequence.
  ///
  /// - Parameter step: Suspends until there is another element; nil if there are no more.
  package init(_ step: @escaping @Sendable () async throws -> Element?) { self.step = step }

  /// Returns an iterator for a loop.
  public func makeAsyncIterator() -> Iterator { Iterator(step: step) }

  /// An iterator over the elements.
  public struct Iterator: AsyncIteratorProtocol, Sendable {
    fileprivate let step: @Sendable () async throws -> Element?

    /// Suspends until there is another element.
    ///
    /// - Throws: errors of the store, of the query, and of the type's hook after loading. The next call then returns nil.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws -> Element? {
      try await step()
    }
  }
}

/// The differences between two states of a `RecordStore`, of the records of one type: each record once, however many commits there were
/// in between.
///
/// A record that was added and deleted again is in none of the lists. A store on a server does not keep old values: among its updated
/// records may be some whose values have changed and are again those of before, and, of a type with kinds, some of which only the fields
/// of a kind have changed.
public struct RecordChanges<Subject: Record>: Sendable {
  /// The records that are new, by primary key; the other lists are in the same order.
  public let inserted: [Subject]
  /// The records that were updated, as they are now.
  public let updated: [Subject]
  /// The primary keys of the records that were deleted, each with its parts in the key's order.
  public let deleted: [[FieldValue]]
  /// False if a store on a server no longer knows the changes, since they are older than it keeps them: everything may have changed, and
  /// the lists are empty. Fetch again what you keep; the next element continues from there.
  public let isComplete: Bool

  package init(
    inserted: [Subject] = [], updated: [Subject] = [], deleted: [[FieldValue]] = [],
    isComplete: Bool = true
  ) {
    self.inserted = inserted
    self.updated = updated
    self.deleted = deleted
    self.isComplete = isComplete
  }

  /// True if no record was changed, as far as it is known.
  public var isEmpty: Bool { isComplete && inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
}

// MARK: - The embedded store

extension PersistentStore {
  /// As `changes(of:)`, for code that is written for any `RecordStore`.
  @concurrent
  public func observeChanges<Subject: Record>(
    of type: Subject.Type
  ) async throws -> RecordObservation<RecordChanges<Subject>> {
    let entity = try entities.type(type)
    return RecordObservation(try changes(of: type)) { changes in
      RecordChanges(
        inserted: changes.inserted, updated: changes.updated.map(\.new),
        deleted: try changes.deleted.map { record in try entity.keyValues(of: record) })
    }
  }

  /// As `results(of:)`, for code that is written for any `RecordStore`.
  @concurrent
  public func observeResults<Subject: Record>(
    of query: Query<Subject>
  ) async throws -> RecordObservation<[Subject]> {
    RecordObservation(try results(of: query)) { results in results.records }
  }
}

extension RecordObservation {
  /// Creates the sequence of an embedded store's elements, converted.
  fileprivate init<Base: Sendable>(
    _ base: StoreObservation<Base>, _ convert: @escaping @Sendable (Base) throws -> Element
  ) {
    let iterator = base.makeAsyncIterator()
    self.init {
      // A copy shares the place with the others.
      var iterator = iterator
      return try await iterator.next().map(convert)
    }
  }
}

extension RecordType {
  /// The values of the parts of a record's primary key.
  fileprivate func keyValues(of record: Subject) throws(StoreError) -> [FieldValue] {
    let key = KeyEncoder()
    try encodeKey(record, to: key, row: RowWriter())
    return try layout.keyValues(key.key.array())
  }
}

extension RowLayout {
  /// The values of the parts of a primary key.
  fileprivate func keyValues(_ bytes: [UInt8]) throws(StoreError) -> [FieldValue] {
    var reader = KeyReader(bytes.rawSpan, layout: self)
    var values: [FieldValue] = []
    for column in key.columns { values.append(try reader.value(column)) }
    return values
  }
}
