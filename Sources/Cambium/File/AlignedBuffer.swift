internal import CCambium

/// Memory of its owner alone, aligned to a block as direct output asks for it.
@safe struct AlignedBuffer: ~Copyable, @unchecked Sendable {
  static let alignment = 4096

  private let memory: UnsafeMutableRawBufferPointer

  /// Allocates `count` zeroed bytes.
  init(count: Int) {
    precondition(count > 0, "a buffer holds at least one byte")
    unsafe memory = .allocate(byteCount: count, alignment: Self.alignment)
    unsafe memory.initializeMemory(as: UInt8.self, repeating: 0)
  }

  deinit {
    unsafe memory.deallocate()
  }

  var count: Int { unsafe memory.count }

  var bytes: RawSpan {
    @_lifetime(borrow self)
    get {
      unsafe _overrideLifetime(
        RawSpan(_unsafeBytes: UnsafeRawBufferPointer(memory)), borrowing: self)
    }
  }

  /// The bytes in `range`, to be written to.
  @_lifetime(&self)
  mutating func mutableBytes(_ range: Range<Int>) -> MutableRawSpan {
    let part = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[range])
    return unsafe _overrideLifetime(MutableRawSpan(_unsafeBytes: part), mutating: &self)
  }

  /// Copies all of `bytes`, whole blocks, to the block at `offset`, for a device to fetch them.
  mutating func copyPastCaches(_ bytes: RawSpan, to offset: Int) {
    let range = offset..<offset + bytes.byteCount
    precondition(
      offset % Self.alignment == 0 && range.count % Self.alignment == 0, "blocks are copied whole")
    let part = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[range])
    unsafe bytes.withUnsafeBytes { source in
      guard let to = part.baseAddress, let from = source.baseAddress else { return }
      unsafe cambium_copy_past_caches(to, from, source.count)
    }
  }
}
