extension Footer {
  /// The trees that have a level, with that.
  fileprivate func levels(of pages: PageReader) -> [(name: String, tree: Tree, level: Level)] {
    var layers: [String: LevelRoots] = [:]
    for tree in trees {
      guard let (name, layer) = LevelLayer.parsing(tree.name) else { continue }
      layers[name, default: LevelRoots()][layer] = tree.root
    }
    return trees.compactMap { tree in
      guard let roots = layers[tree.name], let level = Level(roots, of: pages) else { return nil }
      return (tree.name, Tree(pages: pages, root: tree.root), level)
    }
  }
}

extension PageFile {
  /// The keys of levels that are not what counts make of them: where the tree below does not have what is replaced or removed, or has
  /// what is added, or two parts have one key; and those that a filter leaves out. One for each tree at most.
  ///
  /// - Complexity: O(entries of levels), with a look-up for each.
  /// - Throws: `.corrupt`, `.io`.
  static func levelFaults(of footer: Footer, in pages: PageReader) throws(StoreError)
    -> [StoreError]
  {
    var faults: [StoreError] = []
    for (name, tree, level) in footer.levels(of: pages) {
      if let fault = try levelFault(name, tree, level) { faults.append(fault) }
    }
    return faults
  }

  private static func levelFault(
    _ name: String, _ tree: Tree, _ level: Level
  ) throws(StoreError) -> StoreError? {
    for part in LevelPart.allCases {
      var cursor = Cursor(level[part])
      var isOn = try cursor.first()
      while isOn {
        let isBelow = try tree.entry(for: cursor.key) != nil
        var isElsewhere = false
        for other in LevelPart.allCases where other.rawValue > part.rawValue {
          if try level[other].entry(for: cursor.key) != nil { isElsewhere = true }
        }
        if isElsewhere || isBelow == (part == .added) {
          return .corrupt(
            .entry(tree: name, key: cursor.key.array()), invariant: .levelKeys,
            reason: isElsewhere
              ? "two parts of its level have the key"
              : "its level has the key as \(part), and the tree below \(isBelow ? "has" : "lacks") it"
          )
        }
        guard level.mayChange(cursor.key) else {
          return .corrupt(
            .entry(tree: name, key: cursor.key.array()), invariant: .levelKeys,
            reason: "its level has the key as \(part), and the level's filter lacks it")
        }
        isOn = try cursor.next()
      }
    }
    return nil
  }
}
