/// A blob that a stream has finished, or that was copied. No commit refers to it yet.
struct BlobContent: Sendable {
  let identity: BlobIdentity
  let place: BlobPlace
  /// That of the content, keyed with the store's seed, where it was asked for.
  let hash: SipHash128?
  /// Keeps its segment from being collected. It goes with the last copy of this value, so keep that until
  /// the commit that refers to the blob is visible in the map.
  let pin: BlobPin
}
