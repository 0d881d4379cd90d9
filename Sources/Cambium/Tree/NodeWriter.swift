/// Writes entries as a node, in the layout that `Node` reads.
enum NodeWriter {
  /// Writes `entries[range]` to `page`, all but the page's header, and returns how many bytes it used.
  static func write(
    _ entries: borrowing OpenEntries, _ range: Range<Int>, measure: NodeMeasure,
    schemaVersion: UInt32, tag: TreeTag, to page: inout MutableRawSpan
  ) -> Int {
    let keys = range.lowerBound + (entries.isBranch ? 1 : 0)..<range.upperBound
    writeHeader(measure, schemaVersion: schemaVersion, tag: tag, to: &page)
    page.zero(Node.headerSize..<measure.headsOffset)
    if let first = keys.first {
      page.copy(entries.key(first).part(0, measure.prefixLength), to: Node.headerSize)
    }
    var offset = measure.headsOffset
    writeHeads(entries, keys, prefixLength: measure.prefixLength, at: &offset, to: &page)
    if entries.isBranch {
      for index in range {
        page.copy(entries.value(index), to: offset)
        offset += PageReference.size
      }
    }
    writeWidths(entries, keys, measure: measure, at: &offset, to: &page)
    assert(offset == measure.cellsOffset, "the node is laid out as it was measured")
    writeCells(entries, keys, prefixLength: measure.prefixLength, at: &offset, to: &page)
    assert(offset == measure.size, "the node is as large as it was measured")
    return offset
  }

  private static func writeHeader(
    _ measure: NodeMeasure, schemaVersion: UInt32, tag: TreeTag, to page: inout MutableRawSpan
  ) {
    page.store(UInt16(measure.count), at: 24)
    page.store(UInt16(measure.prefixLength), at: 26)
    page.store(UInt16(measure.tailWidth ?? Node.varies), at: 28)
    page.store(UInt16(measure.valueWidth ?? Node.varies), at: 30)
    page.store(UInt8(measure.headLength ?? Node.headLengthVaries), at: 32)
    page.store(UInt8(0), at: 33)
    page.store(UInt16(measure.cellsOffset), at: 34)
    page.store(schemaVersion, at: 36)
    page.store(UInt32(measure.size), at: 40)
    page.store(tag.rawValue, at: 44)
  }

  private static func writeHeads(
    _ entries: borrowing OpenEntries, _ keys: Range<Int>, prefixLength: Int, at offset: inout Int,
    to page: inout MutableRawSpan
  ) {
    for index in keys {
      page.store(entries.key(index).head(prefixLength), at: offset)
      offset += 8
    }
  }

  /// Writes what says where keys and values end, as far as it is not the same for all.
  private static func writeWidths(
    _ entries: borrowing OpenEntries, _ keys: Range<Int>, measure: NodeMeasure,
    at offset: inout Int, to page: inout MutableRawSpan
  ) {
    func tailLength(_ index: Int) -> Int {
      max(0, entries.keyLength(index) - measure.prefixLength - 8)
    }
    if measure.tailWidth == nil || measure.valueWidth == nil {
      var end = 0
      for index in keys {
        end += tailLength(index) + (entries.isBranch ? 0 : entries.valueLength(index))
        page.store(UInt16(end), at: offset)
        offset += 2
      }
    }
    if measure.tailWidth == nil && measure.valueWidth == nil {
      for index in keys {
        page.store(UInt16(tailLength(index)), at: offset)
        offset += 2
      }
    }
    if measure.headLength == nil {
      for index in keys {
        let length = min(8, entries.keyLength(index) - measure.prefixLength)
        page.store(UInt8(length), at: offset)
        offset += 1
      }
    }
    if measure.hasExternals {
      for start in stride(from: keys.lowerBound, to: keys.upperBound, by: 8) {
        var bits: UInt8 = 0
        for index in start..<min(start + 8, keys.upperBound) where entries.isExternal(index) {
          bits |= 1 << UInt8(index - start)
        }
        page.store(bits, at: offset)
        offset += 1
      }
    }
  }

  private static func writeCells(
    _ entries: borrowing OpenEntries, _ keys: Range<Int>, prefixLength: Int, at offset: inout Int,
    to page: inout MutableRawSpan
  ) {
    for index in keys {
      let cell = entries.cell(index, from: prefixLength + 8)
      let valueLength = entries.isBranch ? entries.valueLength(index) : 0
      let length = cell.byteCount - valueLength
      page.copy(cell.part(0, length), to: offset)
      offset += length
    }
  }
}

extension PageAppender {
  /// Appends a node that `fill` writes, once the code that reads it has accepted it.
  ///
  /// - Throws: as the other.
  func append(
    nodeAt level: UInt8, flags: UInt8 = 0, blocks: Int, stating aggregates: PageReference,
    _ fill: (inout MutableRawSpan) -> Int
  ) throws(StoreError) -> PageReference {
    if level == 0 {
      return try append(LeafPage.self, flags: flags, blocks: blocks, stating: aggregates, fill)
    }
    return try append(
      BranchPage.self, level: level, flags: flags, blocks: blocks, stating: aggregates, fill)
  }
}
