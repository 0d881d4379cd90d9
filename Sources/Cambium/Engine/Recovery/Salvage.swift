/// The last resort, when the log is lost or the footer that it names: looks for older footers in the page
/// segments themselves, and copies what they lead to into a new store.
///
/// It is not part of opening a store, and must not be. Which footer is true, only the log says. One that is
/// found may never have been true, as one of a fold that was interrupted, or a transaction that was never
/// acknowledged; and what looks like one may be bytes that a user put into a value: whoever knows a store's
/// identity can make some whose checksum is right. Whole pages are passed over, so that such bytes are met
/// only where the page around them is damaged; still, a person has to look at the report and decide.
///
/// Nothing is ever written to the damaged store.
enum Salvage {
  /// Finds all footers in `medium`, and checks what they lead to: the newest first, until one is whole.
  ///
  /// - Parameter isComplete: Whether the others are checked, too.
  /// - Complexity: O(bytes of the page segments), and those of what is checked.
  /// - Throws: `.io` if the directory cannot be read. Everything else that is wrong is in the report.
  static func search(
    _ medium: any FileSystem, isComplete: Bool = false
  ) throws(StoreError) -> SalvageReport {
    try find(medium, isComplete: isComplete).report
  }

  /// Copies what the newest whole footer leads to, or the newest of all, into a new store.
  ///
  /// - Parameters:
  ///   - other: An empty directory. The new store is there when this returns without an error, and before
  ///     that none is.
  ///   - choice: Which footer, if there are several.
  /// - Returns: what was found and chosen, and what was lost. Where nothing could be chosen, nothing was
  ///   written.
  /// - Throws: `.locked` if one of the stores is open for writing; `.io(.fileExists, …)` if `other` is not
  ///   empty; `.full`, `.io`, `.limitExceeded`.
  static func run(
    from medium: any FileSystem, to other: any FileSystem,
    choosing choice: SalvageChoice = .newestWhole,
    options: EngineOptions = EngineOptions(), makeSalt: @Sendable () -> UInt64
  ) throws(StoreError) -> SalvageReport {
    if try WriterLock.isHeld(in: medium) { throw .locked(path: medium.path, holder: nil) }
    let lock = try WriterLock(in: other)
    defer { withExtendedLifetime(lock) {} }
    guard try other.list(at: .directoryList).allSatisfy({ $0 == .lock }) else {
      throw .io(
        .fileExists, operation: "salvage into a directory that is not empty", path: other.path)
    }
    var (report, sources) = try find(medium, isComplete: false)
    guard let index = report.index(of: choice), let pages = sources[index].pages else {
      return report
    }
    report.chosen = index
    let identity = StoreIdentity(low: makeSalt(), high: makeSalt())
    let copy = SalvageCopy(
      from: pages,
      to: PageAppender(
        to: other, of: identity, from: 1, output: .buffered, segmentBlocks: options.segmentBlocks),
      in: other, of: identity, sizes: options.nodeSizes)
    let reference = try copy.run(sources[index].footer)
    report.losses = copy.losses.all
    _ = try Log.create(in: other, of: identity, footer: reference, salt: makeSalt())
    return report
  }

  /// What a candidate is read by.
  private struct Source {
    let footer: Footer
    var pages: PageReader?
  }

  private static func find(
    _ medium: any FileSystem, isComplete: Bool
  ) throws(StoreError) -> (report: SalvageReport, sources: [Source]) {
    var search = FooterSearch(medium)
    try search.run()
    var report = SalvageReport(faults: search.faults)
    var sources: [Source] = []
    var hasWhole = false
    for found in search.found {
      var candidate = SalvageReport.Candidate(found)
      var source = Source(footer: found.footer)
      if isComplete || !hasWhole {
        let inspection = PageFileInspection(of: found.reference, of: found.identity, in: medium)
        source.pages = inspection.pages
        candidate.otherFaults = inspection.faults
        candidate.treeFaults = faults(of: found.footer, in: inspection.pages)
        hasWhole = hasWhole || candidate.isWhole
      }
      report.candidates.append(candidate)
      sources.append(source)
    }
    return (report, sources)
  }

  /// What is wrong with a footer's trees, but for nodes that are emptier than they should be.
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
