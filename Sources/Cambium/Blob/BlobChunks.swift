public import FoundationEssentials

/// The content of a blob in pieces of up to 256 KiB, as an asynchronous sequence.
///
/// Each iterator begins at the beginning. A loop over it ends when its task is cancelled.
public struct BlobChunks: AsyncSequence, Sendable {
  public typealias Element = Data

  private let blob: Blob

  init(_ blob: Blob) {
    self.blob = blob
  }

  public func makeAsyncIterator() -> Iterator { Iterator(blob) }

  public struct Iterator: AsyncIteratorProtocol {
    private enum Place {
      case before(Blob)
      case on(BlobReader)
      case behind
    }

    private var place: Place

    fileprivate init(_ blob: Blob) {
      place = .before(blob)
    }

    /// Returns the next piece; nil after the last, after an error, and if the task is cancelled.
    ///
    /// - Throws: `StoreError.corrupt`, `.missing`, `.io`.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws -> Data? {
      let reader: BlobReader
      switch place {
      case .before(let blob): reader = try begin(blob)
      case .on(let present): reader = present
      case .behind: return nil
      }
      place = .behind
      guard !Task.isCancelled, let piece = try reader.read(upTo: BlobLayout.frameLength) else {
        return nil
      }
      place = .on(reader)
      return piece
    }

    private mutating func begin(_ blob: Blob) throws(StoreError) -> BlobReader {
      place = .behind
      return try blob.reader()
    }
  }
}
