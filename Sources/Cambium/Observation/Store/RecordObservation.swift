/// The changes of a type's records, one set after the other, as an asynchronous sequence.
///
/// Changes are computed from two snapshots when your loop asks for the next element. A slow consumer receives fewer,
/// larger change sets, in which every record occurs once, and never misses a change. Between two elements the last state
/// is kept as a snapshot: its segments on disk, and the changes that were in no tree yet in memory. While the loop waits
/// for changes, no state older than a fold is kept.
///
/// The sequence ends when the task is cancelled, when the store is closed or released (after the last commits), or
/// with an error. All iterators share one place; only one task at a time should iterate.
public struct RecordObservation<Subject: Record>: AsyncSequence, Sendable {
  public typealias Element = ChangeSet<Subject>

  private let type: RecordType<Subject>
  private let place: ObservedPlace
  private let filter: RowFilter?

  init(_ type: RecordType<Subject>, _ place: ObservedPlace, _ filter: RowFilter? = nil) {
    self.type = type
    self.place = place
    self.filter = filter
  }

  /// The state after the last changes that were returned; at first the state from which changes are counted.
  public var snapshot: StoreSnapshot { place.snapshot }

  public func makeAsyncIterator() -> Iterator { Iterator(type: type, place: place, filter: filter) }

  public struct Iterator: AsyncIteratorProtocol {
    let type: RecordType<Subject>
    let place: ObservedPlace
    let filter: RowFilter?
    private var isOver = false

    init(type: RecordType<Subject>, place: ObservedPlace, filter: RowFilter?) {
      self.type = type
      self.place = place
      self.filter = filter
    }

    /// Suspends until there are changes.
    ///
    /// - Complexity: two lookups for each record that was written since; where they are more than some ten
    ///   thousand, linear in all records of the type.
    /// - Throws: `StoreError.corrupt`, `.io`, `.forked`; what the type's hook after loading throws.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws -> ChangeSet<Subject>? {
      while !isOver {
        isOver = true
        guard let step = try await place.next() else { return nil }
        let changes = try type.changes(step, filter)
        isOver = false
        if !changes.isEmpty { return changes }
      }
      return nil
    }
  }
}

extension RecordType {
  /// The changes from one state to another.
  func changes(_ step: ObservedStep, _ filter: RowFilter?) throws -> ChangeSet<Subject> {
    var changes = ChangeSet<Subject>(
      authors: step.changes.authors, sequence: step.after.sequence)
    let blobs = blobs(step)
    try step.forEachChange { change in
      var change = change
      if let filter {
        guard let filtered = try filter.filtered(change) else { return }
        change = filtered
      }
      switch try self.change(change, blobs) {
      case .inserted(let record): changes.inserted.append(record)
      case .updated(let update): changes.updated.append(update)
      case .deleted(let record): changes.deleted.append(record)
      case nil: break
      }
    }
    return changes
  }
}
