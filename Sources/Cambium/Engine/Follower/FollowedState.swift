/// A state, and the log that leads to it.
struct FollowedState: Sendable {
  var log: FollowedLog
  var state: StoreState
}

/// The way from the files of a store to a state, for who only reads.
///
/// A writer may recycle a file of the log or unlink a segment at any moment. Frames and pages have
/// checksums, so what is read is right or looks damaged or missing; such a thing is believed when it is
/// found twice from the beginning, and the log is in the same use as before.
struct FollowedReading: Sendable {
  let medium: any FileSystem
  let options: EngineOptions
  let names: TreeNames

  /// How often the way is gone before a writer is too fast.
  private static var attemptsMax: Int { 64 }

  /// Reads the newest state, from the beginning.
  ///
  /// - Parameters:
  ///   - base: The trees of an older state of the store, whose open segments are shared.
  ///   - notes: Gets the keys that the log's frames change.
  /// - Throws: as `Follower.init`.
  func open(
    after base: Base?, notes: ReplayNotes? = nil
  ) throws(StoreError) -> FollowedState {
    var last: StoreError?
    for _ in 0..<Self.attemptsMax {
      do throws(StoreError) {
        if let found = try attempt(after: base, notes) { return found }
      } catch {
        guard error.mayPass, error != last else { throw error }
        last = error
      }
    }
    throw last ?? .io(.wouldBlock, operation: "follow the log", path: medium.path)
  }

  /// What `followed` has become since.
  ///
  /// - Parameter keys: Gets all keys that were changed since, and perhaps others.
  /// - Throws: as `Follower.init`.
  func refresh(
    _ followed: FollowedState, noting keys: KeyNotes? = nil
  ) throws(StoreError) -> FollowedState {
    let sequence = followed.state.sequence
    let next = try refresh(
      followed, keys.map { ReplayNotes(keys: $0, sequence: sequence) })
    // Commits that are in no frame any more may have changed anything.
    if next.state.base.coveredSequence > sequence { keys?.noteEverything() }
    return next
  }

  private func refresh(
    _ followed: FollowedState, _ notes: ReplayNotes?
  ) throws(StoreError) -> FollowedState {
    do throws(StoreError) {
      if let next = try goOn(from: followed, notes) { return next }
    } catch {
      guard error.mayPass else { throw error }
    }
    let next = try open(after: followed.state.base, notes: notes)
    if next.state.sequence >= followed.state.sequence { return next }
    // What was shown without a writer may not be known to be flushed now that there is one.
    let end = next.log.end
    if end.lastSequence >= followed.state.sequence { return followed }
    let place = StoreError.CorruptPlace.log(file: UInt32(next.log.files.inUse), block: end.block)
    throw .corrupt(
      place, invariant: .logFlushed,
      reason: "it ends behind commit \(end.lastSequence), and \(followed.state.sequence) was shown")
  }
}

extension StoreError {
  /// Whether it can come of a writer's doing, so that looking again helps.
  fileprivate var mayPass: Bool {
    switch self {
    case .corrupt, .missing: true
    default: false
    }
  }

  /// Whether it is about a use of the log before the one that it is in.
  fileprivate func breaksEarlierUse(of files: LogFiles) -> Bool {
    if case .corrupt(.log(let file, _), _, _) = self { file != files.inUse } else { false }
  }
}

// MARK: Once

extension FollowedReading {
  /// Goes the whole way once; nil if the log went over to another use meanwhile.
  private func attempt(
    after base: Base?, _ notes: ReplayNotes?
  ) throws(StoreError) -> FollowedState? {
    let files = try visible(
      LogFiles(opening: medium, writing: false, of: base?.file.pages.identity))
    do throws(StoreError) {
      var log = FollowedLog(files)
      try log.readToEnd()
      // Frames that were overwritten look like the end.
      if try isSuperseded(files) { return nil }
      try showWithoutWriter(&log)
      let isFirst = base == nil
      let (base, state) = try state(of: &log, after: base, notes)
      try LogAge.check(files.header, base.file.footer)
      // A writer has looked when it opened the store, and now goes on behind what this reader sees.
      if isFirst, try !WriterLock.isHeld(in: medium) {
        try LogAge.check(files.header, newest: log.footer, in: medium)
      }
      return state.map { FollowedState(log: log, state: $0) }
    } catch {
      if try isSuperseded(files) { return nil }
      throw error
    }
  }

  /// Goes on behind the last frame; nil if that is not possible.
  private func goOn(
    from followed: FollowedState, _ notes: ReplayNotes?
  ) throws(StoreError) -> FollowedState? {
    var log = followed.log
    try log.readNew()
    if try isSuperseded(log.files) { return nil }
    try showWithoutWriter(&log)
    var state = followed.state
    if log.footer != state.base.file.reference {
      guard let replayed = try self.state(of: &log, after: state.base, notes).1 else { return nil }
      state = replayed
    } else if log.shown != followed.log.shown {
      let replayed = try replay(log, from: followed.log.shown, behind: state, notes)
      guard let replayed else { return nil }
      state = replayed
    }
    return FollowedState(log: log, state: state)
  }
}

// MARK: The log

extension FollowedReading {
  /// The use of the log that may be shown: while a writer is beginning one, the one before it.
  private func visible(_ files: LogFiles) throws(StoreError) -> LogFiles {
    if files.isKnownFlushed { return files }
    return try WriterLock.isHeld(in: medium) ? files.useBefore : files
  }

  private func isSuperseded(_ files: LogFiles) throws(StoreError) -> Bool {
    let header = try visible(files.again()).header
    // One that has come as far with another salt is of a copy that was put in its place.
    return header.number > files.header.number
      || header.number == files.header.number && header.salt != files.header.salt
  }

  /// Shows all that was read if there is no writer. It is asked for after the frames were read: a writer
  /// that came since begins with all of them.
  private func showWithoutWriter(_ log: inout FollowedLog) throws(StoreError) {
    if log.isHiding, try !WriterLock.isHeld(in: medium) { log.showAll() }
  }
}

// MARK: The state

extension FollowedReading {
  /// The state that may be shown; nil if its frames are no longer there. If a use of the log that its footer needs is gone, the
  /// next footer does without it: that one's frame was flushed before the file was begun again.
  private func state(
    of log: inout FollowedLog, after previous: Base?, _ notes: ReplayNotes?
  ) throws(StoreError) -> (Base, StoreState?) {
    while true {
      let base = try base(of: &log, after: previous)
      do throws(StoreError) {
        return (base, try replay(log, over: base, notes))
      } catch {
        guard error.breaksEarlierUse(of: log.files), log.showNextFooter() else { throw error }
      }
    }
  }

  /// The trees of the newest footer that may be shown, or of the next where its segments are gone.
  private func base(
    of log: inout FollowedLog, after previous: Base?
  ) throws(StoreError) -> Base {
    while true {
      do throws(StoreError) {
        return try base(log.footer, of: log.files.identity, after: previous)
      } catch {
        guard case .missing = error, log.showNextFooter() else { throw error }
      }
    }
  }

  private func base(
    _ footer: FooterReference, of identity: StoreIdentity, after previous: Base?
  ) throws(StoreError) -> Base {
    guard let previous else {
      return try Base(
        PageFile(
          opening: footer, of: identity, in: medium, reading: options.readMode), names: names)
    }
    if previous.file.reference == footer { return previous }
    return try Base(PageFile(after: previous.file, opening: footer), names: names)
  }

  private func replay(
    _ log: FollowedLog, over base: Base, _ notes: ReplayNotes?
  ) throws(StoreError) -> StoreState? {
    try finish(
      LogReplay(over: base, capacity: options.foldThreshold, names: names, notes: notes),
      LogReader(log.files, after: log.footer),
      through: log.shown)
  }

  private func replay(
    _ log: FollowedLog, from position: LogPosition, behind state: StoreState,
    _ notes: ReplayNotes?
  ) throws(StoreError) -> StoreState? {
    try finish(
      LogReplay(behind: state, names: names, notes: notes), LogReader(log.files, from: position),
      through: log.shown)
  }

  /// Carries out all frames up to `end`; nil if they are no longer those that led there.
  private func finish(
    _ replay: consuming LogReplay, _ reader: consuming LogReader,
    through end: LogPosition
  ) throws(StoreError) -> StoreState? {
    do throws(StoreError) {
      try replay.run(&reader, before: end)
    } catch {
      replay.abort()
      throw error
    }
    guard reader.position.isSame(as: end) else {
      replay.abort()
      return nil
    }
    return replay.finish()
  }
}
