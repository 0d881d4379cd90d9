/// The options of values that are stored as blobs.
package struct BlobOptions: Hashable, Sendable {
  /// The most bytes of a value that stays in its row, compressed if it is longer than 4 KiB.
  package var threshold: Int
  /// The compression of values that are stored in files of blobs.
  package var compression: BlobCompression
  /// True if values with the same content share one blob.
  package var deduplicated: Bool

  /// - Parameter threshold: If nil, 64 KiB, or 4 KiB where equal values share a blob: in rows nothing is shared.
  package init(
    threshold: Int? = nil, compression: BlobCompression = .standard, deduplicated: Bool = false
  ) {
    self.threshold = threshold ?? (deduplicated ? 4 << 10 : BlobLayout.inRowLength)
    self.compression = compression
    self.deduplicated = deduplicated
  }
}

extension BlobOptions: CustomStringConvertible {
  /// The options as they are declared.
  package var description: String {
    "threshold: \(threshold), compression: .\(compression)"
      + (deduplicated ? ", deduplicated: true" : "")
  }
}
