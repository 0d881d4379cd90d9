/// A page read as part of a tree: sorted keys, and with them values (a leaf) or children (a branch).
///
/// A node is a structure of arrays. A search touches the heads only, until two keys agree in them.
///
///     offset  0       8      10      12     14     16    17    20       24    28    32
///             ┌───────┬──────┬───────┬──────┬──────┬─────┬─────┬────────┬─────┬─────┬─ ─
///             │header │count │prefix │tail  │value │head │zero │schema  │used │zero │
///             │       │      │length │width │width │len. │     │version │     │     │
///             └───────┴──────┴───────┴──────┴──────┴─────┴─────┴────────┴─────┴─────┴─ ─
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
  static let headerSize = 32
  static let varies: UInt16 = 0xffff
  static let headLengthVaries: UInt8 = 0xff
  /// The header flag of a leaf some of whose values have pages of their own.
  static let hasExternalsFlag: UInt8 = 1

  private let page: RawSpan
  /// The number of keys.
  let count: Int
  let prefixLength: Int
  private let headsOffset: Int
  private let tailWidth: UInt16
  private let valueWidth: UInt16
  private let uniformHeadLength: UInt8
  private let isBranch: Bool
  private let flags: UInt8

  /// Reads the header of a page that was validated as a node.
  @_lifetime(copy page)
  @inline(__always)
  init(_ page: RawSpan) {
    self.page = page
    let header = PageHeader(page)
    isBranch = header.kind == PageKind.branch.rawValue
    flags = header.flags
    let word = page.load(8, as: UInt64.self)
    count = Int(UInt16(truncatingIfNeeded: word))
    prefixLength = Int(UInt16(truncatingIfNeeded: word >> 16))
    tailWidth = UInt16(truncatingIfNeeded: word >> 32)
    valueWidth = UInt16(truncatingIfNeeded: word >> 48)
    uniformHeadLength = page.load(16, as: UInt8.self)
    headsOffset = Self.headerSize + (prefixLength + 7) & ~7
  }

  /// The schema version of a leaf's rows.
  var schemaVersion: UInt32 { page.load(20, as: UInt32.self) }
  /// Where the node's bytes end and the last block's rest begins.
  var used: Int { Int(page.load(24, as: UInt32.self)) }
  /// The bytes that all keys begin with.
  var prefix: RawSpan {
    @_lifetime(copy self)
    @inline(__always)
    get { page.part(Self.headerSize, prefixLength) }
  }
  var childCount: Int { count + 1 }
}

// MARK: Places

extension Node {
  private var headsEnd: Int { headsOffset + 8 * count }
  private var endsOffset: Int {
    isBranch ? headsEnd + PageReference.size * (count + 1) : headsEnd
  }
  private var hasEnds: Bool { tailWidth == Self.varies || valueWidth == Self.varies }
  private var hasTailLengths: Bool { tailWidth == Self.varies && valueWidth == Self.varies }
  private var tailLengthsOffset: Int { endsOffset + (hasEnds ? 2 * count : 0) }
  private var headLengthsOffset: Int { tailLengthsOffset + (hasTailLengths ? 2 * count : 0) }
  private var hasHeadLengths: Bool { uniformHeadLength == Self.headLengthVaries }
  private var externalsOffset: Int { headLengthsOffset + (hasHeadLengths ? count : 0) }
  var hasExternals: Bool { flags & Self.hasExternalsFlag != 0 }
  /// Where the cells begin.
  var cellsOffset: Int { externalsOffset + (hasExternals ? (count + 7) / 8 : 0) }

  /// Where the cell of `slot` begins and ends, from the first cell's beginning.
  @inline(__always)
  func cell(_ slot: Int) -> (start: Int, end: Int) {
    if !hasEnds {
      let width = Int(tailWidth) + Int(valueWidth)
      return (slot * width, (slot + 1) * width)
    }
    let end = Int(page.load(endsOffset + 2 * slot, as: UInt16.self))
    let start = slot == 0 ? 0 : Int(page.load(endsOffset + 2 * slot - 2, as: UInt16.self))
    return (start, end)
  }

  @inline(__always)
  func tailLength(_ slot: Int) -> Int {
    if tailWidth != Self.varies { return Int(tailWidth) }
    if valueWidth == Self.varies {
      return Int(page.load(tailLengthsOffset + 2 * slot, as: UInt16.self))
    }
    let cell = cell(slot)
    return cell.end - cell.start - Int(valueWidth)
  }

  @inline(__always)
  func headLength(_ slot: Int) -> Int {
    hasHeadLengths
      ? Int(page.load(headLengthsOffset + slot, as: UInt8.self)) : Int(uniformHeadLength)
  }

  @inline(__always)
  func head(_ slot: Int) -> UInt64 {
    page.load(headsOffset + 8 * slot, as: UInt64.self)
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
    let cell = cell(slot)
    let start = cell.start + tailLength(slot)
    return page.part(cellsOffset + start, cell.end - start)
  }

  /// Asks the processor for the first bytes of tail and value of `slot`.
  @inline(__always)
  func prefetchCell(_ slot: Int) {
    let cell = cell(slot)
    page.prefetch(cellsOffset + cell.start, min(cell.end - cell.start, 128))
  }

  /// Whether the value of `slot` is a reference to pages of its own.
  @inline(__always)
  func isExternal(_ slot: Int) -> Bool {
    hasExternals
      && page.load(externalsOffset + slot / 8, as: UInt8.self) & (1 << UInt8(slot % 8)) != 0
  }

  /// The reference to child `index` of a branch.
  @inline(__always)
  func child(_ index: Int) -> PageReference {
    PageReference(decoding: page, at: headsEnd + PageReference.size * index)
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
