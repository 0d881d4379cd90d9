/// What becomes a blob of its own, and how it is written.
public struct BlobOptions: Hashable, Sendable {
  /// A value longer than so many bytes is stored outside its record.
  public var threshold: Int
  public var compression: BlobCompression
  /// Whether values with the same content share one blob.
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
  /// As declared.
  public var description: String {
    "threshold: \(threshold), compression: .\(compression)"
      + (deduplicated ? ", deduplicated: true" : "")
  }
}
