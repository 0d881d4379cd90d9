@testable import Cambium

extension StoreMender {
  /// Mends the footer that a reference leads to, with all that it leads to itself.
  mutating func mendFooter(at reference: Place, depth: Int = 0) {
    let segment = number(reference.file, reference.offset, as: UInt32.self)
    let place = number(reference.file, reference.offset + 4, as: UInt32.self)
    let (block, size) = (place & 0xff_ffff, Int(place >> 24) * Layout.blockSize)
    let file = "\(FileName.pages(segment))"
    let start = Int(block) * Layout.blockSize
    guard depth < 8, size > 0, start + 2 * size <= self.size(of: file) else { return }
    let position = PagePosition(segment: segment, block: block)
    if done[position] == nil {
      done[position] = PageChecksum()
      pieces.append(Piece(kind: .footer, file: file, bytes: start..<start + size))
      mendContent(of: file, start, size, depth)
      done[position] = seal(file, start..<start + size, position)
    }
    store(done[position]?.rawValue ?? 0, reference.file, reference.offset + 8)
    // The second copy says the same, in another place.
    let copy = start + size..<start + 2 * size
    replace(copy, of: file, by: bytes(file, start..<start + size))
    let copyPosition = PagePosition(segment: segment, block: block + (place >> 24))
    store(seal(file, copy, copyPosition).rawValue, reference.file, reference.offset + 16)
  }

  private mutating func mendContent(of file: String, _ start: Int, _ size: Int, _ depth: Int) {
    let content = FooterPlaces(bytes(file, start..<start + size))
    // The seed of blobs must be known before the map of blobs is mended.
    let seedFirst = content.roots.filter { $0.tree == Array(BlobTrees.segmentsName.utf8) }
    for root in seedFirst + content.roots {
      mendPage(at: Place(file: file, offset: start + root.offset), in: root.tree)
    }
    for offset in content.footers {
      mendFooter(at: Place(file: file, offset: start + offset), depth: depth + 1)
    }
  }
}

/// Where a footer has its references, as far as its sections can be followed.
private struct FooterPlaces {
  private(set) var roots: [(tree: [UInt8], offset: Int)] = []
  private(set) var footers: [Int] = []
  private let page: [UInt8]
  private var offset = Footer.fixedSize
  private let end: Int

  init(_ page: [UInt8]) {
    self.page = page
    end = min(page.count, Footer.fixedSize + Int(page.rawSpan.load(24, as: UInt32.self)))
    while offset + 12 <= end {
      let section = Footer.Section(rawValue: number(UInt16.self))
      offset += 2
      let length = Int(number(UInt32.self))
      let next = offset + length
      let count = min(number(UInt32.self), 10_000)
      for _ in 0..<count where offset < end { follow(section) }
      offset = next
    }
  }

  /// The number that is next; 0 after the end.
  private mutating func number<Number: FixedWidthInteger & BitwiseCopyable>(
    _ type: Number.Type
  ) -> Number {
    let size = MemoryLayout<Number>.size
    defer { offset += size }
    return offset + size <= end ? page.rawSpan.load(offset, as: type) : 0
  }

  private mutating func follow(_ section: Footer.Section?) {
    switch section {
    case .trees: followTree()
    case .keptStates:
      offset += 4
      let label = Int(number(UInt8.self))
      offset += label
      followFooter()
    case .pendingWork:
      offset += 2
      let cursor = Int(number(UInt16.self))
      offset += cursor
      let count = min(number(UInt32.self), 10_000)
      for _ in 0..<count where offset < end { followTree() }
    case .previous: followFooter()
    case .segments, nil: offset = end
    }
  }

  private mutating func followTree() {
    let length = Int(number(UInt8.self))
    let name = offset..<min(offset + length, end)
    offset += length
    for _ in 0..<number(UInt8.self) where offset + NamedTree.layerSize <= end {
      roots.append((Array(page[name]), offset + 2))
      offset += NamedTree.layerSize
    }
    let options = Int(number(UInt16.self))
    offset += options
  }

  private mutating func followFooter() {
    if offset + FooterReference.size <= end { footers.append(offset) }
    offset += FooterReference.size
  }
}
