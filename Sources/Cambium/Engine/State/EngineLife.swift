/// The life of an engine, as a state machine: how far it is closed, and what has ended its writing.
///
///     open ──beginClosing──▶ closing ──endClosing──▶ closed
///
///     sound ──fail──▶ failed, for good: closing does not forget why
///
///     free ──fence──▶ fenced ──liftFence──▶ free
///
/// The three are independent. What they permit:
///
///                 open      fenced    closing   closed       failed and open   closing    closed
///     reading     yes       yes       yes       .closed      yes               yes        .closed
///     starting    yes       .moved    .closed   .closed      .poisoned         .closed    .closed
///     finishing   yes       yes       yes       .closed      .poisoned         .poisoned  .poisoned
///
/// It has no lock and no thread: the engine changes it with its lock, tests drive it through every sequence of
/// transitions. Code that waited, or gave up the lock, asks again.
struct EngineLife {
  enum Stage {
    case open
    /// A thread closes the engine: transactions that have begun may end, nothing else begins.
    case closing
    /// Nothing is written any more, and others may open the store.
    case closed
  }

  enum Activity: CaseIterable {
    /// Taking a snapshot, or waiting for commits that were made.
    case reading
    /// Beginning a transaction or a compaction.
    case starting
    /// Committing a transaction that has begun, folding, and writing to the log.
    case finishing
  }

  private(set) var stage = Stage.open
  /// The first failure of the log, or of the pages twice in a row. Published states stay readable.
  private(set) var failure: StoreError?
  /// The error of every transaction that would begin, if the records were moved elsewhere.
  private(set) var fence: StoreError?
}

// MARK: - Transitions

extension EngineLife {
  /// Ends writing for good. The first cause is kept.
  mutating func fail(_ cause: StoreError) {
    if failure == nil, stage != .closed { failure = cause }
  }

  /// Lets no transaction begin any more.
  mutating func fence(_ refusal: StoreError) {
    if fence == nil { fence = refusal }
  }

  mutating func liftFence() { fence = nil }

  /// Lets nothing more begin.
  ///
  /// - Returns: false if that was done before: then another thread closes the engine, or has.
  mutating func beginClosing() -> Bool {
    if stage != .open { return false }
    stage = .closing
    return true
  }

  /// - Precondition: `beginClosing()` returned true to the caller.
  mutating func endClosing() {
    precondition(stage == .closing, "only what is being closed can be closed")
    stage = .closed
  }
}

// MARK: - Permissions

extension EngineLife {
  func permits(_ activity: Activity) -> Bool {
    switch activity {
    case .reading: stage != .closed
    case .starting: stage == .open && failure == nil && fence == nil
    case .finishing: stage != .closed && failure == nil
    }
  }

  /// The error for an activity that is not permitted; nil if it is.
  func refusal(of activity: Activity, at path: String) -> StoreError? {
    if permits(activity) { return nil }
    if let failure, activity == .finishing || stage == .open {
      return .poisoned(path: path, reason: "\(failure)")
    }
    if let fence, stage == .open { return fence }
    return .closed(path: path)
  }
}
