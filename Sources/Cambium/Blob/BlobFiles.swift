/// The files of a store's blobs: writes new ones, and reads, syncs, copies and removes.
///
/// May be used by many threads at once. It knows nothing of which blobs are alive: whoever keeps the map says
/// which segments there are, and which may go.
final class BlobFiles<Medium: FileSystem>: @unchecked Sendable {
  let medium: Medium
  let seed: BlobSeed

  /// - Parameters:
  ///   - seed: What the store keeps for its blobs.
  ///   - number: The first segment to make, above all that have a file.
  ///   - segmentSize: The size in bytes after which a segment takes no further blob.
  init(
    in medium: Medium, seed: BlobSeed, from number: UInt32,
    segmentSize: Int = BlobLayout.segmentSize
  ) {
    self.medium = medium
    self.seed = seed
  }
}

// MARK: - Writing

extension BlobFiles {
  /// Begins a blob. No call of the medium is made until there is something to write.
  ///
  /// - Parameter isHashed: Whether the content's hash is wanted, for deduplication.
  func makeStream(
    _ identity: BlobIdentity, _ compression: BlobCompression, isHashed: Bool = false
  ) -> BlobStream<Medium> {
    BlobStream(identity)
  }

  /// Copies a blob to another segment, byte for byte, and checks all checksums on the way.
  ///
  /// - Throws: `.corrupt`, `.missing`, `.io`, `.full`.
  func copy(_ identity: BlobIdentity, from place: BlobPlace) throws(StoreError) -> BlobContent {
    preconditionFailure("on its way")
  }

  /// Forces these blobs to the medium, segment by segment in order of numbers; those that are there already cost
  /// nothing. What was in a file before this process opened it counts as synced.
  ///
  /// - Throws: `.io`, `.full`. A segment whose sync failed fails for all that was not synced in it, for ever.
  func sync(_ places: [BlobPlace]) throws(StoreError) {
    preconditionFailure("on its way")
  }

  /// Lets streams go on in a segment from before, if it ends where the map says: then nobody was interrupted
  /// there.
  ///
  /// - Throws: `.missing`, `.corrupt`, `.newerFormat`, `.io`.
  func goOn(in number: UInt32, end: UInt64) throws(StoreError) {
    preconditionFailure("on its way")
  }
}

// MARK: - Reading

extension BlobFiles {
  /// Opens segments, those that are not open, and keeps them open until they are removed or released.
  ///
  /// - Throws: `.missing`, `.corrupt`, `.newerFormat`, `.io`.
  func open(_ numbers: [UInt32]) throws(StoreError) {
    preconditionFailure("on its way")
  }

  /// All segments that are open, ascending by number. Who keeps this value can read in them whatever is removed
  /// later: a reader of one of them is made from here on for as long.
  ///
  /// - Complexity: O(1).
  var openSegments: [BlobSegment<Medium>] { [] }

  /// What reads a blob. Nothing is read of it; its segment is opened if it is not.
  ///
  /// - Throws: `.missing`, `.corrupt`, `.newerFormat`, `.io`.
  func reader(
    of identity: BlobIdentity, at place: BlobPlace
  ) throws(StoreError) -> BlobFrameReader<Medium> {
    preconditionFailure("on its way")
  }

  /// Closes the segments but these, as far as nobody else has them: another process has removed them.
  func release(but numbers: [UInt32]) {}
}

// MARK: - Removing

extension BlobFiles {
  /// The segments in which streams are open, or finished blobs not let go of; ascending.
  var pinnedSegments: [UInt32] { [] }

  /// Sees to it that no stream begins in the segment any more.
  ///
  /// - Returns: false if it is pinned; then nothing has changed.
  func retire(_ number: UInt32) -> Bool {
    preconditionFailure("on its way")
  }

  /// Unlinks a segment that has been retired, or was there before. Who has it open can go on reading.
  ///
  /// A file that is not there is removed already. The directory is not synced: a file that comes back is an
  /// orphan.
  ///
  /// - Throws: `.io`.
  func remove(_ number: UInt32) throws(StoreError) {
    preconditionFailure("on its way")
  }

  /// The size of the segment's file: what blobs and garbage take together.
  ///
  /// - Throws: `.missing`, `.io`.
  func size(of number: UInt32) throws(StoreError) -> UInt64 {
    preconditionFailure("on its way")
  }
}
