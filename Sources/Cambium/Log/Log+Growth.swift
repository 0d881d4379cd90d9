// The sizes and the number of the log's files.

extension Log {
  /// Gives back what the files have beyond what they begin with, where nothing in them is needed: goes on in a
  /// small spare, and cuts the other. Who opens the log next begins with so much.
  ///
  /// - Precondition: the newest footer covers all that is in the log.
  /// - Parameter salt: Random.
  /// - Throws: `.full`, `.io`: then the log goes on as before, or poisoned. Whichever use is true at the next
  ///   opening, it leads to the same footer.
  func shrink(salt: UInt64) throws(StoreError) {
    try refuseIfPoisoned()
    precondition(footer.coveredSequence == lastSequence, "what is in no tree is needed")
    try flush()
    let first = LogLayout.fileNumbers.count
    guard slots.count > first || slots.contains(where: { $0.blocks > LogLayout.blocksMin }) else {
      return
    }
    try beginIfNeeded()
    // The file of the last use but one stays: so both must be among the first two.
    let isFirst = header.file < first
    try goOn(in: header.file == 0 ? 1 : 0, salt: salt)
    if !isFirst { try goOn(in: 1, salt: ~salt) }
    while slots.count > first { try removeLast() }
    try cut(spare)
  }

  /// Begins a use without an opening in a file that is cut before.
  private func goOn(in file: Int, salt: UInt64) throws(StoreError) {
    spare = file
    try cut(file)
    try begin(opening: [], footer: footer, salt: salt)
  }

  private func cut(_ file: Int) throws(StoreError) {
    guard slots[file].blocks > LogLayout.blocksMin else { return }
    try slots[file].file.truncate(
      to: LogLayout.blocksMin * Layout.blockSize, at: .logCutTruncate)
    slots[file].blocks = UInt32(LogLayout.blocksMin)
  }

  /// Unlinks the file of the highest number. If it is back after a crash, it is free.
  private func removeLast() throws(StoreError) {
    try medium.unlink(.log(UInt32(slots.count - 1)), at: .logUnlink)
    slots.removeLast()
    chooseSpare()
  }
}

// MARK: Growing

extension Log {
  /// Makes the spare larger, if it has less than `blocks` and may have more.
  ///
  /// Only the spare grows. A flush of zeros that failed on the file in use would take the error that
  /// the next flush of commits has to see, and the commits with it. So there is more room when the
  /// spare has been begun, and the file that was in use has grown in its turn.
  ///
  /// - Throws: `.full`, `.io`; the log goes on as before, and what was written is given back.
  func growSpare(to blocks: Int) throws(StoreError) {
    try beginIfNeeded()
    let end = UInt32(min(blocks, LogLayout.blocksMax))
    guard end > slots[spare].blocks else { return }
    try slots[spare].file.grow(from: slots[spare].blocks, to: end)
    slots[spare].blocks = end
  }

  /// Sees to it that `blocks` fit in the spare, with room for a footer and a seal behind them, and that
  /// it is no smaller than any file of a log: it may have been cut.
  func growForOpening(_ blocks: Int) throws(StoreError) {
    let needed = max(blocks + LogLayout.reservedBlocks, LogLayout.blocksMin)
    guard needed <= LogLayout.blocksMax else {
      throw .limitExceeded(.logSize, found: needed * Layout.blockSize)
    }
    if needed <= slots[spare].blocks { return }
    var size = LogLayout.blocksMin
    while size < needed { size *= 2 }
    do throws(StoreError) {
      try growSpare(to: size)
    } catch {
      guard case .full = error else { throw error }
      try lending { () throws(StoreError) in try growSpare(to: needed) }
      reserve?.hold()
    }
  }
}

// MARK: Growing beside commits

/// A file of the log that is made, or made larger, while frames are written to others.
enum LogGrowth {
  case larger(number: Int, file: any File, from: UInt32, to: UInt32)
  /// The next file, which was never used.
  case new(LogHeader)
}

extension Log {
  /// Takes a file out of the ring to make it larger; or says which file is to be made.
  ///
  /// - Parameters:
  ///   - target: The blocks that files should have.
  ///   - piece: The blocks by which a file becomes larger at once.
  ///   - filesMax: The number of files from which on none is made.
  ///   - wantsFile: Whether a file is to be made if there is none but the spare.
  /// - Returns: what to pass to `File.grow` or `FileSystem.addLog`, and then to `end`; nil if there is nothing to do.
  func takeGrowth(
    to target: Int, piece: Int, filesMax: Int, wantsFile: Bool
  ) -> LogGrowth? {
    guard isBegun, !isPoisoned else { return nil }
    let goal = UInt32(min(max(target, spareBlocks), LogLayout.blocksMax))
    if let small = smallestSuccessor, slots[small].blocks < goal {
      slots[small].isGrowing = true
      let start = slots[small].blocks
      return .larger(
        number: small, file: slots[small].file, from: start,
        to: min(goal, start + UInt32(piece)))
    }
    guard wantsFile, smallestSuccessor == nil, slots.count < min(filesMax, LogLayout.filesMax)
    else { return nil }
    return .new(headerOfNextFile)
  }

  /// The header of another file, of the size of the spare.
  var headerOfNextFile: LogHeader {
    LogHeader(
      identity: identity, number: 0, epoch: header.epoch, blocks: UInt32(spareBlocks), salt: 0,
      firstSequence: footer.coveredSequence + 1, footer: footer, features: header.features,
      reserved: header.reserved, file: UInt32(slots.count))
  }

  /// Puts a file back into the ring.
  ///
  /// - Parameter isDone: False if it could not be made larger.
  func end(_ growth: LogGrowth, isDone: Bool) {
    guard case .larger(let number, _, _, let blocks) = growth else { return }
    slots[number].isGrowing = false
    if isDone { slots[number].blocks = blocks }
    if isBegun { chooseSpare() }
  }

  /// Adds a file that was made.
  func add(_ file: any File, _ header: LogHeader) {
    precondition(Int(header.file) == slots.count, "it is not the next one")
    slots.append(LogSlot(file, header))
  }
}

extension File {
  /// Makes a file of the log larger by zeros. If that fails, it is as long as before.
  ///
  /// - Throws: `.full`, `.io`.
  func grow(from start: UInt32, to end: UInt32) throws(StoreError) {
    // A file that was cut may have ended before the second copy of its header, which was mended since.
    let start = max(start, UInt32(LogLayout.firstFrameBlock))
    do throws(StoreError) {
      try writeZeros(start..<end, at: .logGrowWrite)
      try sync(at: .logGrowSync)
    } catch {
      try? truncate(to: Int(start) * Layout.blockSize, at: .logCutTruncate)
      throw error
    }
  }
}
