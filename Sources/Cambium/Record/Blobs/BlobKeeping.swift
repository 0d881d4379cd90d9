/// The files of a store's blobs, whatever the medium.
protocol BlobKeeping: AnyObject, Sendable {
  var seed: BlobSeed { get }

  /// Returns a reader of the segments that are open now, also after they are removed.
  func located() -> any BlobLocating

  /// The number of segments that were removed, or whose removal has begun.
  var removalCount: Int { get }

  /// Throws `.closed` or `.forked` if no more blobs may be written.
  func checkOpen() throws(StoreError)
  /// Refuses all further writes, waits for those under way, and releases the store's lock.
  func close()

  /// Begins a blob with an identity of its own.
  func makeStream(_ compression: BlobCompression, isHashed: Bool) -> any BlobWriting
  func sync(_ places: [BlobPlace]) throws(StoreError)
  func copy(_ identity: BlobIdentity, from place: BlobPlace) throws(StoreError) -> BlobContent

  /// Keeps segments open for whoever reads in them, and no others.
  func open(_ segments: [UInt32]) throws(StoreError)
  func release(but segments: [UInt32])
  /// Lets what is written next go on in a segment that ends where the accounts say.
  func goOn(in segment: UInt32, end: UInt64) throws(StoreError)
  func size(of segment: UInt32) throws(StoreError) -> UInt64

  /// Removes a segment that nothing refers to. False where something in it is not committed yet.
  func remove(_ segment: UInt32) throws(StoreError) -> Bool
  /// Sees to it that nothing is written to a segment any more. False where something in it is not committed yet.
  func retire(_ segment: UInt32) -> Bool
  /// The segments with something that is not committed yet.
  var pinnedSegments: [UInt32] { get }
  /// The open segments, in ascending order.
  var openSegments: [UInt32] { get }
}

/// Finds blobs in the segments that a state may refer to.
protocol BlobLocating: AnyObject, Sendable {
  func reader(
    of identity: BlobIdentity, at place: BlobPlace
  ) throws(StoreError) -> any CheckedBlobReading

  /// Copies the bytes of a segment before `end` into another directory.
  ///
  /// - Throws: as `BlobSegment.copy`; `.missing`.
  func copy<Target: FileSystem>(
    _ segment: UInt32, through end: UInt64, to target: Target,
    _ monitor: BackupMonitor
  ) throws(StoreError)
}

/// Writes one blob.
protocol BlobWriting: AnyObject {
  func append(_ bytes: RawSpan) throws(StoreError)
  func finish() throws(StoreError) -> BlobContent
  func abandon()
}

/// Reads one stored blob, and checks it.
protocol CheckedBlobReading: BlobReading {
  func check(deep: Bool) throws(StoreError)
}

extension BlobStream: BlobWriting {}
extension BlobFrameReader: CheckedBlobReading {}
