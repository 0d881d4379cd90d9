public import FoundationEssentials

/// A value that is read when it is asked for: a photo, a document, a film.
///
/// Fetching a record with a property of this type reads none of it. A blob reads what was there when it
/// was fetched, also after the record was changed or deleted, and after its snapshot has gone.
///
/// Blobs are equal if their contents are. Comparing two that are not the same stored blob and are of one
/// length reads both; one that cannot be read is equal to itself alone.
public struct Blob: Sendable {
  private enum Storage: Sendable {
    case memory(Data)
    case stored(any BlobSource)
  }

  private let storage: Storage

  /// A blob in memory.
  public init(_ data: Data = Data()) {
    storage = .memory(data)
  }

  init(_ source: any BlobSource) {
    storage = .stored(source)
  }

  /// What is stored; nil where the content is in memory.
  var source: (any BlobSource)? {
    if case .stored(let source) = storage { source } else { nil }
  }

  /// How many bytes there are. Reads nothing.
  public var count: Int {
    switch storage {
    case .memory(let data): data.count
    case .stored(let source): source.count
    }
  }
}
