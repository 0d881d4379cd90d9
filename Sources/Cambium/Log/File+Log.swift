extension File {
  /// Writes one copy of a header, 0 or 1.
  ///
  /// - Throws: `.unsound`, before anything is written; `.full`, `.io`.
  func write(_ header: LogHeader, copy: Int, at site: Site) throws(StoreError) {
    try write(header, from: Int(LogLayout.copyBlocks[copy]) * Layout.blockSize, at: site)
  }

  /// Writes zeros over `blocks`.
  func writeZeros(_ blocks: Range<UInt32>, at site: Site) throws(StoreError) {
    let size = blocks.count * Layout.blockSize
    if size == 0 { return }
    let zeros = AlignedBuffer(count: min(size, 1 << 20))
    for start in stride(from: 0, to: size, by: zeros.count) {
      try write(
        zeros.bytes.part(0, min(zeros.count, size - start)),
        from: Int(blocks.lowerBound) * Layout.blockSize + start, at: site)
    }
  }
}
