internal import Synchronization

/// Threads of the library for tasks: on them runs what may wait for a disk, a lock or another writer, or compute for long.
///
/// The threads that Swift's tasks share are as few as the processors, and one that waits is missing everywhere in the
/// program. So each asynchronous call of the library runs its body here, within its task, whose cancellation it sees. A
/// thread is started when work comes and all others are busy, and ends when there was none for some seconds.
final class TaskThreads: TaskExecutor, @unchecked Sendable {
  /// Threads for transactions. In each store one runs at a time; further threads would only take processors from it.
  static let writing = TaskThreads(name: "cambium-write", limit: max(2, WorkCrew.processorCount))
  /// Threads for reading: more than processors, since some wait for pages.
  static let reading = TaskThreads(
    name: "cambium-read", limit: min(max(4, 2 * WorkCrew.processorCount), 32))
  /// Threads for what may take minutes, or wait for writers: opening, closing and maintaining stores.
  static let working = TaskThreads(name: "cambium-work", limit: 64)

  private let name: String
  private let limit: Int
  private let lock = ThreadLock()
  private let posted: ThreadCondition
  // Under `lock`:
  private var jobs = JobQueue()
  private var count = 0
  private var idleCount = 0
  /// Counts bodies: an effect that the compiler sees.
  private let runCount = Atomic(0)

  /// The time after which a thread without work ends.
  private static var patience: Duration { .seconds(5) }

  /// - Parameters:
  ///   - name: That of the threads.
  ///   - limit: The most threads that there are at once; further work waits for one.
  init(name: String, limit: Int) {
    self.name = name
    self.limit = limit
    posted = ThreadCondition(lock)
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    lock.lock()
    jobs.append(job)
    let startsThread = idleCount < jobs.count && count < limit
    if startsThread { count += 1 }
    let wakesThread = idleCount > 0
    lock.unlock()
    if wakesThread { posted.signal() }
    // Without another thread, one of the others does it later.
    if startsThread { _ = startThread() }
  }

  /// Returns true if there is a thread, which then stays.
  ///
  /// - Complexity: A lock.
  private func hasThread() -> Bool {
    lock.lock()
    let isFirst = count == 0
    if isFirst { count = 1 }
    lock.unlock()
    return isFirst ? startThread() : true
  }

  /// Starts a thread that was counted. Returns false if the system has no more threads.
  private func startThread() -> Bool {
    do throws(StoreError) {
      _ = try BackgroundThread(name: name) { self.work() }
      return true
    } catch {
      lock.lock()
      count -= 1
      lock.unlock()
      return false
    }
  }

  private func work() {
    while let job = next() { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
  }

  /// Waits for the next job; nil if the thread is to end. The last one stays.
  private func next() -> UnownedJob? {
    lock.lock()
    defer { lock.unlock() }
    while jobs.isEmpty {
      idleCount += 1
      let isInTime = posted.wait(atMost: Self.patience)
      idleCount -= 1
      if !isInTime, jobs.isEmpty, count > 1 {
        count -= 1
        return nil
      }
    }
    return jobs.removeFirst()
  }
}

extension TaskThreads {
  /// Runs `body` on one of the threads while the caller's task is suspended. It is a part of the task, whose cancellation it
  /// sees.
  ///
  /// A body that is isolated to an actor stays so: on the main actor it runs on the main thread. If the system has no more
  /// threads, it runs where the caller does.
  ///
  /// - Throws: what `body` throws.
  func run<Result: ~Copyable, Failure: Error>(
    isolation: isolated (any Actor)? = #isolation,
    _ body: nonisolated(nonsending) () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    guard hasThread() else { return try await body() }
    var result: Result?
    try await withTaskExecutorPreference(self) { () async throws(Failure) in
      _ = isolation
      await arrive()
      // Without an effect here, Swift 6.3 leaves out the move back to the actor: a body that takes its caller's
      // isolation is not seen to need one.
      runCount.add(1, ordering: .relaxed)
      result = try await body()
    }
    guard let result else { preconditionFailure("a body that returned has a result") }
    return result
  }

  /// Moves the task to one of the threads.
  ///
  /// It has an effect, since a move that nothing happens after is left out.
  @concurrent
  private func arrive() async { runCount.add(1, ordering: .relaxed) }
}

/// Jobs in the order in which they came.
private struct JobQueue {
  private var jobs: [UnownedJob] = []
  /// The place of the first.
  private var first = 0

  var count: Int { jobs.count - first }
  var isEmpty: Bool { count == 0 }

  mutating func append(_ job: UnownedJob) { jobs.append(job) }

  mutating func removeFirst() -> UnownedJob {
    let job = jobs[first]
    first += 1
    if first == jobs.count {
      jobs.removeAll(keepingCapacity: true)
      first = 0
    } else if first >= 64, 2 * first >= jobs.count {
      jobs.removeSubrange(..<first)
      first = 0
    }
    return job
  }
}
