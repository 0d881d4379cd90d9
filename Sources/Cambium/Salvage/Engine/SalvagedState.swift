/// Which footer a salvage takes.
enum SalvageChoice: Hashable, Sendable {
  /// The newest, and leaves of its lost parts.
  case everything
  /// The newest, whatever is lost of its trees.
  case newest
  /// The newest whose trees are whole.
  case newestWhole
}

/// The state that a salvage found and chose, and what was lost of it.
struct SalvagedState: Hashable, Sendable {
  /// A footer that was found in a page segment.
  struct Candidate: Hashable, Sendable {
    /// Where the copy that was found is, or the first of both.
    let position: PagePosition
    /// Every commit up to this one is in its trees, and none after it.
    let coveredSequence: UInt64
    /// The faults of its trees; nil if they were not checked.
    var treeFaults: [StoreError]?
    /// Other faults: copies of the footer, headers and lengths of segments.
    var otherFaults: [StoreError] = []

    /// True if its trees are known to be whole.
    var isWhole: Bool { treeFaults?.isEmpty ?? false }
  }

  /// Keys that could not be copied.
  struct Loss: Hashable, Sendable {
    let tree: String
    /// The lost keys are from `low` on, and below `high`; up to the end of the tree where that is nil.
    let low: [UInt8]
    let high: [UInt8]?
    /// How many there were, as far as that is known.
    let count: UInt64?
    /// How many of them were found in leaves to which nothing leads.
    var found: UInt64 = 0
    let fault: StoreError
  }

  /// The errors that kept segments, or parts of them, from being searched, or blobs from being looked for.
  var faults: [StoreError] = []
  /// All footers, newest first.
  var candidates: [Candidate] = []
  /// The candidate that was copied; nil if none was.
  var chosen: Int?
  /// The parts that could not be copied, by tree and in the order of keys.
  var losses: [Loss] = []
}

extension SalvagedState.Candidate {
  init(_ found: FoundFooter) {
    position = found.reference.position
    coveredSequence = found.reference.coveredSequence
  }
}
