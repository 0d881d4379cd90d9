extension PageReader {
  /// The size of the pieces that are read at once: that of the largest page at least.
  private static var pieceSize: Int { 512 << 10 }

  /// Reads appended pages from the disk, in their order and in large pieces, and compares their checksums. Their contents
  /// were checked before they were written, so later reads need not check them.
  ///
  /// - Precondition: Nothing but pages was appended.
  /// - Throws: `.corrupt` if the disk has other bytes than were written; `.io`.
  func verify(_ appended: AppendedBlocks) throws(StoreError) {
    guard let segment = segments.entry(appended.number)?.segment else { return }
    var block = appended.blocks.lowerBound
    let size = appended.blocks.count * Layout.blockSize
    let piece = PageBuffer(count: min(size, Self.pieceSize))
    while block < appended.blocks.upperBound {
      let rest = Int(appended.blocks.upperBound - block) * Layout.blockSize
      let count = min(rest, piece.count)
      guard
        try segment.file.read(into: piece, count: count, from: Int(block) * Layout.blockSize)
          == count
      else {
        throw .corrupt(
          .page(PagePosition(segment: segment.number, block: block)), invariant: .segmentEnd,
          reason: "the file ends before the pages that were written")
      }
      block += try verify(piece.bytes.part(0, count), at: block, of: segment)
    }
  }

  /// Verifies the whole pages at the beginning of `piece`.
  ///
  /// - Returns: the number of their blocks, at least 1.
  private func verify(
    _ piece: RawSpan, at start: UInt32, of segment: PageSegment
  ) throws(StoreError) -> UInt32 {
    var offset = 0
    while offset < piece.byteCount {
      let block = start + UInt32(offset / Layout.blockSize)
      let position = PagePosition(segment: segment.number, block: block)
      let header = PageHeader(piece.part(offset, PageHeader.size))
      let size = Int(header.blocks) * Layout.blockSize
      // The next piece begins with a page that this one has a part of.
      if offset > 0, size > piece.byteCount - offset { break }
      guard size > 0, size <= piece.byteCount - offset,
        PageChecksum.of(piece.part(offset, size), at: position, in: identity) == header.checksum
      else {
        throw .corrupt(
          .page(position), invariant: .pageChecksum, reason: "it is not the page that was written")
      }
      segment.verified.insert(block)
      offset += size
    }
    return UInt32(offset / Layout.blockSize)
  }
}

extension File {
  /// Reads into the first `count` bytes of `buffer`.
  ///
  /// - Returns: the number of bytes that were read: fewer where the file ends.
  func read(into buffer: PageBuffer, count: Int, from offset: Int) throws(StoreError) -> Int {
    var bytes = buffer.mutableBytes
    var part = bytes._mutatingExtracting(first: count)
    return try read(into: &part, from: offset, at: .pageRead)
  }
}
