#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A value that is read on request: a photo, a document, a film.
///
/// Fetching a record with a property of this type does not read the value. A blob reads the content that it had when it
/// was fetched, also after the record was changed or deleted, and after its snapshot was released.
///
///     let thumbnail = try item.photo.data(in: 0..<4096)
///     for try await piece in item.photo.chunks { … }
public struct Blob: Sendable {
  enum Storage: Sendable {
    case memory(Data)
    case packed(PackedBlob)
    case stored(any BlobSource)
  }

  let storage: Storage

  /// A blob in memory.
  public init(_ data: Data = Data()) {
    storage = .memory(data)
  }

  init(_ source: any BlobSource) {
    storage = .stored(source)
  }

  init(_ packed: PackedBlob) {
    storage = .packed(packed)
  }

  /// The compressed value, where the content came from a row.
  var packed: PackedValue? {
    if case .packed(let packed) = storage { packed.value } else { nil }
  }

  /// The stored blob; nil if the content is in memory.
  var source: (any BlobSource)? {
    if case .stored(let source) = storage { source } else { nil }
  }

  /// The number of bytes. Reads nothing.
  public var count: Int {
    switch storage {
    case .memory(let data): data.count
    case .packed(let packed): packed.value.length
    case .stored(let source): source.count
    }
  }
}

extension Blob: Hashable {
  /// Returns true if both have the same content.
  ///
  /// A stored blob is equal to itself without being read, and blobs of different lengths are not equal; otherwise both are
  /// read. A blob that cannot be read is equal to itself only.
  ///
  /// - Complexity: O(count).
  public static func == (one: Blob, other: Blob) -> Bool {
    if one.count != other.count { return false }
    if let one = one.source, let other = other.source, one.identity == other.identity {
      return true
    }
    if let one = one.packed, one == other.packed { return true }
    return (try? one.hasSameContent(as: other)) ?? false
  }

  /// Hashes the length alone: the content would have to be read.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(count)
  }

  /// - Precondition: The lengths are the same.
  private func hasSameContent(as other: Blob) throws(StoreError) -> Bool {
    if case .memory(let one) = storage, case .memory(let two) = other.storage { return one == two }
    let readers = (try reader(), try other.reader())
    while let piece = try readers.0.read(upTo: BlobLayout.frameLength) {
      if try readers.1.read(upTo: piece.count) != piece { return false }
    }
    return true
  }
}

extension Blob: Codable {
  /// Decodes bytes that were encoded as `Data`.
  public init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(Data.self))
  }

  /// Encodes the content, which is read, as `Data`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(data())
  }
}

extension Blob: CustomStringConvertible {
  public var description: String { "a blob of \(count) bytes" }
}
