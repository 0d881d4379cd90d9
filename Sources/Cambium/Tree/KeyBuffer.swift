/// Room for the key that a cursor stands on, put together from the parts a node keeps it in.
///
/// Putting a key together does not count as a change: the buffer has one owner, and what it holds is
/// derived anew from the same page each time.
@safe struct KeyBuffer: ~Copyable {
  /// Room for the longest key, and for its last word to be stored whole.
  private static var capacity: Int { StoreError.Limit.keyLength.bound + 16 }

  private let memory: UnsafeMutableRawPointer

  init() {
    unsafe memory = .allocate(byteCount: Self.capacity, alignment: 8)
  }

  deinit {
    unsafe memory.deallocate()
  }

  /// Begins the keys of another node: all have its prefix.
  func begin(_ page: borrowing Page, _ layout: NodeLayout) {
    var target = unsafe MutableRawSpan(_unsafeStart: memory, byteCount: Self.capacity)
    target.copy(Node(page.bytes, layout).prefix, to: 0)
  }

  /// The key of the node with which the buffer began; until the next is asked for.
  @_lifetime(borrow self)
  @inline(__always)
  func key(_ parts: EntryParts, prefixLength: Int, of page: borrowing Page) -> RawSpan {
    var target = unsafe MutableRawSpan(_unsafeStart: memory, byteCount: Self.capacity)
    target.storeBytes(of: parts.head.bigEndian, toByteOffset: prefixLength, as: UInt64.self)
    let bytes = page.bytes
    let tail = parts.tail
    if tail.count <= 8, tail.lowerBound &+ 8 <= bytes.byteCount {
      // One word, whatever it has too much: it is beyond the count.
      target.store(bytes.load(tail.lowerBound, as: UInt64.self), at: prefixLength &+ 8)
    } else {
      target.copy(bytes.extracting(tail), to: prefixLength &+ 8)
    }
    let count = prefixLength &+ parts.headLength &+ tail.count
    let key = unsafe RawSpan(_unsafeStart: UnsafeRawPointer(memory), byteCount: count)
    return unsafe _overrideLifetime(key, borrowing: self)
  }
}
