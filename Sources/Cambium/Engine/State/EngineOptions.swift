/// How much an engine keeps in memory and in the log, and how it reads.
struct EngineOptions: Hashable, Sendable {
  /// The size of an overlay, in bytes of its entries, from which on it is folded, at first.
  var foldThreshold = 16 << 20
  /// How many times as large overlays and the log's files may become, while folds write much more than they fold: see
  /// `OverlayScale`. A power of two.
  var overlayScaleMax = 1
  /// The bytes of pages for each byte that a fold puts into a tree from which on the tree gets a level; never if nil: see `LevelPolicy`.
  var levelRatio: Double?
  /// The bytes of operations that a write transaction may keep in memory before it spills runs.
  var transactionBudget = 64 << 20
  /// How many runs of about one size a spilled transaction has before they are merged.
  var runsMax = 16
  /// The size of each of the log's files at first, and at most while overlays have their first size.
  var logSize = Bounds(initial: 128 << 10, max: 32 << 20)
  /// The most files that the log has. It begins with two.
  var logFilesMax = 4
  /// The bytes that no tree holds, up to which the log begins its next use with them. More is left where it is, if there is a
  /// file that is free then.
  var carriedMax = 1 << 20
  var readMode = ReadMode.mapped
  /// The sizes that nodes are built with.
  var nodeSizes = NodeSizes.standard
  /// The size that a page segment may reach, in blocks.
  var segmentBlocks = Layout.usualSegmentBlocks
  /// The bytes from which on a page segment is left if more than half of it is garbage.
  var leastSegmentOfGarbage = 16 << 20
  /// The size in bytes after which a segment of blobs takes no further blob.
  var blobSegmentSize = 1 << 30
  /// The size in bytes that the reserve may have; there is none if it is 0.
  var reserveSize = 0

  /// When segments are emptied in the background; never if nil.
  var automaticCompaction: AutomaticCompaction?
  /// Receives failures in the background, and follows work; nil if neither is wanted.
  var listener: EngineListener?

  struct Bounds: Hashable, Sendable {
    var initial: Int
    var max: Int
  }

  /// A transaction whose operations take more of the log than this commits by a footer: a quarter of
  /// both files, before overlays grow.
  var frameMax: Int { logSize.max / 2 }

  /// The overlays that a use of the log may begin with, in bytes of a file: so much that there is still
  /// room for what comes after, and that both fit behind the header, in whole blocks each. A use that had to grow its
  /// file first could not begin on a full disk.
  func openingMax(ofFile size: Int) -> Int {
    let blocks = LogLayout.firstFrameBlock + LogLayout.reservedBlocks + 2
    return min(size / 8 * 7, size - blocks * Layout.blockSize)
  }
}

extension EngineOptions {
  /// Returns the options for a store on a volume of `size` bytes: each file of the log may take a sixteenth of it, since
  /// a log of full size would leave nothing of a small volume for the records; and on one of less than a gibibyte, there are fewer of
  /// them. It may always have half a mebibyte: what is
  /// deleted on a full disk has to fit into the log before there is space to fold it. The reserve takes a 64th.
  func fitting(volume size: Int?) -> EngineOptions {
    guard let size else { return self }
    var options = self
    options.reserveSize = Reserve.sizeMax(onVolume: size)
    while options.overlayScaleMax > 1, logSize.max * options.overlayScaleMax > size / 16 {
      options.overlayScaleMax /= 2
    }
    while options.logFilesMax > 2, logSize.max * options.logFilesMax > size / 8 {
      options.logFilesMax -= 1
    }
    while options.logSize.max > max(size / 16, logSize.initial, 512 << 10) {
      options.logSize.max /= 2
      options.foldThreshold = min(foldThreshold, options.logSize.max / 2)
    }
    return options
  }
}

extension EngineOptions {
  /// Returns the bytes by which the log's files may grow while entries are written.
  ///
  /// A file is doubled when two thirds of what a use of it could begin with are in memory, and when the last one was
  /// more than half full at its end: so it is at most four times as long as what was written, then doubled up.
  ///
  /// - Parameters:
  ///   - size: The bytes of all files now.
  ///   - byteCount: The bytes of the entries.
  func logGrowth(of size: Int, writing byteCount: Int) -> Int {
    var file = logSize.initial
    while file < logSize.max, file / 4 < byteCount { file *= 2 }
    let files = byteCount > carriedMax ? logFilesMax : LogLayout.fileNumbers.count
    return max(0, files * min(file, logSize.max) - size)
  }
}

/// Receives failures of background work, and follows the work of an engine. It is called without the engine's lock.
final class EngineListener: Sendable {
  /// Receives the error that ended a compaction in the background.
  let compactionEnded: @Sendable (StoreError) -> Void
  /// Follows flushes and folds.
  let tracer: (any StoreTracer)?

  init(
    _ tracer: (any StoreTracer)? = nil,
    compactionEnded: @escaping @Sendable (StoreError) -> Void = { _ in }
  ) {
    self.compactionEnded = compactionEnded
    self.tracer = tracer
  }
}

extension EngineListener: Hashable {
  static func == (one: EngineListener, other: EngineListener) -> Bool { one === other }

  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
