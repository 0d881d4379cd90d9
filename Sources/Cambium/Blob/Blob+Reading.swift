#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension Blob {
  /// Returns the whole content.
  ///
  /// ```swift
  /// let image = try photo.image.data()
  /// ```
  ///
  /// - Complexity: O(count), in time and memory; compressed content is decompressed on all cores.
  /// - Throws: `.corrupt`, `.missing`, `.io`.
  public func data() throws(StoreError) -> Data {
    try data(in: 0..<count)
  }

  /// Returns the bytes in `range`, as far as there are any.
  ///
  /// ```swift
  /// let beginning = try photo.image.data(in: 0..<1_024)
  /// ```
  ///
  /// - Complexity: O(range); at either end up to 256 KiB more are decompressed.
  /// - Throws: `.corrupt`, `.missing`, `.io`.
  public func data(in range: Range<Int>) throws(StoreError) -> Data { try content(in: range) }

  private func content(in range: Range<Int>) throws(StoreError) -> Data {
    let range = range.clamped(to: 0..<count)
    guard !range.isEmpty else { return Data() }
    switch storage {
    case .memory(let data): return data.bytes(in: range)
    case .packed(let packed):
      let content = try packed.content()
      return range.count == content.count ? content : content.bytes(in: range)
    case .stored(let source):
      let reading = try source.reading()
      return try reading.content(in: range).data()
    }
  }

  /// Returns the whole content, which is read on threads of the library.
  ///
  /// ```swift
  /// let image = try await photo.image.data()
  /// ```
  ///
  /// - Complexity: O(count), in time and memory; compressed content is decompressed on all cores.
  /// - Throws: `.corrupt`, `.missing`, `.io`.
  @concurrent
  public func data() async throws(StoreError) -> Data {
    try await data(in: 0..<count)
  }

  /// Returns the bytes in `range`, as far as there are any, which are read on threads of the library.
  ///
  /// - Complexity: O(range); at either end up to 256 KiB more are decompressed.
  /// - Throws: `.corrupt`, `.missing`, `.io`.
  @concurrent
  public func data(in range: Range<Int>) async throws(StoreError) -> Data {
    // Bytes in memory are there already.
    guard source != nil else { return try content(in: range) }
    return try await TaskThreads.reading.run { () throws(StoreError) in try content(in: range) }
  }

  /// Returns a reader that reads the content piece by piece, from `offset` on.
  ///
  /// ```swift
  /// let reader = try photo.image.reader()
  /// while let piece = try reader.read(upTo: 1 << 20) { send(piece) }
  /// ```
  ///
  /// - Throws: `.corrupt`, `.missing`, `.io`.
  public func reader(from offset: Int = 0) throws(StoreError) -> BlobReader {
    let offset = min(max(offset, 0), count)
    switch storage {
    case .memory(let data): return BlobReader(data, from: offset)
    case .packed(let packed): return BlobReader(try packed.content(), from: offset)
    case .stored(let source): return BlobReader(try source.reading(), from: offset)
    }
  }

  /// The content in pieces of up to 256 KiB, for loops in tasks.
  ///
  /// Each loop begins at the beginning. Pieces are read on a thread of the library. A loop ends when its task is cancelled, and
  /// throws `StoreError.corrupt`, `.missing`, `.io`.
  public var chunks: some AsyncSequence<Data, any Error> & Sendable { BlobChunks(self) }

  /// Writes the whole content to a file, pipe or socket, at its current position.
  ///
  /// It takes the memory of a few pieces, whatever the count. If a pipe has no reader any more, an error is thrown; no
  /// signal is raised.
  ///
  /// - Throws: `.corrupt`, `.missing`, `.io`, `.full`; then a part of it may be written.
  public func write(to descriptor: Int32) throws(StoreError) {
    let reader = try reader()
    while let piece = try reader.read(upTo: BlobLayout.frameLength) {
      try Syscall.writeOn(piece.bytes, to: descriptor)
        .get("write a blob", path: "descriptor \(descriptor)")
    }
  }

  /// Writes the whole content to a file, pipe or socket, at its current position, while the task is suspended.
  ///
  /// - Throws: as the synchronous one.
  @concurrent
  public func write(to descriptor: Int32) async throws(StoreError) {
    try await TaskThreads.working.run { () throws(StoreError) in try write(to: descriptor) }
  }
}

extension Data {
  init(copying bytes: RawSpan) {
    self = unsafe bytes.withUnsafeBytes { unsafe Data($0) }
  }

  /// A copy of the bytes in a range that counts from 0.
  func bytes(in range: Range<Int>) -> Data {
    Data(self[startIndex + range.lowerBound..<startIndex + range.upperBound])
  }
}
