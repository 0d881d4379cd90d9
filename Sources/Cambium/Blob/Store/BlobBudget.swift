/// A limit of the work that one call to `collectBlobs` does.
public struct BlobBudget: Hashable, Sendable {
  /// The most bytes of blobs that are moved; the last blob is always finished.
  public var bytes: Int
  /// The least share of garbage in a file for it to be rewritten.
  public var garbageShare: Double

  public init(bytes: Int, garbageShare: Double = 0.5) {
    self.bytes = bytes
    self.garbageShare = garbageShare
  }

  /// No limit.
  public static let unlimited = BlobBudget(bytes: .max)
}
