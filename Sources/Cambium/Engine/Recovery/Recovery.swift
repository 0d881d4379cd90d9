/// What opening a store for writing leaves, for an engine to go on with.
struct Recovered {
  let medium: any FileSystem
  let writerLock: WriterLock
  let names: TreeNames
  let log: Log
  let appender: PageAppender
  let reserve: Reserve
  let state: StoreState
  let report: OpenReport
  let makeSalt: @Sendable () -> UInt64
}

/// Looks at what a store holds before a byte of it is written.
protocol StateCheck: Sendable {
  /// - Throws: where it is not to be opened. Then it is as it was.
  func check(
    _ snapshot: Snapshot, _ names: TreeNames
  ) throws(StoreError)
}

/// The way from the files of a store to a state that may be served.
///
///     lock ─▶ headers ─▶ frames ─▶ newest footer ─▶ replay ─▶ write it all again, flush ─▶ remove orphans
///
/// What is read may be in the page cache and not on the medium: a flush that failed in an earlier process
/// leaves it so. So nothing is served that was not written again, under a fresh salt, and flushed: what was
/// seen once is there after the next crash, and what was not does not come back.
struct Recovery {
  let medium: any FileSystem
  let options: EngineOptions
  let makeSalt: @Sendable () -> UInt64
  let clock: LogClock
  private let check: (any StateCheck)?
  private let names = TreeNames()
  private var report = OpenReport()

  /// Opens the store in `medium` for writing.
  ///
  /// - Parameters:
  ///   - creating: Whether to make a store where there is none.
  ///   - check: Is asked about what was found, before anything is written but the lock.
  ///   - makeSalt: Random numbers, for the store's identity and for each use of its log.
  ///   - clock: Says the time of commits.
  /// - Throws: what `check` does; `.locked`, `.missing` if there is no store or something of it is not there, `.corrupt`,
  ///   `.newerFormat`, `.limitExceeded`, `.full`, `.io`.
  static func run(
    in medium: any FileSystem, options: EngineOptions, creating: Bool,
    check: (any StateCheck)? = nil,
    makeSalt: @escaping @Sendable () -> UInt64,
    clock: @escaping LogClock = Syscall.realTime
  ) throws(StoreError) -> Recovered {
    let lock = try WriterLock(in: medium)
    var recovery = Recovery(
      medium: medium, options: options, check: check, makeSalt: makeSalt, clock: clock)
    if creating { recovery.report.isNew = try recovery.createIfMissing() }
    return try recovery.recover(lock)
  }

  private init(
    medium: any FileSystem, options: EngineOptions, check: (any StateCheck)?,
    makeSalt: @escaping @Sendable () -> UInt64, clock: @escaping LogClock
  ) {
    self.medium = medium
    self.options = options
    self.check = check
    self.makeSalt = makeSalt
    self.clock = clock
  }

  private mutating func recover(
    _ writerLock: WriterLock
  ) throws(StoreError) -> Recovered {
    let files = try LogFiles(opening: medium, writing: true)
    report.healed += files.faults
    let content = try LogContent(files)
    let page = try PageFile(
      opening: content.footer, of: files.identity, in: medium, reading: options.readMode)
    if page.footer.features.access != .writing {
      throw .newerFormat(path: medium.path, reason: "it has features this program cannot write")
    }
    if let fault = page.healedCopy { report.healed.append(fault) }
    try LogAge.check(files.header, page.footer)
    try LogAge.check(files.header, newest: content.footer, in: medium)
    let base = try Base(page, names: names)
    let state = try replay(content, over: base, from: files)
    try check?.check(Snapshot(state), names)
    let reserve = Reserve(in: medium, atMost: options.reserveSize)
    reserve.hold(for: page.publishedSize)
    // From here on nothing is relied on that is not on the medium now.
    let log = try Log(
      recovering: files, readTo: (content.position, content.end), opening: state.opening(names),
      footer: content.footer, salt: makeSalt(), reserve: reserve, clock: clock)
    let next = max(try removeOrphans(of: page, besides: log.slots.count), page.footer.nextSegment)
    cutTails(of: page)
    let appender = try PageAppender(
      to: medium, of: files.identity, behind: content.footer, from: next, output: .direct,
      segmentBlocks: options.segmentBlocks)
    appender.logUse = UInt32(clamping: log.header.number)
    return Recovered(
      medium: medium, writerLock: writerLock, names: names, log: log, appender: appender,
      reserve: reserve, state: state, report: report, makeSalt: makeSalt)
  }
}

// MARK: - Replaying

/// What the use in which a log is says, from its beginning to where it ends: which footer is the newest, and what follows it.
private struct LogContent {
  let position: LogPosition
  let end: LogEnd?
  var footer: FooterReference { position.footer }

  /// - Throws: `.corrupt` for damage to what was flushed; `.io`.
  init(_ files: LogFiles) throws(StoreError) {
    var reader = LogReader(files)
    while try reader.next() != nil {}
    position = reader.position
    end = reader.end
  }
}

extension Recovery {
  /// The state that the log leads to, over the trees of its newest footer.
  private mutating func replay(
    _ content: LogContent, over base: Base, from files: LogFiles
  ) throws(StoreError) -> StoreState {
    var replay = LogReplay(over: base, capacity: options.foldThreshold, names: names)
    var reader = try LogReader(files, after: content.footer)
    try replay.run(&reader)
    if case .torn(_, let reason) = content.end { report.discardedTail = reason }
    report.replayedCommits = replay.commitCount
    let state = replay.finish()
    report.sequence = state.sequence
    return state
  }
}

// MARK: - Orphans

extension Recovery {
  /// Cuts off what interrupted writers left after the published ends of segments.
  ///
  /// After the pages of a segment there may be footers of older states. Those that the newest footer names are kept. In
  /// segments that nobody appends to any more, so is as much as the largest footer and its copy take, since a reader may be
  /// about to open one. What cannot be cut now is cut at the next open.
  private func cutTails(of file: PageFile) {
    let own = file.reference.position.segment
    let named =
      [file.reference, file.footer.previous].compactMap { $0 }
      + file.footer.keptStates.map(\.footer)
    for entry in file.pages.segments.entries {
      let number = entry.segment.number
      let footers = named.filter { $0.position.segment == number }.map(\.endBlock)
      var end = Int(footers.reduce(entry.endBlock, max))
      if number != own { end += 2 * Layout.pageBlocksMax }
      let isLonger = (try? entry.segment.file.size(at: .segmentOpen)).map {
        $0 > end * Layout.blockSize
      }
      guard isLonger == true,
        let open = try? medium.open(.pages(number), .readWrite, at: .segmentOpen)
      else { continue }
      try? open.cut(to: end * Layout.blockSize, at: .segmentCutTruncate)
    }
    guard file.pages.segments.entry(own) == nil,
      let open = try? medium.open(.pages(own), .readWrite, at: .segmentOpen)
    else { return }
    try? open.cut(to: Int(file.reference.endBlock) * Layout.blockSize, at: .segmentCutTruncate)
  }

  /// Removes what no state refers to: files in the making, page segments that the footer does not
  /// name, and files of the log where one of a lower number is missing. Who reads an older state has them open.
  ///
  /// - Returns: a number above those of all page segments that were there: what somebody may still know by
  ///   a number does not come back as something else.
  private mutating func removeOrphans(
    of file: PageFile, besides logFileCount: Int
  ) throws(StoreError) -> UInt32 {
    let kept = file.segmentNumbers
    let logs = UInt32(logFileCount)
    var highest: UInt32 = 0
    for name in try medium.list(at: .directoryList) {
      if case .pages(let number) = name.kind {
        // What was to hold runs never had pages that anybody knows.
        if !name.isTemporary || !RunNumbers.all.contains(number) { highest = max(highest, number) }
        if !name.isTemporary, kept.contains(number) { continue }
      } else if case .log(let number) = name.kind, number >= logs {
        // One of a lower number was removed, and this one is back after a crash, or could not be removed.
      } else if !name.isTemporary {
        continue
      }
      try medium.unlink(name, at: .orphanUnlink)
      report.removedFiles.append("\(name)")
    }
    report.removedFiles = report.removedFiles.sortedRarely()
    guard highest < UInt32.max else {
      throw .limitExceeded(.segmentNumber, found: Int(highest) + 1)
    }
    return highest + 1
  }
}
