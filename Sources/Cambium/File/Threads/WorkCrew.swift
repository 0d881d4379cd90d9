#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// A piece of work that is done by a crew, or by the thread that waits for it.
class CrewTask: @unchecked Sendable {
  fileprivate enum State {
    case posted, running, done
  }

  /// Under the board's lock.
  fileprivate var state = State.done

  init() {}

  /// Does the work, on whichever thread. Its result is left in the task.
  func perform() {}
}

/// Threads that work beside those that need the results.
///
/// They only help: a task that no thread has begun is done by the thread that asks for its result. So nothing depends on
/// there being any threads, and none is started before there is work for several.
class WorkCrew: @unchecked Sendable {
  /// How many threads there are at most.
  let size: Int
  private let name: String
  private let board = TaskBoard()
  private let forks = ForkGuard()

  /// - Parameter name: That of the threads.
  init(name: String, size: Int) {
    self.name = name
    self.size = size
  }

  deinit {
    board.close()
  }

  static var processorCount: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

  /// How many tasks one that asks for them should have under way at once: two for each thread, so that none waits
  /// for the next. The bound is what keeps a stream within 16 MiB on a machine of many cores.
  var window: Int { min(2 * size + 2, 16) }

  /// True if this is a forked child, which has none of the threads, and maybe a lock that no thread releases.
  var isForked: Bool { forks.isForked }

  /// Has the task done by and by.
  func submit(_ task: CrewTask) {
    if board.startsThreads() { startThreads() }
    board.post(task)
  }

  /// Returns when a submitted task is done; does it if no thread has begun it.
  func finish(_ task: CrewTask) { finish(task, doingMeanwhile: EmptyCollection<CrewTask>()) }

  /// Returns when a submitted task is done; does it if no thread has begun it.
  ///
  /// - Parameter others: Tasks that the caller does while another thread does this one, unless they are begun already.
  func finish<Others: Sequence>(_ task: CrewTask, doingMeanwhile others: Others)
  where Others.Element: CrewTask {
    if board.claim(task) { return task.perform() }
    for other in others {
      if board.isDone(task) { return }
      if board.claim(other) { other.perform() }
    }
    board.wait(for: task)
  }

  /// Returns when no thread does or will do a submitted task.
  func withdraw(_ task: CrewTask) {
    if !board.claim(task) { board.wait(for: task) }
  }

  /// Where the system gives out fewer threads, the waiting threads do more.
  private func startThreads() {
    for _ in 0..<size {
      _ = try? BackgroundThread(name: name) { [board] in board.work() }
    }
  }
}

/// The tasks that are not begun, and their waiters. The threads keep it, and not the crew, which ends
/// them when it goes.
private final class TaskBoard: @unchecked Sendable {
  private let lock = ThreadLock()
  private let posted: ThreadCondition
  private let done: ThreadCondition
  // Under `lock`.
  private var tasks: [CrewTask] = []
  private var hasThreads = false
  private var isClosed = false

  init() {
    posted = ThreadCondition(lock)
    done = ThreadCondition(lock)
  }

  /// True on the first call.
  func startsThreads() -> Bool {
    lock.lock()
    defer { lock.unlock() }
    defer { hasThreads = true }
    return !hasThreads
  }

  func post(_ task: CrewTask) {
    lock.lock()
    task.state = .posted
    tasks.append(task)
    lock.unlock()
    posted.signal()
  }

  /// Takes the task from the board; false if another thread has it already.
  func claim(_ task: CrewTask) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    guard let index = tasks.firstIndex(where: { $0 === task }) else { return false }
    tasks.remove(at: index)
    task.state = .done
    return true
  }

  func isDone(_ task: CrewTask) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    return task.state == .done
  }

  func wait(for task: CrewTask) {
    lock.lock()
    defer { lock.unlock() }
    while task.state != .done { done.wait() }
  }

  func close() {
    lock.lock()
    isClosed = true
    lock.unlock()
    posted.broadcast()
  }

  /// Performs tasks until the board is closed; each thread of the crew runs it.
  func work() {
    while let task = next() {
      task.perform()
      lock.lock()
      task.state = .done
      lock.unlock()
      done.broadcast()
    }
  }

  private func next() -> CrewTask? {
    lock.lock()
    defer { lock.unlock() }
    while tasks.isEmpty {
      if isClosed { return nil }
      posted.wait()
    }
    let task = tasks.removeFirst()
    task.state = .running
    return task
  }
}
