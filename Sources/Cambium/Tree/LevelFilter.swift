internal import Synchronization

/// Tells of most keys that a level does not change that it does not, so that a look-up goes to the tree below at once.
///
/// It is a tree of one entry, of an empty key, whose value is the words of a `KeyFilter`. They are read when they are first asked. A hint:
/// one that cannot be read, or is not there, says of every key that it may be changed.
final class LevelFilter: Sendable {
  let tree: Tree
  private let loaded = AtomicLazyReference<TreeFilter>()

  /// - Parameter tree: Without a root if the level has no filter.
  init(_ tree: Tree) {
    self.tree = tree
  }

  /// False if the level does not change `key`.
  func mayContain(_ key: RawSpan) -> Bool {
    if tree.root == nil { return true }
    return (loaded.load() ?? load()).mayContain(TreeFilter.hash(key))
  }

  private func load() -> TreeFilter {
    var words: [UInt8] = []
    do throws(StoreError) {
      _ = try tree.copyValue(for: RawSpan(), to: &words)
    } catch {
      words.removeAll()
    }
    return loaded.storeIfNil(TreeFilter(KeyFilter(words: words.rawSpan) ?? .full))
  }
}
