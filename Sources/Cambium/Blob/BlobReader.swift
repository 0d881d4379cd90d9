#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Reads a blob piece by piece, from front to back.
///
///     let reader = try blob.reader()
///     while let piece = try reader.read(upTo: 65_536) { … }
///
/// The content is read and decompressed ahead, the further the longer it is read. One task or thread at a time may use
/// it.
public final class BlobReader {
  private enum Source {
    case memory(Data)
    case stored(FramesAhead)
  }

  /// The number of bytes of the blob.
  public let count: Int
  /// The offset of the next piece.
  public private(set) var offset: Int
  private let source: Source

  init(_ data: Data, from offset: Int) {
    source = .memory(data)
    count = data.count
    self.offset = offset
  }

  init(_ reading: BlobFrameReader, from offset: Int) {
    source = .stored(FramesAhead(reading, from: offset / BlobLayout.frameLength))
    count = reading.count
    self.offset = offset
  }

  /// Returns the next `count` bytes, or as many as are left; nil at the end.
  ///
  /// ```swift
  /// while let piece = try reader.read(upTo: 1 << 20) { send(piece) }
  /// ```
  ///
  /// - Throws: `.corrupt`, `.missing`, `.io`. The next call tries again.
  public func read(upTo count: Int) throws(StoreError) -> Data? {
    let end = offset + min(max(count, 0), self.count - offset)
    guard offset < self.count else { return nil }
    switch source {
    case .memory(let data):
      defer { offset = end }
      return data.bytes(in: offset..<end)
    case .stored(let frames):
      let data = try frames.content(in: offset..<end)
      offset = end
      return data
    }
  }
}
