/// The changes of the record with one primary key, one after the other, as an asynchronous sequence.
///
/// It behaves like a `RecordObservation`.
public struct KeyObservation<Subject: Record>: AsyncSequence, Sendable {
  public typealias Element = KeyChange<Subject>

  private let type: RecordType<Subject>
  private let place: ObservedPlace

  init(_ type: RecordType<Subject>, _ place: ObservedPlace) {
    self.type = type
    self.place = place
  }

  /// The state after the last change that was returned; at first the state from which changes are counted.
  public var snapshot: StoreSnapshot { place.snapshot }

  public func makeAsyncIterator() -> Iterator { Iterator(type: type, place: place) }

  public struct Iterator: AsyncIteratorProtocol {
    let type: RecordType<Subject>
    let place: ObservedPlace
    private var isOver = false

    init(type: RecordType<Subject>, place: ObservedPlace) {
      self.type = type
      self.place = place
    }

    /// Suspends until the record has changed.
    ///
    /// - Complexity: two lookups.
    /// - Throws: as that of a `RecordObservation`.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws -> KeyChange<Subject>? {
      while !isOver {
        isOver = true
        guard let step = try await place.next() else { return nil }
        let kind = try type.change(step)
        isOver = false
        guard let kind else { continue }
        return KeyChange(
          kind: kind, authors: step.changes.authors, sequence: step.after.sequence)
      }
      return nil
    }
  }
}

extension RecordType {
  /// Returns the change of the one record that a step concerns.
  fileprivate func change(_ step: ObservedStep) throws -> KeyChange<Subject>.Kind? {
    var kind: KeyChange<Subject>.Kind?
    let blobs = blobs(step)
    try step.forEachChange { change in kind = try self.change(change, blobs) }
    return kind
  }
}
