/// The trees of one footer, by their numbers in memory.
final class Base: Sendable {
  let file: PageFile
  private let roots: [TreeRoot?]
  /// The levels over trees, in step with the roots.
  private let levels: [Level?]
  /// The size of the footer without its catalog; larger than any if that cannot be written.
  let sizeWithoutTrees: Int

  /// - Throws: `.limitExceeded` if the catalog has a name that is too long.
  init(_ file: PageFile, names: TreeNames) throws(StoreError) {
    self.file = file
    var roots: [TreeRoot?] = []
    var over: [Int: LevelRoots] = [:]
    for tree in file.footer.trees {
      let layer = LevelLayer.parsing(tree.name)
      let slot = Int(try names.slot(of: layer?.tree ?? tree.name).number)
      while roots.count <= slot { roots.append(nil) }
      if let layer {
        over[slot, default: LevelRoots()][layer.layer] = tree.root
      } else {
        roots[slot] = tree.root
      }
    }
    var levels: [Level?] = []
    for (slot, roots) in over {
      while levels.count <= slot { levels.append(nil) }
      levels[slot] = Level(roots, of: file.pages)
    }
    self.roots = roots
    self.levels = levels
    sizeWithoutTrees = (try? file.footer.sizeWithoutTrees()) ?? .max / 2
  }

  /// Every commit up to this one is in the trees.
  var coveredSequence: UInt64 { file.reference.coveredSequence }

  /// A tree, without the level over it.
  @inline(__always)
  func tree(_ slot: TreeSlot) -> Tree {
    let slot = Int(slot.number)
    return Tree(pages: file.pages, root: slot < roots.count ? roots[slot] : nil)
  }

  /// The level over a tree; nil if there is none.
  @inline(__always)
  func level(_ slot: TreeSlot) -> Level? {
    let slot = Int(slot.number)
    return slot < levels.count ? levels[slot] : nil
  }
}

extension Base {
  /// The trees that have a level.
  var slotsOfLevels: [TreeSlot] {
    levels.indices.filter { levels[$0] != nil }.map { TreeSlot(UInt32($0)) }
  }

  /// The number of trees that have a level.
  var levelCount: Int { levels.count { $0 != nil } }

  /// Whether a tree has an entry of `key`.
  ///
  /// - Throws: `.corrupt`, `.io`.
  func contains(_ key: RawSpan, in slot: TreeSlot) throws(StoreError) -> Bool {
    if let level = level(slot) {
      switch try level.answer(for: key) {
      case .put: return true
      case .removal: return false
      case .nothing: break
      }
    }
    return try tree(slot).entry(for: key) != nil
  }

  /// The number of entries of a tree.
  func count(_ slot: TreeSlot) -> Int { tree(slot).count + (level(slot)?.countChange ?? 0) }

  /// The bytes of the pages of a tree and of its level.
  func liveBytes(_ slot: TreeSlot) -> Int {
    tree(slot).liveBytes + (level(slot)?.liveBytes ?? 0)
  }

  /// The lowest schema version of an entry in the pages of a tree; nil if there are none.
  func lowestVersion(_ slot: TreeSlot) -> UInt32? {
    [tree(slot).lowestVersion, level(slot)?.lowestVersion].compactMap(\.self).min()
  }

  /// The number of entries of a tree whose version is below `version`: they may be more than the tree has, as its level may replace or
  /// remove some.
  ///
  /// - Complexity: O(branches above such entries).
  /// - Throws: `.corrupt`, `.io`.
  func count(below version: UInt32, in slot: TreeSlot) throws(StoreError) -> Int {
    try tree(slot).count(below: version) + (level(slot)?.count(below: version) ?? 0)
  }
}
