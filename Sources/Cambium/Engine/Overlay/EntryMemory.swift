/// Memory that entries are appended to, in chunks that never move.
@safe struct EntryMemory: ~Copyable {
  /// How far the memory is used, to cut it back to.
  struct Mark {
    fileprivate let chunk: Int
    fileprivate let used: Int
    fileprivate let byteCount: Int
  }

  @unsafe private struct Chunk {
    let base: UnsafeMutableRawPointer
    let size: Int
  }

  /// Room for some thousand entries; what is not touched takes up no memory.
  private static let chunkSize = 1 << 20

  private var chunks: [Chunk] = unsafe []
  /// The last chunk's next free byte, and the bytes free from there on.
  private var free: UnsafeMutableRawPointer?
  private var freeCount = 0
  /// The bytes of all entries.
  private(set) var byteCount = 0

  init() {}

  deinit {
    for index in unsafe chunks.indices { unsafe chunks[index].base.deallocate() }
  }

  /// Adds an entry.
  ///
  /// - Precondition: key and value are within the limits of a tree.
  @inline(__always)
  mutating func append(
    _ key: RawSpan, _ value: RawSpan, schemaVersion: UInt32, _ effect: EntryEffect
  ) -> EntryReference {
    let size = EntryReference.size(key, value)
    let place = unsafe reserve(size)
    byteCount &+= size
    return unsafe EntryReference.write(
      key, value, schemaVersion: schemaVersion, effect, to: place)
  }

  @inline(__always)
  private mutating func reserve(_ size: Int) -> UnsafeMutableRawPointer {
    if freeCount < size { addChunk(atLeast: size) }
    guard let place = unsafe free else { preconditionFailure("a chunk was just added") }
    unsafe free = place + size
    freeCount &-= size
    return unsafe place
  }

  @inline(never)
  private mutating func addChunk(atLeast size: Int) {
    let size = max(size, Self.chunkSize)
    let base = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 64)
    unsafe chunks.append(Chunk(base: base, size: size))
    unsafe free = base
    freeCount = size
  }

  var mark: Mark {
    let used = unsafe (chunks.last?.size ?? 0) - freeCount
    return unsafe Mark(chunk: chunks.count, used: used, byteCount: byteCount)
  }

  /// Takes back what was appended since `mark`: no version may know of it.
  mutating func cut(to mark: Mark) {
    while unsafe chunks.count > mark.chunk { unsafe chunks.removeLast().base.deallocate() }
    byteCount = mark.byteCount
    guard let last = unsafe chunks.last else {
      unsafe free = nil
      freeCount = 0
      return
    }
    unsafe free = last.base + mark.used
    unsafe freeCount = last.size - mark.used
  }
}
