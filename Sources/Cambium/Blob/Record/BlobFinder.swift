/// Finds the parts of records that lie outside their rows, in one state: the blobs that rows refer to, and the values of
/// tracked properties.
@usableFromInline
final class BlobFinder {
  private let trees: TreeAccess?
  private let blobs: BlobTrees?
  private let segments: LocatedSegments?
  /// Blobs that the state has no more: those that a transaction has released.
  private let released: [BlobIdentity: BlobEntry]
  /// True if a blob that is gone is one that cannot be read, and no fault: old rows may refer to such.
  private let isOfOldRows: Bool
  /// Values that are in no store yet, as a row that is being put together numbers them.
  let waiting: [Blob]
  /// Returns the values of a record's tracked properties, by its key; nil if it has none.
  private let unstored: ((RawSpan) -> UnstoredEntry)?

  init(
    _ trees: TreeAccess, _ blobs: BlobTrees, _ segments: LocatedSegments,
    released: [BlobIdentity: BlobEntry] = [:], isOfOldRows: Bool = false,
    unstored: ((RawSpan) -> UnstoredEntry)? = nil
  ) {
    self.trees = trees
    self.blobs = blobs
    self.segments = segments
    self.released = released
    self.isOfOldRows = isOfOldRows
    self.unstored = unstored
    waiting = []
  }

  /// Creates a finder for a row that is being put together, and refers to no stored blobs.
  init(_ waiting: [Blob], unstored: ((RawSpan) -> UnstoredEntry)? = nil) {
    self.waiting = waiting
    self.unstored = unstored
    (trees, blobs, segments, released, isOfOldRows) = (nil, nil, nil, [:], false)
  }

  /// The threads that decompress; nil if the finder knows no stored blobs.
  var crew: BlobCrew? { segments?.crew }

  /// Returns the finder with values that are in no store yet.
  func with(_ waiting: [Blob]) -> BlobFinder { BlobFinder(self, waiting, unstored) }

  /// Returns the finder with the unstored values of another state.
  func with(_ values: UnstoredValues, of rows: TreeSlot) -> BlobFinder {
    BlobFinder(self, waiting) { key in values.entry(of: key, in: rows) }
  }

  private init(
    _ other: BlobFinder, _ waiting: [Blob], _ unstored: ((RawSpan) -> UnstoredEntry)?
  ) {
    self.unstored = unstored
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
    do throws(StoreError) {
      return Blob(try segments.reader(of: identity, at: place))
    } catch {
      // The other parts of the record can be read.
      guard case .corrupt = error else { throw error }
      return Blob(LostBlob(reference, error))
    }
  }

  /// The values of a record's tracked properties.
  func unstored(of key: RawSpan) -> UnstoredEntry { unstored?(key) ?? UnstoredEntry() }

  private func place(of identity: BlobIdentity) throws(StoreError) -> BlobPlace? {
    if let trees, let place = try blobs?.entry(of: identity, in: trees)?.place { return place }
    return released[identity]?.place
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
    throw .missing(path: StoreError.deletedBlob)
  }
}

/// A blob whose segment is lost or damaged: reading it throws.
final class LostBlob: BlobSource {
  private let reference: BlobReference
  private let error: StoreError

  fileprivate init(_ reference: BlobReference, _ error: StoreError) {
    self.reference = reference
    self.error = error
  }

  var identity: BlobIdentity { reference.identity }
  var count: Int { Int(clamping: reference.length) }

  func reading() throws(StoreError) -> BlobFrameReader { throw error }
}

extension TreeAccess {
  /// Returns a finder of the blobs of old rows, as far as they still exist.
  func oldBlobFinder(_ slots: BlobTrees) -> BlobFinder? {
    blobs.map { BlobFinder(self, slots, $0, isOfOldRows: true) }
  }

  /// Returns a finder of the parts of a record outside its rows; nil if none of its fields is external, and no property
  /// tracked.
  func blobFinder(of record: Entity) -> BlobFinder? {
    let unstored = unstored(of: record)
    guard let slots = record.blobs, let segments = blobs else {
      return unstored.map { BlobFinder([], unstored: $0) }
    }
    return BlobFinder(self, slots, segments, unstored: unstored)
  }

  /// Returns a lookup of a record's tracked values, by key, in the present state; nil if it has no tracked properties.
  func unstored(of record: Entity) -> ((RawSpan) -> UnstoredEntry)? {
    guard record.isTracked else { return nil }
    let rows = record.rows
    return { key in self.unstored.entry(of: key, in: rows) }
  }
}
