public import FoundationEssentials

/// Writes a blob piece by piece, however long it gets.
///
///     let writer = try store.makeBlobWriter()
///     for piece in pieces { try writer.append(piece) }
///     photo.image = try writer.finish()
///     try store.save(photo)
///
/// What is short stays in memory; the rest is compressed and written as it comes, for which a few megabytes are
/// needed. Nothing is stored for good before a record is saved that has the blob. One that is let go of before it is
/// finished leaves nothing but garbage, which collection takes. Belongs to one task or thread at a time.
public final class BlobWriter {
  private let store: PersistentStore
  private let keeper: BlobKeeper
  private let compression: BlobCompression
  private let isHashed: Bool
  /// As long as there is no stream.
  private var short = Data()
  private var stream: (BlobStream)?
  private var isOver = false

  init(
    _ store: PersistentStore, _ keeper: BlobKeeper, _ compression: BlobCompression,
    isHashed: Bool
  ) {
    self.store = store
    self.keeper = keeper
    self.compression = compression
    self.isHashed = isHashed
  }

  deinit { stream?.abandon() }

  /// How many bytes came so far.
  public private(set) var count = 0

  /// Appends a piece.
  ///
  /// - Throws: `StoreError.full`, `.io`, `.closed`, `.forked`: then the writer is of no more use. `.invalidValue` if
  ///   the blob is finished.
  public func append(_ piece: Data) throws(StoreError) { try append(piece.bytes) }

  /// The same of any bytes.
  public func append(_ piece: RawSpan) throws(StoreError) {
    try checkOpen()
    count += piece.byteCount
    if let stream { return try stream.append(piece) }
    if short.count + piece.byteCount <= ExternalValue.inlineMax {
      return short.append(Data(copying: piece))
    }
    let stream = keeper.makeStream(compression, isHashed: isHashed)
    self.stream = stream
    try stream.append(short.bytes)
    short = Data()
    try stream.append(piece)
  }

  /// The blob, to be put into a record of the same store. It can be read at once.
  ///
  /// - Throws: as `append`.
  public func finish() throws(StoreError) -> Blob {
    try checkOpen()
    isOver = true
    guard let stream else { return Blob(short) }
    let content = try stream.finish()
    self.stream = nil
    return Blob(try WrittenBlob(content, by: keeper))
  }

  private func checkOpen() throws(StoreError) {
    if isOver { throw .blobIsFinished }
    try keeper.checkOpen()
  }
}

@available(*, unavailable)
extension BlobWriter: Sendable {}
