#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The payload of a frame while it is put together: commits, or the operations of an overlay.
///
/// In front of the payload there is room for the frame's header, and memory is aligned, so a frame is
/// written from where it was put together. Operations that follow `appendTree` are of that tree, and
/// entries are of the version that the last `appendSchemaVersion` said; both are forgotten where a
/// commit begins.
///
/// It has one owner, which uses it on one thread at a time.
@safe final class FrameBuffer {
  private static let alignment = 4096

  // One owner uses them, so accesses cannot overlap.
  @exclusivity(unchecked) private var memory: UnsafeMutableRawPointer
  @exclusivity(unchecked) private var capacity: Int
  /// How often in a row a small part of the memory was enough.
  @exclusivity(unchecked) private var smallUseCount = 0
  /// Behind the payload, counted from the memory's beginning.
  @exclusivity(unchecked) private var end = FrameHeader.size

  /// - Parameter payload: The bytes that fit before the memory must grow.
  init(capacity payload: Int = 8192) {
    let blocks = LogLayout.blocks(payload: payload + 8)
    unsafe capacity = blocks * Layout.blockSize
    unsafe memory = .allocate(byteCount: capacity, alignment: Self.alignment)
    unsafe memory.initializeMemory(as: UInt8.self, repeating: 0, count: FrameHeader.size)
  }

  deinit {
    unsafe memory.deallocate()
  }

  /// The bytes of the payload so far.
  var payloadCount: Int { unsafe end &- FrameHeader.size }

  var payload: RawSpan {
    @_lifetime(borrow self)
    get {
      let span = unsafe RawSpan(
        _unsafeStart: memory + FrameHeader.size, byteCount: payloadCount)
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// Drops what is behind the first `count` bytes of the payload, which end where an operation or a
  /// commit does.
  func truncate(to count: Int) {
    precondition(count >= 0 && count <= payloadCount, "the payload is not that long")
    unsafe end = FrameHeader.size + count
  }

  /// Memory up to this size is kept in any case.
  private static var keptSize: Int { 256 << 10 }
  /// The number of payloads in a row that need an eighth of the memory or less until it is released.
  private static var smallUseMax: Int { 32 }

  /// Drops all of the payload. The memory is kept for the next, unless much less was enough for a while.
  func removeAll() {
    let isSmall = unsafe capacity > Self.keptSize && end <= capacity / 8
    unsafe smallUseCount = isSmall ? smallUseCount + 1 : 0
    if unsafe smallUseCount == Self.smallUseMax { shrink() }
    unsafe end = FrameHeader.size
  }

  /// The bytes of memory that the buffer holds.
  var memorySize: Int { unsafe capacity }

  private func shrink() {
    unsafe memory.deallocate()
    unsafe capacity = 2 * Layout.blockSize
    unsafe memory = .allocate(byteCount: capacity, alignment: Self.alignment)
    unsafe memory.initializeMemory(as: UInt8.self, repeating: 0, count: FrameHeader.size)
    unsafe smallUseCount = 0
  }
}

// MARK: Operations

extension FrameBuffer {
  /// - Parameter name: UTF-8, at most 255 bytes.
  func appendTree(_ name: RawSpan) {
    let count = name.byteCount
    precondition(count <= StoreError.Limit.nameLength.bound, "a longer name is refused before")
    var target = unsafe extend(by: 2 + count)
    target.store(UInt16(LogOperation.Kind.tree.rawValue) | UInt16(count) << 8, at: 0)
    target.copy(name, to: 2)
  }

  func appendSchemaVersion(_ version: UInt32) {
    var target = unsafe extend(by: 5)
    target.store(LogOperation.Kind.schemaVersion.rawValue, at: 0)
    target.store(version, at: 1)
  }

  /// An entry whose key the tree does not have.
  @inline(__always)
  func appendAdd(key: RawSpan, value: RawSpan) {
    appendEntry(.add, key, value)
  }

  /// An entry whose key the tree has.
  @inline(__always)
  func appendReplace(key: RawSpan, value: RawSpan) {
    appendEntry(.replace, key, value)
  }

  /// Removes the entry of a key that the tree has.
  func appendRemove(key: RawSpan) {
    let count = key.byteCount
    precondition(count <= StoreError.Limit.keyLength.bound, "a longer key is refused before")
    var target = unsafe extend(by: 3 + count)
    target.store(UInt32(LogOperation.Kind.remove.rawValue) | UInt32(count) << 8, at: 0)
    target.copy(key, to: 3)
  }

  /// Removes all entries of the tree.
  func appendClear() {
    var target = unsafe extend(by: 1)
    target.store(LogOperation.Kind.clear.rawValue, at: 0)
  }

  /// Appends operations that were put together in another buffer; their tree and version count from
  /// there on.
  func appendOperations(_ operations: RawSpan) {
    var target = unsafe extend(by: operations.byteCount)
    target.copy(operations, to: 0)
  }

  /// Makes the payload that of a footer's frame.
  func append(_ reference: FooterReference) {
    var bytes: [UInt8] = []
    reference.encode(to: &bytes)
    appendOperations(bytes.rawSpan)
  }

  private func appendEntry(_ kind: LogOperation.Kind, _ key: RawSpan, _ value: RawSpan) {
    let keyLength = key.byteCount
    let valueLength = value.byteCount
    precondition(keyLength <= StoreError.Limit.keyLength.bound, "a longer key is refused before")
    precondition(
      valueLength <= StoreError.Limit.valueLength.bound, "a longer value is refused before")
    var target = unsafe extend(by: 7 &+ keyLength &+ valueLength)
    // Kind and lengths in one store; its eighth byte is the key's first, or behind the end.
    target.store(
      UInt64(kind.rawValue) | UInt64(keyLength) << 8 | UInt64(valueLength) << 24, at: 0)
    target.copy(key, to: 7)
    target.copy(value, to: 7 &+ keyLength)
  }
}

// MARK: Commits

extension FrameBuffer {
  /// Appends a commit whose operations were put together in another buffer.
  func appendCommit(_ operations: RawSpan) {
    var target = unsafe extend(by: 4 + operations.byteCount)
    target.store(UInt32(operations.byteCount), at: 0)
    target.copy(operations, to: 4)
  }
}

// MARK: Memory

extension FrameBuffer {
  /// Makes the payload `count` bytes longer, and returns room for these and a word more. Use it before
  /// anything else is done with the buffer.
  @unsafe @inline(__always)
  @_lifetime(borrow self)
  private func extend(by count: Int) -> MutableRawSpan {
    let start = unsafe end
    if unsafe start &+ count &+ 8 > capacity { grow(by: count) }
    unsafe end = start &+ count
    let target = unsafe MutableRawSpan(_unsafeStart: memory + start, byteCount: count &+ 8)
    return unsafe _overrideLifetime(target, borrowing: self)
  }

  @inline(never)
  private func grow(by count: Int) {
    let needed = unsafe max(2 * capacity, end + count + 8)
    let size = (needed + Layout.blockSize - 1) / Layout.blockSize * Layout.blockSize
    let grown = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: Self.alignment)
    unsafe memcpy(grown, memory, end)
    unsafe memory.deallocate()
    unsafe memory = grown
    unsafe capacity = size
  }

  /// Makes the frame whole: `header` in front of the payload, zeros up to the end of the last block.
  ///
  /// - Returns: the frame's checksum. Its bytes are `frame` until the buffer changes.
  func seal(_ header: FrameHeader, in store: StoreIdentity) -> PageChecksum {
    let size = LogLayout.blocks(payload: payloadCount) * Layout.blockSize
    var span = unsafe MutableRawSpan(_unsafeStart: memory, byteCount: size)
    unsafe span.zero(end..<size)
    return header.encode(to: &span, in: store)
  }

  /// The whole blocks of the frame that `seal` made.
  var frame: RawSpan {
    @_lifetime(borrow self)
    get {
      let size = LogLayout.blocks(payload: payloadCount) * Layout.blockSize
      let span = unsafe RawSpan(_unsafeStart: memory, byteCount: size)
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }
}
