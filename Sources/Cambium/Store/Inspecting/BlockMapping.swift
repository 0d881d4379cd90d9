/// Puts a map together, block by block.
struct BlockMapping {
  /// By segment, two bytes for each of its blocks.
  private var codes: [UInt32: [UInt16]] = [:]
  private var faults: [StoreError] = []

  init(_ footer: Footer) {
    for extent in footer.segments where extent.kind == .pages {
      let count = min(Int(clamping: extent.end), Layout.segmentBlocksMax)
      var blocks = [UInt16](repeating: Self.garbage, count: count)
      if count > 0 { blocks[0] = Self.header }
      codes[extent.number] = blocks
    }
  }

  private static var garbage: UInt16 { 0 }
  private static var header: UInt16 { 1 }
  private static var footer: UInt16 { 2 }
  private static var kept: UInt16 { 3 }
  private static var firstPage: UInt16 { 4 }

  private static func code(_ page: StoreMap.Page, tree: Int) -> UInt16 {
    let kind: UInt16 =
      switch page {
      case .leaf: 0
      case .branch: 1
      case .value: 2
      }
    return firstPage + UInt16(min(tree, 20_000)) * 3 + kind
  }

  private static func use(_ code: UInt16) -> StoreMap.Use {
    switch code {
    case garbage: return .garbage
    case header: return .header
    case footer: return .footer
    case kept: return .kept
    default:
      let (tree, kind) = (code - firstPage).quotientAndRemainder(dividingBy: 3)
      return .page(kind == 0 ? .leaf : kind == 1 ? .branch : .value, tree: Int(tree))
    }
  }
}

extension BlockMapping {
  /// Adds the pages of a tree of the present state.
  ///
  /// - Throws: `.io`.
  mutating func add(_ tree: Tree, tree number: Int) throws(StoreError) {
    try fill(tree, onlyGarbage: false) { kind in
      switch kind {
      case .leaf: Self.code(.leaf, tree: number)
      case .branch: Self.code(.branch, tree: number)
      case .value, .valueList, .footer: Self.code(.value, tree: number)
      }
    }
  }

  /// Adds the pages of a tree that is kept, as far as nothing else reaches them.
  mutating func keep(_ tree: Tree) throws(StoreError) {
    try fill(tree, onlyGarbage: true) { _ in Self.kept }
  }

  /// Adds the footer of the present state, which lies behind what it publishes.
  mutating func add(footer reference: FooterReference) {
    let number = reference.position.segment
    let missing =
      min(Int(reference.endBlock), Layout.segmentBlocksMax) - (codes[number]?.count ?? 0)
    if missing > 0, codes[number] != nil {
      codes[number]?.append(contentsOf: repeatElement(Self.garbage, count: missing))
    }
    fill(reference.copies, Self.footer)
  }

  mutating func keep(footer reference: FooterReference) {
    fill(reference.copies, Self.kept)
  }

  private mutating func fill(_ copies: [PageReference], _ code: UInt16) {
    for copy in copies { fill(copy, code, onlyGarbage: false) }
  }

  private mutating func fill(
    _ tree: Tree, onlyGarbage: Bool, _ code: (PageKind) -> UInt16
  ) throws(StoreError) {
    do throws(StoreError) {
      try tree.forEachPage { reference, kind in
        fill(reference, code(kind), onlyGarbage: onlyGarbage)
      }
    } catch {
      guard case .corrupt = error else { throw error }
      faults.append(error)
    }
  }

  /// Marks the blocks of a reference; blocks beyond the end of its segment are left out.
  private mutating func fill(_ reference: PageReference, _ code: UInt16, onlyGarbage: Bool) {
    guard let count = codes[reference.position.segment]?.count else { return }
    let first = min(Int(reference.position.block), count)
    for block in first..<min(first + Int(reference.blocks), count) {
      let isFree = codes[reference.position.segment]?[block] == Self.garbage
      if isFree || !onlyGarbage { codes[reference.position.segment]?[block] = code }
    }
  }

  func map(of trees: [String], _ blobs: BlobMapping) -> StoreMap {
    let segments = codes.sortedRarely { $0.key < $1.key }.map { number, blocks in
      StoreMap.Segment(
        number: Int(number), blockCount: blocks.count, regions: Self.regions(of: blocks))
    }
    return StoreMap(
      trees: trees, segments: segments, blobSegments: blobs.segments, faults: faults + blobs.faults)
  }

  private static func regions(of blocks: [UInt16]) -> [StoreMap.Region] {
    var regions: [StoreMap.Region] = []
    var start = 0
    for block in blocks.indices.dropFirst() where blocks[block] != blocks[start] {
      regions.append(StoreMap.Region(blocks: start..<block, use: use(blocks[start])))
      start = block
    }
    if start < blocks.count {
      regions.append(StoreMap.Region(blocks: start..<blocks.count, use: use(blocks[start])))
    }
    return regions
  }
}
