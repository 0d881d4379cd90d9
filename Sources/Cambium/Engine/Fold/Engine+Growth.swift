// The log begins with two small files. When the overlays come to more than a use in the spare file could begin with, a
// committer doubles it, up to a bound; the other files follow. Up to `logTarget` they grow in the background, those that
// nobody writes to without the log's turn. More files are made when much would have to be written again without them.

extension Engine {
  /// What the log grows by at once.
  private static var piece: Int { 1 << 20 }
  /// What a file grows by at once while commits go on.
  private static var pieceBeside: Int { 8 << 20 }

  /// Makes a file of the log larger, or makes another, if that is wanted.
  ///
  /// Nobody writes to a file that is made larger, so commits go on meanwhile. Only where there is none but the spare, they wait.
  ///
  /// - Returns: whether there was anything to do.
  /// - Throws: `.poisoned`, `.closed`. A file that cannot grow stays as it is.
  func growLog() throws(StoreError) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    guard life.permits(.starting), hasBegunLog, !isGrowingLog else { return false }
    if try growFile() { return true }
    guard spareSize < logTarget else { return false }
    let before = spareSize
    do throws(StoreError) {
      try growSpare(to: min(logTarget, spareSize + Self.piece))
    } catch {
      if !life.permits(.finishing) { throw error }
      logTarget = before
    }
    return true
  }

  /// Makes a file larger that is not the spare, or makes one. With the lock, which it gives up meanwhile.
  ///
  /// - Returns: whether there was one to be made larger, or to be made.
  private func growFile() throws(StoreError) -> Bool {
    guard mayMakeLogFiles else { return false }
    let isSmall = successorSize.map { $0 < max(logTarget, spareSize) } ?? false
    guard wantsLogFile || isSmall else { return false }
    try takeLogTurn()
    let growth = log.takeGrowth(
      to: logTarget / Layout.blockSize, piece: Self.pieceBeside / Layout.blockSize,
      filesMax: options.logFilesMax, wantsFile: wantsLogFile)
    isGrowingLog = growth != nil
    leaveLogTurn(.success(nil))
    guard let growth else { return false }
    lock.unlock()
    var file: (any File)?
    var isDone = true
    do throws(StoreError) {
      switch growth {
      case .larger(_, let file, let start, let end): try file.grow(from: start, to: end)
      case .new(let header): file = try addFile(header)
      }
    } catch {
      isDone = false
    }
    lock.lock()
    while hasLogTurn { progressed.wait() }
    if let file, case .new(let header) = growth { log.add(file, header) }
    log.end(growth, isDone: isDone)
    if !isDone {
      logTarget = spareSize
      mayMakeLogFiles = false
    }
    isGrowingLog = false
    hasLogTurn = true
    leaveLogTurn(.success(nil))
    return true
  }

  /// Makes another file of the log, if that leaves most of the free space for pages. Without the lock.
  private func addFile(_ header: LogHeader) throws(StoreError) -> any File {
    let size = Int(header.blocks) * Layout.blockSize
    if let free = medium.bytesFree, free / 4 < size {
      throw .full(path: "\(medium.path)/\(FileName.log(header.file))")
    }
    return try medium.addLog(header)
  }

  /// Sees to it that the log can begin anew, when it is full, with all that a transaction would leave in
  /// memory: waits for a fold if that is too much, and makes the spare file larger if that is too small.
  ///
  /// With the lock and the writer's turn, before the transaction is enqueued: from there on it cannot be
  /// refused any more.
  ///
  /// - Throws: what a fold does, `.full`, `.io`: then nothing has changed.
  func makeLogHold(_ transaction: Transaction) throws(StoreError) {
    if mustFold(before: transaction) {
      try waitForFold()
      try check(.finishing)
    }
    do throws(StoreError) {
      try growSpare(for: transaction)
    } catch {
      guard case .full = error else { throw error }
      // What is frozen is folded before the log takes space of the reserve: then it may do without.
      do throws(StoreError) {
        try waitForFold()
      } catch {
        guard case .full = error else { throw error }
      }
      try check(.finishing)
      try growSpare(for: transaction, lending: transaction.isShrinking ? reserve : nil)
    }
  }

  /// Whether `makeLogHold` has nothing to do. With the lock.
  func doesLogHold(_ transaction: Transaction) -> Bool {
    !mustFold(before: transaction) && spareSize(for: transaction) <= spareSize
  }

  /// Whether no file of the log would hold what is frozen and what the transaction leaves.
  private func mustFold(before transaction: Transaction) -> Bool {
    guard let frozen = working.frozen?.overlay else { return false }
    return frozen.byteCount + transaction.byteCount
      > options.openingMax(ofFile: logMax)
  }

  /// The size that the spare file must have to begin with what is frozen and what the transaction leaves.
  private func spareSize(for transaction: Transaction) -> Int {
    let byteCount = transaction.byteCount + (working.frozen?.overlay.byteCount ?? 0)
    var size = spareSize
    while byteCount > options.openingMax(ofFile: size), size < logMax { size *= 2 }
    return size
  }

  /// Makes the spare file as large as the transaction needs it. With the lock.
  private func growSpare(
    for transaction: Transaction, lending reserve: Reserve? = nil
  ) throws(StoreError) {
    let size = spareSize(for: transaction)
    if size > spareSize { try growSpare(to: size, lending: reserve) }
  }

  private func growSpare(to size: Int, lending reserve: Reserve? = nil) throws(StoreError) {
    try takeLogTurn()
    lock.unlock()
    let blocks = size / Layout.blockSize
    let grown: Result<Void, StoreError>
    do throws(StoreError) {
      if let reserve {
        defer { reserve.hold() }
        try reserve.lending { () throws(StoreError) in try log.growSpare(to: blocks) }
      } else {
        try log.growSpare(to: blocks)
      }
      grown = .success(())
    } catch {
      grown = .failure(error)
    }
    lock.lock()
    leaveLogTurn(.success(nil))
    try grown.get()
  }
}
