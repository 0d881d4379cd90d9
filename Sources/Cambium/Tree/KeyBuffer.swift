/// The key that a cursor stands on, put together from the parts a node keeps it in.
@safe struct KeyBuffer: ~Copyable, @unchecked Sendable {
  /// Room for the longest key, and for the last head to be stored whole.
  private static var capacity: Int { StoreError.Limit.keyLength.bound + 8 }

  private let memory: UnsafeMutableRawBufferPointer
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
      let bytes = unsafe UnsafeRawBufferPointer(rebasing: memory[..<count])
      return unsafe _overrideLifetime(RawSpan(_unsafeBytes: bytes), borrowing: self)
    }
  }

  /// Begins the keys of another node: all have its prefix.
  mutating func begin(_ leaf: borrowing Page, _ layout: NodeLayout) {
    let node = Node(leaf.bytes, layout)
    var target = unsafe MutableRawSpan(_unsafeBytes: memory)
    target.copy(node.prefix, to: 0)
    count = node.prefixLength
  }

  /// Puts the key of `slot` behind the prefix of its node, with which the buffer began.
  @inline(__always)
  mutating func set(_ slot: Int, of leaf: borrowing Page, _ layout: NodeLayout) {
    let node = Node(leaf.bytes, layout)
    var target = unsafe MutableRawSpan(_unsafeBytes: memory)
    let start = node.prefixLength
    target.storeBytes(of: node.head(slot).bigEndian, toByteOffset: start, as: UInt64.self)
    let tail = node.tail(slot)
    if tail.byteCount == 8 {
      target.store(tail.load(0, as: UInt64.self), at: start + 8)
    } else {
      target.copy(tail, to: start + 8)
    }
    count = start + node.headLength(slot) + tail.byteCount
  }
}
