/// The sizes that blobs are built on.
enum BlobLayout {
  /// The content of a frame but for the last of a blob, in bytes.
  static let frameLength = 256 << 10
  /// The size after which a stream begins another segment.
  static let segmentSize = 1 << 30
}
