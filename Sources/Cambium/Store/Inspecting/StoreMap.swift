/// The use of every block of a store's page segments, and of every byte of its blob segments.
package struct StoreMap: Hashable, Sendable {
  /// The bytes of a block.
  package static var blockSize: Int { Layout.blockSize }

  /// The names of the trees, in order; those of records and indexes are the names in the model.
  package let trees: [String]
  /// The files of pages, by number.
  package let segments: [Segment]
  /// The files of blobs, by number.
  package let blobSegments: [BlobSegment]
  /// The faults of pages that could not be read: everything below them counts as garbage.
  package let faults: [StoreError]

  /// One file of blobs.
  package struct BlobSegment: Hashable, Sendable {
    /// The number in the file's name.
    package let number: Int
    /// The size of the file in bytes.
    package let size: Int
    /// The regions, one after the other, from byte 0 to the end; neighbours have different uses.
    package let regions: [BlobRegion]
  }

  /// Consecutive bytes of a file of blobs with the same use.
  package struct BlobRegion: Hashable, Sendable {
    /// The bytes, counted from the beginning of the file.
    package let bytes: Range<Int>
    /// The use of all of them.
    package let use: BlobUse
  }

  /// A use of bytes of a file of blobs.
  package enum BlobUse: String, Hashable, Sendable, CaseIterable {
    /// The header of the file.
    case header
    /// Blobs that records have.
    case blobs
    /// Blobs that only a state from before a migration needs.
    case kept
    /// Nothing refers to it.
    case garbage
  }

  /// One page segment.
  package struct Segment: Hashable, Sendable {
    /// The number in the file's name.
    package let number: Int
    /// The number of blocks in the file.
    package let blockCount: Int
    /// The regions, one after the other, from block 0 to the end; neighbours have different uses.
    package let regions: [Region]
  }

  /// Consecutive blocks with the same use.
  package struct Region: Hashable, Sendable {
    /// The blocks, counted from the beginning of the file.
    package let blocks: Range<Int>
    /// The use of all of them.
    package let use: Use
  }

  /// A use of blocks.
  package enum Use: Hashable, Sendable {
    /// The header of the segment.
    case header
    /// The roots of the present state.
    case footer
    /// A page of a tree, by its place in `trees`.
    case page(Page, tree: Int)
    /// Pages that only a state from before a migration reaches, or work that is not finished.
    case kept
    /// Nothing reaches it, or a writer is just appending it.
    case garbage
  }

  /// A kind of page of a tree.
  package enum Page: String, Hashable, Sendable, CaseIterable {
    /// A node that holds entries.
    case leaf
    /// A node that leads to others.
    case branch
    /// A value that is too large for a leaf.
    case value
  }
}

extension PersistentStore {
  /// Returns the use of every block of the page segments of the store at `path`, and of every byte of its files of blobs.
  /// Nothing is written, and another process may have it open.
  ///
  /// - Parameters:
  ///   - path: The store's directory.
  ///   - options: The options; `access` is ignored.
  /// - Complexity: O(branches) and O(blobs), and two bytes of memory a block. Leaves are read only where they have values
  ///   in pages of their own.
  /// - Throws: `StoreError.missing`, `.corrupt` if the store does not open; `.newerFormat`, `.networkFileSystem`, `.io`.
  package static func map(
    at path: String, options: StoreOptions = StoreOptions()
  ) throws(StoreError) -> StoreMap {
    let backend = try ReadingBackend(at: path, options)
    let file = backend.pages
    let schema = try? StoredSchemas(backend).newest()
    var mapping = BlockMapping(try file.segmentsOnDisk())
    mapping.add(footer: file.reference)
    for (place, tree) in file.footer.trees.enumerated() {
      try mapping.add(Tree(pages: file.pages, root: tree.root), tree: place)
    }
    for work in file.footer.pendingWork {
      for tree in work.trees { try mapping.keep(Tree(pages: file.pages, root: tree.root)) }
    }
    for state in file.footer.keptStates {
      mapping.keep(footer: state.footer)
      let kept = try PageFile(after: file, opening: state.footer)
      for tree in kept.footer.trees { try mapping.keep(Tree(pages: kept.pages, root: tree.root)) }
    }
    var blobs = BlobMapping()
    if let schema = schema ?? nil { try blobs.run(in: backend, for: schema) }
    return mapping.map(of: file.footer.trees.map { $0.name.asTreeName(in: schema ?? nil) }, blobs)
  }
}

extension String {
  /// The tree's name for people: that of its record or of its index.
  func asTreeName(in schema: Schema?) -> String {
    if let tree = MadeTree.origin(of: self) {
      return "\(tree.asTreeName(in: schema)), as a migration made it"
    }
    if let (tree, layer) = LevelLayer.parsing(self) {
      return "\(tree.asTreeName(in: schema)), \(layer) in its level"
    }
    for record in schema?.records ?? [] {
      if self == Entity.name(ofRows: record.number) { return record.name }
      for index in record.indexes where self == Entity.name(ofIndex: index.number) {
        return "\(record.name) by \(index.name)"
      }
    }
    return self
  }
}

/// Puts a map together, block by block.
struct BlockMapping {
  /// By segment, two bytes for each of its blocks.
  private var codes: [UInt32: [UInt16]] = [:]
  /// The uses that the codes stand for.
  private var uses: [StoreMap.Use] = [.garbage, .header]
  private var faults: [StoreError] = []

  private static var garbage: UInt16 { 0 }
  private static var header: UInt16 { 1 }

  init(_ segments: [SegmentExtent]) {
    for extent in segments {
      let count = min(Int(clamping: extent.end), Layout.segmentBlocksMax)
      var blocks = [UInt16](repeating: Self.garbage, count: count)
      if count > 0 { blocks[0] = Self.header }
      codes[extent.number] = blocks
    }
  }

  /// The place of a use among the uses, at most a few for each tree.
  private mutating func code(_ use: StoreMap.Use) -> UInt16 {
    if let place = uses.firstIndex(of: use) { return UInt16(place) }
    // Of very many trees the last are shown as one.
    if uses.count == Int(UInt16.max) { return .max - 1 }
    uses.append(use)
    return UInt16(uses.count - 1)
  }
}

extension BlockMapping {
  /// Adds the pages of a tree of the present state.
  ///
  /// - Throws: `.io`.
  mutating func add(_ tree: Tree, tree number: Int) throws(StoreError) {
    let codes = (
      leaf: code(.page(.leaf, tree: number)), branch: code(.page(.branch, tree: number)),
      value: code(.page(.value, tree: number))
    )
    try fill(tree, onlyGarbage: false) { kind in
      switch kind {
      case .leaf: codes.leaf
      case .branch: codes.branch
      case .value, .valueList, .footer: codes.value
      }
    }
  }

  /// Adds the pages of a tree that is kept, as far as nothing else reaches them.
  mutating func keep(_ tree: Tree) throws(StoreError) {
    let kept = code(.kept)
    try fill(tree, onlyGarbage: true) { _ in kept }
  }

  /// Adds the footer of the present state.
  mutating func add(footer reference: FooterReference) {
    fill(reference.copies, .footer)
  }

  mutating func keep(footer reference: FooterReference) {
    fill(reference.copies, .kept)
  }

  private mutating func fill(_ copies: [PageReference], _ use: StoreMap.Use) {
    let code = code(use)
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
        number: Int(number), blockCount: blocks.count, regions: regions(of: blocks))
    }
    return StoreMap(
      trees: trees, segments: segments, blobSegments: blobs.segments, faults: faults + blobs.faults)
  }

  private func regions(of blocks: [UInt16]) -> [StoreMap.Region] {
    var regions: [StoreMap.Region] = []
    var start = 0
    for block in blocks.indices.dropFirst() where blocks[block] != blocks[start] {
      regions.append(StoreMap.Region(blocks: start..<block, use: uses[Int(blocks[start])]))
      start = block
    }
    if start < blocks.count {
      regions.append(StoreMap.Region(blocks: start..<blocks.count, use: uses[Int(blocks[start])]))
    }
    return regions
  }
}

/// Collects the uses of the files of blobs.
struct BlobMapping {
  private(set) var segments: [StoreMap.BlobSegment] = []
  private(set) var faults: [StoreError] = []

  /// - Complexity: O(blobs × log blobs).
  /// - Throws: `.io`. A wrong entry of the map of blobs is a fault, and ends it.
  mutating func run(
    in backend: any StoreBackend, for schema: Schema
  ) throws(StoreError) {
    do throws(StoreError) {
      try BlobOpening(backend).open(for: schema)
      guard let keeper = backend.blobs.keeper else { return }
      let (trees, blobs) = (try backend.trees(), try BlobTrees(backend.names))
      for (number, _) in try blobs.accounts(in: trees) {
        let size = Int(clamping: try keeper.size(of: number))
        let bytes = try Self.bytes(of: number, size, blobs, in: trees)
        segments.append(
          StoreMap.BlobSegment(number: Int(number), size: size, regions: bytes.regions))
      }
    } catch {
      switch error {
      case .corrupt, .missing: faults.append(error)
      default: throw error
      }
    }
  }

  /// Walks over the places of one segment, which follow one another.
  private static func bytes(
    of number: UInt32, _ size: Int, _ blobs: BlobTrees, in trees: TreeAccess
  ) throws(StoreError) -> BlobBytes {
    var bytes = BlobBytes(size)
    let prefix = SegmentAccount.key(of: number)
    let cursor = try trees.cursor(in: blobs.places)
    var isOn = try cursor.seek(to: prefix.rawSpan)
    while isOn {
      let key = cursor.key.array()
      guard key.starts(with: prefix) else { break }
      let value = try cursor.value()
      if let identity = BlobIdentity(key: value),
        let entry = try blobs.entry(of: identity, in: trees), entry.place.key == key
      {
        bytes.add(entry)
      }
      isOn = try cursor.next()
    }
    bytes.end()
    return bytes
  }
}

/// The bytes of one file of blobs, from front to back.
private struct BlobBytes {
  private let size: Int
  private(set) var regions: [StoreMap.BlobRegion] = []
  private var done = 0

  init(_ size: Int) {
    self.size = size
    fill(to: BlobLayout.firstOffset, .header)
  }

  /// Adds a blob that lies after all before it; a part that is not in the file is left out.
  mutating func add(_ entry: BlobEntry) {
    fill(to: Int(clamping: entry.place.offset), .garbage)
    fill(to: Int(clamping: entry.place.end), entry.references > 0 ? .blobs : .kept)
  }

  mutating func end() { fill(to: size, .garbage) }

  private mutating func fill(to end: Int, _ use: StoreMap.BlobUse) {
    let end = min(end, size)
    if end <= done { return }
    var start = done
    if let last = regions.last, last.use == use {
      start = last.bytes.lowerBound
      regions.removeLast()
    }
    regions.append(StoreMap.BlobRegion(bytes: start..<end, use: use))
    done = end
  }
}
