import Cambium
import Dispatch
import FoundationEssentials

/// A connection with a thread of its own, on which everything that waits for the server runs.
final class Session: @unchecked Sendable {
  // Only used by one task at a time, on the executor.
  private let connection: Connection
  private let executor: ServerExecutor
  /// The identity that the marks of its commits have.
  private let identity = UUID()
  private let opened = ContinuousClock.now
  /// True once a transaction has used it.
  var isReused = false

  private init(_ connection: Connection, _ executor: ServerExecutor) {
    self.connection = connection
    self.executor = executor
  }

  /// Connects.
  static func open(_ address: ServerAddress) async throws -> Session {
    let executor = ServerExecutor()
    return try await withTaskExecutorPreference(executor) {
      try await Self.connect(address, executor)
    }
  }

  @concurrent
  private static func connect(
    _ address: ServerAddress, _ executor: ServerExecutor
  ) async throws -> Session {
    Session(try address.connect(), executor)
  }

  /// True if the connection cannot be used any more. Only between calls of `run`.
  var isLost: Bool { connection.isLost }

  var age: Duration { ContinuousClock.now - opened }

  /// Runs `body` on the thread of the connection, in the task.
  ///
  /// - Parameter body: Given the connection, and the identity that the marks of its commits have.
  func run<Result: Sendable>(
    _ body: @Sendable (Connection, UUID) throws -> Result
  ) async throws -> Result {
    try await withTaskExecutorPreference(executor) { try await self.runHere(body) }
  }

  @concurrent
  private func runHere<Result: Sendable>(
    _ body: @Sendable (Connection, UUID) throws -> Result
  ) async throws -> Result {
    try body(connection, identity)
  }
}

/// Runs tasks on a thread that may wait.
private final class ServerExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "cambium.postgres")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = unsafe asUnownedTaskExecutor()
    queue.async { unsafe job.runSynchronously(on: executor) }
  }
}

/// The connections of a store: at most so many, each used by one task at a time. Tasks wait in the order in which they came.
actor SessionPool {
  private let address: ServerAddress
  private let countMax: Int
  private let lifetime: Duration?
  private var idle: [Session] = []
  /// The number of connections, used or not.
  private var count = 0
  private var waiting: [Waiter] = []
  private var lastNumber = 0
  private var isClosed = false

  private struct Waiter {
    let number: Int
    /// Continues with a connection, or with nil if it may open one.
    let continuation: CheckedContinuation<Session?, any Error>
  }

  /// - Parameter lifetime: The age from which on a connection is not used again; nil if there is none.
  init(_ address: ServerAddress, countMax: Int, lifetime: Duration? = nil) {
    self.address = address
    self.lifetime = lifetime
    self.countMax = max(1, countMax)
  }

  /// Returns a connection that no other task uses, and waits for one if there are enough.
  ///
  /// - Throws: `StoreError.closed`; `ConnectionLoss` if no connection can be made; `CancellationError` as soon as the task is cancelled
  ///   while it waits.
  func take() async throws -> Session {
    guard !isClosed else { throw Self.closed }
    if let session = idle.popLast() { return session }
    if count < countMax {
      count += 1
      return try await open()
    }
    lastNumber += 1
    let number = lastNumber
    let found: Session? = try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation {
        (continuation: CheckedContinuation<Session?, any Error>) in
        if Task.isCancelled {
          continuation.resume(throwing: CancellationError())
        } else {
          waiting.append(Waiter(number: number, continuation: continuation))
        }
      }
    } onCancel: {
      Task { await leave(number) }
    }
    if let found { return found }
    return try await open()
  }

  /// Opens a connection in the place of one that is lost: in the place of both, the task gives back the new one.
  ///
  /// - Throws: `PostgresError`.
  func openReplacement() async throws -> Session { try await Session.open(address) }

  /// Takes a connection back. One that is lost is not used again, nor are those that are not in use: they probably led to the same
  /// server, and each would have to be tried.
  func giveBack(_ session: Session, isLost: Bool) {
    if isLost {
      count -= idle.count
      idle = []
    }
    let isOld = lifetime.map { session.age > $0 } ?? false
    if isLost || isClosed || isOld { return makeRoom() }
    session.isReused = true
    if waiting.isEmpty {
      idle.append(session)
    } else {
      waiting.removeFirst().continuation.resume(returning: session)
    }
  }

  func close() {
    isClosed = true
    count -= idle.count
    idle = []
    let all = waiting
    waiting = []
    for waiter in all { waiter.continuation.resume(throwing: Self.closed) }
  }

  private static let closed = StoreError.closed(path: "PostgreSQL")

  /// Opens a connection, which is counted already.
  private func open() async throws -> Session {
    do {
      return try await Session.open(address)
    } catch {
      makeRoom()
      if let error = error as? PostgresError {
        throw error.isLoss ? ConnectionLoss(error) : error.ofStore
      }
      throw error
    }
  }

  /// Lets a task open a connection in the place of one that is gone.
  private func makeRoom() {
    if waiting.isEmpty {
      count -= 1
    } else {
      waiting.removeFirst().continuation.resume(returning: nil)
    }
  }

  /// Ends the waiting of a task that was cancelled.
  private func leave(_ number: Int) {
    guard let place = waiting.firstIndex(where: { $0.number == number }) else { return }
    waiting.remove(at: place).continuation.resume(throwing: CancellationError())
  }
}
