/// The last resort, for a store that does not open: finds footers in the page segments, and leaves that no footer leads to, and
/// copies their entries into a new store.
///
/// It is not part of opening a store, and must not be. Which footer is true, only the log says. One that is
/// found may never have been true, as one of a fold that was interrupted, or a transaction that was never
/// acknowledged; and bytes that look like one may be from a user's value: someone who knows a store's
/// identity can make some whose checksum is right. Whole pages are passed over, so that such bytes are met
/// only where the page around them is damaged; still, a person has to look at the report and decide.
///
/// Nothing is ever written to the damaged store.
enum Salvage {
  /// Finds the footers in `medium`, and checks their trees, beginning with the newest footer, until it finds one whose trees are whole.
  ///
  /// - Parameter isComplete: True if the others are checked, too.
  /// - Complexity: O(bytes of the page segments), and those of the checked trees.
  /// - Throws: `.newerFormat`; `.io` if the directory cannot be read. Everything else that is wrong is in the result.
  static func search(
    _ medium: any FileSystem, isComplete: Bool = false
  ) throws(StoreError) -> SalvagedState {
    let source = try SalvageSource(medium)
    return state(of: source, checking: isComplete ? .all : .untilWhole)
  }

  /// Copies one state of a store, or what is left of it, into a new store.
  ///
  /// - Parameters:
  ///   - other: An empty directory. The new store exists once this has returned without an error, and not before.
  ///   - names: Trees that may be there, if no footer says so.
  /// - Returns: The candidates, the chosen one, and the losses. Where nothing could be chosen, nothing was
  ///   written.
  /// - Throws: `.locked` if one of the stores is open for writing; `.newerFormat` if a newer version wrote the
  ///   damaged one; `.io(.fileExists, …)` if `other` is not empty; `.full`, `.io`, `.limitExceeded`.
  static func run(
    from medium: any FileSystem, to other: any FileSystem,
    choosing choice: SalvageChoice = .everything, or names: [String] = [],
    options: EngineOptions = EngineOptions(), makeSalt: @Sendable () -> UInt64
  ) throws(StoreError) -> SalvagedState {
    try refuseWriter(of: medium)
    let source = try SalvageSource(medium)
    var state = state(of: source, checking: choice == .newestWhole ? .untilWhole : .none)
    guard let copy = SalvageCopy(of: source, choice, &state) else { return state }
    let loose = choice == .everything ? copy.loose { _, _ in .readable } : nil
    let trees = source.trees(of: copy.base, or: names, loose: loose)
    try copy.run(trees, to: other, options: options, makeSalt: makeSalt, &state)
    return state
  }

  static func refuseWriter(of medium: any FileSystem) throws(StoreError) {
    if try WriterLock.isHeld(in: medium) { throw .locked(path: medium.path, holder: nil) }
  }

  /// Throws `.missing` if a directory has no files of a store but perhaps the lock and the reserve.
  static func refuseEmpty(_ medium: any FileSystem) throws(StoreError) {
    let files = try medium.list(at: .directoryList)
    guard files.allSatisfy({ $0.isTemporary || $0.isBesidesContent }) else { return }
    throw .missing(path: medium.path)
  }

  /// Which candidates are checked.
  enum Checking {
    case none, untilWhole, all
  }

  static func state(of source: SalvageSource, checking: Checking) -> SalvagedState {
    var state = SalvagedState(faults: source.faults)
    var hasWhole = false
    for found in source.candidates {
      var candidate = SalvagedState.Candidate(found)
      if checking == .all || checking == .untilWhole && !hasWhole {
        let inspection = PageFileInspection(
          of: found.reference, of: found.identity, in: source.medium)
        candidate.otherFaults = inspection.faults
        candidate.treeFaults = faults(of: found.footer, in: source.pages)
        hasWhole = hasWhole || candidate.isWhole
      }
      state.candidates.append(candidate)
    }
    return state
  }

  /// The faults of a footer's trees, without those of nodes that are less full than they should be.
  private static func faults(of footer: Footer, in pages: PageReader?) -> [StoreError] {
    guard let pages else { return [] }
    var faults: [StoreError] = []
    for tree in footer.trees {
      faults += TreeCheck.run(Tree(pages: pages, root: tree.root)).faults.filter { !$0.isOfFill }
    }
    return faults
  }
}

extension StoreError {
  fileprivate var isOfFill: Bool {
    if case .corrupt(_, invariant: .fill, _) = self { true } else { false }
  }
}
