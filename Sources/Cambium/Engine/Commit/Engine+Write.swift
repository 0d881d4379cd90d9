// A write transaction, from the writer's turn to its acknowledgement. The turn is given up before the
// flush, so the next transaction begins meanwhile, on top of what this one did.

extension Engine {
  /// Runs `body` with a transaction, and commits what it did when it returns.
  ///
  /// If `body` throws, nothing it did is there, and its error is thrown on. A durable transaction, also one
  /// that changed nothing or threw, returns when everything that it read is on the medium.
  ///
  /// - Throws: what `body` throws; `.outcomeUnknown` if the commit may or may not be there after the next
  ///   open; `.poisoned`, `.full`, `.io`, `.corrupt`, `.limitExceeded`, `.reentrant`, `.closed`, `.forked`,
  ///   after which it is not.
  func write(
    _ durability: Durability, _ body: (Transaction<Medium>) throws -> Void
  ) throws {
    try takeWriterTurn()
    let transaction = begin()
    do {
      try body(transaction)
    } catch {
      let read = leave(transaction)
      if durability.isDurable { try waitUntilFlushed(through: read) }
      throw error
    }
    let sequence = try commit(transaction, durability)
    pauseIfDue()
    if durability.isDurable { try waitUntilFlushed(through: sequence) }
  }

  /// A transaction on top of everything enqueued so far. With the writer's turn.
  func begin() -> Transaction<Medium> {
    lock.lock()
    defer { lock.unlock() }
    let operations = spareOperations ?? FrameBuffer()
    spareOperations = nil
    return Transaction(
      on: working, names: names, operations: operations, options: options, runNumbers: runNumbers)
  }

  /// Ends a transaction that is not to be, and the writer's turn.
  ///
  /// - Returns: the sequence of what it read.
  func leave(_ transaction: Transaction<Medium>) -> UInt64 {
    transaction.abort()
    lock.lock()
    defer { lock.unlock() }
    leaveWriterTurn(transaction)
    return transaction.base.sequence
  }

  /// Puts a transaction's changes at the end of the queue and ends the writer's turn.
  ///
  /// - Returns: the sequence that must be on the medium before a durable transaction is acknowledged.
  /// - Throws: `.poisoned`, `.full`, `.io`; what `commitByFooter` does.
  func commit(
    _ transaction: Transaction<Medium>, _ durability: Durability
  ) throws(StoreError) -> UInt64 {
    if transaction.isEmpty { return leave(transaction) }
    if isTooLarge(transaction) { return try commitByFooter(transaction) }
    lock.lock()
    defer { lock.unlock() }
    defer { leaveWriterTurn(transaction) }
    do throws(StoreError) {
      try checkWritable()
      try makeLogHold(transaction)
    } catch {
      transaction.abort()
      throw error
    }
    working.sequence += 1
    working.fresh = transaction.finish()
    let operations = transaction.operations
    gathered.appendCommit(operations.payload)
    let sequence = commits.enqueue(working, isDurable: durability.isDurable)
    if commits.publishedSequence == sequence { snapshotOfPublished = nil }
    recycle()
    addPressure(operations.payloadCount)
    background.activity &+= 1
    if case .relaxed(let delay) = durability { buffer(delay) }
    return sequence
  }

  /// Lets the overlay use the memory again that only versions before the published one had. With the lock,
  /// and the writer's turn.
  private func recycle() {
    let published = commits.published.fresh
    if published.arena === working.fresh.arena { published.arena.recycle(below: published.stamp) }
  }

  /// Keeps the log's buffer, and the time that a commit stays in it, within bounds. With the lock.
  private func buffer(_ delay: Durability.Delay) {
    if case .limited(let delay) = delay { background.limitDelay(to: delay) }
    while gathered.payloadCount >= Self.bufferSize {
      if case .poisoned = phase { return }
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
  private static var bufferSize: Int { 512 << 10 }
}

// MARK: - The writer's turn

extension Engine {
  /// Waits for the writer's turn, and until there is room for what a transaction may do.
  ///
  /// - Throws: `.reentrant` if this thread has the turn, what `checkWritable` does, and where a fold has to
  ///   make room, what `waitForFold` does.
  func takeWriterTurn() throws(StoreError) {
    // Before the lock, which in a child nobody may ever give back.
    try checkProcess()
    lock.lock()
    defer { lock.unlock() }
    if let writer, writer.isCurrent { throw .reentrant(path: medium.path) }
    try checkWritable()
    while writer != nil {
      writerLeft.wait()
      try checkWritable()
    }
    writer = .current
    do throws(StoreError) {
      try makeRoom()
    } catch {
      giveWriterTurn()
      throw error
    }
  }

  /// With the lock.
  func giveWriterTurn() {
    writer = nil
    writerLeft.signal()
    resumeNextWriter()
  }

  /// Ends the turn of a transaction that was committed or aborted, and keeps its buffer. With the lock.
  private func leaveWriterTurn(_ transaction: Transaction<Medium>) {
    let operations = transaction.operations
    operations.removeAll()
    spareOperations = operations
    giveWriterTurn()
  }
}
