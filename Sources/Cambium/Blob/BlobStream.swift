/// Writes one blob whose length is not known before.
///
/// Nothing refers to what it writes until somebody commits the place that `finish` returns, and that has to be
/// synced first. Belongs to one thread at a time; one that is dropped unfinished is abandoned.
final class BlobStream<Medium: FileSystem> {
  let identity: BlobIdentity

  init(_ identity: BlobIdentity) {
    self.identity = identity
  }

  /// Appends content.
  ///
  /// - Throws: `.io`, `.full`, `.limitExceeded`. The stream is of no more use then, and throws the same again.
  func append(_ bytes: RawSpan) throws(StoreError) {
    preconditionFailure("on its way")
  }

  /// Writes out what is left, and says where the blob is. It can be read then, but is not synced.
  ///
  /// - Throws: as `append`.
  func finish() throws(StoreError) -> BlobContent {
    preconditionFailure("on its way")
  }

  /// Ends the stream; what it wrote is garbage.
  func abandon() {}

  /// How many bytes of memory the stream holds.
  var memory: Int { 0 }
}
