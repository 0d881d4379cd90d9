// The log's turn: whoever has it writes what was gathered, for all who wait.

extension Engine {
  /// Waits until every commit up to `sequence` is on the medium.
  ///
  /// - Throws: what `waitForFlush` does.
  func waitUntilFlushed(through sequence: UInt64) throws(StoreError) {
    lock.lock()
    defer { lock.unlock() }
    try waitForFlush(through: sequence)
  }

  /// Waits until a commit, or what a transaction has read, may be acknowledged.
  ///
  /// - Throws: what `waitForAcknowledgement` does.
  func waitUntilAcknowledged(
    _ sequence: UInt64, _ durability: Durability
  ) throws(StoreError) {
    lock.lock()
    defer { lock.unlock() }
    try waitForAcknowledgement(of: sequence, durability)
  }

  /// Waits until the class of commit `sequence` is met and every read that begins now sees it. With the lock.
  ///
  /// A relaxed commit after a durable one waits for that one's flush: until then neither may be read, as
  /// commits are published in their order and a durable one after its flush.
  ///
  /// - Throws: what `waitForFlush` does.
  func waitForAcknowledgement(
    of sequence: UInt64, _ durability: Durability
  ) throws(StoreError) {
    guard let flushed = flushNeeded(toAcknowledge: sequence, durability) else { return }
    try waitForFlush(through: flushed, of: sequence)
  }

  /// The last commit that must be flushed before `sequence` is acknowledged; nil if there is none. With
  /// the lock.
  func flushNeeded(toAcknowledge sequence: UInt64, _ durability: Durability) -> UInt64? {
    durability.isDurable ? sequence : commits.flushNeeded(toPublish: sequence)
  }

  /// Waits until every commit up to `flushed` is on the medium. With the lock, which it gives up meanwhile.
  ///
  /// The first to find no flush under way flushes for all who came meanwhile: one flush.
  ///
  /// - Parameter sequence: The commit that the caller waits for; nil if it is `flushed`.
  /// - Throws: `.outcomeUnknown` or `.poisoned` if the log failed before that.
  func waitForFlush(
    through flushed: UInt64, of sequence: UInt64? = nil
  ) throws(StoreError) {
    while commits.flushedSequence < flushed {
      if let cause = life.failure { throw outcome(of: sequence ?? flushed, cause) }
      try check(.finishing)
      if hasLogTurn {
        progressed.wait()
      } else {
        writeGathered(flushing: true)
      }
    }
  }

  /// Flushes every commit made so far, to files that the next open finds.
  ///
  /// - Throws: what `waitUntilFlushed(through:)` does; `.closed`, `.filesGone`.
  func flush() throws(StoreError) {
    try checkProcess()
    lock.lock()
    defer { lock.unlock() }
    try check(.reading)
    try waitForFlush(through: commits.lastSequence)
    try checkFiles()
  }

  /// What to say of a commit that `cause` kept from the medium.
  func outcome(of sequence: UInt64, _ cause: StoreError) -> StoreError {
    commits.isOutcomeUnknown(sequence)
      ? .outcomeUnknown(path: medium.path, reason: "\(cause)")
      : .poisoned(path: medium.path, reason: "\(cause)")
  }

  /// Writes the gathered commits as one frame, and flushes the log or leaves that for later.
  ///
  /// With the lock, which it gives up meanwhile, and while nobody has the log's turn. A failure poisons.
  func writeGathered(flushing: Bool) {
    hasLogTurn = true
    if flushing { gatherOthers() }
    // Pages may have failed while others were let in: their commits, which were not taken yet, were refused.
    guard life.permits(.finishing) else { return leaveLogTurn(.success(nil)) }
    let state = working
    let result = flushTaken(state) { (group, buffer) throws(StoreError) in
      try self.write(group, buffer, or: state, flushing: flushing)
    }
    leaveLogTurn(result)
  }

  /// Lets those commit whose commits shared the last flush: they have just been woken by it, and would each
  /// miss this one by a moment. With the log's turn and the lock.
  ///
  /// Who commits alone waits for nobody.
  private func gatherOthers() {
    var patience = 4 * lastGroupCount
    while commits.gatheredCount < lastGroupCount, patience > 0, life.permits(.finishing) {
      lock.yield()
      patience -= 1
    }
    lastGroupCount = max(1, commits.gatheredCount)
  }

  /// Writes a group of commits as a frame, in the next use if it does not fit into this one; or `state`, whose last commits
  /// they are, as the beginning of the next use.
  ///
  /// With the log's turn, without the lock.
  ///
  /// - Returns: the last sequence on the medium, if it was flushed.
  private func write(
    _ group: ClosedRange<UInt64>?, _ buffer: FrameBuffer, or state: StoreState,
    flushing: Bool
  ) throws(StoreError) -> UInt64? {
    if let group {
      if buffer.payloadCount > log.room, try !advance(with: state, for: buffer.payloadCount) {
        try beginUse(with: state)
        return state.sequence
      }
      try log.append(.commits, sequences: group, buffer)
    }
    if !flushing { return nil }
    try flushLog()
    return state.sequence
  }
}

// MARK: - The log's turn

extension Engine {
  /// Waits for the turn. With the lock.
  ///
  /// - Throws: `.poisoned`, `.closed`.
  func takeLogTurn() throws(StoreError) {
    try wait(for: progressed, to: .finishing, until: !hasLogTurn)
    try check(.finishing)
    hasLogTurn = true
  }

  /// Takes the gathered commits, of which `state` is the last, and runs `body` without the lock.
  ///
  /// With the log's turn and the lock.
  func flushTaken(
    _ state: StoreState,
    _ body: (ClosedRange<UInt64>?, FrameBuffer) throws(StoreError) -> UInt64?
  ) -> Result<UInt64?, StoreError> {
    let group = commits.take()
    swap(&gathered, &spareBuffer)
    let buffer = spareBuffer
    // Its nodes stay as they are while they are copied to the log.
    let pin = state.fresh.pin()
    lock.unlock()
    let result: Result<UInt64?, StoreError>
    do throws(StoreError) {
      result = .success(try body(group, buffer))
    } catch {
      result = .failure(error)
    }
    withExtendedLifetime(pin) {}
    buffer.removeAll()
    lock.lock()
    commits.landed()
    return result
  }

  /// Ends the turn, with how far the log is flushed now, if it was. With the lock.
  func leaveLogTurn(_ result: Result<UInt64?, StoreError>) {
    hasLogTurn = false
    hasBegunLog = log.isBegun
    figures.note(log)
    if let duration = flushDuration.take() { figures.flushes.add(duration) }
    noteUse()
    noteSizes()
    switch result {
    case .success(nil): break
    case .success(let sequence?): acknowledge(through: sequence)
    case .failure(let error): poison(error)
    }
    if log.needsSeal { background.wakeForSeal() }
    progress()
  }

  /// Takes in how large the spare is, and whether another file is wanted. With the log's turn and the lock.
  private func noteSizes() {
    spareSize = log.spareBlocks * Layout.blockSize
    successorSize = log.smallestSuccessor.map { Int(log.slots[$0].blocks) * Layout.blockSize }
    growAhead()
    if logFiles.count != log.slots.count { logFiles = log.slots.map(\.file) }
    let wants =
      successorSize == nil && mayMakeLogFiles && log.usedShare > 0.5
      && working.carriedSize > options.carriedMax && log.slots.count < options.logFilesMax
    if wants, !wantsLogFile { background.wakeFolder() }
    wantsLogFile = wants
  }

  /// Has the files become larger before a committer has to make the spare larger. With the lock.
  private func growAhead() {
    let most = options.openingMax(ofFile: spareSize)
    guard working.carriedSize > most / 3 * 2, spareSize < logMax, logTarget <= spareSize,
      mayMakeLogFiles
    else { return }
    logTarget = min(logMax, 2 * spareSize)
    background.wakeFolder()
  }

  /// Where the log went over to another file, it was full or soon would have been: the files should be
  /// larger.
  private func noteUse() {
    if log.header.number == lastUse { return }
    lastUse = log.header.number
    mayMakeLogFiles = true
    logTarget = min(logMax, max(logTarget, 2 * log.usableBlocks * Layout.blockSize))
    background.wakeFolder()
  }

  /// Publishes what waited for a flush up to `sequence`. With the lock.
  private func acknowledge(through sequence: UInt64) {
    let before = commits.publishedSequence
    commits.flushed(through: sequence)
    if commits.publishedSequence != before { snapshotOfPublished = nil }
  }
}

// MARK: - The next use of the log

extension Engine {
  /// Begins the use of the log that opening left to the first write. No footer may be written before: it names the use
  /// that it was written in (L8).
  ///
  /// With the fold's turn, without the lock.
  ///
  /// - Throws: `.poisoned`, and what the log does, which poisons.
  func beginLog() throws(StoreError) {
    lock.lock()
    defer { lock.unlock() }
    if hasBegunLog { return }
    try takeLogTurn()
    lock.unlock()
    let begun: Result<UInt64?, StoreError>
    do throws(StoreError) {
      try log.beginIfNeeded()
      begun = .success(nil)
    } catch {
      begun = .failure(error)
    }
    lock.lock()
    leaveLogTurn(begun)
    try begun.map { _ in }.get()
  }

  /// Goes over to the spare file, and leaves what the trees do not hold where it is, if that is much, and if another file is
  /// free then.
  ///
  /// With the log's turn, without the lock.
  ///
  /// - Parameter payload: The bytes that a frame is to have space for there.
  /// - Returns: false if what the trees do not hold has to be written again, by `beginUse`.
  func advance(with state: StoreState, for payload: Int) throws(StoreError) -> Bool {
    guard state.carriedSize > options.carriedMax, log.canAdvance(reserving: payload) else {
      return false
    }
    try measuringFlush { () throws(StoreError) in try log.advance(salt: makeSalt()) }
    return true
  }

  /// Goes over to the spare file: writes what the trees do not hold there, so that no other file is needed.
  ///
  /// With the log's turn, without the lock. When this returns, all of `state` is on the medium.
  func beginUse(with state: StoreState) throws(StoreError) {
    try measuringFlush { () throws(StoreError) in
      try log.begin(
        opening: state.opening(names), footer: state.base.file.reference, salt: makeSalt())
    }
  }
}

extension StoreState {
  /// The bytes of what the trees do not hold.
  var carriedSize: Int { fresh.byteCount + (frozen?.overlay.byteCount ?? 0) }

  /// The overlays as frames' payloads, oldest first, with the sequences that each stands for.
  func opening(_ names: TreeNames) -> [Log.Opening] {
    var opening: [Log.Opening] = []
    var first = base.coveredSequence + 1
    // Rows are made new by folds of what is frozen, also where no commit came since the last one.
    if let frozen, frozen.sequence >= first {
      opening.append((first...frozen.sequence, frozen.overlay.operations(names)))
      first = frozen.sequence + 1
    }
    if sequence >= first { opening.append((first...sequence, fresh.operations(names))) }
    return opening
  }
}
