/// A run from its first entry to its last, read in large pieces.
///
/// Leaves lie in the order of their keys, so a piece holds many of them. Pages are checked by their checksums
/// and no further: this process wrote them, and nobody else could.
final class RunInput {
  /// A branch on the path, and the child that the path goes on with.
  private struct Step {
    let page: Page
    let level: UInt8
    var child: Int
  }

  /// Large enough that a read costs little more than its bytes, and small enough for one for each run.
  private static var pieceSize: Int { 512 << 10 }

  private let tree: Tree
  // One owner on one thread uses them, so accesses cannot overlap.
  @exclusivity(unchecked) private var path: [Step] = []
  @exclusivity(unchecked) private var hasBegun = false
  private let piece = PageBuffer(count: RunInput.pieceSize)
  /// What is in the piece.
  @exclusivity(unchecked) private var pieceStart = PagePosition(segment: 0, block: 0)
  @exclusivity(unchecked) private var pieceBlocks: UInt32 = 0
  @exclusivity(unchecked) private var leaf = RunLeaf()
  /// The entry's value, if it has pages of its own.
  @exclusivity(unchecked) private var external: [UInt8] = []
  @exclusivity(unchecked) private var isExternal = false

  init(_ run: Run) {
    tree = run.tree
  }

  var count: Int { tree.count }

  /// Moves to the next entry, the first at first. False when there is none.
  @inline(__always)
  func advance() throws(StoreError) -> Bool {
    if unsafe !leaf.next(), try !stepToNextLeaf() { return false }
    if unsafe leaf.hasExternals { try readExternal() }
    return true
  }

  /// The key of the entry. Until the input moves.
  var key: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get { unsafe _overrideLifetime(leaf.key, borrowing: self) }
  }

  /// The operation, as `RunValue` reads it. Until the input moves.
  var stored: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get {
      if unsafe isExternal { return unsafe _overrideLifetime(external.rawSpan, borrowing: self) }
      return unsafe _overrideLifetime(leaf.stored, borrowing: self)
    }
  }

  var schemaVersion: UInt32 { unsafe leaf.schemaVersion }

  @inline(never)
  private func readExternal() throws(StoreError) {
    unsafe isExternal = leaf.isExternal
    if unsafe !isExternal { return }
    let reference = unsafe PageReference(decoding: leaf.stored, at: 0)
    unsafe external.removeAll(keepingCapacity: true)
    try unsafe tree.pages.appendLargeValue(reference, to: &external)
  }
}

// MARK: - Leaves

extension RunInput {
  @inline(never)
  private func stepToNextLeaf() throws(StoreError) -> Bool {
    unsafe isExternal = false
    guard let reference = try nextLeaf() else { return false }
    unsafe leaf.begin(try page(reference))
    return true
  }

  private func nextLeaf() throws(StoreError) -> PageReference? {
    if unsafe !hasBegun {
      unsafe hasBegun = true
      guard let root = tree.root else { return nil }
      return try descend(root.reference, level: root.level)
    }
    while let step = unsafe path.last {
      let node = Node(step.page.bytes)
      let child = step.child + 1
      if child < node.childCount {
        unsafe path[path.count - 1].child = child
        return try descend(node.child(child), level: step.level - 1)
      }
      unsafe path.removeLast()
    }
    return nil
  }

  private func descend(
    _ reference: PageReference, level: UInt8
  ) throws(StoreError) -> PageReference {
    var reference = reference
    var level = level
    while level > 0 {
      let page = try tree.pages.page(reference, level: level, as: BranchPage.self)
      unsafe path.append(Step(page: page, level: level, child: 0))
      reference = Node(page.bytes).child(0)
      level -= 1
    }
    return reference
  }

  /// A leaf in the piece, which is read anew where it does not hold it.
  private func page(_ reference: PageReference) throws(StoreError) -> Page {
    let position = reference.position
    let isThere =
      unsafe position.segment == pieceStart.segment
      && position.block >= pieceStart.block
      && reference.endBlock <= pieceStart.block + pieceBlocks
    if !isThere { try read(from: position) }
    let offset = unsafe Int(position.block - pieceStart.block) * Layout.blockSize
    guard offset + reference.size <= piece.count else {
      throw reference.fault(.pageExists, "it is beyond the run's end")
    }
    let page = Page(piece, from: offset, count: reference.size)
    let checksum = PageChecksum.of(page.bytes, at: position, in: tree.pages.identity)
    guard checksum == reference.checksum else {
      throw reference.fault(
        .pageChecksum, "its bytes hash to \(checksum), the reference says \(reference.checksum)")
    }
    return page
  }

  private func read(from position: PagePosition) throws(StoreError) {
    guard let entry = tree.pages.segments.entry(position.segment), position.block < entry.endBlock
    else { throw .corrupt(.page(position), invariant: .pageExists, reason: "no run goes that far") }
    let blocks = min(UInt32(piece.count / Layout.blockSize), entry.endBlock - position.block)
    unsafe pieceBlocks = 0
    let count = try entry.segment.file.read(
      into: piece, count: Int(blocks) * Layout.blockSize,
      from: Int(position.block) * Layout.blockSize)
    guard count == Int(blocks) * Layout.blockSize else {
      throw .corrupt(
        .page(position), invariant: .segmentEnd, reason: "the run's file ends too soon")
    }
    unsafe pieceStart = position
    unsafe pieceBlocks = blocks
  }
}

/// A leaf, and one of its entries after the other.
private struct RunLeaf: ~Copyable {
  private var page = Page.none
  private var layout = NodeLayout.none
  private var even: EvenEntries?
  private var parts = EntryParts(head: 0, headLength: 0, tail: 0..<0, value: 0..<0)
  private var slot = -1
  private(set) var schemaVersion: UInt32 = 0
  private(set) var hasExternals = false
  private let keyBuffer = KeyBuffer()

  /// Begins with the first entry of a leaf; there is one.
  mutating func begin(_ page: Page) {
    self.page = page
    let node = Node(page.bytes)
    layout = node.layout
    even = node.evenEntries
    hasExternals = node.hasExternals
    schemaVersion = node.schemaVersion
    keyBuffer.begin(page, layout)
    slot = -1
    _ = next()
  }

  /// Moves to the next entry; false if there is none.
  @inline(__always)
  mutating func next() -> Bool {
    slot &+= 1
    guard slot < layout.count else { return false }
    parts = partsOfSlot
    return true
  }

  @inline(__always)
  private var partsOfSlot: EntryParts {
    let node = Node(page.bytes, layout)
    guard let even else { return node.parts(slot) }
    return even.parts(slot, head: node.head(slot))
  }

  var key: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get { keyBuffer.key(parts, prefixLength: layout.prefixLength, of: page) }
  }

  var stored: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get { page.bytes.extracting(parts.value) }
  }

  var isExternal: Bool { Node(page.bytes, layout).isExternal(slot) }
}
