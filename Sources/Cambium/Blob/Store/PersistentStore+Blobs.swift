#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

// Making blobs. Each comes into the store with the first record that has it.

extension PersistentStore {
  /// Creates a writer for a blob of unknown length.
  ///
  /// - Parameters:
  ///   - compression: How the blob is compressed. Short blobs, which stay in memory, are compressed as their field says.
  ///   - deduplicating: True for a field that deduplicates. Such a field takes other blobs too, but writes them again.
  /// - Throws: `StoreError.readOnly`, `.closed`, `.forked`; `.invalidValue` if no field of the model is stored externally.
  public func makeBlobWriter(
    compression: BlobCompression = .standard, deduplicating: Bool = false
  ) throws(StoreError) -> BlobWriter {
    if backend.isReadOnly { throw .readOnly(path: path) }
    _ = try backend.snapshot()
    guard let keeper = backend.blobs.keeper else {
      throw .invalidValue(
        record: "Blob", field: nil, reason: "no field of the model is stored externally")
    }
    return BlobWriter(self, keeper, compression, isHashed: deduplicating)
  }

  /// Makes a blob of bytes. A short one stays in memory.
  ///
  /// ```swift
  /// photo.image = try store.makeBlob(from: data)
  /// ```
  ///
  /// - Throws: as `makeBlobWriter`, and errors of its `append`.
  public func makeBlob(
    from data: Data, compression: BlobCompression = .standard, deduplicating: Bool = false
  ) throws(StoreError) -> Blob {
    let writer = try makeBlobWriter(compression: compression, deduplicating: deduplicating)
    try writer.append(data)
    return try writer.finish()
  }

  /// Makes a blob of the pieces of a sequence, as they come.
  ///
  /// ```swift
  /// photo.image = try store.makeBlob(from: pieces)
  /// ```
  ///
  /// - Throws: as `makeBlob(from:)`.
  public func makeBlob<Pieces: Sequence>(
    from pieces: Pieces, compression: BlobCompression = .standard, deduplicating: Bool = false
  ) throws(StoreError) -> Blob where Pieces.Element == Data {
    let writer = try makeBlobWriter(compression: compression, deduplicating: deduplicating)
    for piece in pieces { try writer.append(piece) }
    return try writer.finish()
  }

  /// Makes a blob of the pieces of an asynchronous sequence, as they come.
  ///
  /// ```swift
  /// photo.image = try await store.makeBlob(from: request.body)
  /// ```
  ///
  /// - Throws: as `makeBlob(from:)`, and errors of the sequence: then nothing is left of it.
  nonisolated(nonsending)
    public func makeBlob<Pieces: AsyncSequence>(
      from pieces: Pieces, compression: BlobCompression = .standard, deduplicating: Bool = false
    ) async throws -> Blob where Pieces.Element == Data
  {
    let writer = try makeBlobWriter(compression: compression, deduplicating: deduplicating)
    for try await piece in pieces { try await writer.append(piece) }
    return try await writer.finish()
  }

  /// Makes a blob of bytes, on threads of the library. A short one stays in memory.
  ///
  /// ```swift
  /// photo.image = try await store.makeBlob(from: data)
  /// ```
  ///
  /// - Throws: as the synchronous one.
  @concurrent
  public func makeBlob(
    from data: Data, compression: BlobCompression = .standard, deduplicating: Bool = false
  ) async throws(StoreError) -> Blob {
    try await TaskThreads.working.run { () throws(StoreError) in
      try makeBlob(from: data, compression: compression, deduplicating: deduplicating)
    }
  }

  /// Makes a blob of the content of a file, on threads of the library.
  ///
  /// ```swift
  /// photo.image = try await store.makeBlob(contentsOf: "photo.jpg")
  /// ```
  ///
  /// - Throws: as the synchronous one.
  @concurrent
  public func makeBlob(
    contentsOf path: String, compression: BlobCompression = .standard, deduplicating: Bool = false
  ) async throws(StoreError) -> Blob {
    try await TaskThreads.working.run { () throws(StoreError) in
      try makeBlob(contentsOf: path, compression: compression, deduplicating: deduplicating)
    }
  }

  /// Makes a blob of the content of a file, pipe or socket, from its current position to its end, on threads of the library.
  ///
  /// - Throws: as the synchronous one.
  @concurrent
  public func makeBlob(
    from descriptor: Int32, compression: BlobCompression = .standard, deduplicating: Bool = false
  ) async throws(StoreError) -> Blob {
    try await TaskThreads.working.run { () throws(StoreError) in
      try makeBlob(from: descriptor, compression: compression, deduplicating: deduplicating)
    }
  }

  /// Makes a blob of the content of a file.
  ///
  /// ```swift
  /// photo.image = try store.makeBlob(contentsOf: "photo.jpg")
  /// ```
  ///
  /// - Throws: as `makeBlob(from:)`; `StoreError.missing`, `.io` of the file.
  public func makeBlob(
    contentsOf path: String, compression: BlobCompression = .standard, deduplicating: Bool = false
  ) throws(StoreError) -> Blob {
    let file = try Syscall.open(path, O_RDONLY | O_CLOEXEC).get("open", path: path)
    defer { Syscall.close(file) }
    return try makeBlob(
      from: file, compression: compression, deduplicating: deduplicating)
  }

  /// Makes a blob of the content of a file, pipe or socket, from its current position to its end.
  ///
  /// - Throws: as `makeBlob(from:)`; `StoreError.io` of the descriptor.
  public func makeBlob(
    from descriptor: Int32, compression: BlobCompression = .standard, deduplicating: Bool = false
  ) throws(StoreError) -> Blob {
    let writer = try makeBlobWriter(compression: compression, deduplicating: deduplicating)
    var buffer = [UInt8](repeating: 0, count: BlobLayout.frameLength)
    while true {
      let count = try Syscall.readNext(descriptor, into: &buffer).get("read", path: "\(descriptor)")
      if count == 0 { return try writer.finish() }
      try writer.append(buffer.rawSpan.part(0, count))
    }
  }
}

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
    if short.count + piece.byteCount <= BlobLayout.inRowLength {
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
  public func finish() throws(StoreError) -> Blob { try finishNow() }

  private func finishNow() throws(StoreError) -> Blob {
    try checkOpen()
    isOver = true
    guard let stream else { return Blob(short) }
    let content = try stream.finish()
    self.stream = nil
    return Blob(try WrittenBlob(content, by: keeper))
  }

  /// Appends a piece. What is compressed and written for it runs on threads of the library.
  ///
  /// - Throws: as the synchronous one.
  nonisolated(nonsending) public func append(_ piece: Data) async throws(StoreError) {
    try await TaskThreads.writing.run { () async throws(StoreError) in try append(piece.bytes) }
  }

  /// Finishes the blob, and returns it to be put into a record of the same store. It can be read at once.
  ///
  /// - Throws: as `append`.
  nonisolated(nonsending) public func finish() async throws(StoreError) -> Blob {
    try await TaskThreads.writing.run { () async throws(StoreError) in try finishNow() }
  }

  private func checkOpen() throws(StoreError) {
    if isOver { throw .blobIsFinished }
    try keeper.checkOpen()
  }
}

@available(*, unavailable)
extension BlobWriter: Sendable {}
