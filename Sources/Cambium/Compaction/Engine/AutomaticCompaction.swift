/// The conditions under which segments are compacted in the background.
///
/// It begins at one share of garbage and ends at a lower one, so a store whose garbage comes and goes is not rewritten all
/// the time. When a store is closed that was written to, files of which most is garbage are emptied for up to a second, whatever the
/// conditions are: nothing comes after it that would do so.
public struct AutomaticCompaction: Hashable, Sendable {
  /// The share of garbage in the files of pages at which it begins: from 0.01 to 1. Lower and higher values count as these.
  public var beginsAt = 0.5
  /// The share of garbage at which it ends: from 0.01 to 1.
  public var endsAt = 0.25
  /// The least bytes of garbage for which it begins.
  public var leastGain = 64 << 20
  /// The bytes that are moved in one commit, at least 64 KiB. Folds wait for one such commit.
  package var sliceBytes = 8 << 20

  /// Creates the default conditions.
  public init() {}

  /// The conditions with every number within its bounds. A share that is not a number counts as the least.
  var bounded: AutomaticCompaction {
    var bounded = self
    bounded.beginsAt = beginsAt >= 0.01 ? min(beginsAt, 1) : 0.01
    bounded.endsAt = endsAt >= 0.01 ? min(endsAt, 1) : 0.01
    // A slice of nothing would be followed by the next for ever.
    bounded.sliceBytes = max(sliceBytes, 64 << 10)
    return bounded
  }
}

/// How far an engine is with that.
struct AutomaticCompactionState {
  /// Segments below this one are being emptied; nil while none are.
  var below: UInt32?
  /// The footer that was looked at last.
  var looked: FooterReference?
  /// How many footers are passed over after a failure.
  var pause = 0

  /// The number of footers after which a compaction that failed is tried again.
  static var retry: Int { 16 }
}

extension Engine {
  /// Does a slice of a compaction, if one is due and the fold's turn is free. A failure is not thrown, but
  /// reported to the listener: nothing was lost, and an error that poisons the engine is seen by all callers.
  ///
  /// - Returns: True if it did anything.
  func stepCompaction() -> Bool {
    guard let automatic = options.automaticCompaction, takeFoldTurnToCompact(automatic) else {
      return false
    }
    do throws(StoreError) {
      guard let request = try dueRequest(automatic) else { return false }
      guard let slice = try takeSlice(request) else { return true }
      if slice.done == nil { endCompaction() }
      return slice.done != nil
    } catch {
      pauseCompaction(after: error)
      options.listener?.compactionEnded(error)
      return false
    }
  }

  /// Takes the fold's turn if it is free, nothing is to be folded, and there is a footer that was not looked at.
  private func takeFoldTurnToCompact(_ automatic: AutomaticCompaction) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    guard life.permits(.starting), !background.isEnding, !hasFoldTurn, working.frozen == nil,
      isCompactionDue(automatic)
    else { return false }
    hasFoldTurn = true
    return true
  }

  /// True if a closer look may pay. Once for a footer, from its aggregates of its trees. With the lock.
  private func isCompactionDue(_ options: AutomaticCompaction) -> Bool {
    let file = working.base.file
    if automatic.below != nil { return true }
    if automatic.looked == file.reference { return false }
    automatic.looked = file.reference
    if automatic.pause > 0 {
      automatic.pause -= 1
      return false
    }
    return file.footer.garbageShare >= options.beginsAt
  }

  /// The work to be done now; nil if there is none, and then without the fold's turn, as after an error.
  private func dueRequest(
    _ options: AutomaticCompaction
  ) throws(StoreError) -> CompactionRequest? {
    do throws(StoreError) {
      if let request = request(options, of: try spaceUsage()) { return request }
    } catch {
      giveFoldTurn()
      throw error
    }
    giveFoldTurn()
    return nil
  }

  private func request(
    _ options: AutomaticCompaction, of usage: SpaceUsage
  ) -> CompactionRequest? {
    lock.lock()
    defer { lock.unlock() }
    if automatic.below == nil {
      let isWorthIt = usage.garbage >= UInt64(clamping: options.leastGain)
      guard isWorthIt, usage.garbageShare >= options.beginsAt else { return nil }
      automatic.below = usage.nextNumber
    }
    if usage.garbageShare <= options.endsAt {
      automatic.below = nil
      return nil
    }
    var request = CompactionRequest(scope: .segments)
    request.below = automatic.below ?? .max
    request.leastGarbage = options.endsAt
    request.bytes = options.sliceBytes
    return request
  }

  private func endCompaction() {
    lock.lock()
    defer { lock.unlock() }
    automatic.below = nil
    automatic.looked = working.base.file.reference
  }

  /// A fault of a page or of a table of segments stays until someone looks at it; everything else, as a
  /// lack of space or descriptors, may be over later.
  private func pauseCompaction(after error: StoreError) {
    lock.lock()
    defer { lock.unlock() }
    switch error {
    case .corrupt, .limitExceeded: automatic.pause = .max
    default: automatic.pause = AutomaticCompactionState.retry
    }
    automatic.below = nil
  }
}

// MARK: - Closing

extension Engine {
  private static var closingMax: Duration { .seconds(1) }
  /// The least garbage that is worth the flushes, unless the conditions have less.
  private static var closingGain: Int { 1 << 20 }
  /// The share of garbage below which closing leaves files as they are.
  private static var closingShare: Double { 0.1 }

  /// Empties segments of which most is garbage, before the engine is closed. What is left after some time is left to the next
  /// opening. A failure is reported to the listener, and does not keep the engine from being closed.
  ///
  /// With the lock, which it gives up meanwhile, the writer's turn and the fold's, when everything was folded.
  func emptySegmentsToClose() {
    guard let automatic = options.automaticCompaction, hasBegunLog else { return }
    lock.unlock()
    defer { lock.lock() }
    do throws(StoreError) {
      try emptySegments(gaining: min(automatic.leastGain, Self.closingGain))
    } catch {
      _ = abandonFold(error)
      options.listener?.compactionEnded(error)
    }
  }

  private func emptySegments(gaining least: Int) throws(StoreError) {
    let end = ContinuousClock.now + Self.closingMax
    var request = CompactionRequest(scope: .segments)
    request.leastGarbage = 0.5
    request.below = try spaceUsage().nextNumber
    while ContinuousClock.now < end {
      let usage = try spaceUsage()
      guard usage.garbage >= UInt64(clamping: least), usage.garbageShare > Self.closingShare,
        request.gain(of: usage) > 0, try runSlice(request) != nil
      else { return }
    }
  }
}
