/// A blob that is not in memory, whatever the medium it is on: what a `Blob` holds.
///
/// Asking for identity and count reads nothing.
protocol BlobSource: AnyObject, Sendable {
  var identity: BlobIdentity { get }
  /// How long its content is.
  var count: Int { get }

  /// What its content is read by. It keeps the segment open.
  ///
  /// - Throws: `.missing`, `.corrupt`, `.newerFormat`, `.io`.
  func reading() throws(StoreError) -> any BlobReading
}

/// The frames of one blob, whatever the medium.
///
/// May be used by many threads at once.
protocol BlobReading: BlobSource {
  /// How many frames there are.
  var frameCount: Int { get }

  /// The content of one frame.
  ///
  /// - Precondition: `index` is that of a frame.
  /// - Throws: `.corrupt`, `.io`.
  func frame(_ index: Int) throws(StoreError) -> [UInt8]
}
