/// The compression of blobs.
public enum BlobCompression: Hashable, Sendable {
  /// No compression.
  case none
  /// Frames of zstd, each compressed by itself, unless a sample shows that compression gains little.
  ///
  /// - Parameter level: 1 is fast; up to 22 is smaller and slower. Other values count as the nearest of these.
  case zstd(level: Int)

  /// The default: zstd at level 1.
  public static let standard = BlobCompression.zstd(level: 1)

  /// The levels that there are.
  static let levels = 1...22
}
