public import FoundationEssentials

/// Writes a blob of any length piece by piece.
///
///     let writer = try store.makeBlobWriter()
///     for piece in pieces { try writer.append(piece) }
///     photo.image = try writer.finish()
///     try store.save(photo)
///
/// A short blob stays in memory; a longer one is compressed and written as it comes, which takes a few megabytes of
/// memory. The blob is stored permanently when a record that has it is saved. A writer that is released before it is
/// finished leaves only garbage, which collection removes. One task or thread at a time may use it.
public final class BlobWriter {
  private let store: PersistentStore
  private let keeper: BlobKeeper
  private let compression: BlobCompression
  private let isHashed: Bool
  /// The content, as long as there is no stream.
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

  /// The number of bytes appended so far.
  public private(set) var count = 0

  /// Appends a piece.
  ///
  /// - Throws: `StoreError.full`, `.io`, `.closed`, `.forked`: then the writer is of no more use. `.invalidValue` if
  ///   the blob is finished.
  public func append(_ piece: Data) throws(StoreError) { try append(piece.bytes) }

  /// Appends a piece of any bytes.
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

  /// Finishes the blob, and returns it to be put into a record of the same store. It can be read at once.
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
