/// How many times as large overlays and the files of the log are as at first: a power of two.
///
/// A fold writes each leaf that something falls into. Where keys come in no order and the tree is large, that is a leaf for nearly every entry, and
/// at last all leaves, however little is folded. An overlay of twice the size then costs hardly more to fold, so that half as much is
/// written for each commit. Where keys ascend, or few leaves are written again and again, it would only take memory.
///
/// So the scale follows what folds were seen to write.
struct OverlayScale {
  private(set) var factor = 1
  private let max: Int
  /// The pages' bytes for each byte of the overlay that was folded last; 1 before the first.
  private var ratio = 1.0

  /// The pages' bytes for each byte of an overlay from which on overlays become larger, and below which they become smaller. Half of
  /// the overlay writes at most twice as much for each of its bytes, so the two do not take turns.
  private static let bounds = (grow: 4.0, shrink: 1.5)

  /// - Parameter max: The largest factor.
  init(max: Int) { self.max = max }

  /// True if overlays do not become larger.
  var isLargest: Bool { factor == max }

  /// Notes a fold of an overlay that was full.
  ///
  /// - Parameters:
  ///   - folded: The bytes of its entries.
  ///   - written: The bytes of the pages that were made of them.
  ///   - isIntoTrees: False if some went into levels. That says nothing of the leaves that smaller overlays would write.
  mutating func note(folded: Int, written: Int, isIntoTrees: Bool = true) {
    var rest = Double(written) / Double(Swift.max(1, folded))
    if isIntoTrees {
      ratio = rest
      if ratio < Self.bounds.shrink, factor > 1 { factor /= 2 }
    }
    while rest > Self.bounds.grow, factor <= max / 2 {
      factor *= 2
      rest /= 2
    }
  }

  /// Returns the bytes of pages that the fold of an overlay will probably write, if it is like the last one. A number to plan by.
  func written(byFolding byteCount: Int) -> Int {
    Int(Swift.min(ratio * Double(byteCount), 1e15))
  }
}
