/// Everything committed up to one sequence: trees, and on top of them what they do not hold yet.
///
///     fresh     commits since the last freeze            in memory, in the log or on their way there
///     frozen    commits that are being folded, if any    the same
///     base      the trees of the newest true footer      in pages
///
/// A value: a state stays as it is whatever is committed, folded or published after it. Each layer says
/// what it changes relative to those below, so counts are sums.
struct StoreState: Sendable {
  /// The last commit that is in it; 0 if there is none.
  var sequence: UInt64
  var base: Base
  /// What a fold is writing into new trees.
  var frozen: Frozen?
  var fresh: Overlay
  /// The values of entries that are in no file.
  var unstored = UnstoredValues()

  /// An overlay that gets no more commits.
  struct Frozen: Sendable {
    let overlay: Overlay
    /// The last commit in it.
    let sequence: UInt64
  }

  /// The number of the state among all published states: one for each commit, and one for each change of unstored values
  /// alone. Unlike the sequence, it differs between any two of them.
  var publication: UInt64 { sequence + unstored.publications }

  /// What the trees do not hold yet, newest first.
  var overlays: [Overlay] {
    frozen.map { [fresh, $0.overlay] } ?? [fresh]
  }

  /// One tree of this state.
  func tree(_ slot: TreeSlot) -> LayeredTree {
    // Without an array of overlays: this is part of every lookup.
    LayeredTree(
      fresh[slot], frozen?.overlay[slot], over: base.tree(slot), under: base.level(slot))
  }
}
