import Cambium
import Dispatch
import FoundationEssentials
import Synchronization

/// Tells the observers of a store when a transaction has changed records that they observe.
///
/// It has a connection of its own, and a thread that waits for its socket, as long as there are observers. For each notification the
/// thread reads from the outbox which records have changed since the last time, and wakes their observers, which read the changes
/// themselves, by other connections. A connection that is lost is made again; then all observers look, and miss nothing, since their
/// places are in the outbox.
///
///     writer:    changes records ─▶ outbox ─▶ commits, and notifies
///                                                 │
///     listener:                   reads names of records since its place ─▶ wakes observers
///                                                                              │
///     observer:                   reads changes since its own place ◀──────────┘
///
/// A writer does not notify if there was no listener just before its commit. Such writers have begun before the listener did, which looks
/// again and again until they have ended. Other programs do not notify; their changes are found once a second, and so are those of
/// a writer that ends between its commit and its notification.
final class OutboxListener: Sendable {
  private let address: ServerAddress
  /// The time between two looks without a notification.
  private let pause: Duration
  /// The time after which each observer looks even if its records have not changed, so that its place does not become older than the
  /// changes that are kept.
  private let renewal: Duration
  private let state = Mutex(State())

  private struct State {
    var observers: [Int: Observer] = [:]
    var lastNumber = 0
    var phase = Phase.idle
    var starters: [CheckedContinuation<Void, any Error>] = []
    /// The error with which all observers end.
    var failure: PostgresStoreError?
    var isClosed = false
  }

  private enum Phase { case idle, connecting, listening }

  private struct Observer {
    let records: Set<String>
    var hasNews = false
    var waiter: CheckedContinuation<Void, Never>?
  }

  init(_ address: ServerAddress, keptChanges: Duration) {
    self.address = address
    renewal = max(keptChanges / 4, .milliseconds(20))
    pause = min(.seconds(1), renewal)
  }

  /// Ends all observers.
  func close() {
    wake { state in
      state.isClosed = true
      return Array(state.observers.keys)
    }
  }
}

// MARK: - Observers

extension OutboxListener {
  /// Begins to observe, and waits until the connection listens.
  ///
  /// - Returns: The number of the observer.
  /// - Throws: `StoreError.closed`; `PostgresStoreError.cannotObserve`, `.connectionLost`, `.server`.
  func begin(_ records: Set<String>) async throws -> Int {
    let number = try add(records)
    do {
      try await withCheckedThrowingContinuation { continuation in start(continuation) }
    } catch {
      end(number)
      throw error
    }
    return number
  }

  private func add(_ records: Set<String>) throws(StoreError) -> Int {
    let number: Int? = state.withLock { state in
      if state.isClosed { return nil }
      state.lastNumber += 1
      state.observers[state.lastNumber] = Observer(records: records)
      return state.lastNumber
    }
    guard let number else { throw .closed(path: "PostgreSQL") }
    return number
  }

  /// Continues once the connection listens.
  private func start(_ continuation: CheckedContinuation<Void, any Error>) {
    let (isListening, isIdle) = state.withLock { state in
      let phase = state.phase
      if phase == .listening { return (true, false) }
      state.starters.append(continuation)
      if phase == .idle {
        state.phase = .connecting
        state.failure = nil
      }
      return (false, phase == .idle)
    }
    if isListening { continuation.resume() }
    if isIdle { DispatchQueue(label: "cambium.postgres.listener").async { self.run() } }
  }

  func end(_ number: Int) {
    wake { state in
      state.observers[number]?.hasNews = true
      return [number]
    }
    state.withLock { state in state.observers[number] = nil }
  }

  /// Suspends until there may be something new for an observer.
  ///
  /// - Returns: False if there will be no more: the store is closed, or the task is cancelled.
  /// - Throws: `PostgresStoreError.cannotObserve`.
  func wait(_ number: Int) async throws -> Bool {
    await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in add(waiter, of: number) }
    } onCancel: {
      wake { _ in [number] }
    }
    if Task.isCancelled { return false }
    let (hasNews, failure) = state.withLock { state in
      let hasNews = state.observers[number]?.hasNews ?? false
      state.observers[number]?.hasNews = false
      return (hasNews && !state.isClosed, state.failure)
    }
    if let failure { throw failure }
    return hasNews
  }

  private func add(_ waiter: CheckedContinuation<Void, Never>, of number: Int) {
    let isAdded = state.withLock { state in
      // A task that is cancelled later finds its waiter here.
      guard !Task.isCancelled, !state.isClosed, state.failure == nil,
        let observer = state.observers[number], !observer.hasNews, observer.waiter == nil
      else { return false }
      state.observers[number]?.waiter = waiter
      return true
    }
    if !isAdded { waiter.resume() }
  }

  /// Has an observer look again.
  func renew(_ number: Int) { tell { state in [number].filter { state.observers[$0] != nil } } }

  /// Says that there is something new for some observers.
  private func tell(_ find: (State) -> [Int]) {
    wake { state in
      let numbers = find(state)
      for number in numbers { state.observers[number]?.hasNews = true }
      return numbers
    }
  }

  /// Resumes the waiters of some observers after `body`.
  private func wake(_ body: (inout State) -> [Int]) {
    let woken = state.withLock { state in
      body(&state).compactMap { number in
        defer { state.observers[number]?.waiter = nil }
        return state.observers[number]?.waiter
      }
    }
    for waiter in woken { waiter.resume() }
  }
}

// MARK: - The thread

extension OutboxListener {
  /// Listens until there are no observers any more.
  private func run() {
    var pause = Duration.milliseconds(100)
    while !isOver() {
      do {
        let connection = try ListeningConnection(address)
        pause = .milliseconds(100)
        try listen(connection)
      } catch let error as PostgresStoreError {
        if fail(error) { return }
        pause.sleep()
        pause = min(pause * 2, .seconds(2))
      } catch {
        if fail(.connectionLost("\(error)")) { return }
      }
    }
  }

  /// True if there are no more observers: then the thread ends, and the next observer begins another one.
  private func isOver() -> Bool {
    state.withLock { state in
      let isOver = state.observers.isEmpty || state.isClosed
      if isOver { state.phase = .idle }
      return isOver
    }
  }

  private func listen(_ connection: ListeningConnection) throws {
    begin()
    var renewed = ContinuousClock.now
    while !isOver() {
      let records = try connection.next(pause)
      let now = ContinuousClock.now
      let isRenewal = now >= renewed + renewal
      if isRenewal { renewed = now }
      if records.isEmpty, !isRenewal { continue }
      tell { state in
        state.observers.filter { isRenewal || !$0.value.records.isDisjoint(with: records) }
          .map(\.key)
      }
    }
  }

  /// Lets those continue that wait for the connection. Observers from before may have missed something.
  private func begin() {
    let starters = state.withLock { state in
      state.phase = .listening
      defer { state.starters = [] }
      return state.starters
    }
    tell { state in Array(state.observers.keys) }
    for starter in starters { starter.resume() }
  }

  /// Tells those that wait for the connection, and do not observe yet.
  ///
  /// - Returns: True if it is no use to connect again.
  private func fail(_ error: PostgresStoreError) -> Bool {
    var isFinal = true
    if case .connectionLost = error { isFinal = false }
    if case .server = error { isFinal = false }
    let starters = state.withLock { state in
      state.phase = isFinal ? .idle : .connecting
      if isFinal { state.failure = error }
      defer { state.starters = [] }
      return state.starters
    }
    for starter in starters { starter.resume(throwing: error) }
    if isFinal { wake { state in Array(state.observers.keys) } }
    return isFinal
  }
}

/// A connection that listens to the channel of the outbox.
private final class ListeningConnection {
  private let connection: Connection
  /// The snapshot up to which changes are known.
  private var place: String
  /// The transactions below this number may not have notified.
  private let unsettled: UInt64
  private var oldest: UInt64
  /// The time between two looks while there are such transactions.
  private var shortPause = Duration.milliseconds(20)

  /// Connects, and listens.
  ///
  /// - Throws: `PostgresStoreError.cannotObserve` if a notification of another connection does not arrive.
  init(_ address: ServerAddress) throws {
    do {
      connection = try address.connect()
      try connection.run("LISTEN \(Outbox.channel)")
      try Self.test(connection, try address.connect())
      try connection.run("SELECT pg_advisory_lock_shared(\(Outbox.lock))")
      let rows = try connection.run(
        "SELECT s::text, txid_snapshot_xmin(s), txid_snapshot_xmax(s) FROM txid_current_snapshot() AS s"
      )
      place = rows.first?[0] ?? ""
      oldest = rows.first?[1].flatMap { UInt64($0) } ?? 0
      unsettled = rows.first?[2].flatMap { UInt64($0) } ?? 0
    } catch let error as PostgresError {
      throw error.ofStore
    }
  }

  /// Sends a notification by another connection. A pooler that gives each transaction any session of the server loses it: the program has
  /// no session of its own that could receive it.
  private static func test(_ connection: Connection, _ other: Connection) throws {
    let token = UUID().uuidString
    try other.run("SELECT pg_notify('\(Outbox.channel)', '\(token)')")
    let end = ContinuousClock.now + .seconds(5)
    while ContinuousClock.now < end {
      if try connection.notifications(waitingFor: .milliseconds(100)).contains(token) { return }
    }
    _ = try? connection.run("UNLISTEN \(Outbox.channel)")
    throw PostgresStoreError.cannotObserve(
      reason: "a notification did not arrive within 5 seconds. A pooler, such as pgbouncer,"
        + " has to keep one session of the server for each connection, or be passed by")
  }

  /// Waits for a notification, or for a time, and returns the names of the records that have changed since the last call.
  func next(_ pause: Duration) throws -> Set<String> {
    do {
      _ = try connection.notifications(
        waitingFor: oldest < unsettled ? min(shortPause, pause) : pause)
      if oldest < unsettled { shortPause = min(shortPause * 2, pause) }
      let place = "'\(place)'::txid_snapshot"
      let rows = try connection.run(
        "SELECT s.s::text, txid_snapshot_xmin(s.s), o.record FROM txid_current_snapshot() AS s (s)"
          + " LEFT JOIN (SELECT DISTINCT record FROM \(Outbox.table)"
          + " WHERE xid >= txid_snapshot_xmin(\(place))"
          + " AND NOT txid_visible_in_snapshot(xid, \(place))) AS o ON true")
      if let row = rows.first {
        self.place = row[0] ?? self.place
        oldest = row[1].flatMap { UInt64($0) } ?? oldest
      }
      return Set(rows.compactMap { $0[2] })
    } catch {
      throw error.ofStore
    }
  }
}
