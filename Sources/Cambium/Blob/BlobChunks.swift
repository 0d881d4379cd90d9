#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The content of a blob in pieces, as an asynchronous sequence.
struct BlobChunks: AsyncSequence, Sendable {
  typealias Element = Data

  private let blob: Blob

  init(_ blob: Blob) {
    self.blob = blob
  }

  func makeAsyncIterator() -> Iterator { Iterator(blob) }

  struct Iterator: AsyncIteratorProtocol {
    private let place: BlobPieces

    fileprivate init(_ blob: Blob) {
      place = BlobPieces(blob)
    }

    /// Returns the next piece, which is read on a thread of the library; nil after the last, after an error, and if the task is
    /// cancelled.
    ///
    /// - Throws: `StoreError.corrupt`, `.missing`, `.io`.
    mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws -> Data? {
      try await place.next()
    }
  }
}

/// The place of an iterator in a blob. One task at a time uses it.
private final class BlobPieces: @unchecked Sendable {
  private enum Place {
    case before(Blob)
    case on(BlobReader)
    case behind
  }

  private var place: Place

  init(_ blob: Blob) {
    place = .before(blob)
  }

  @concurrent
  func next() async throws(StoreError) -> Data? {
    if case .behind = place { return nil }
    return try await TaskThreads.reading.run { () throws(StoreError) in try read() }
  }

  private func read() throws(StoreError) -> Data? {
    let present = place
    place = .behind
    let reader: BlobReader
    switch present {
    case .before(let blob): reader = try blob.reader()
    case .on(let begun): reader = begun
    case .behind: return nil
    }
    guard !Task.isCancelled, let piece = try reader.read(upTo: BlobLayout.frameLength) else {
      return nil
    }
    place = .on(reader)
    return piece
  }
}
