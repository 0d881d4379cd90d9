#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// A node of an overlay's trees: a piece of the arena's memory.
///
///     offset  0     8        16    24     26     28      32
///             ┌─────┬────────┬─────┬──────┬──────┬───────┬───────┬─ ─
///             │born │retired │link │count │level │prefix │zero   │
///             │     │        │     │      │      │length │       │
///             └─────┴────────┴─────┴──────┴──────┴───────┴───────┴─ ─
///     then    heads         8 × capacity   the 8 bytes of each key behind the prefix, as a number
///             references    8 × capacity   a leaf's entries; a branch's separators
///             children      8 × capacity   branches only
///             changes       4 × capacity   branches only: what the entries below each child add up to
///
/// A branch with `count` children has as many separators, but the first counts as below every key:
/// child `i` holds keys from separator `i` on. Keys of a node share the first `prefix length` bytes
/// (but for a branch's first), which are read from one of them where they matter.
///
/// The one who made a node may change it until a version that reaches it is published; from then on
/// only `retired` and `link` change, which readers do not look at.
@safe struct OverlayNode: BitwiseCopyable, Equatable {
  /// The entries of a leaf, or children of a branch, that a node has room for.
  static let capacity = 62
  static let leafSize = headsOffset + 16 * capacity
  static let branchSize = headsOffset + 28 * capacity

  private static let headsOffset = 32
  private static let referencesOffset = headsOffset + 8 * capacity
  private static let childrenOffset = referencesOffset + 8 * capacity
  private static let changesOffset = childrenOffset + 8 * capacity

  private let base: UnsafeMutableRawPointer

  /// Takes memory of `leafSize` or `branchSize` bytes for a node.
  @inline(__always)
  init(_ base: UnsafeMutableRawPointer) {
    unsafe self.base = base
  }

  @inline(__always)
  static func == (one: OverlayNode, other: OverlayNode) -> Bool { unsafe one.base == other.base }

  /// Makes the memory an empty node.
  @inline(__always)
  func begin(level: Int, born: Stamp) {
    self.born = born
    self.level = level
    count = 0
    prefixLength = 0
  }
}

// MARK: The header

extension OverlayNode {
  /// The version that made the node, or `none` while it waits in the pool.
  var born: Stamp {
    @inline(__always) get { load(0) }
    @inline(__always) nonmutating set { store(newValue, 0) }
  }

  /// The first version that does not have the node.
  var retired: Stamp {
    get { load(8) }
    nonmutating set { store(newValue, 8) }
  }

  /// The next node of the list this one is in.
  var link: OverlayNode? {
    @inline(__always) get { load(16) }
    @inline(__always) nonmutating set { store(newValue, 16) }
  }

  var count: Int {
    @inline(__always) get { Int(load(24, as: UInt16.self)) }
    @inline(__always) nonmutating set { store(UInt16(truncatingIfNeeded: newValue), 24) }
  }

  /// The height above the leaves.
  var level: Int {
    @inline(__always) get { Int(load(26, as: UInt16.self)) }
    @inline(__always) nonmutating set { store(UInt16(truncatingIfNeeded: newValue), 26) }
  }

  var isLeaf: Bool { level == 0 }

  var prefixLength: Int {
    @inline(__always) get { Int(load(28, as: UInt16.self)) }
    @inline(__always) nonmutating set { store(UInt16(truncatingIfNeeded: newValue), 28) }
  }
}

// MARK: Slots

extension OverlayNode {
  @inline(__always)
  func head(_ slot: Int) -> UInt64 { load(Self.headsOffset &+ 8 &* checked(slot)) }

  /// The entry of a leaf, or the separator of a branch: an entry whose key it is.
  @inline(__always)
  func reference(_ slot: Int) -> EntryReference {
    load(Self.referencesOffset &+ 8 &* checked(slot))
  }

  @inline(__always)
  func child(_ slot: Int) -> OverlayNode {
    assert(!isLeaf, "a leaf has no children")
    return load(Self.childrenOffset &+ 8 &* checked(slot))
  }

  /// What the entries below a child add up to.
  @inline(__always)
  func change(_ slot: Int) -> Int {
    Int(load(Self.changesOffset &+ 4 &* checked(slot), as: Int32.self))
  }

  @inline(__always)
  func setHead(_ head: UInt64, _ slot: Int) { store(head, Self.headsOffset &+ 8 &* checked(slot)) }

  @inline(__always)
  func setReference(_ reference: EntryReference, _ slot: Int) {
    store(reference, Self.referencesOffset &+ 8 &* checked(slot))
  }

  @inline(__always)
  func setChild(_ child: OverlayNode, _ slot: Int) {
    store(child, Self.childrenOffset &+ 8 &* checked(slot))
  }

  @inline(__always)
  func setChange(_ change: Int, _ slot: Int) {
    store(Int32(truncatingIfNeeded: change), Self.changesOffset &+ 4 &* checked(slot))
  }

  @inline(__always)
  private func checked(_ slot: Int) -> Int {
    assert(slot >= 0 && slot < Self.capacity, "outside the node")
    return slot
  }

  @inline(__always)
  private func load<Value: BitwiseCopyable>(_ offset: Int, as type: Value.Type = Value.self)
    -> Value
  {
    unsafe base.load(fromByteOffset: offset, as: type)
  }

  @inline(__always)
  private func store<Value: BitwiseCopyable>(_ value: Value, _ offset: Int) {
    unsafe base.storeBytes(of: value, toByteOffset: offset, as: Value.self)
  }
}

// MARK: Moving slots

extension OverlayNode {
  /// Makes room for one slot at `slot`. Its parts have yet to be set.
  @inline(__always)
  func open(_ slot: Int) {
    let moved = count &- slot
    if moved > 0 { moveSlots(slot, moved, to: slot &+ 1, of: self) }
    count &+= 1
  }

  /// Removes one slot.
  func close(_ slot: Int) {
    let moved = count - slot - 1
    if moved > 0 { moveSlots(slot + 1, moved, to: slot, of: self) }
    count -= 1
  }

  /// Moves the slots from `slot` on to the end of `other`, a node of the same level and prefix.
  func moveSlots(from slot: Int, toEndOf other: OverlayNode) {
    let moved = count - slot
    moveSlots(slot, moved, to: other.count, of: other)
    other.count += moved
    count = slot
  }

  /// Makes `copy` hold what this node does.
  @inline(__always)
  func copyContents(to copy: OverlayNode) {
    copy.level = level
    copy.count = count
    copy.prefixLength = prefixLength
    moveSlots(0, count, to: 0, of: copy)
  }

  @inline(__always)
  private func moveSlots(_ slot: Int, _ number: Int, to target: Int, of other: OverlayNode) {
    assert(slot >= 0 && slot + number <= Self.capacity, "outside the node")
    assert(target >= 0 && target + number <= Self.capacity, "outside the node")
    move(Self.headsOffset, 8, slot, number, to: target, of: other)
    move(Self.referencesOffset, 8, slot, number, to: target, of: other)
    if isLeaf { return }
    move(Self.childrenOffset, 8, slot, number, to: target, of: other)
    move(Self.changesOffset, 4, slot, number, to: target, of: other)
  }

  @inline(__always)
  private func move(
    _ offset: Int, _ width: Int, _ slot: Int, _ number: Int, to target: Int, of other: OverlayNode
  ) {
    unsafe memmove(
      other.base + offset + width * target, base + offset + width * slot, width * number)
  }
}

// MARK: Prefetching

extension OverlayNode {
  /// Asks the processor for the reference of a slot.
  @inline(__always)
  func prefetchReference(_ slot: Int) {
    unsafe RawSpan(_unsafeStart: base, byteCount: Self.leafSize)
      .prefetch(Self.referencesOffset &+ 8 &* slot, 8)
  }

  /// Asks the processor for the heads.
  @inline(__always)
  func prefetchHeads() {
    unsafe RawSpan(_unsafeStart: base, byteCount: Self.referencesOffset)
      .prefetch(0, Self.referencesOffset)
  }
}
