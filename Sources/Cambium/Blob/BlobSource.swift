/// A blob that is not in memory: what a `Blob` holds.
///
/// Asking for identity and count reads nothing.
protocol BlobSource: AnyObject, Sendable {
  var identity: BlobIdentity { get }
  /// How long its content is.
  var count: Int { get }

  /// What its content is read by. It keeps the segment open.
  ///
  /// - Throws: `.missing`, `.corrupt`, `.newerFormat`, `.io`.
  func reading() throws(StoreError) -> BlobFrameReader
}
