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
    _ reference: FooterReference, of identity: StoreIdentity? = nil, in medium: Medium,
    sizes: NodeSizes = .standard
  ) -> [StoreError] {
    let inspection = PageFileInspection(of: reference, of: identity, in: medium)
    var faults = inspection.faults
    guard let footer = inspection.footer, let pages = inspection.pages else { return faults }
    // Trees of pending work share pages with those of the catalog: their faults are named once.
    var known = Set(faults)
    for tree in footer.trees + footer.pendingWork.flatMap(\.trees) {
      let report = TreeCheck.run(Tree(pages: pages, root: tree.root), sizes: sizes)
      faults += report.faults.filter { known.insert($0).inserted }
    }
    return faults
  }

  /// Verifies everything that was opened, as it is on the medium now.
  func check(sizes: NodeSizes = .standard) -> [StoreError] {
    Self.check(reference, of: pages.identity, in: pages.medium, sizes: sizes)
  }
}
