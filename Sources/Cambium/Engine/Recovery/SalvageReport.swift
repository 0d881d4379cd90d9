/// Which footer a salvage takes.
package enum SalvageChoice: Hashable, Sendable {
  /// The newest whose trees are whole.
  case newestWhole
  /// The newest, whatever is lost of what it leads to.
  case newest
}

/// What a salvage found, chose and lost.
package struct SalvageReport: Hashable, Sendable {
  /// A footer that was found in a page segment.
  package struct Candidate: Hashable, Sendable {
    /// Where the copy that was found is, or the first of both.
    package let position: PagePosition
    /// Every commit up to this one is in its trees, and none after it.
    package let coveredSequence: UInt64
    /// What is wrong with its trees; nil where they were not checked.
    package internal(set) var treeFaults: [StoreError]?
    /// What is wrong besides: copies of the footer, headers and lengths of segments.
    package internal(set) var otherFaults: [StoreError] = []

    /// Whether its trees are known to be whole.
    package var isWhole: Bool { treeFaults?.isEmpty ?? false }
  }

  /// Keys that could not be copied.
  package struct Loss: Hashable, Sendable {
    package let tree: String
    /// The lost keys are from `low` on, and below `high`; up to the end of the tree where that is nil.
    package let low: [UInt8]
    package let high: [UInt8]?
    /// How many there were, as far as that is known.
    package let count: UInt64
    package let fault: StoreError
  }

  /// What kept segments, or parts of them, from being searched, or blobs from being looked for.
  package internal(set) var faults: [StoreError] = []
  /// All footers, newest first.
  package internal(set) var candidates: [Candidate] = []
  /// The candidate that was copied; nil where none was.
  package internal(set) var chosen: Int?
  /// What of it could not be copied, by tree and in the order of keys.
  package internal(set) var losses: [Loss] = []
  /// How many blobs records have that cannot be read. All others were copied.
  package internal(set) var damagedBlobs = 0
}

extension SalvageReport.Candidate {
  init(_ found: FoundFooter) {
    position = found.reference.position
    coveredSequence = found.reference.coveredSequence
  }
}

extension SalvageReport {
  func index(of choice: SalvageChoice) -> Int? {
    switch choice {
    case .newestWhole: candidates.firstIndex(where: \.isWhole)
    case .newest: candidates.isEmpty ? nil : 0
    }
  }
}
