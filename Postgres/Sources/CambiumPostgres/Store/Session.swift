import Cambium
import Dispatch

/// A connection with a thread of its own, on which everything that waits for the server runs.
final class Session: @unchecked Sendable {
  // Only used by one task at a time, on the executor.
  private let connection: Connection
  private let executor: ServerExecutor

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

/// The connections of a store: at most so many, each used by one task at a time.
actor SessionPool {
  private let address: String
  private let countMax: Int
  private var idle: [Session] = []
  /// The number of connections, used or not.
  private var count = 0
  private var waiting: [CheckedContinuation<Void, Never>] = []
  private var isClosed = false

  init(_ address: String, countMax: Int) {
    self.address = address
    self.countMax = max(1, countMax)
  }

  /// Returns a connection that no other task uses, and waits for one if there are enough.
  func take() async throws -> Session {
    while true {
      guard !isClosed else { throw StoreError.closed(path: "PostgreSQL") }
      if let session = idle.popLast() { return session }
      if count < countMax {
        count += 1
        do {
          return try await Session.open(address)
        } catch {
          count -= 1
          wakeNext()
          throw error
        }
      }
      await withCheckedContinuation { waiting.append($0) }
    }
  }

  /// Takes a connection back. One that is lost is not used again.
  func giveBack(_ session: Session, isLost: Bool) {
    if isLost || isClosed { count -= 1 } else { idle.append(session) }
    wakeNext()
  }

  func close() {
    isClosed = true
    count -= idle.count
    idle = []
    let all = waiting
    waiting = []
    for continuation in all { continuation.resume() }
  }

  private func wakeNext() {
    if !waiting.isEmpty { waiting.removeFirst().resume() }
  }
}
