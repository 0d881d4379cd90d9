/// A page read as part of a tree: sorted keys, and with them values (a leaf) or children (a branch).
///
/// A node is a structure of arrays. A search touches the heads only, until two keys agree in them.
///
///     offset  0       24     26      28     30     32    33    34     36       40    44    48
///             ┌───────┬──────┬───────┬──────┬──────┬─────┬─────┬──────┬────────┬─────┬─────┬─ ─
///             │header │count │prefix │tail  │value │head │zero │cells │schema  │used │tree │
///             │       │      │length │width │width │len. │     │      │version │     │     │
///             └───────┴──────┴───────┴──────┴──────┴─────┴─────┴──────┴────────┴─────┴─────┴─ ─
///     then    prefix        the bytes all keys begin with; zeros up to a multiple of 8
///             heads         8 × count     the next 8 bytes of each key, as a number
///             references    32 × (count + 1)   branches only: the children
///             cell ends     2 × count     unless tail and value have fixed widths
///             tail lengths  2 × count     if both vary
///             head lengths  count         if they vary: how many bytes of the head are the key's
///             externals     count bits    if any: whose value is a reference to pages of its own
///             cells         tail (what is left of the key), value
///
/// A width of `0xffff`, a head length of `0xff` say "varies". A branch with `count` keys has
/// `count + 1` children; its keys are separators, and child `i` holds keys from separator `i - 1` on,
/// up to but without separator `i`.
struct Node: ~Escapable {
  static let headerSize = 48
  /// The width of tails or values that have no common one.
  static let varies = 0xffff
  /// The head length of keys that have no common one.
  static let headLengthVaries = 0xff
  /// The header flag of a leaf some of whose values have pages of their own.
  static let hasExternalsFlag: UInt8 = 1

  let page: RawSpan
  let layout: NodeLayout

  /// Reads the header of a page that was validated as a node.
  @_lifetime(copy page)
  @inline(__always)
  init(_ page: RawSpan) {
    self.page = page
    layout = NodeLayout(page)
  }

  /// Looks at a page whose layout is known.
  @_lifetime(copy page)
  @inline(__always)
  init(_ page: RawSpan, _ layout: NodeLayout) {
    self.page = page
    self.layout = layout
  }

  /// The number of keys.
  var count: Int { layout.count }
  var prefixLength: Int { layout.prefixLength }
  var childCount: Int { count + 1 }
  var hasExternals: Bool { PageHeader(page).flags & Self.hasExternalsFlag != 0 }
  /// Where the cells begin.
  var cellsOffset: Int { Int(page.load(34, as: UInt16.self)) }
  /// The schema version of a leaf's rows.
  var schemaVersion: UInt32 { page.load(36, as: UInt32.self) }
  /// Where the node's bytes end and the last block's rest begins.
  var used: Int { Int(page.load(40, as: UInt32.self)) }
  /// The tree that the node was written for; for salvage alone.
  var tag: TreeTag { TreeTag(rawValue: page.load(44, as: UInt32.self)) }
  /// The bytes that all keys begin with.
  var prefix: RawSpan {
    @_lifetime(copy self)
    @inline(__always)
    get { page.part(Self.headerSize, prefixLength) }
  }
}

/// The head of an entry's key, and where in the page the rest of it and the value are.
struct EntryParts {
  let head: UInt64
  /// How many bytes of the head are the key's.
  let headLength: Int
  let tail: Range<Int>
  let value: Range<Int>
}

/// Where the entries of a leaf are whose tails, values and head lengths do not vary.
struct EvenEntries {
  let cellsOffset: Int
  /// The width of tail and value together.
  let width: Int
  let tailWidth: Int
  let headLength: Int

  @inline(__always)
  func parts(_ slot: Int, head: UInt64) -> EntryParts {
    let start = cellsOffset &+ slot &* width
    let middle = start &+ tailWidth
    return EntryParts(
      head: head, headLength: headLength, tail: start..<middle, value: middle..<start &+ width)
  }
}

/// Where the parts of a node are, as its header says.
///
/// Read once a visit. What only nodes of varying widths need is derived when they ask for it.
struct NodeLayout {
  let count: Int
  let prefixLength: Int
  /// The length of every tail, or `Node.varies`.
  fileprivate let tailWidth: Int
  /// The length of every value, or `Node.varies`.
  fileprivate let valueWidth: Int

  private init(count: Int, prefixLength: Int, tailWidth: Int, valueWidth: Int) {
    self.count = count
    self.prefixLength = prefixLength
    self.tailWidth = tailWidth
    self.valueWidth = valueWidth
  }

  @inline(__always)
  init(_ page: RawSpan) {
    let word = page.load(24, as: UInt64.self)
    count = Int(UInt16(truncatingIfNeeded: word))
    prefixLength = Int(UInt16(truncatingIfNeeded: word >> 16))
    tailWidth = Int(UInt16(truncatingIfNeeded: word >> 32))
    valueWidth = Int(UInt16(truncatingIfNeeded: word >> 48))
  }

  /// The layout of no entries.
  static let none = NodeLayout(count: 0, prefixLength: 0, tailWidth: 0, valueWidth: 0)

  // None of these sums can overflow: every term is below 2^22.
  var headsOffset: Int { Node.headerSize &+ (prefixLength &+ 7) & ~7 }
  var headsEnd: Int { headsOffset &+ 8 &* count }
  var tailVaries: Bool { tailWidth == Node.varies }
  var valueVaries: Bool { valueWidth == Node.varies }
}

// MARK: Places

extension Node {
  private var endsOffset: Int {
    let isBranch = PageHeader(page).kind == PageKind.branch.rawValue
    return layout.headsEnd &+ (isBranch ? PageReference.size &* childCount : 0)
  }
  private var tailLengthsOffset: Int {
    endsOffset &+ (layout.tailVaries || layout.valueVaries ? 2 &* count : 0)
  }
  private var headLengthsOffset: Int {
    tailLengthsOffset &+ (layout.tailVaries && layout.valueVaries ? 2 &* count : 0)
  }
  private var headLength: Int { Int(page.load(32, as: UInt8.self)) }
  private var externalsOffset: Int {
    headLengthsOffset &+ (headLength == Self.headLengthVaries ? count : 0)
  }
  /// Where the cells must begin, by what the header says of the parts before them.
  var partsEnd: Int { externalsOffset &+ (hasExternals ? (count &+ 7) &>> 3 : 0) }

  /// Where the cell of `slot` begins and ends, from the first cell's beginning.
  @inline(__always)
  func cell(_ slot: Int) -> (start: Int, end: Int) {
    if !layout.tailVaries && !layout.valueVaries {
      let width = layout.tailWidth &+ layout.valueWidth
      return (slot &* width, (slot &+ 1) &* width)
    }
    let offset = endsOffset &+ 2 &* slot
    let end = Int(page.load(offset, as: UInt16.self))
    let start = slot == 0 ? 0 : Int(page.load(offset &- 2, as: UInt16.self))
    return (start, end)
  }

  /// The bytes of the cells of `slots`.
  func cellsSize(_ slots: Range<Int>) -> Int {
    slots.isEmpty ? 0 : cell(slots.upperBound - 1).end - cell(slots.lowerBound).start
  }

  @inline(__always)
  func tailLength(_ slot: Int) -> Int {
    if !layout.tailVaries { return layout.tailWidth }
    if layout.valueVaries {
      return Int(page.load(tailLengthsOffset &+ 2 &* slot, as: UInt16.self))
    }
    let cell = cell(slot)
    return cell.end &- cell.start &- layout.valueWidth
  }

  @inline(__always)
  func headLength(_ slot: Int) -> Int {
    let length = headLength
    if length != Self.headLengthVaries { return length }
    return Int(page.load(headLengthsOffset &+ slot, as: UInt8.self))
  }

  @inline(__always)
  func head(_ slot: Int) -> UInt64 {
    page.load(layout.headsOffset &+ 8 &* slot, as: UInt64.self)
  }
}

// MARK: Entries

extension Node {
  /// The rest of the key of `slot`, behind prefix and head.
  @_lifetime(copy self)
  @inline(__always)
  func tail(_ slot: Int) -> RawSpan {
    page.part(cellsOffset + cell(slot).start, tailLength(slot))
  }

  /// The value of `slot`, or the reference to its pages if it is external.
  @_lifetime(copy self)
  @inline(__always)
  func value(_ slot: Int) -> RawSpan {
    let range = valueRange(slot)
    return page.extracting(range)
  }

  /// Where in the page the value of `slot` is.
  @inline(__always)
  func valueRange(_ slot: Int) -> Range<Int> {
    parts(slot).value
  }

  /// What an entry consists of, to be put together outside the page.
  @inline(__always)
  func parts(_ slot: Int) -> EntryParts {
    let cells = cellsOffset
    let cell = cell(slot)
    let start = cells &+ cell.start
    let middle = start &+ tailLength(slot)
    return EntryParts(
      head: head(slot), headLength: headLength(slot), tail: start..<middle,
      value: middle..<cells &+ cell.end)
  }

  /// Where a leaf's entries are if all have the same widths; nil if they vary.
  var evenEntries: EvenEntries? {
    if layout.tailVaries || layout.valueVaries || headLength == Self.headLengthVaries { return nil }
    return EvenEntries(
      cellsOffset: cellsOffset, width: layout.tailWidth &+ layout.valueWidth,
      tailWidth: layout.tailWidth, headLength: headLength)
  }

  /// Asks the processor for the first bytes of tail and value of `slot`.
  @inline(__always)
  func prefetchCell(_ slot: Int) {
    let cell = cell(slot)
    page.prefetch(cellsOffset + cell.start, min(cell.end - cell.start, 128))
  }

  /// Asks the processor for the head of `slot`, and for where its cell is.
  @inline(__always)
  func prefetchSlot(_ slot: Int) {
    page.prefetch(layout.headsOffset &+ 8 &* slot, 1)
    if layout.tailVaries || layout.valueVaries { page.prefetch(endsOffset &+ 2 &* slot, 1) }
  }

  /// Asks the processor for all heads.
  func prefetchHeads() { page.prefetch(layout.headsOffset, 8 &* count) }

  /// Asks the processor for the reference to a child.
  @inline(__always)
  func prefetchChild(_ index: Int) {
    page.prefetch(layout.headsEnd &+ PageReference.size &* index, PageReference.size)
  }

  /// Asks the processor for the cells that a short scan from `slot` on will touch.
  @inline(__always)
  func prefetchCells(from slot: Int) {
    let start = cellsOffset &+ cell(slot).start
    page.prefetch(start, min(page.byteCount &- start, 1024))
  }

  /// Whether the value of `slot` is a reference to pages of its own.
  @inline(__always)
  func isExternal(_ slot: Int) -> Bool {
    hasExternals
      && page.load(externalsOffset &+ slot / 8, as: UInt8.self) & (1 << UInt8(slot % 8)) != 0
  }

  /// The reference to child `index` of a branch.
  @inline(__always)
  func child(_ index: Int) -> PageReference {
    PageReference(decoding: page, at: layout.headsEnd &+ PageReference.size &* index)
  }

  /// Whether all keys are from `low` on and below `high`. They ascend, so the first and the last tell.
  func isWithin(_ low: [UInt8], _ high: [UInt8]?) -> Bool {
    guard count > 0 else { return true }
    var key: [UInt8] = []
    copyKey(0, to: &key)
    if key.rawSpan.compare(low.rawSpan) < 0 { return false }
    copyKey(count - 1, to: &key)
    return high.map { key.rawSpan.compare($0.rawSpan) < 0 } ?? true
  }

  func keyLength(_ slot: Int) -> Int {
    prefixLength + headLength(slot) + tailLength(slot)
  }

  /// Replaces `key` by the key of `slot`, keeping its memory.
  func copyKey(_ slot: Int, to key: inout [UInt8]) {
    key.removeAll(keepingCapacity: true)
    key.append(prefix)
    appendSuffix(slot, to: &key)
  }

  /// A copy of the key of `slot`.
  func key(_ slot: Int) -> [UInt8] {
    var key: [UInt8] = []
    copyKey(slot, to: &key)
    return key
  }

  /// Appends the key of `slot` but for the prefix.
  @inline(__always)
  func appendSuffix(_ slot: Int, to key: inout [UInt8]) {
    let headLength = headLength(slot)
    key.append(head: head(slot), length: headLength)
    if headLength == 8 { key.append(tail(slot)) }
  }
}

extension [UInt8] {
  /// Appends the first `length` of the eight bytes of `head`.
  @inline(__always)
  fileprivate mutating func append(head: UInt64, length: Int) {
    unsafe Swift.withUnsafeBytes(of: head.bigEndian) {
      unsafe append(contentsOf: UnsafeRawBufferPointer(rebasing: $0[..<length]))
    }
  }
}
