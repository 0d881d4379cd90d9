/// How much collection of blobs may do at a time.
public struct BlobBudget: Hashable, Sendable {
  /// The bytes of blobs that are moved, at most; a blob that was begun is finished.
  public var bytes: Int
  /// Segments in which garbage has a smaller share than this are left alone.
  public var garbageShare: Double

  public init(bytes: Int, garbageShare: Double = 0.5) {
    self.bytes = bytes
    self.garbageShare = garbageShare
  }

  /// Whatever there is to do.
  public static let unlimited = BlobBudget(bytes: .max)
}
