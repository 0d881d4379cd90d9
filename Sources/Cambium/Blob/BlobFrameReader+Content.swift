extension BlobFrameReader {
  /// The content in `range`, which lies within it.
  ///
  /// - Complexity: O(range), on all cores where there are several frames.
  /// - Throws: `.corrupt`, `.io`, `.forked`.
  func content(in range: Range<Int>) throws(StoreError) -> BlobMemory {
    if range.isEmpty { return try BlobMemory(count: 0) }
    let last = (range.upperBound - 1) / BlobLayout.frameLength
    // First something is read: so that an impossible reference is found out before it decides how much
    // memory is taken.
    let fetched = try fetch(from: range.lowerBound / BlobLayout.frameLength, through: last)
    let content = try BlobMemory(count: range.count)
    var window = DecompressionWindow(crew)
    do throws(StoreError) {
      try decompress(fetched, and: last, range, to: content, &window)
      try window.finish()
    } catch {
      window.withdraw()
      throw error
    }
    return content
  }

  /// Has all frames of a range decompressed, of which the first were fetched.
  private func decompress(
    _ fetched: FetchedFrames, and last: Int, _ range: Range<Int>, to content: BlobMemory,
    _ window: inout DecompressionWindow
  ) throws(StoreError) {
    var fetched = fetched
    while true {
      for index in fetched.indices {
        let task = decompression(of: index, of: fetched, range, to: content)
        try window.add(task, isOnly: index == last && window.isEmpty)
      }
      let next = fetched.indices.upperBound
      if next > last { return }
      fetched = try fetch(from: next, through: last)
    }
  }

  private func decompression(
    of index: Int, of fetched: FetchedFrames, _ range: Range<Int>, to content: BlobMemory
  ) -> FrameDecompression {
    let start = index * BlobLayout.frameLength
    let frame = start..<start + fetched.length(of: index)
    let part = frame.clamped(to: range)
    return FrameDecompression(
      index, of: fetched, part.lowerBound - start..<part.upperBound - start, to: content,
      at: part.lowerBound - range.lowerBound, by: crew.contexts)
  }
}
