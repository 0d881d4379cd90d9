/// Changes of a store's records, or of a query's results, one after the other, as an asynchronous sequence.
///
/// ```swift
/// for try await changes in try store.changes(of: Item.self) {
///   print(changes.inserted, changes.updated, changes.deleted)
/// }
/// ```
///
/// Changes are computed from two snapshots when your loop asks for the next element. A slow consumer receives fewer,
/// larger elements, in which every record occurs once, and never misses a change. Between two elements the last state
/// is kept as a snapshot: its segments on disk, and the changes that were in no tree yet in memory. While the loop waits
/// for changes, no state older than a fold is kept.
///
/// The sequence ends when the task is cancelled, when the store is closed or released (after the last commits), or
/// with an error. Several loops may run at once, and each receives all changes: a loop that begins while another runs
/// begins where that one is. A loop that begins after another has ended resumes where that one stopped.
public struct StoreObservation<Element: Sendable>: AsyncSequence, Sendable {
  private let loops: ObservationLoops<Element>

  init(_ maker: any ElementMaker<Element>, at place: ObservedPlace) {
    loops = ObservationLoops(maker, at: place)
  }

  /// The state of the last element that the first of the running loops was given; before that, the state from which
  /// changes are counted.
  public var snapshot: StoreSnapshot { loops.snapshot }

  /// Returns an iterator for a loop, which receives all changes.
  public func makeAsyncIterator() -> Iterator { Iterator(lease: loops.begin()) }

  /// An iterator over the changes.
  public struct Iterator: AsyncIteratorProtocol, Sendable {
    fileprivate let lease: ObservationLease<Element>

    /// Suspends until there are changes.
    ///
    /// - Complexity: For changes of records, two lookups for each record that was written since; if they are more than
    ///   some ten thousand, linear in all records of the type. For results, at first that of the query, then that of the
    ///   changes, and finding the place of each among the results; with a limit or an offset, the query again if a change
    ///   may affect it.
    /// - Throws: `StoreError.corrupt`, `.io`, `.forked`; errors of the query and the type's hook after loading. The
    ///   next call then returns nil.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws -> Element? {
      try await lease.loop.next()
    }
  }
}

/// Makes the elements of an observation out of the steps from one state to the next.
protocol ElementMaker<Element>: Sendable {
  associatedtype Element: Sendable

  /// Returns the element with which a loop begins; nil if it begins with the first change.
  mutating func first(in state: any ObservedState) throws -> Element?

  /// Returns the next element; nil if a step changes nothing that is observed.
  mutating func element(of step: ObservedStep) throws -> Element?
}

extension ElementMaker {
  func first(in state: any ObservedState) throws -> Element? { nil }
}

/// The loops over one observation.
private final class ObservationLoops<Element: Sendable>: @unchecked Sendable {
  private let maker: any ElementMaker<Element>
  private let lock = ThreadLock()
  // Under `lock`:
  private var loop: ObservationLoop<Element>
  /// Nil if no iterator uses the loop.
  private weak var lease: ObservationLease<Element>?

  init(_ maker: any ElementMaker<Element>, at place: ObservedPlace) {
    self.maker = maker
    loop = ObservationLoop(maker, at: place)
  }

  var snapshot: StoreSnapshot {
    lock.lock()
    defer { lock.unlock() }
    return loop.place.snapshot
  }

  /// Returns the loop for an iterator: a copy while another iterator uses it.
  func begin() -> ObservationLease<Element> {
    lock.lock()
    defer { lock.unlock() }
    if lease != nil { return ObservationLease(ObservationLoop(maker, at: loop.place.copy())) }
    if loop.isOver { loop = ObservationLoop(maker, at: loop.place) }
    let lease = ObservationLease(loop)
    self.lease = lease
    return lease
  }
}

/// The use of a loop by an iterator and its copies.
private final class ObservationLease<Element: Sendable>: Sendable {
  let loop: ObservationLoop<Element>

  init(_ loop: ObservationLoop<Element>) { self.loop = loop }
}

/// One loop over an observation.
private final class ObservationLoop<Element: Sendable>: @unchecked Sendable {
  let place: ObservedPlace
  private let turn = ThreadLock()
  // Under `turn`:
  private var maker: any ElementMaker<Element>
  private var phase = Phase.new

  private enum Phase { case new, running, over }

  init(_ maker: any ElementMaker<Element>, at place: ObservedPlace) {
    self.maker = maker
    self.place = place
  }

  nonisolated(nonsending) func next() async throws -> Element? {
    if isNew, let first = try await read({ try self.first() }) { return first }
    while !isOver {
      guard let step = try await nextStep() else { return nil }
      if let element = try await read({ try self.element(of: step) }) { return element }
    }
    return nil
  }

  /// Compares states, and runs queries, on a thread of the library.
  @concurrent
  private func read(_ body: @Sendable () throws -> Element?) async throws -> Element? {
    try await TaskThreads.reading.run { () throws in try body() }
  }

  private var isNew: Bool {
    turn.lock()
    defer { turn.unlock() }
    return phase == .new
  }

  var isOver: Bool {
    turn.lock()
    defer { turn.unlock() }
    return phase == .over
  }

  private func first() throws -> Element? {
    turn.lock()
    defer { turn.unlock() }
    guard phase == .new else { return nil }
    phase = .over
    let element = try maker.first(in: place.state)
    phase = .running
    return element
  }

  private nonisolated(nonsending) func nextStep() async throws(StoreError) -> ObservedStep? {
    do throws(StoreError) { return try await place.next() } catch {
      end()
      throw error
    }
  }

  private func element(of step: ObservedStep) throws -> Element? {
    turn.lock()
    defer { turn.unlock() }
    if phase == .over { return nil }
    // An error ends the loop.
    phase = .over
    let element = try maker.element(of: step)
    phase = .running
    return element
  }

  private func end() {
    turn.lock()
    defer { turn.unlock() }
    phase = .over
  }
}
