/// What a compaction goes over, and how fast.
public struct CompactionOptions: Hashable, Sendable {
  /// What it goes over.
  public enum Scope: Hashable, Sendable {
    /// Everything: afterwards pages are full, and there is no garbage. It needs room for all that lives, beside
    /// what there is.
    case whole
    /// One file of pages after the other of which at least this share is garbage, beginning with those in which the
    /// least lives: so little free room is enough.
    case segments(leastGarbage: Double)

    /// Files of which a fifth is garbage.
    public static var segments: Scope { .segments(leastGarbage: 0.2) }
  }

  public var scope: Scope
  /// Whether states from before migrations are let go of: there is no way back then, and the room that they take
  /// is given back, too.
  public var droppingOldVersions = false
  /// The bytes that are written in a second at most; nil for as many as can be.
  public var bytesPerSecond: Int?
  /// The bytes that are moved at once, at least a MiB: what a crash or a cancellation loses at most of the work, and
  /// how long folds wait for it.
  public var sliceBytes = 32 << 20

  public init(scope: Scope = .whole) {
    self.scope = scope
  }
}

extension CompactionOptions {
  /// Slices of less would write more branches and footers than leaves.
  static var sliceMin: Int { 1 << 20 }

  /// What is asked of the engine.
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

/// What a compaction would gain, as far as can be said before it begins.
public struct CompactionPrediction: Hashable, Sendable {
  /// The bytes of the store's files of pages.
  public let size: Int
  /// The bytes there that the newest state reaches.
  public let liveBytes: Int
  /// The bytes that nothing reaches, in files that can be given back.
  public let garbage: Int
  /// The bytes that the newest state does not reach, in files that states from before migrations are in. Nothing is
  /// gained there until those are let go of.
  public let keptBytes: Int
  /// The bytes that the files will be smaller by. Where pages are not full, a whole compaction gains more: that is not
  /// known without reading them.
  public let gain: Int
  /// The bytes that must be free meanwhile, about.
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
