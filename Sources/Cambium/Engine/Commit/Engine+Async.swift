// The same for tasks: they suspend where a thread would wait for the writer's turn or for a flush, and the
// engine's own thread flushes for them. What is rare still waits on the task's thread: a commit by a footer,
// the log's growth, and a relaxed commit where far too many bytes wait to be written.

extension Engine {
  /// Runs `body` with a transaction, and commits what it did when it returns, as the synchronous one does.
  ///
  /// The body runs on the caller's task, without suspending. Waiting for the writer's turn and for the flush
  /// suspends.
  ///
  /// - Throws: what the synchronous one does.
  nonisolated(nonsending) func write(
    _ durability: Durability, _ body: (Transaction<Medium>) throws -> Void
  ) async throws {
    try await awaitWriterTurn()
    let transaction = begin()
    do {
      try body(transaction)
    } catch {
      let read = leave(transaction)
      if durability.isDurable { try await awaitFlush(through: read) }
      throw error
    }
    let sequence = try commit(transaction, durability)
    await awaitPause()
    if durability.isDurable { try await awaitFlush(through: sequence) }
  }

  /// Suspends until every commit up to `sequence` is on the medium.
  ///
  /// - Throws: what `waitUntilFlushed(through:)` does.
  nonisolated(nonsending) func awaitFlush(through sequence: UInt64) async throws(StoreError) {
    let outcome = await withCheckedContinuation { continuation in
      addFlushWaiter(FlushWaiter(sequence: sequence, continuation: continuation))
    }
    try outcome.get()
  }

  private func addFlushWaiter(_ waiter: FlushWaiter) {
    lock.lock()
    precondition(background.areRunning, "tasks wait for the engine's threads")
    let outcome = outcome(for: waiter.sequence)
    if outcome == nil {
      flushWaiters.append(waiter)
      background.wakeFlusher()
    }
    lock.unlock()
    if let outcome { waiter.continuation.resume(returning: outcome) }
  }

  /// What became of all commits up to `sequence`, if that is known. With the lock.
  private func outcome(for sequence: UInt64) -> Result<Void, StoreError>? {
    if commits.flushedSequence >= sequence { return .success(()) }
    if case .poisoned(let cause) = phase { return .failure(outcome(of: sequence, cause)) }
    return nil
  }

  /// Resumes the tasks whose commits were flushed, or never will be. On the engine's thread, with the lock,
  /// which it gives up meanwhile: the tasks will want it at once.
  func resumeFlushWaiters() {
    if flushWaiters.isEmpty { return }
    var ready: [(FlushWaiter, Result<Void, StoreError>)] = []
    flushWaiters.removeAll { waiter in
      guard let outcome = outcome(for: waiter.sequence) else { return false }
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
    if case .poisoned = phase { return }
    if commits.flushedSequence == commits.lastSequence { return }
    if hasLogTurn {
      // Whoever has it wakes this thread when it is done.
      progressed.wait()
      background.wantsFlush = true
      return
    }
    writeGathered(flushing: true)
    resumeFlushWaiters()
  }
}

/// A task that waits until a commit is on the medium.
struct FlushWaiter: Sendable {
  let sequence: UInt64
  let continuation: CheckedContinuation<Result<Void, StoreError>, Never>
}

// MARK: - The writer's turn

extension Engine {
  /// Suspends until it has the writer's turn and there is room for what a transaction may do.
  ///
  /// - Throws: what `takeWriterTurn` does.
  nonisolated(nonsending) private func awaitWriterTurn() async throws(StoreError) {
    while true {
      if try tryWriterTurn() { return }
      await withCheckedContinuation { continuation in addTurnWaiter(continuation) }
    }
  }

  private func tryWriterTurn() throws(StoreError) -> Bool {
    try checkProcess()
    lock.lock()
    defer { lock.unlock() }
    if let writer, writer.isCurrent { throw .reentrant(path: medium.path) }
    try checkWritable()
    if writer != nil { return false }
    if isFull {
      if let foldFailure { throw foldFailure }
      return false
    }
    writer = .current
    do throws(StoreError) {
      try makeRoom()
    } catch {
      giveWriterTurn()
      throw error
    }
    return true
  }

  private func addTurnWaiter(_ continuation: CheckedContinuation<Void, Never>) {
    lock.lock()
    defer { lock.unlock() }
    if case .open = phase, writer != nil || isFull {
      turnWaiters.append(continuation)
    } else {
      continuation.resume()
    }
  }

  /// Lets the task that has waited longest try to take the turn. With the lock.
  func resumeNextWriter() {
    if turnWaiters.isEmpty { return }
    turnWaiters.removeFirst().resume()
  }

  func resumeAllWriters() {
    let waiters = turnWaiters
    turnWaiters.removeAll()
    for waiter in waiters { waiter.resume() }
  }
}
