/// The results of a query, and the new results whenever commits change them, as an asynchronous sequence.
///
/// The first element has the initial results; each later one has newer results and the difference to those before.
/// Otherwise it behaves like a `RecordObservation`. It keeps the results in memory.
public struct QueryObservation<Subject: Record>: AsyncSequence, Sendable {
  public typealias Element = QueryResults<Subject>

  private let results: LiveResults<Subject>

  init(_ results: LiveResults<Subject>) {
    self.results = results
  }

  /// The state of the last results that were returned; before the first, the state of which they will be.
  public var snapshot: StoreSnapshot { results.place.snapshot }

  public func makeAsyncIterator() -> Iterator { Iterator(results: results) }

  public struct Iterator: AsyncIteratorProtocol {
    let results: LiveResults<Subject>

    /// Suspends until the results are different.
    ///
    /// - Complexity: At first, that of the query. Then two lookups for each record of the type that was written since, and
    ///   finding the place of each that is among the results; with a limit or an offset, the query again if a change may
    ///   affect it.
    /// - Throws: as that of a `RecordObservation`, and what the query throws.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws -> QueryResults<Subject>? {
      try await results.next()
    }
  }
}

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

/// The results of a query, as the one who observes it knows them.
final class LiveResults<Subject: Record>: @unchecked Sendable {
  let place: ObservedPlace
  private let type: RecordType<Subject>
  private let turn = ThreadLock()
  // Under `turn`:
  private var results: ObservedResults
  private var records: [Subject] = []
  private var phase = Phase.new

  private enum Phase { case new, running, over }

  /// - Throws: as `ObservedResults.init`.
  init(
    _ query: FieldQuery, of type: RecordType<Subject>, at place: ObservedPlace
  ) throws(StoreError) {
    self.type = type
    self.place = place
    results = try ObservedResults(query, of: type, in: place.state.trees)
  }

  nonisolated(nonsending) func next() async throws -> QueryResults<Subject>? {
    if let first = try first() { return first }
    while !isOver {
      guard let step = try await place.next() else { return nil }
      if let results = try advance(step) { return results }
    }
    return nil
  }

  private var isOver: Bool {
    turn.lock()
    defer { turn.unlock() }
    return phase == .over
  }

  /// The results to start from, once.
  private func first() throws -> QueryResults<Subject>? {
    turn.lock()
    defer { turn.unlock() }
    guard phase == .new else { return nil }
    phase = .over
    let state = place.state
    let blobs = StepBlobs(old: nil, new: state.trees.blobFinder(of: type))
    let result = try take(
      try results.begin(in: state.trees), authors: [], state.sequence, blobs)
    phase = .running
    return result
  }

  /// Returns the new results; nil if they are the same.
  private func advance(_ step: ObservedStep) throws -> QueryResults<Subject>? {
    turn.lock()
    defer { turn.unlock() }
    if phase == .over { return nil }
    phase = .over
    let changes = try results.advance(step)
    if !changes.steps.isEmpty {
      let result = try take(
        changes, authors: step.changes.authors, step.after.sequence, type.blobs(step))
      phase = .running
      return result
    }
    phase = .running
    return nil
  }

  private func take(
    _ changes: ResultChanges, authors: Set<String?>, _ sequence: UInt64, _ blobs: StepBlobs
  ) throws -> QueryResults<Subject> {
    let difference = try type.difference(changes, from: records, blobs)
    difference.apply(to: &records)
    return QueryResults(
      records: records, difference: difference, authors: authors, sequence: sequence)
  }
}
