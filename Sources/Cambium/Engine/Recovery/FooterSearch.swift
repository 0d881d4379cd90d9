/// A footer that was found by looking for one.
struct FoundFooter: Sendable {
  /// Where only one copy was found, the reference names it as the first, and the checksum of the other does
  /// not hold.
  let reference: FooterReference
  let footer: Footer
  let identity: StoreIdentity
}

/// Goes over all page segments, from page to page, and keeps the footers.
///
/// From a block where no whole page begins it goes on to the next block. So what is within a whole page is
/// not taken for one.
struct FooterSearch: ~Copyable {
  private let medium: any FileSystem
  private var pages: [FoundPage] = []
  private(set) var faults: [StoreError] = []
  /// Newest first: by covered sequence, then by position.
  private(set) var found: [FoundFooter] = []

  private struct FoundPage {
    let position: PagePosition
    let blocks: UInt8
    let checksum: Checksum
    let footer: Footer

    func isCopy(of other: FoundPage) -> Bool {
      position.segment == other.position.segment && blocks == other.blocks
        && position.block == other.position.block + UInt32(blocks) && footer == other.footer
    }
  }

  private struct Segment {
    let number: UInt32
    let file: any File
    let identity: StoreIdentity?
  }

  init(_ medium: any FileSystem) {
    self.medium = medium
  }

  /// - Throws: `.io` if the directory cannot be read.
  mutating func run() throws(StoreError) {
    let segments = try openSegments()
    // A segment whose own header is damaged is one of those beside it.
    let identities = Set(segments.compactMap(\.identity))
    for segment in segments {
      for identity in segment.identity.map({ [$0] }) ?? Array(identities) {
        search(segment, identity)
      }
    }
    pair()
  }

  private mutating func openSegments() throws(StoreError) -> [Segment] {
    var segments: [Segment] = []
    for name in try medium.list(at: .directoryList) where !name.isTemporary {
      guard case .pages(let number) = name.kind else { continue }
      do throws(StoreError) {
        let file = try medium.open(name, .read, at: .segmentOpen)
        segments.append(
          Segment(number: number, file: file, identity: identity(of: file, number: number)))
      } catch {
        faults.append(error)
      }
    }
    return segments.sortedRarely { $0.number < $1.number }
  }

  private mutating func identity(of file: any File, number: UInt32) -> StoreIdentity? {
    do throws(StoreError) {
      return try PageSegment.identity(of: file, number: number, expected: nil, in: medium)
    } catch {
      faults.append(error)
      return nil
    }
  }
}

// MARK: One segment

extension FooterSearch {
  private mutating func search(_ segment: Segment, _ identity: StoreIdentity) {
    let size: Int
    do throws(StoreError) {
      size = try segment.file.size(at: .segmentOpen)
    } catch {
      faults.append(error)
      return
    }
    let end = UInt32(clamping: min(size / Layout.blockSize, Layout.segmentBlocksMax))
    var block: UInt32 = 1
    while block < end {
      let position = PagePosition(segment: segment.number, block: block)
      do throws(StoreError) {
        block += try page(at: position, in: segment, before: end, of: identity)
      } catch {
        faults.append(error)
        block += 1
      }
    }
  }

  /// Looks at what begins at `position`, and keeps it if it is a footer.
  ///
  /// - Returns: the blocks to go on by.
  private mutating func page(
    at position: PagePosition, in segment: Segment, before end: UInt32, of identity: StoreIdentity
  ) throws(StoreError) -> UInt32 {
    let first = try read(segment, position.block, blocks: 1)
    let header = PageHeader(first.bytes)
    let blocks = UInt32(header.blocks)
    guard PageKind(rawValue: header.kind) != nil, blocks >= 1,
      blocks <= UInt32(Layout.pageBlocksMax), blocks <= end - position.block
    else { return 1 }
    let page = blocks == 1 ? first : try read(segment, position.block, blocks: Int(blocks))
    guard Checksum.ofPage(page.bytes, at: position, in: identity) == header.checksum else {
      return 1
    }
    if header.kind == PageKind.footer.rawValue, header.level == 0 {
      let footer = try Footer(decoding: page.bytes, at: position, path: medium.path)
      if footer.identity == identity {
        pages.append(
          FoundPage(
            position: position, blocks: header.blocks, checksum: header.checksum, footer: footer))
      }
    }
    return blocks
  }

  private func read(
    _ segment: Segment, _ block: UInt32, blocks: Int
  ) throws(StoreError) -> PageBuffer {
    let buffer = PageBuffer(count: blocks * Layout.blockSize)
    var span = buffer.mutableBytes
    let count = try segment.file.read(
      into: &span, from: Int(block) * Layout.blockSize, at: .pageRead)
    guard count == buffer.count else {
      throw .corrupt(
        .page(PagePosition(segment: segment.number, block: block)), invariant: .segmentEnd,
        reason: "the file was cut while it was read")
    }
    return buffer
  }
}

// MARK: Copies

extension FooterSearch {
  /// Makes one reference of both copies of a footer, which lie one behind the other.
  private mutating func pair() {
    var index = 0
    while index < pages.count {
      let page = pages[index]
      let next = index + 1 < pages.count ? pages[index + 1] : nil
      let isPair = next.map { $0.isCopy(of: page) } ?? false
      let copyChecksum = isPair ? next?.checksum : nil
      found.append(
        FoundFooter(
          reference: FooterReference(
            position: page.position, blocks: page.blocks, checksum: page.checksum,
            copyChecksum: copyChecksum ?? Checksum(),
            coveredSequence: page.footer.coveredSequence),
          footer: page.footer, identity: page.footer.identity))
      index += isPair ? 2 : 1
    }
    found.sort {
      ($1.reference.coveredSequence, $1.reference.position)
        < ($0.reference.coveredSequence, $0.reference.position)
    }
  }
}
