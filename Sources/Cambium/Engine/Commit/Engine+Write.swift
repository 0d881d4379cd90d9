// A write transaction, from the writer's turn to its acknowledgement. The turn is given up before the
// flush, so the next transaction begins meanwhile, on top of what this one did.

extension Engine {
  /// Runs `body` with a transaction, and commits what it did when it returns.
  ///
  /// If `body` throws, nothing it did is there, and its error is thrown on. When this returns, every read that
  /// begins then sees what the transaction did and read, also if it changed nothing or threw; after a durable
  /// one, all of that is on the medium.
  ///
  /// - Throws: what `body` throws; `.outcomeUnknown` if the commit may or may not be there after the next
  ///   open; `.poisoned`, `.full`, `.io`, `.corrupt`, `.limitExceeded`, `.reentrant`, `.closed`, `.forked`,
  ///   after which it is not.
  func write(
    _ durability: Durability, _ body: (Transaction) throws -> Void
  ) throws {
    let transaction = try begin()
    do {
      try body(transaction)
    } catch {
      let read = leave(transaction)
      try waitUntilAcknowledged(read, durability)
      throw error
    }
    try commit(transaction, durability)
  }

  /// Waits for the writer's turn, and begins a transaction on top of everything enqueued so far.
  ///
  /// - Throws: what `takeWriterTurn` does.
  private func begin() throws(StoreError) -> Transaction {
    // Before the lock, which in a child nobody may ever give back.
    try checkProcess()
    lock.lock()
    defer { lock.unlock() }
    try takeWriterTurn()
    return makeTransaction()
  }

  /// With the lock and the writer's turn.
  func makeTransaction() -> Transaction {
    let operations = spareOperations ?? FrameBuffer()
    spareOperations = nil
    return Transaction(
      on: working, names: names, operations: operations, options: options, spilling: spilling)
  }

  /// Ends a transaction that is not to be, and the writer's turn.
  ///
  /// - Returns: the sequence of what it read.
  func leave(_ transaction: Transaction) -> UInt64 {
    transaction.abort()
    lock.lock()
    defer { lock.unlock() }
    leaveWriterTurn(transaction)
    return transaction.base.sequence
  }

  /// Ends a transaction without stored changes, and the writer's turn. Its changes of unstored values are published in the
  /// state of the last commit, when that is.
  ///
  /// - Returns: the sequence of that commit.
  func leaveUnchanged(_ transaction: Transaction) -> UInt64 {
    transaction.abort()
    lock.lock()
    defer { lock.unlock() }
    if transaction.changesUnstored {
      working.unstored = transaction.unstored
      working.unstored.publications += 1
      commits.amend { $0.unstored = working.unstored }
      snapshotOfPublished = nil
    }
    leaveWriterTurn(transaction)
    return transaction.base.sequence
  }

  /// Commits a transaction and ends the writer's turn; returns when its class is met.
  ///
  /// - Throws: `.poisoned`, `.full`, `.io`, `.outcomeUnknown`; what `commitByFooter` does.
  func commit(
    _ transaction: Transaction, _ durability: Durability
  ) throws(StoreError) {
    if transaction.isEmpty || isTooLarge(transaction) {
      let sequence =
        transaction.isEmpty ? leaveUnchanged(transaction) : try commitByFooter(transaction)
      return try waitUntilAcknowledged(sequence, durability)
    }
    lock.lock()
    defer { lock.unlock() }
    let sequence = try enqueue(transaction, durability)
    if !durability.isDurable { writeBuffered() }
    pauseIfDue()
    try waitForAcknowledgement(of: sequence, durability)
  }

  /// Puts a transaction's changes at the end of the queue and ends the writer's turn. With the lock.
  ///
  /// - Returns: its sequence.
  /// - Throws: `.poisoned`; what `makeLogHold` does. Then it is not committed.
  func enqueue(
    _ transaction: Transaction, _ durability: Durability
  ) throws(StoreError) -> UInt64 {
    defer { leaveWriterTurn(transaction) }
    do throws(StoreError) {
      try check(.finishing)
      try makeLogHold(transaction)
    } catch {
      transaction.abort()
      // What was committed before is put into the trees, so that the log has space for another attempt.
      if case .full = error, working.frozen == nil, !working.fresh.isEmpty { freeze() }
      throw error
    }
    working.sequence += 1
    working.fresh = transaction.finish()
    working.unstored = transaction.unstored
    let operations = transaction.operations
    gathered.appendCommit(operations.payload)
    let sequence = commits.enqueue(working, isDurable: durability.isDurable)
    if commits.publishedSequence == sequence { snapshotOfPublished = nil }
    recycle()
    addPressure(operations.payloadCount)
    background.activity &+= 1
    background.noteGathered(commits.gatheredCount)
    if case .relaxed(flushWithin: let delay?) = durability { background.limitDelay(to: delay) }
    return sequence
  }

  /// Lets the overlay use the memory again that only versions before the published one had. With the lock,
  /// and the writer's turn.
  private func recycle() {
    let published = commits.published.fresh
    if published.arena === working.fresh.arena { published.arena.recycle(below: published.stamp) }
  }

  /// Keeps what relaxed commits leave in the log's buffer within bounds. With the lock.
  private func writeBuffered() {
    while gathered.payloadCount >= Self.bufferSize {
      guard life.permits(.finishing) else { return }
      if !hasLogTurn {
        writeGathered(flushing: false)
      } else if gathered.payloadCount >= 8 * Self.bufferSize {
        progressed.wait()
      } else {
        return
      }
    }
  }

  /// The bytes of relaxed commits that are written at once.
  static var bufferSize: Int { 512 << 10 }
}

// MARK: - The writer's turn

extension Engine {
  /// Waits for the writer's turn, and until there is room for what a transaction may do. With the lock.
  ///
  /// - Throws: `.reentrant` if this thread has the turn, what `check` does, and where a fold has to
  ///   make room, what `waitForFold` does.
  func takeWriterTurn() throws(StoreError) {
    if let writer, writer.isCurrent { throw .reentrant(path: medium.path) }
    try waitForWriter()
    try check(.starting)
    writer = .current
    do throws(StoreError) {
      try makeRoom()
    } catch {
      giveWriterTurn()
      throw error
    }
  }

  /// Waits until no other transaction has the turn. With the lock, which it gives up meanwhile.
  ///
  /// - Throws: what `check` does.
  private func waitForWriter() throws(StoreError) {
    if mayTakeTurn(nil) { return }
    figures.waitingThreads += 1
    defer { figures.waitingThreads -= 1 }
    let waiter = TurnWaiter()
    defer { if turnReservation === waiter { turnReservation = nil } }
    try wait(for: writerLeft, to: .starting, until: mayTakeTurn(waiter))
  }

  /// Returns true if the turn is free, and not reserved for another waiter. With the lock.
  ///
  /// Whoever comes first takes the turn, so that most transactions need no change of threads. A thread that writes without a
  /// pause would always be first: once a waiter is overdue, the next turn is reserved for it.
  func mayTakeTurn(_ waiter: TurnWaiter?) -> Bool {
    if let turnReservation, turnReservation !== waiter { return false }
    if writer == nil { return true }
    if turnReservation == nil, let waiter, waiter.isOverdue { turnReservation = waiter }
    return false
  }

  /// With the lock.
  func giveWriterTurn() {
    writer = nil
    wakeNextWriter()
  }

  /// Lets one thread and one task try to take the turn, or the waiter it is reserved for. With the lock.
  func wakeNextWriter() {
    if turnReservation == nil { writerLeft.signal() } else { writerLeft.broadcast() }
    resumeNextWriter()
  }

  /// Ends the turn of a transaction that was committed or aborted, and keeps its buffer. With the lock.
  func leaveWriterTurn(_ transaction: Transaction) {
    let operations = transaction.operations
    operations.removeAll()
    spareOperations = operations
    giveWriterTurn()
  }
}
