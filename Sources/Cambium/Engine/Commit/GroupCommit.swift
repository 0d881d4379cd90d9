/// The order of commits on their way from memory to the medium, as a state machine.
///
/// It has no lock, no thread and does no I/O: production drives it under the engine's lock, a seed
/// drives it in tests.
///
///     enqueue ─▶ gathered ──take──▶ in flight ──flushed──▶ acknowledged
///                    │                  └─────failed─────▶ of unknown outcome
///                    └─ published: a relaxed commit as soon as all before it are,
///                       a durable one after its flush, always in commit order
///
/// While one group is in flight the next is gathered, so one flush serves all who came meanwhile.
struct GroupCommit<State> {
  /// A commit that waits to be published.
  private struct Waiting {
    let sequence: UInt64
    let isDurable: Bool
    var state: State
  }

  /// The newest commit that may be read, and its sequence.
  private(set) var published: State
  private(set) var publishedSequence: UInt64
  /// The sequence of the newest commit that was enqueued.
  private(set) var lastSequence: UInt64
  /// Every commit up to this one is on the medium.
  private(set) var flushedSequence: UInt64
  /// Ascending; what is before `firstWaiting` is published.
  private var waiting: [Waiting] = []
  private var firstWaiting = 0
  /// The last sequence of the group that is in flight.
  private(set) var inFlight: UInt64?
  /// The last sequence that was ever taken to be written.
  private var takenSequence: UInt64

  /// Begins with a state that is on the medium.
  init(_ state: State, sequence: UInt64) {
    published = state
    publishedSequence = sequence
    lastSequence = sequence
    flushedSequence = sequence
    takenSequence = sequence
  }
}

extension GroupCommit {
  /// The number of commits that were not taken yet.
  var gatheredCount: Int { Int(lastSequence - takenSequence) }

  /// Whether there is a commit that was not taken yet.
  var hasGathered: Bool { lastSequence > takenSequence }

  /// The sequences of the commits that the next group will have.
  var gathered: ClosedRange<UInt64>? {
    hasGathered ? takenSequence + 1...lastSequence : nil
  }

  /// Adds a commit behind all others.
  ///
  /// - Returns: its sequence. A relaxed commit is published when this returns, unless one before it
  ///   still waits for its flush: `flushNeeded(toPublish:)` says which.
  mutating func enqueue(_ state: State, isDurable: Bool) -> UInt64 {
    lastSequence += 1
    if isDurable || firstWaiting < waiting.count {
      waiting.append(Waiting(sequence: lastSequence, isDurable: isDurable, state: state))
    } else {
      published = state
      publishedSequence = lastSequence
    }
    return lastSequence
  }

  /// The last commit up to `sequence` that must be flushed before `sequence` is published: the durable
  /// one that it waits for. Nil if it is published.
  func flushNeeded(toPublish sequence: UInt64) -> UInt64? {
    if sequence <= publishedSequence { return nil }
    return waiting[firstWaiting...].last { $0.isDurable && $0.sequence <= sequence }?.sequence
  }

  /// Takes all that was gathered as the group in flight.
  ///
  /// - Precondition: no group is in flight.
  mutating func take() -> ClosedRange<UInt64>? {
    precondition(inFlight == nil, "one group at a time")
    guard let group = gathered else { return nil }
    inFlight = group.upperBound
    takenSequence = group.upperBound
    return group
  }

  /// Says that every commit up to `sequence` is on the medium, and publishes what waited for that.
  mutating func flushed(through sequence: UInt64) {
    flushedSequence = max(flushedSequence, sequence)
    publishReady()
  }

  /// No group is in flight any more: it was written, flushed or not, or writing it failed.
  mutating func landed() {
    inFlight = nil
  }

  private mutating func publishReady() {
    while firstWaiting < waiting.count {
      let commit = waiting[firstWaiting]
      if commit.isDurable, commit.sequence > flushedSequence { break }
      published = commit.state
      publishedSequence = commit.sequence
      firstWaiting += 1
    }
    if firstWaiting == waiting.count {
      waiting.removeAll(keepingCapacity: true)
      firstWaiting = 0
    } else if firstWaiting > 1024 {
      waiting.removeFirst(firstWaiting)
      firstWaiting = 0
    }
  }

  /// Whether nobody can say what became of `sequence` when the log failed.
  ///
  /// A commit that was never taken to be written is not there; one that was taken and not flushed is there
  /// wholly or not at all.
  func isOutcomeUnknown(_ sequence: UInt64) -> Bool {
    sequence > flushedSequence && sequence <= takenSequence
  }

  /// Changes the state of the newest commit, which may be published already.
  mutating func amend(_ body: (inout State) -> Void) {
    if firstWaiting < waiting.count {
      body(&waiting[waiting.count - 1].state)
    } else {
      body(&published)
    }
  }

  /// Changes every state that is not replaced yet, in commit order.
  mutating func update(_ body: (inout State) -> Void) {
    body(&published)
    for index in firstWaiting..<waiting.count { body(&waiting[index].state) }
  }
}
