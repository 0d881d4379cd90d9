internal import Synchronization

/// Threads of the library for tasks, for work that may wait for a disk, a lock or another writer, or computes for long.
///
/// The threads that Swift's tasks share are as few as the processors, and one that waits is missing everywhere in the
/// program. So each asynchronous call of the library runs its body here, within its task, whose cancellation it sees.
///
/// Threads are started when there is work. Of those that work, no more are woken than there are processors, since more would
/// only be in each other's way; but when none of them has come for work in some milliseconds, because all wait or
/// compute, one more is. A thread ends when it has had nothing to do for some seconds.
final class TaskThreads: TaskExecutor, @unchecked Sendable {
  /// Threads for transactions.
  static let writing = TaskThreads(name: "cambium-write")
  /// Threads for reading.
  static let reading = TaskThreads(name: "cambium-read")
  /// Threads for work that may take minutes, or wait for writers: opening, closing and maintaining stores.
  static let working = TaskThreads(name: "cambium-work", wakingAtMost: limit)

  private let name: String
  /// The number of working threads from which on no further is woken at once.
  private let wakingLimit: Int
  private let lock = ThreadLock()
  private let posted: ThreadCondition
  /// The watching thread waits on it until its delay is over. It is never signalled.
  private let watched: ThreadCondition
  // Under `lock`:
  private var jobs = JobQueue()
  /// The number of threads, and of those that wait for work.
  private var count = 0
  private var idleCount = 0
  /// The state of the thread that watches if the others come for work.
  private var watch = Watch.none
  /// The number of jobs that were taken.
  private var taken: UInt64 = 0
  /// Counts bodies: an effect that the compiler sees.
  private let runCount = Atomic(0)

  private enum Watch { case none, wanted, present }

  /// The most threads; further work waits for one.
  private static var limit: Int { 64 }
  /// The time after which a thread without work ends.
  private static var patience: Duration { .seconds(5) }
  /// The time that work waits for a thread that may be about to come for it.
  private static var delay: Duration { .milliseconds(4) }

  /// - Parameters:
  ///   - name: That of the threads.
  ///   - wakingLimit: The number of working threads from which on no further is woken at once.
  init(name: String, wakingAtMost wakingLimit: Int = WorkCrew.processorCount) {
    self.name = name
    self.wakingLimit = wakingLimit
    posted = ThreadCondition(lock)
    watched = ThreadCondition(lock)
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    lock.lock()
    jobs.append(job)
    let startsThread = wakesThread()
    lock.unlock()
    // Without another thread, one of the others does it later.
    guard startsThread, !startThread() else { return }
    while !hasThread() {
      lock.lock()
      _ = posted.wait(atMost: Self.delay)
      lock.unlock()
    }
  }

  private var workingCount: Int { count - idleCount - (watch == .present ? 1 : 0) }

  /// Wakes a thread if one is needed for the jobs. Returns true if one is to be started, which then counts. With the lock.
  private func wakesThread() -> Bool {
    let isWorking = workingCount >= wakingLimit
    if isWorking {
      if watch != .none { return false }
      watch = .wanted
    }
    if idleCount > 0 {
      posted.signal()
      return false
    }
    if count >= Self.limit {
      if isWorking { watch = .none }
      return false
    }
    count += 1
    return true
  }

  /// Returns true if there is a thread: then one stays.
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
    while let (job, startsThread) = next() {
      if startsThread { _ = startThread() }
      unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }

  /// Waits for the next job; nil if the thread is to end. The last one stays.
  ///
  /// - Returns: the job, and whether another thread is to be started for those that are left.
  private func next() -> (job: UnownedJob, startsThread: Bool)? {
    lock.lock()
    defer { lock.unlock() }
    while true {
      if !jobs.isEmpty, workingCount <= wakingLimit { return take() }
      // While there is work, one looks.
      if watch == .wanted || watch == .none && !jobs.isEmpty {
        if seesStop() { return take() }
        continue
      }
      idleCount += 1
      let isInTime = posted.wait(atMost: Self.patience)
      idleCount -= 1
      if !isInTime, jobs.isEmpty, watch != .wanted, count > 1 {
        count -= 1
        return nil
      }
    }
  }

  /// Looks whether the others come for work, for as long as they do. With the lock.
  ///
  /// - Returns: true if there is work, and they do not.
  private func seesStop() -> Bool {
    watch = .present
    defer { watch = .none }
    while true {
      let before = taken
      _ = watched.wait(atMost: Self.delay)
      if taken == before { return !jobs.isEmpty }
    }
  }

  private func take() -> (job: UnownedJob, startsThread: Bool) {
    taken &+= 1
    // The thread that was to watch may be this one.
    if watch == .wanted { watch = .none }
    let job = jobs.removeFirst()
    return (job, !jobs.isEmpty && wakesThread())
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
