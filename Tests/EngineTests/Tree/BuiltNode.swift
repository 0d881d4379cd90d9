@testable import Cambium
@testable import InternalTestSupport

/// A node written to memory, and the reference that a parent would have to it.
struct BuiltNode {
  struct Entry {
    var key: Bytes
    var value: Bytes
    var isExternal = false
  }

  let entries: [Entry]
  let isBranch: Bool
  private(set) var bytes: Bytes
  private(set) var reference: PageReference
  let size: Int
  let used: Int

  /// - Parameter entries: ascending by key. Of a branch's, the first key is not in the node.
  init(_ entries: [Entry], isBranch: Bool = false, schemaVersion: UInt32 = 1) {
    var open = OpenEntries(isBranch: isBranch, capacity: 15 * Layout.blockSize)
    for entry in entries {
      open.append(entry.key.rawSpan, entry.value.rawSpan, isExternal: entry.isExternal)
    }
    let range = 0..<entries.count
    let measure = NodeMeasure(open, range)
    let blocks = UInt8((measure.size + Layout.blockSize - 1) / Layout.blockSize)
    var page = Bytes(repeating: 0xa5, count: Int(blocks) * Layout.blockSize)
    var span = page.mutableSpan
    var raw = unsafe span.mutableBytes
    used = NodeWriter.write(
      open, range, measure: measure, schemaVersion: schemaVersion, tag: TreeTag(of: "r7"), to: &raw)
    raw.zero(used..<raw.byteCount)
    PageHeader(
      kind: isBranch ? .branch : .leaf, level: isBranch ? 1 : 0, blocks: blocks,
      flags: measure.hasExternals ? Node.hasExternalsFlag : 0, checksum: PageChecksum()
    ).encode(to: &raw)
    size = measure.size
    reference = PageReference(
      position: PagePosition(segment: 1, block: 1_000), blocks: blocks, checksum: PageChecksum(),
      lowestVersion: 0, count: 0, liveBytes: UInt64(Int(blocks) * Layout.blockSize))
    open.aggregate(range, schemaVersion: schemaVersion, into: &reference)
    bytes = page
    self.entries = entries
    self.isBranch = isBranch
  }

  /// The keys that are in the node.
  var keys: [Bytes] { entries.dropFirst(isBranch ? 1 : 0).map(\.key) }

  /// A reference that any node of a test may hold.
  static func encodedReference(_ block: UInt32 = 1, count: UInt64 = 1) -> Bytes {
    var bytes: Bytes = []
    PageReference(
      position: PagePosition(segment: 1, block: block), blocks: 1, checksum: PageChecksum(),
      lowestVersion: 1, count: count, liveBytes: 4096
    ).encode(to: &bytes)
    return bytes
  }
}

extension BuiltNode {
  /// Makes it the page at `position`, as the appender would.
  mutating func seal(at position: PagePosition, in identity: StoreIdentity) {
    reference.position = position
    reference.checksum = PageChecksum.of(bytes.rawSpan, at: position, in: identity)
    for index in 0..<PageChecksum.size {
      bytes[index] = UInt8(truncatingIfNeeded: reference.checksum.rawValue >> (8 * UInt64(index)))
    }
  }

  /// Compares all that the node says with what it was made of.
  func verify() throws {
    try agree(size == used, "measured \(size), used \(used)")
    if isBranch {
      try BranchPage.validate(bytes.rawSpan, reference, level: 1)
    } else {
      try LeafPage.validate(bytes.rawSpan, reference, level: 0)
    }
    let keys = keys
    let node = Node(bytes.rawSpan)
    try agree(node.count == keys.count, "\(node.count) keys for \(keys.count)")
    try agree(node.used == used, "its header says \(node.used) are used of \(used)")
    var key: Bytes = []
    let buffer = KeyBuffer()
    let pageBuffer = PageBuffer(count: bytes.count)
    var pageBytes = pageBuffer.mutableBytes
    pageBytes.copy(bytes.rawSpan, to: 0)
    let page = Page(pageBuffer)
    buffer.begin(page, node.layout)
    for slot in keys.indices {
      node.copyKey(slot, to: &key)
      let built = buffer.key(
        node.parts(slot), prefixLength: node.prefixLength, of: page
      ).array()
      try agree(key == keys[slot], "key \(slot) reads \(key), not \(keys[slot])")
      try agree(built == key, "the buffer reads \(built)")
      try agree(node.keyLength(slot) == key.count, "key \(slot) has length \(node.keyLength(slot))")
      if isBranch { continue }
      let entry = entries[slot]
      try agree(node.value(slot).array() == entry.value, "value \(slot) differs")
      try agree(node.isExternal(slot) == entry.isExternal, "value \(slot) is kept elsewhere")
    }
    if isBranch {
      for (index, entry) in entries.enumerated() {
        let child = PageReference(decoding: entry.value.rawSpan, at: 0)
        try agree(node.child(index) == child, "child \(index) differs")
      }
    }
    for key in keys { try verify(lookupOf: key, among: keys) }
  }

  /// Looks up `sought` as a search and in two steps, as batches do.
  func verify(lookupOf sought: Bytes, among keys: [Bytes]) throws {
    let slot = keys.lowerBound(of: sought)
    let isFound = slot < keys.count && keys[slot] == sought
    let expected = SearchResult(slot: slot, isFound: isFound)
    let node = Node(bytes.rawSpan)
    let result = node.search(sought.rawSpan)
    try agree(result == expected, "\(sought) among \(keys): \(result)")
    let first = node.firstSlot(notBelowHeadOf: sought.rawSpan)
    let found = node.slot(of: sought.rawSpan, from: first)
    try agree(found == (isFound ? slot : nil), "\(sought) from \(first)")
    let child = node.childIndex(for: sought.rawSpan)
    try agree(child == slot + (isFound ? 1 : 0), "\(sought) among \(keys): child \(child)")
  }

  /// Looks up every key and strings close to it.
  func verifyNeighbors() throws {
    let keys = keys
    for key in keys {
      for neighbor in neighbors(of: key) { try verify(lookupOf: neighbor, among: keys) }
    }
    try verify(lookupOf: [], among: keys)
  }
}
