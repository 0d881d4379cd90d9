/// Which footer a salvage takes.
@_spi(Raw) public enum SalvageChoice: Hashable, Sendable {
  /// The newest whose trees are whole.
  case newestWhole
  /// The newest, whatever is lost of what it leads to.
  case newest
}

/// What a salvage found, chose and lost.
@_spi(Raw) public struct SalvageReport: Hashable, Sendable {
  /// A footer that was found in a page segment.
  public struct Candidate: Hashable, Sendable {
    /// Where the copy that was found is, or the first of both.
    public let position: PagePosition
    /// Every commit up to this one is in its trees, and none after it.
    public let coveredSequence: UInt64
    /// What is wrong with its trees; nil where they were not checked.
    public internal(set) var treeFaults: [StoreError]?
    /// What is wrong besides: copies of the footer, headers and lengths of segments.
    public internal(set) var otherFaults: [StoreError] = []

    /// Whether its trees are known to be whole.
    public var isWhole: Bool { treeFaults?.isEmpty ?? false }
  }

  /// Keys that could not be copied.
  public struct Loss: Hashable, Sendable {
    public let tree: String
    /// The lost keys are from `low` on, and below `high`; up to the end of the tree where that is nil.
    public let low: [UInt8]
    public let high: [UInt8]?
    /// How many there were, as far as that is known.
    public let count: UInt64
    public let fault: StoreError
  }

  /// What kept segments, or parts of them, from being searched, or blobs from being looked for.
  public internal(set) var faults: [StoreError] = []
  /// All footers, newest first.
  public internal(set) var candidates: [Candidate] = []
  /// The candidate that was copied; nil where none was.
  public internal(set) var chosen: Int?
  /// What of it could not be copied, by tree and in the order of keys.
  public internal(set) var losses: [Loss] = []
  /// How many blobs records have that cannot be read. All others were copied.
  public internal(set) var damagedBlobs = 0
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
