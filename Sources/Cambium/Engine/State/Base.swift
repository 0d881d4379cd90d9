/// The trees of one footer, by their numbers in memory.
final class Base: Sendable {
  let file: PageFile
  private let roots: [TreeRoot?]
  /// The size of the footer without its catalog; larger than any if that cannot be written.
  let sizeWithoutTrees: Int

  /// - Throws: `.limitExceeded` if the catalog has a name that is too long.
  init(_ file: PageFile, names: TreeNames) throws(StoreError) {
    self.file = file
    var roots: [TreeRoot?] = []
    for tree in file.footer.trees {
      let slot = Int(try names.slot(of: tree.name).number)
      while roots.count <= slot { roots.append(nil) }
      roots[slot] = tree.root
    }
    self.roots = roots
    sizeWithoutTrees = (try? file.footer.sizeWithoutTrees()) ?? .max / 2
  }

  /// Every commit up to this one is in the trees.
  var coveredSequence: UInt64 { file.reference.coveredSequence }

  func tree(_ slot: TreeSlot) -> Tree {
    let slot = Int(slot.number)
    return Tree(pages: file.pages, root: slot < roots.count ? roots[slot] : nil)
  }
}
