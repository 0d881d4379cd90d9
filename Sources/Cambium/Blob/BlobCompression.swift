/// How the content of blobs is written.
public enum BlobCompression: Hashable, Sendable {
  /// As it is.
  case none
  /// In frames of zstd, each compressed by itself, unless a sample says that it is not worth it.
  ///
  /// - Parameter level: 1 is fast; up to 22 is smaller and slower. Others are taken for the nearest.
  case zstd(level: Int)

  /// What is written where nothing else is asked for: level 1.
  public static let standard = BlobCompression.zstd(level: 1)

  /// The levels that there are.
  static let levels = 1...22
}
