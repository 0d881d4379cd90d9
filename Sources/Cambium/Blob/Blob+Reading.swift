public import FoundationEssentials

extension Blob {
  /// All of it.
  ///
  /// - Complexity: O(count), in time and memory; what is compressed is decompressed on several cores.
  /// - Throws: `.corrupt`, `.missing`, `.io`.
  public func data() throws(StoreError) -> Data {
    preconditionFailure("on its way")
  }

  /// The bytes in `range`, as far as there are any.
  ///
  /// - Complexity: O(range); at most 256 KiB more are read at either end.
  /// - Throws: `.corrupt`, `.missing`, `.io`.
  public func data(in range: Range<Int>) throws(StoreError) -> Data {
    preconditionFailure("on its way")
  }

  /// What reads it piece by piece, from `offset` on.
  ///
  /// - Throws: `.corrupt`, `.missing`, `.io`.
  public func reader(from offset: Int = 0) throws(StoreError) -> BlobReader {
    preconditionFailure("on its way")
  }

  /// The content in pieces of up to 256 KiB, for loops in tasks.
  public var chunks: BlobChunks { BlobChunks(self) }

  /// Writes all of it to a file, pipe or socket, from where that stands.
  ///
  /// Memory is taken for a few pieces, whatever the count.
  ///
  /// - Throws: `.corrupt`, `.missing`, `.io`, `.full`; then a part of it may be written.
  public func write(to descriptor: Int32) throws(StoreError) {
    preconditionFailure("on its way")
  }
}
