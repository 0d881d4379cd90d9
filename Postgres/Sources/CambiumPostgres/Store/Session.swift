import Cambium
import Dispatch

/// A connection with a thread of its own, on which everything that waits for the server runs.
final class Session: @unchecked Sendable {
  // Only used by one task at a time, on the executor.
  private let connection: Connection
  private let executor: ServerExecutor
  /// True once a transaction has used it.
  var isReused = false

  private init(_ connection: Connection, _ executor: ServerExecutor) {
    self.connection = connection
    self.executor = executor
  }

  /// Connects.
  static func open(_ address: String) async throws -> Session {
    let executor = ServerExecutor()
    return try await withTaskExecutorPreference(executor) {
      try await Self.connect(address, executor)
    }
  }

  @concurrent
  private static func connect(
    _ address: String, _ executor: ServerExecutor
  ) async throws -> Session {
    let connection = try Connection(address)
    try connection.checkServer()
    return Session(connection, executor)
  }

  /// True if the connection cannot be used any more. Only between calls of `run`.
  var isLost: Bool { connection.isLost }

  /// Runs `body` on the thread of the connection, in the task.
  func run<Result: Sendable>(
    _ body: @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    try await withTaskExecutorPreference(executor) { try await self.runHere(body) }
  }

  @concurrent
  private func runHere<Result: Sendable>(
    _ body: @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    try body(connection)
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
  private let address: String
  private let countMax: Int
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

  init(_ address: String, countMax: Int) {
    self.address = address
    self.countMax = max(1, countMax)
  }

  /// Returns a connection that no other task uses, and waits for one if there are enough.
  ///
  /// - Throws: `StoreError.closed`, `PostgresError`; `CancellationError` as soon as the task is cancelled while it waits.
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

  /// Takes a connection back. One that is lost is not used again.
  func giveBack(_ session: Session, isLost: Bool) {
    if isLost || isClosed { return makeRoom() }
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
