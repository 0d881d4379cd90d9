// The same for tasks: they suspend where a thread would wait, for the writer's turn, for a flush, for a fold.
// The engine's own threads flush and fold for them, threads for tasks run their bodies, and a commit that takes long
// gets a thread for itself.

extension Engine {
  /// Runs `body` with a transaction, and commits what it did when it returns, as the synchronous one does.
  ///
  /// The body runs in the caller's task, isolated as the caller is, on one of `threads`, without suspending. Waiting for
  /// the writer's turn, for the flush and for whatever else a commit takes suspends.
  ///
  /// - Throws: what the synchronous one does; `CancellationError` if the task is cancelled while it waits for the turn.
  nonisolated(nonsending) func write(
    _ durability: Durability, on threads: TaskThreads = .writing,
    _ body: (Transaction) throws -> Void
  ) async throws {
    let step = try await threads.run { () async throws -> CommitStep in
      let transaction = try await awaitTransaction()
      do {
        try body(transaction)
      } catch {
        return .failed(error, read: leave(transaction))
      }
      return try beginCommit(of: transaction, durability)
    }
    try await finish(step, durability)
  }

  /// Commits a transaction as far as that goes without waiting, and ends the writer's turn if it is.
  private func beginCommit(
    of transaction: Transaction, _ durability: Durability
  ) throws(StoreError) -> CommitStep {
    if transaction.isEmpty { return .read(leaveUnchanged(transaction)) }
    guard let (sequence, pause) = try enqueueAtOnce(transaction, durability) else {
      handOverWriterTurn()
      return .tooLarge(transaction)
    }
    return .enqueued(sequence, pause: pause)
  }

  /// Returns when the class of a commit is met. It suspends where the caller runs, so that no thread is in between when the
  /// flush is over.
  nonisolated(nonsending) private func finish(
    _ step: CommitStep, _ durability: Durability
  ) async throws {
    switch step {
    case .failed(let error, let read):
      try await awaitAcknowledgement(of: read, durability)
      throw error
    case .read(let sequence): try await awaitAcknowledgement(of: sequence, durability)
    case .tooLarge(let transaction): try await commitOnThread(transaction, durability)
    case .enqueued(let sequence, let pause):
      try await awaitAcknowledgement(of: sequence, durability)
      // A relaxed commit is made, whatever becomes of the flush.
      if !durability.isDurable, isBufferFull { try? await awaitFlush(through: sequence) }
      // A task that was cancelled goes on at once: its commit is made.
      if let pause { try? await Task.sleep(for: pause) }
    }
  }

  /// Enqueues a transaction unless that would have to wait, or to write to files: then nil, and it is as it
  /// was. Else its sequence, and the pause that is due.
  private func enqueueAtOnce(
    _ transaction: Transaction, _ durability: Durability
  ) throws(StoreError) -> (sequence: UInt64, pause: Duration?)? {
    if isTooLarge(transaction) { return nil }
    lock.lock()
    defer { lock.unlock() }
    if !doesLogHold(transaction) { return nil }
    let sequence = try enqueue(transaction, durability)
    if gathered.payloadCount >= Self.bufferSize { background.wakeFlusher() }
    return (sequence, takePause())
  }

  /// Whether so much waits to be written that no more should come.
  private var isBufferFull: Bool {
    lock.lock()
    defer { lock.unlock() }
    return gathered.payloadCount >= 8 * Self.bufferSize
  }

  /// Commits on a thread that may wait as long as it takes, and suspends meanwhile.
  nonisolated(nonsending) private func commitOnThread(
    _ transaction: Transaction, _ durability: Durability
  ) async throws(StoreError) {
    // Nobody else has it until the thread is done.
    nonisolated(unsafe) let transaction = transaction
    let outcome = await withCheckedContinuation { continuation in
      do throws(StoreError) {
        _ = try BackgroundThread(name: "cambium-commit") {
          continuation.resume(returning: unsafe self.outcome(ofCommitting: transaction, durability))
        }
      } catch {
        _ = unsafe leave(transaction)
        continuation.resume(returning: .failure(error))
      }
    }
    try outcome.get()
  }

  private func outcome(
    ofCommitting transaction: Transaction, _ durability: Durability
  ) -> Result<Void, StoreError> {
    do throws(StoreError) { return .success(try commit(transaction, durability)) } catch {
      return .failure(error)
    }
  }

  /// Keeps the turn for the transaction, but not for this thread, which other tasks will run on.
  private func handOverWriterTurn() {
    lock.lock()
    writer = .another
    lock.unlock()
  }

  /// Suspends until the class of commit `sequence` is met and every read that begins now sees it.
  ///
  /// - Throws: what `waitForAcknowledgement` does.
  nonisolated(nonsending) private func awaitAcknowledgement(
    of sequence: UInt64, _ durability: Durability
  ) async throws(StoreError) {
    guard let flushed = lockedFlushNeeded(toAcknowledge: sequence, durability) else { return }
    try await awaitFlush(through: flushed, of: sequence)
  }

  private func lockedFlushNeeded(
    toAcknowledge sequence: UInt64, _ durability: Durability
  ) -> UInt64? {
    lock.lock()
    defer { lock.unlock() }
    return flushNeeded(toAcknowledge: sequence, durability)
  }

  /// Suspends until every commit up to `flushed` is on the medium.
  ///
  /// - Parameter sequence: The commit that the caller waits for; nil if it is `flushed`.
  /// - Throws: what `waitForFlush` does.
  nonisolated(nonsending) func awaitFlush(
    through flushed: UInt64, of sequence: UInt64? = nil
  ) async throws(StoreError) {
    let outcome = await withCheckedContinuation { continuation in
      addFlushWaiter(
        FlushWaiter(flushed: flushed, sequence: sequence ?? flushed, continuation: continuation))
    }
    try outcome.get()
  }

  private func addFlushWaiter(_ waiter: FlushWaiter) {
    lock.lock()
    let outcome = outcome(for: waiter)
    if outcome == nil {
      precondition(background.areRunning, "tasks wait for the engine's threads")
      flushWaiters.append(waiter)
      background.wakeFlusher()
    }
    lock.unlock()
    if let outcome { waiter.continuation.resume(returning: outcome) }
  }

  /// What became of the commit that `waiter` waits for, if that is known. With the lock.
  private func outcome(for waiter: FlushWaiter) -> Result<Void, StoreError>? {
    if commits.flushedSequence >= waiter.flushed { return .success(()) }
    if let cause = life.failure { return .failure(outcome(of: waiter.sequence, cause)) }
    return life.refusal(of: .finishing, at: medium.path).map { .failure($0) }
  }

  /// Resumes the tasks whose commits were flushed, or never will be. On the engine's thread, with the lock,
  /// which it gives up meanwhile: the tasks will want it at once.
  func resumeFlushWaiters() {
    if flushWaiters.isEmpty { return }
    var ready: [(FlushWaiter, Result<Void, StoreError>)] = []
    flushWaiters.removeAll { waiter in
      guard let outcome = outcome(for: waiter) else { return false }
      ready.append((waiter, outcome))
      return true
    }
    if !flushWaiters.isEmpty { background.wakeFlusher() }
    if ready.isEmpty { return }
    lock.unlock()
    for (waiter, outcome) in ready { waiter.continuation.resume(returning: outcome) }
    lock.lock()
  }

  /// Flushes for the tasks that wait, and for commits whose time is over. On the engine's thread, with the
  /// lock.
  func flushForWaiters() {
    resumeFlushWaiters()
    guard life.permits(.finishing) else { return }
    if commits.flushedSequence == commits.lastSequence { return }
    if hasLogTurn {
      // Whoever has it wakes this thread when it is done.
      progressed.wait()
      background.wantsFlush = true
      return
    }
    gatherTasks()
    if hasLogTurn {
      background.wantsFlush = true
      return
    }
    writeGathered(flushing: true)
    resumeFlushWaiters()
  }

  /// Lets the tasks commit that the last flush resumed: as many as there are processors run at a time, so most
  /// would miss this one. On the engine's thread, with the lock, which it gives up meanwhile.
  ///
  /// A thread that waits awake, as `gatherOthers` does, would take a processor from them. Who commits next to
  /// few is not waited for: sleeping takes longer than their commits.
  private func gatherTasks() {
    let expected = lastGroupCount
    guard expected > 8, commits.gatheredCount < expected else { return }
    let deadline = ContinuousClock.now + Self.taskPatience * expected
    background.awaitedCount = expected
    defer { background.awaitedCount = 0 }
    while commits.gatheredCount < expected, !hasLogTurn, !background.isEnding {
      let rest = deadline - .now
      if rest <= .zero { break }
      _ = background.flusher.wait(atMost: rest)
    }
    // What has come by now is the group: nobody else is waited for.
    lastGroupCount = max(1, commits.gatheredCount)
  }

  /// How long a task that was resumed may take until it has committed again, as a share of a group's time.
  private static var taskPatience: Duration { .microseconds(4) }
}

/// A task that waits until a commit, or one before it, is on the medium.
struct FlushWaiter: Sendable {
  /// All commits up to this one must be flushed.
  let flushed: UInt64
  /// The task's own commit.
  let sequence: UInt64
  let continuation: CheckedContinuation<Result<Void, StoreError>, Never>
}

// MARK: - The writer's turn

extension Engine {
  /// Suspends until it has the writer's turn and there is room for what a transaction may do.
  ///
  /// - Throws: what `takeWriterTurn` does; `CancellationError` if the task is cancelled before it has the turn.
  nonisolated(nonsending) private func awaitTransaction() async throws -> Transaction {
    try Task.checkCancellation()
    if let transaction = try beginAtOnce(nil) { return transaction }
    let waiter = TurnWaiter()
    while true {
      do {
        try Task.checkCancellation()
        if let transaction = try beginAtOnce(waiter) { return transaction }
      } catch {
        // It may have been this task's turn to try.
        passOnWriterTurn(waiter)
        throw error
      }
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in add(waiter, continuation) }
      } onCancel: {
        cancel(waiter)
      }
    }
  }

  /// Begins a transaction if nobody has the writer's turn and there is room.
  private func beginAtOnce(_ waiter: TurnWaiter?) throws(StoreError) -> Transaction? {
    try checkProcess()
    lock.lock()
    defer { lock.unlock() }
    if let writer, writer.isCurrent { throw .reentrant(path: medium.path) }
    try check(.starting)
    if !mayTakeTurn(waiter) { return nil }
    turnReservation = nil
    if isFull {
      // A thread waits for room with the turn, or folds; a task only waits.
      writerLeft.signal()
      if let foldFailure { throw foldFailure }
      return nil
    }
    try takeWriterTurn()
    return makeTransaction()
  }

  private func add(_ waiter: TurnWaiter, _ continuation: CheckedContinuation<Void, Never>) {
    lock.lock()
    defer { lock.unlock() }
    if life.permits(.starting), !mayTakeTurn(waiter) || isFull, !waiter.isCancelled {
      waiter.continuation = continuation
      turnWaiters.append(waiter)
    } else {
      continuation.resume()
    }
  }

  /// Resumes a task that was cancelled while it waits.
  private func cancel(_ waiter: TurnWaiter) {
    lock.lock()
    defer { lock.unlock() }
    waiter.isCancelled = true
    turnWaiters.removeAll { $0 === waiter }
    waiter.resume()
  }

  /// Lets another try to take the turn if it is free.
  private func passOnWriterTurn(_ waiter: TurnWaiter) {
    lock.lock()
    defer { lock.unlock() }
    if turnReservation === waiter { turnReservation = nil }
    if writer == nil { wakeNextWriter() }
  }

  /// Lets the task that has waited longest try to take the turn, or the waiter it is reserved for. With the lock.
  func resumeNextWriter() {
    guard let next = turnReservation ?? turnWaiters.first else { return }
    turnWaiters.removeAll { $0 === next }
    next.resume()
  }

  func resumeAllWriters() {
    let waiters = turnWaiters
    turnWaiters.removeAll()
    for waiter in waiters { waiter.resume() }
  }
}

/// A thread or a task that waits for the writer's turn. Requires the engine's lock.
final class TurnWaiter: @unchecked Sendable {
  private let start = ContinuousClock.now
  /// A task's; nil before it is suspended, and after it was resumed.
  fileprivate var continuation: CheckedContinuation<Void, Never>?
  fileprivate var isCancelled = false

  /// True if it has waited long enough for the next turn to be reserved for it.
  var isOverdue: Bool { ContinuousClock.now - start > .milliseconds(5) }

  fileprivate func resume() {
    continuation.take()?.resume()
  }
}

/// The progress of a task's transaction after its body.
private enum CommitStep {
  /// The body threw. What it had read, and what observers of the error may see, is everything up to a sequence.
  case failed(any Error, read: UInt64)
  /// It changed nothing that is stored.
  case read(UInt64)
  /// It is in the queue, and a pause is due.
  case enqueued(UInt64, pause: Duration?)
  /// Committing it has to wait, or writes files. It has the writer's turn.
  case tooLarge(Transaction)
}
