/// The checked bytes of one page.
///
/// A page does not outlive the `PageReader` that lent it: mapped bytes belong to the reader's
/// segments. Code that keeps a page beyond one call, as a cursor does, must keep the reader too.
@safe struct Page: @unchecked Sendable {
  private let base: UnsafeRawPointer
  private let count: Int
  /// Keeps a page of the cache alive; nil if the bytes are mapped.
  private let buffer: PageBuffer?

  @inline(__always)
  init(mapped base: UnsafeRawPointer, count: Int) {
    unsafe self.base = base
    self.count = count
    buffer = nil
  }

  init(_ buffer: PageBuffer) {
    unsafe base = UnsafeRawPointer(buffer.base)
    count = buffer.count
    self.buffer = buffer
  }

  /// A page among others that were read at once.
  init(_ buffer: PageBuffer, from offset: Int, count: Int) {
    precondition(offset >= 0 && count >= 0 && offset + count <= buffer.count, "outside the buffer")
    unsafe base = UnsafeRawPointer(buffer.base) + offset
    self.count = count
    self.buffer = buffer
  }

  /// A page of zeros.
  static let none = Page(PageBuffer(count: Layout.blockSize))

  var bytes: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get {
      unsafe _overrideLifetime(
        RawSpan(_unsafeStart: base, byteCount: count), borrowing: self)
    }
  }
}

extension FileMapping {
  /// The page at `block`. The caller knows it to lie within what is written.
  @inline(__always)
  func page(at block: UInt32, size: Int) -> Page {
    unsafe Page(mapped: pointer(at: Int(block) * Layout.blockSize), count: size)
  }
}

/// A page's bytes read into memory of its own.
@safe final class PageBuffer: @unchecked Sendable {
  fileprivate let base: UnsafeMutableRawPointer
  let count: Int

  init(count: Int) {
    unsafe base = .allocate(byteCount: count, alignment: AlignedBuffer.alignment)
    unsafe base.initializeMemory(as: UInt8.self, repeating: 0, count: count)
    self.count = count
  }

  deinit {
    unsafe base.deallocate()
  }

  var bytes: RawSpan {
    @_lifetime(borrow self)
    get {
      unsafe _overrideLifetime(
        RawSpan(_unsafeStart: base, byteCount: count), borrowing: self)
    }
  }

  /// The bytes, to be filled by the one who made the buffer before anyone else sees it.
  var mutableBytes: MutableRawSpan {
    @_lifetime(borrow self)
    get {
      unsafe _overrideLifetime(
        MutableRawSpan(_unsafeStart: base, byteCount: count), borrowing: self)
    }
  }
}
