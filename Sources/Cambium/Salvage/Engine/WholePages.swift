/// Goes through a page segment's file from one whole page to the next.
///
/// From a block where no whole page begins it continues to the next block. So bytes within a whole page are never taken
/// for a page.
struct WholePages {
  let file: any File
  let number: UInt32

  /// Calls `body` with each whole page of a store, in the order of the file.
  ///
  /// - Parameter note: Called with each error of `body` and each failure to read; the walk continues after it.
  func run(
    of identity: StoreIdentity, note: (StoreError) -> Void,
    _ body: (PagePosition, PageHeader, RawSpan) throws(StoreError) -> Void
  ) {
    var block: UInt32 = 1
    do throws(StoreError) {
      let end = try endBlock
      while block < end {
        do throws(StoreError) {
          block += try page(at: block, before: end, of: identity, body)
        } catch {
          note(error)
          block += 1
        }
      }
    } catch { note(error) }
  }

  /// The block after the file's last whole one.
  var endBlock: UInt32 {
    get throws(StoreError) {
      UInt32(
        clamping: min(try file.size(at: .segmentOpen) / Layout.blockSize, Layout.segmentBlocksMax))
    }
  }

  /// Looks for a page at a block.
  ///
  /// - Returns: the number of blocks to continue by.
  private func page(
    at block: UInt32, before end: UInt32, of identity: StoreIdentity,
    _ body: (PagePosition, PageHeader, RawSpan) throws(StoreError) -> Void
  ) throws(StoreError) -> UInt32 {
    let first = try read(block, blocks: 1)
    let header = PageHeader(first.bytes)
    let blocks = UInt32(header.blocks)
    guard PageKind(rawValue: header.kind) != nil, blocks >= 1,
      blocks <= UInt32(Layout.pageBlocksMax), blocks <= end - block
    else { return 1 }
    let page = blocks == 1 ? first : try read(block, blocks: Int(blocks))
    let position = PagePosition(segment: number, block: block)
    guard PageChecksum.of(page.bytes, at: position, in: identity) == header.checksum else {
      return 1
    }
    try header.checkPlain(at: position, path: "pages-\(number)")
    try body(position, header, page.bytes)
    return blocks
  }

  /// The identities that pages of kind footer state, and have the right checksum for.
  func identitiesInFooters() -> [StoreIdentity] {
    var found: [StoreIdentity] = []
    guard let end = try? endBlock else { return [] }
    for block in 1..<max(1, end) {
      guard let first = try? read(block, blocks: 1) else { continue }
      let header = PageHeader(first.bytes)
      guard header.kind == PageKind.footer.rawValue, header.level == 0, header.blocks >= 1,
        UInt32(header.blocks) <= end - block,
        let page = try? read(block, blocks: Int(header.blocks))
      else { continue }
      let identity = StoreIdentity(
        low: page.bytes.load(32, as: UInt64.self), high: page.bytes.load(40, as: UInt64.self))
      let position = PagePosition(segment: number, block: block)
      if PageChecksum.of(page.bytes, at: position, in: identity) == header.checksum,
        !found.contains(identity)
      {
        found.append(identity)
      }
    }
    return found
  }

  private func read(_ block: UInt32, blocks: Int) throws(StoreError) -> PageBuffer {
    let buffer = PageBuffer(count: blocks * Layout.blockSize)
    var span = buffer.mutableBytes
    let count = try file.read(into: &span, from: Int(block) * Layout.blockSize, at: .pageRead)
    guard count == buffer.count else {
      throw .corrupt(
        .page(PagePosition(segment: number, block: block)), invariant: .segmentEnd,
        reason: "the file was cut while it was read")
    }
    return buffer
  }
}
