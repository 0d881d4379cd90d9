/// The files that a compaction rewrites, and how fast.
public struct CompactionOptions: Hashable, Sendable {
  /// The files that a compaction rewrites.
  public enum Scope: Hashable, Sendable {
    /// All files: afterwards pages are full, and there is no garbage. It needs free space for all live bytes.
    case whole
    /// The files of which at least this share is garbage, one after the other, beginning with those that have the
    /// fewest live bytes: so little free space is enough.
    case segments(leastGarbage: Double)

    /// Files of which a fifth is garbage.
    public static var segments: Scope { .segments(leastGarbage: 0.2) }
  }

  public var scope: Scope
  /// Drops the states from before migrations, and reclaims their space: no rollback is possible then.
  public var droppingOldVersions = false
  /// The most bytes that are written in a second; nil for no limit.
  public var bytesPerSecond: Int?
  /// The bytes that are moved in one commit, at least a MiB. A crash or a cancellation loses at most so much of the
  /// work, and folds wait for one such commit.
  public var sliceBytes = 32 << 20

  public init(scope: Scope = .whole) {
    self.scope = scope
  }
}

extension CompactionOptions {
  /// Slices of less would write more branches and footers than leaves.
  static var sliceMin: Int { 1 << 20 }

  /// The request to the engine.
  var request: CompactionRequest {
    var request = CompactionRequest()
    switch scope {
    case .whole: request.scope = .whole
    case .segments(let leastGarbage):
      request.scope = .segments
      // Of a segment that is full there is nothing to gain.
      request.leastGarbage = leastGarbage >= 0.01 ? leastGarbage : 0.01
    }
    // So that a rate is kept by many short pauses.
    let bytes = min(sliceBytes, bytesPerSecond.map { $0 / 4 } ?? .max)
    request.bytes = max(bytes, Self.sliceMin)
    return request
  }
}

/// The gain of a compaction, as far as it is known before it begins.
public struct CompactionPrediction: Hashable, Sendable {
  /// The bytes of the store's files of pages.
  public let size: Int
  /// The bytes in them that the newest state reaches.
  public let liveBytes: Int
  /// The bytes that nothing reaches, in files that can be deleted.
  public let garbage: Int
  /// The bytes that the newest state does not reach, in files that are kept for states from before migrations. They are
  /// not reclaimed until those states are dropped.
  public let keptBytes: Int
  /// The bytes that the files will be smaller by. If pages are not full, a whole compaction gains more, which is not
  /// known without reading them.
  public let gain: Int
  /// The approximate number of bytes that must be free meanwhile.
  public let roomNeeded: Int
}

extension CompactionPrediction {
  init(_ usage: SpaceUsage, _ request: CompactionRequest) {
    let candidates = request.candidates(of: usage)
    let live = candidates.map(\.liveBytes)
    let moved = live.reduce(0, +)
    let atOnce = (live.max() ?? 0) + CompactionRequest.passBytes
    size = Int(clamping: usage.size)
    liveBytes = Int(clamping: usage.liveBytes)
    garbage = Int(clamping: usage.garbage)
    keptBytes = Int(clamping: usage.keptBytes)
    gain = Int(clamping: candidates.reduce(0) { $0 + $1.garbage })
    roomNeeded = Int(clamping: request.scope == .whole ? moved : min(moved, atOnce))
  }
}
