extension Log {
  /// Makes the log of a new store, whose first state is what `footer` says.
  ///
  /// The caller holds the store's lock and has found no `log-0`. That is the file a store exists by: it
  /// gets its name last, and what an attempt before left behind is removed.
  ///
  /// - Parameters:
  ///   - epoch: That of the footer.
  ///   - salt: Random.
  ///   - clock: Says the time of frames.
  /// - Throws: `.full`, `.io`; there is no store then, or a whole one.
  static func create(
    in medium: any FileSystem, of identity: StoreIdentity, footer: FooterReference,
    features: Features = Features(), epoch: UInt64 = 0, salt: UInt64,
    clock: @escaping LogClock = Syscall.realTime
  ) throws(StoreError) -> Log {
    for name in [FileName.log(1), FileName.log(1).temporary, FileName.log(0).temporary] {
      try medium.removeLeftover(name)
    }
    let blocks = UInt32(LogLayout.blocksMin)
    var header = LogHeader(
      identity: identity, number: 0, epoch: epoch, blocks: blocks, salt: 0,
      firstSequence: footer.coveredSequence + 1, footer: footer, features: features)
    header.file = 1
    let spare = LogSlot(try medium.createLog(header), header)
    header.file = 0
    header.number = 1
    header.salt = salt
    let first = LogSlot(try medium.createLog(header), header)
    return Log([first, spare], header: header, in: medium, clock: clock)
  }

  /// Goes on after `files` were read to their end: writes all that will be served into the spare, and
  /// flushes it, before any of it is.
  ///
  /// Nothing is taken to be on the disk because it could be read: what an earlier process wrote may be
  /// in memory only. So before the spare is overwritten, whose use may be the last that is there, names
  /// and header of the file in use are forced to the disk again. If there is nothing to write, and the log itself says that
  /// all of it was flushed, that is left to the first call that writes: opening a closed store writes nothing.
  ///
  /// - Parameters:
  ///   - files: Opened for writing.
  ///   - end: Where their last frame ends, and how.
  ///   - opening: Overlays with all that was read and `footer` does not cover.
  ///   - footer: The newest that was read, or one published since.
  ///   - salt: Random.
  ///   - reserve: Is released for a write that finds the disk full, now and later.
  ///   - clock: Says the time of frames.
  /// - Throws: `.limitExceeded`, `.full`, `.io`; what was promised is still there. `.corrupt` if numbers
  ///   in the log are so high that what is written next could not be read.
  convenience init(
    recovering files: LogFiles, readTo end: (position: LogPosition, kind: LogEnd?),
    opening: [Opening],
    footer: FooterReference,
    salt: UInt64, reserve: Reserve? = nil, clock: @escaping LogClock = Syscall.realTime
  ) throws(StoreError) {
    let last = opening.last?.sequences.upperBound ?? footer.coveredSequence
    // Half of what can be read is more than will ever be written.
    guard max(files.header.number, last) <= LogLayout.sequenceMax / 2 else {
      throw .corrupt(
        .log(file: files.header.file, block: 0), invariant: .logHeader,
        reason: "no numbers are left after use \(files.header.number) and sequence \(last)")
    }
    if opening.isEmpty, footer == end.position.footer,
      files.isFlushed(through: end.position, end.kind),
      let next = files.nextUse(after: end.position, salt: salt)
    {
      self.init(reopening: files, toBegin: next, clock: clock)
      self.reserve = reserve
      return
    }
    try files.prepare()
    var slots = files.files.map(LogSlot.init)
    if files.spare(after: end.position.flushedFooter) == nil {
      slots.append(try files.makeSpare(number: slots.count, footer))
    }
    self.init(
      slots, header: files.header, in: files.medium, clock: clock, readTo: end.position)
    self.reserve = reserve
    try begin(opening: opening, footer: footer, salt: salt)
  }
}

extension LogFiles {
  /// Whether the log states that all of it was flushed, up to the end of its last frame. The names of its files were flushed
  /// before its second use was begun.
  fileprivate func isFlushed(through position: LogPosition, _ end: LogEnd?) -> Bool {
    guard case .clean? = end else { return false }
    return header.number > 1 && isKnownFlushed && faults.isEmpty
      && position.contentEnd <= position.flushedThrough
  }

  /// The header of a use without an opening in the spare, which must not have to grow for it; nil if it must.
  fileprivate func nextUse(after end: LogPosition, salt: UInt64) -> LogHeader? {
    guard let spare = spare(after: end.flushedFooter),
      files[spare].blocks >= LogLayout.blocksMin
    else { return nil }
    var next = header.next(in: spare, salt: salt)
    next.blocks = files[spare].blocks
    next.firstSequence = end.footer.coveredSequence + 1
    next.footer = end.footer
    next.time = end.time
    next.before = end.previous
    return next
  }

  /// Makes another file, if all that exist are needed: a file that was free has been removed.
  fileprivate func makeSpare(
    number: Int, _ footer: FooterReference
  ) throws(StoreError) -> LogSlot {
    let header = LogHeader(
      identity: identity, number: 0, epoch: header.epoch, blocks: UInt32(LogLayout.blocksMin),
      salt: 0, firstSequence: footer.coveredSequence + 1, footer: footer, features: header.features,
      file: UInt32(number))
    return LogSlot(try medium.addLog(header), header)
  }

  /// Forces to the disk what the next use relies on: the names of the files, and the header of the file in use.
  func prepare() throws(StoreError) {
    try medium.syncDirectory(at: .logDirectorySync)
    try mend()
  }

  /// Makes sure that the header in use is on the medium, and that the copies 1, which stand while the
  /// copies 0 are overwritten, are there and whole.
  ///
  /// It never writes over the only copy that is known to be on the medium. Of two that are alike that is
  /// copy 0, since copy 1 is written when copy 0 was flushed; where copy 1 is whole and older, it is that
  /// one, and copy 0 may have been flushed or not.
  private func mend() throws(StoreError) {
    let used = files[inUse]
    let isOlder = (try? used.copies.copies[1].get()).map { $0 != used.header } ?? false
    if isOlder || !used.copies.holds(used.header, at: 0) { try write(used, copy: 0) }
    if used.copies.holds(used.header, at: 0) { try write(used, copy: 1) }
    for other in files where other.header.number != header.number {
      for copy in LogLayout.copyBlocks.indices.reversed() {
        if case .failure = other.copies.copies[copy] { try write(other, copy: copy) }
      }
    }
  }

  private func write(_ file: OpenFile, copy: Int) throws(StoreError) {
    try file.file.write(file.header, copy: copy, at: .logMendWrite)
    try file.file.sync(at: .logMendSync)
  }
}

extension FileSystem {
  fileprivate func removeLeftover(_ name: FileName) throws(StoreError) {
    do throws(StoreError) {
      try unlink(name, at: .logUnlink)
    } catch {
      guard case .missing = error else { throw error }
    }
  }

  /// Makes another file of a log that exists. If that fails, nothing of it stays.
  ///
  /// - Throws: `.full`, `.io`.
  func addLog(_ header: LogHeader) throws(StoreError) -> any File {
    let temporary = FileName.log(header.file).temporary
    try removeLeftover(temporary)
    do throws(StoreError) {
      return try createLog(header)
    } catch {
      try? unlink(temporary, at: .logUnlink)
      throw error
    }
  }

  /// Makes a file of the log. It gets its name when its header is on the medium.
  fileprivate func createLog(_ header: LogHeader) throws(StoreError) -> any File {
    let name = FileName.log(header.file)
    let file = try open(name.temporary, .createDirect, at: .logCreate)
    for copy in LogLayout.copyBlocks.indices {
      try file.write(header, copy: copy, at: .logHeaderWrite)
    }
    try file.writeZeros(UInt32(LogLayout.firstFrameBlock)..<header.blocks, at: .logGrowWrite)
    try file.sync(at: .logHeaderSync)
    try rename(name.temporary, to: name, at: .logRename)
    do throws(StoreError) {
      try syncDirectory(at: .logDirectorySync)
    } catch {
      // The name may be in memory only, and no later sync would notice. Whoever comes next should not
      // find a store that a crash takes away.
      try? unlink(name, at: .logUnlink)
      throw error
    }
    return file
  }
}
