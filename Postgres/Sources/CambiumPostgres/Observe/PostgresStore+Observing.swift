public import Cambium
import Synchronization

extension PostgresStore {
  /// Returns the changes of all records of a type that are committed from now on, by any store that writes the database, in this or
  /// another process.
  ///
  /// ```swift
  /// for try await changes in try await store.observeChanges(of: Order.self) {
  ///   print(changes.inserted, changes.updated, changes.deleted)
  /// }
  /// ```
  ///
  /// Changes by foreign keys are among them, and those of other programs, which are found up to a second later; but not the effect of a
  /// `TRUNCATE`. A consumer that requests no element for `PostgresOptions.keptChanges` receives one whose `isComplete` is false.
  /// While the server cannot be reached, the sequence waits, and then misses nothing. Use it in one loop at a time.
  ///
  /// - Complexity: While anything is observed, each write sends one more statement after its commit. An element takes two statements
  ///   for the outbox and one for the records, on one of the store's connections.
  /// - Throws: `PostgresStoreError.cannotObserve`, `.connectionLost`, `.server`; `StoreError.unknownRecord`, `.closed`.
  @concurrent
  public func observeChanges<Subject: Record>(
    of type: Subject.Type
  ) async throws -> RecordObservation<RecordChanges<Subject>> {
    let observer = try await observer(of: [try mapping.name(of: type)])
    let place = Mutex(try await read { snapshot in try snapshot.reader.server.place() })
    let loop = OutboxLoop(observer) { () async throws -> RecordChanges<Subject>? in
      let last = place.withLock { $0 }
      let (changes, next) = try await self.read { snapshot in
        try snapshot.reader.server.changes(of: type, since: last)
      }
      place.withLock { $0 = next }
      return changes.isEmpty ? nil : changes
    }
    return RecordObservation { try await loop.next() }
  }

  /// Returns the results of a query, and the new results whenever a commit has changed them.
  ///
  /// ```swift
  /// for try await open in try await store.observeResults(of: Order.where { $0.state == "open" }) { show(open) }
  /// ```
  ///
  /// The first element has the results of now. The query runs again when records of its type have changed, or of those that it leads
  /// to; without new results there is no element. The rest is as with `observeChanges(of:)`.
  ///
  /// - Complexity: As `observeChanges(of:)`, with the query in place of the three statements.
  /// - Throws: `PostgresStoreError.unsupportedQuery`, `StoreError.invalidQuery`; others as `observeChanges(of:)`.
  @concurrent
  public func observeResults<Subject: Record>(
    of query: Query<Subject>
  ) async throws -> RecordObservation<[Subject]> {
    let records = try await read { snapshot in
      try snapshot.reader.server.records(readBy: query)
    }
    let observer = try await observer(of: records)
    observer.renew()
    let last = Mutex<[UInt8]?>(nil)
    let loop = OutboxLoop(observer) { () async throws -> [Subject]? in
      let hash = last.withLock { $0 }
      guard
        let found = try await self.read({ snapshot in
          try snapshot.reader.server.results(of: query, unless: hash)
        })
      else { return nil }
      last.withLock { $0 = found.hash }
      return found.records
    }
    return RecordObservation { try await loop.next() }
  }

  private func observer(of records: Set<String>) async throws -> OutboxObserver {
    if let obstacle = outbox.obstacle {
      throw PostgresStoreError.cannotObserve(reason: obstacle)
    }
    if let divided = records.sorted().first(where: { plan.options.isDivided($0) }) {
      throw PostgresStoreError.cannotObserve(
        reason: "\(divided) is divided over several servers, which do not write the outbox")
    }
    return OutboxObserver(try await listener.begin(records), listener)
  }
}

/// An observer, as long as something refers to it.
private final class OutboxObserver: Sendable {
  private let number: Int
  private let listener: OutboxListener

  init(_ number: Int, _ listener: OutboxListener) {
    self.number = number
    self.listener = listener
  }

  deinit { listener.end(number) }

  func renew() { listener.renew(number) }

  func wait() async throws -> Bool { try await listener.wait(number) }
}

/// A loop over the elements that an observer reads whenever there is something new.
private final class OutboxLoop<Element: Sendable>: Sendable {
  private let observer: OutboxObserver
  private let read: @Sendable () async throws -> Element?
  private let isOver = Atomic(false)

  init(_ observer: OutboxObserver, read: @escaping @Sendable () async throws -> Element?) {
    self.observer = observer
    self.read = read
  }

  /// Suspends until there is another element; nil if there are no more.
  func next() async throws -> Element? {
    while !isOver.load(ordering: .relaxed) {
      do {
        guard try await observer.wait() else { return nil }
        if let element = try await read() { return element }
      } catch let error as PostgresStoreError where error.mayPass {
        // The place is the same as before.
        observer.renew()
        try? await Task.sleep(for: .milliseconds(100))
      } catch is CancellationError {
        observer.renew()
        return nil
      } catch {
        if case StoreError.closed = error { return nil }
        isOver.store(true, ordering: .relaxed)
        throw error
      }
    }
    return nil
  }
}

extension PostgresStoreError {
  /// True if the server cannot be reached, or stops: later it may be there again.
  fileprivate var mayPass: Bool {
    switch self {
    case .connectionLost: true
    case .server(let state, _): state.hasPrefix("57P")
    default: false
    }
  }
}
