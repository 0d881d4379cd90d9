/// Reads one stored blob, frame by frame.
///
/// Making one reads nothing; the blob's tail is read with the first frame, and kept. May be used by many threads
/// at once.
final class BlobFrameReader<Medium: FileSystem>: BlobReading {
  let identity: BlobIdentity
  let place: BlobPlace
  let segment: BlobSegment<Medium>

  init(_ identity: BlobIdentity, at place: BlobPlace, in segment: BlobSegment<Medium>) {
    self.identity = identity
    self.place = place
    self.segment = segment
  }

  var count: Int { Int(clamping: place.length) }
  var frameCount: Int { (count + BlobLayout.frameLength - 1) / BlobLayout.frameLength }

  func reading() throws(StoreError) -> any BlobReading { self }

  func frame(_ index: Int) throws(StoreError) -> [UInt8] {
    preconditionFailure("on its way")
  }

  /// Reads the tail and checks it, and with `deep` every frame.
  ///
  /// - Throws: `.corrupt` for the first fault; `.missing`, `.io`.
  func check(deep: Bool) throws(StoreError) {
    preconditionFailure("on its way")
  }
}
