/// The options of values that are stored as blobs.
public struct BlobOptions: Hashable, Sendable {
  /// The most bytes of a value that stays in its row.
  public var threshold: Int
  public var compression: BlobCompression
  /// True if values with the same content share one blob.
  public var deduplicated: Bool

  public init(
    threshold: Int = 4096, compression: BlobCompression = .standard, deduplicated: Bool = false
  ) {
    self.threshold = threshold
    self.compression = compression
    self.deduplicated = deduplicated
  }
}

extension BlobOptions: CustomStringConvertible {
  /// The options as they are declared.
  public var description: String {
    "threshold: \(threshold), compression: .\(compression)"
      + (deduplicated ? ", deduplicated: true" : "")
  }
}
