/// Everything that one published state of a store consists of: all roots, and where bytes are.
///
/// A footer becomes true when a reference to it does (a frame of the log; until there is one, the
/// caller keeps the reference). It is written twice: a reader that finds the first copy damaged takes
/// the second. Nothing is written over the damaged one.
struct Footer: Equatable, Sendable {
  var identity: StoreIdentity
  var features = Features()
  /// The use of the log that the writer began when it opened the store, or a lower one: a log that has not come as
  /// far is of an older copy. 0 where the footer does not say.
  var logUse: UInt32 = 0
  /// A fence: a reader that follows a store refuses a footer with a lower one than that before it.
  var epoch: UInt64 = 0
  /// Page segments that are made later have this number or a higher one, also if files were removed. 0 where the footer
  /// does not say.
  var nextSegment: UInt32 = 0
  /// Every commit up to this one is in the trees.
  var coveredSequence: UInt64 = 0
  /// The catalog: names to roots.
  var trees: [NamedTree] = []
  /// The segments that hold pages or blobs of this state, ascending by kind and number.
  var segments: [SegmentExtent] = []
  /// States kept so that a migration can be rolled back.
  var keptStates: [KeptState] = []
  /// Long work that resumes where it stopped.
  var pendingWork: [PendingWork] = []
  /// The footer that was true before.
  var previous: FooterReference?
}

extension Footer {
  /// The share of the page segments that the present state does not reach, from 0 to 1: the most that a
  /// compaction could gain. From the aggregates beside the roots. Pages that only kept states, pending
  /// work or older footers reach count as garbage, as do the segments' headers. Bytes in a file after its
  /// published end do not count: `PageFile.segmentsOnDisk` knows of that.
  ///
  /// - Complexity: O(trees + segments); no page is read.
  var garbageShare: Double {
    if blockCount == 0 { return 0 }
    return max(0, 1 - Double(liveBytes) / (Double(blockCount) * Double(Layout.blockSize)))
  }
}

extension Footer {
  /// The published blocks of all page segments.
  var blockCount: UInt64 {
    var sum: UInt64 = 0
    for extent in segments where extent.kind == .pages { sum.addClamping(extent.end) }
    return sum
  }

  /// The bytes that trees reach, where they share no pages.
  ///
  /// - Complexity: O(trees).
  var liveBytes: UInt64 {
    var sum: UInt64 = 0
    for tree in trees { sum.addClamping(tree.root?.reference.liveBytes ?? 0) }
    return sum
  }

  /// True if the live bytes of segments are together those of the trees, as they are unless trees share pages.
  ///
  /// - Complexity: O(trees + segments).
  var hasLikelyLiveBytes: Bool {
    // Those of segments may be any numbers.
    var rest = liveBytes
    for extent in segments where extent.kind == .pages {
      guard extent.liveBytes <= rest else { return false }
      rest -= extent.liveBytes
    }
    return rest == 0
  }

  /// States the live bytes of all page segments: 0 for those that `live` does not name.
  mutating func setLiveBytes(_ live: [UInt32: UInt64]) {
    for index in segments.indices where segments[index].kind == .pages {
      segments[index].liveBytes = live[segments[index].number] ?? 0
    }
  }
}

/// The root of a tree, and its height above the leaves.
struct TreeRoot: Equatable, Sendable {
  var reference: PageReference
  /// 0 where the root is a leaf.
  var level: UInt8
}

/// A line of the catalog.
struct NamedTree: Equatable, Sendable {
  var name: String
  /// Nil for a tree without entries.
  var root: TreeRoot?
}

/// How much of a segment belongs to a state.
struct SegmentExtent: Equatable, Sendable {
  enum Kind: UInt8, Sendable {
    case pages = 1
    case blobs = 2
  }

  var kind: Kind
  var number: UInt32
  /// Where the published part ends: in blocks for pages, in bytes for blobs.
  var end: UInt64
  /// The bytes that the state's trees reach.
  var liveBytes: UInt64
}

/// An older footer whose roots must stay readable.
struct KeptState: Equatable, Sendable {
  var version: UInt32
  var label: String
  var footer: FooterReference
}

/// Work done in slices: which, how far, and what it has built so far.
struct PendingWork: Equatable, Sendable {
  var kind: UInt16
  var cursor: [UInt8]
  var trees: [NamedTree]
}
