extension LayeredTree {
  /// Calls `body` with every key whose entry may not be the same in another state of the tree, ascending. False
  /// where that is not known, because they lie over different trees: then `body` is not called.
  ///
  /// - Complexity: linear in what overlays say of the tree.
  func forEachKeyChanged(
    since other: LayeredTree, _ body: (RawSpan) throws -> Void
  ) rethrows -> Bool {
    guard base.root == other.base.root, level?.roots == other.level?.roots else { return false }
    var changes = ChangesCursor(newestFirst: overlays + other.overlays)
    var isOn = changes.first()
    while isOn {
      try body(changes.key)
      isOn = changes.next()
    }
    return true
  }
}
