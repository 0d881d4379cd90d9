public import FoundationEssentials

/// Reads a blob piece by piece, from front to back.
///
///     let reader = try blob.reader()
///     while let piece = try reader.read(upTo: 65_536) { … }
///
/// Belongs to one task or thread at a time.
public final class BlobReader {
  /// How many bytes the blob has.
  public let count: Int
  /// Where the next piece begins.
  public private(set) var offset: Int

  init(count: Int, offset: Int) {
    self.count = count
    self.offset = offset
  }

  /// The next bytes, at most `count`; nil at the end.
  ///
  /// - Throws: `.corrupt`, `.missing`, `.io`.
  public func read(upTo count: Int) throws(StoreError) -> Data? {
    preconditionFailure("on its way")
  }
}
