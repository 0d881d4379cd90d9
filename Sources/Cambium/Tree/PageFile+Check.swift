extension PageFile {
  /// Verifies everything that `reference` publishes, and names every fault, located.
  ///
  /// Both copies of the footer, of which a reader reads the second only if it must; header and length of
  /// every page segment; every tree of the catalog and of pending work. Pages are read from the medium
  /// anew, whatever was verified before. A state that is kept has a footer of its own, and is checked by
  /// the reference to that.
  ///
  /// - Parameters:
  ///   - identity: The store that the reference is from, if it is known.
  ///   - sizes: The sizes that nodes were built with, which say what is too empty.
  /// - Complexity: O(bytes of the state's pages).
  static func check(
    _ reference: FooterReference, of identity: StoreIdentity? = nil, in medium: any FileSystem,
    sizes: NodeSizes = .standard
  ) -> [StoreError] {
    report(reference, of: identity, in: medium, sizes: sizes).faults
  }

  /// The same, with what was looked at.
  ///
  /// - Parameter watch: Told of the bytes of every page that is looked at.
  static func report(
    _ reference: FooterReference, of identity: StoreIdentity? = nil, in medium: any FileSystem,
    sizes: NodeSizes = .standard, watch: ((Int) -> Void)? = nil
  ) -> PageFileReport {
    let inspection = PageFileInspection(of: reference, of: identity, in: medium)
    var report = PageFileReport(faults: inspection.faults, footer: inspection.footer)
    guard let footer = inspection.footer, let pages = inspection.pages else { return report }
    // Trees of pending work share pages with those of the catalog: their faults are named once.
    var known = Set(report.faults)
    for tree in footer.trees + footer.pendingWork.flatMap(\.trees) {
      let found = TreeCheck.run(Tree(pages: pages, root: tree.root), sizes: sizes, watch: watch)
      let new = found.faults.filter { known.insert($0).inserted }
      report.add(found, new, of: tree.name)
    }
    if report.faults.isEmpty { report.addLevels(of: footer, in: pages) }
    return report
  }

  /// Verifies everything that was opened, as it is on the medium now.
  func check(sizes: NodeSizes = .standard) -> [StoreError] {
    Self.check(reference, of: pages.identity, in: pages.medium, sizes: sizes)
  }
}

/// What a check of a published state found.
struct PageFileReport: Sendable {
  /// Every fault, located.
  private(set) var faults: [StoreError]
  /// The names of the trees that faults are in.
  private(set) var trees: [StoreError: String] = [:]
  /// The footer; nil where neither copy can be read.
  let footer: Footer?
  /// The leaves and branches that were looked at.
  private(set) var nodeCount = 0
  private(set) var entryCount = 0

  init(faults: [StoreError], footer: Footer?) {
    self.faults = faults
    self.footer = footer
  }

  /// Adds the faults of levels over trees that are whole.
  fileprivate mutating func addLevels(of footer: Footer, in pages: PageReader) {
    do throws(StoreError) {
      faults += try PageFile.levelFaults(of: footer, in: pages)
    } catch {
      faults.append(error)
    }
  }

  fileprivate mutating func add(_ tree: TreeReport, _ newFaults: [StoreError], of name: String) {
    faults += newFaults
    for fault in newFaults { trees[fault] = name }
    nodeCount += tree.leafCount + tree.branchCount
    entryCount += tree.entryCount
  }
}
