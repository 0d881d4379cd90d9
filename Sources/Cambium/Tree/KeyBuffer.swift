/// The key that a cursor stands on, put together from the parts a node keeps it in.
@safe struct KeyBuffer: ~Copyable, @unchecked Sendable {
  /// Room for the longest key, and for its last word to be stored whole.
  private static var capacity: Int { StoreError.Limit.keyLength.bound + 16 }

  private let memory: UnsafeMutableRawPointer
  private var prefixLength = 0
  private(set) var count = 0

  init() {
    unsafe memory = .allocate(byteCount: Self.capacity, alignment: 8)
  }

  deinit {
    unsafe memory.deallocate()
  }

  var bytes: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get {
      let bytes = unsafe RawSpan(_unsafeStart: UnsafeRawPointer(memory), byteCount: count)
      return unsafe _overrideLifetime(bytes, borrowing: self)
    }
  }

  /// Begins the keys of another node: all have its prefix.
  mutating func begin(_ page: borrowing Page, _ layout: NodeLayout) {
    let prefix = Node(page.bytes, layout).prefix
    var target = unsafe MutableRawSpan(_unsafeStart: memory, byteCount: Self.capacity)
    target.copy(prefix, to: 0)
    prefixLength = prefix.byteCount
    count = prefixLength
  }

  /// Puts head and tail behind the prefix with which the buffer began.
  @inline(__always)
  mutating func set(_ parts: EntryParts, of page: borrowing Page) {
    let tail = parts.tail
    var target = unsafe MutableRawSpan(_unsafeStart: memory, byteCount: Self.capacity)
    target.storeBytes(of: parts.head.bigEndian, toByteOffset: prefixLength, as: UInt64.self)
    let bytes = page.bytes
    if tail.count <= 8, tail.lowerBound &+ 8 <= bytes.byteCount {
      // One word, whatever it has too much: it is beyond the count.
      target.store(bytes.load(tail.lowerBound, as: UInt64.self), at: prefixLength &+ 8)
    } else {
      target.copy(bytes.extracting(tail), to: prefixLength &+ 8)
    }
    count = prefixLength &+ parts.headLength &+ tail.count
  }
}
