public import FoundationEssentials
internal import Glibc

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
  /// - Throws: as `makeBlobWriter`, and what its `append` does.
  public func makeBlob(
    from data: Data, compression: BlobCompression = .standard, deduplicating: Bool = false
  ) throws(StoreError) -> Blob {
    let writer = try makeBlobWriter(compression: compression, deduplicating: deduplicating)
    try writer.append(data)
    return try writer.finish()
  }

  /// Makes a blob of the pieces of a sequence, as they come.
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
  /// - Throws: as `makeBlob(from:)`, and what the sequence throws: then nothing is left of it.
  nonisolated(nonsending)
    public func makeBlob<Pieces: AsyncSequence>(
      from pieces: Pieces, compression: BlobCompression = .standard, deduplicating: Bool = false
    ) async throws -> Blob where Pieces.Element == Data
  {
    let writer = try makeBlobWriter(compression: compression, deduplicating: deduplicating)
    for try await piece in pieces { try writer.append(piece) }
    return try writer.finish()
  }

  /// Makes a blob of the content of a file.
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
