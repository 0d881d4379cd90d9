/// Finds the blobs that rows of one state refer to.
@usableFromInline
final class BlobFinder {
  private let trees: TreeAccess?
  private let blobs: BlobTrees?
  private let segments: LocatedSegments?
  /// Blobs that the state has no more: those that a transaction has let go of.
  private let released: [BlobIdentity: BlobPlace]
  /// True if a blob that is gone is one that cannot be read, and no fault: old rows may refer to such.
  private let isOfOldRows: Bool
  /// Values that are in no store yet, as a row that is being put together numbers them.
  let waiting: [Blob]

  init(
    _ trees: TreeAccess, _ blobs: BlobTrees, _ segments: LocatedSegments,
    released: [BlobIdentity: BlobPlace] = [:], isOfOldRows: Bool = false
  ) {
    self.trees = trees
    self.blobs = blobs
    self.segments = segments
    self.released = released
    self.isOfOldRows = isOfOldRows
    waiting = []
  }

  /// Creates a finder for a row that is being put together, and refers to no stored blobs.
  init(_ waiting: [Blob]) {
    self.waiting = waiting
    (trees, blobs, segments, released, isOfOldRows) = (nil, nil, nil, [:], false)
  }

  /// Returns the finder with values that are in no store yet.
  func with(_ waiting: [Blob]) -> BlobFinder { BlobFinder(self, waiting) }

  private init(_ other: BlobFinder, _ waiting: [Blob]) {
    (trees, blobs, segments) = (other.trees, other.blobs, other.segments)
    (released, isOfOldRows) = (other.released, other.isOfOldRows)
    self.waiting = waiting
  }

  /// - Throws: `.corrupt` (R5) where there is no such blob; `.missing`, `.io`.
  func blob(_ reference: BlobReference) throws(StoreError) -> Blob {
    let identity = reference.identity
    guard let place = try place(of: identity), reference.isOf(place), let segments else {
      if isOfOldRows { return Blob(DeletedBlob(reference)) }
      throw .corrupt(
        .entry(tree: BlobTrees.mapName, key: identity.key), invariant: .rowExternal,
        reason: "a row refers to a blob that is not there, or is another")
    }
    return Blob(try segments.reader(of: identity, at: place))
  }

  private func place(of identity: BlobIdentity) throws(StoreError) -> BlobPlace? {
    if let trees, let place = try blobs?.entry(of: identity, in: trees)?.place { return place }
    return released[identity]
  }
}

/// A blob that only old rows refer to, and that is gone.
final class DeletedBlob: BlobSource {
  private let reference: BlobReference

  fileprivate init(_ reference: BlobReference) {
    self.reference = reference
  }

  var identity: BlobIdentity { reference.identity }
  var count: Int { Int(clamping: reference.length) }

  func reading() throws(StoreError) -> BlobFrameReader {
    throw .missing(path: "a blob that was deleted")
  }
}

extension TreeAccess {
  /// Returns a finder of the blobs of old rows, as far as they still exist.
  func oldBlobFinder(_ slots: BlobTrees) -> BlobFinder? {
    blobs.map { BlobFinder(self, slots, $0, isOfOldRows: true) }
  }

  /// Returns a finder of the blobs of a record's rows; nil if none of its fields is external.
  func blobFinder(of record: Entity) -> BlobFinder? {
    guard let slots = record.blobs, let segments = blobs else { return nil }
    return BlobFinder(self, slots, segments)
  }
}
