/// A blob that is not in memory: the source of a `Blob`.
///
/// Asking for identity and count reads nothing.
protocol BlobSource: AnyObject, Sendable {
  var identity: BlobIdentity { get }
  /// How long its content is.
  var count: Int { get }

  /// The reader of its content. It keeps the segment open.
  ///
  /// - Throws: `.missing`, `.corrupt`, `.newerFormat`, `.io`.
  func reading() throws(StoreError) -> BlobFrameReader
}
