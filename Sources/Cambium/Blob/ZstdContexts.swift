#if StaticZstd
  internal import CStaticZstd
#else
  internal import CZstd
#endif

/// The context with which zstd compresses one frame after the other.
///
/// Belongs to one thread at a time.
@safe final class ZstdCompressor: @unchecked Sendable {
  private let context: OpaquePointer

  init?() {
    guard let context = unsafe ZSTD_createCCtx() else { return nil }
    unsafe self.context = context
  }

  deinit {
    unsafe ZSTD_freeCCtx(context)
  }

  /// Makes one frame of `content`, and returns its size; nil if `frame` has not enough room.
  func compress(_ content: RawSpan, level: Int, to frame: inout MutableRawSpan) -> Int? {
    let size = unsafe frame.withUnsafeMutableBytes { frame in
      unsafe content.withUnsafeBytes { content in
        unsafe ZSTD_compressCCtx(
          context, frame.baseAddress, frame.count, content.baseAddress, content.count,
          Int32(clamping: level))
      }
    }
    return ZSTD_isError(size) == 0 ? size : nil
  }
}

/// The context with which zstd decompresses one frame after the other. Making one again costs more than a small frame.
///
/// Belongs to one thread at a time.
@safe final class ZstdDecompressor: @unchecked Sendable {
  private let context: OpaquePointer

  init?() {
    guard let context = unsafe ZSTD_createDCtx() else { return nil }
    unsafe self.context = context
  }

  deinit {
    unsafe ZSTD_freeDCtx(context)
  }

  /// Fills `content` from a frame, and returns false if it is not exactly one that has so much.
  ///
  /// The frame's numbers take no memory: it is of one segment (see `ZstdFrame`), and its content goes
  /// to `content` or nowhere.
  func decompress(_ frame: RawSpan, to content: inout MutableRawSpan) -> Bool {
    unsafe content.withUnsafeMutableBytes { content in
      unsafe frame.withUnsafeBytes { frame in
        guard unsafe ZSTD_findFrameCompressedSize(frame.baseAddress, frame.count) == frame.count
        else { return false }
        let count = unsafe ZSTD_decompressDCtx(
          context, content.baseAddress, content.count, frame.baseAddress, frame.count)
        return ZSTD_isError(count) == 0 && count == content.count
      }
    }
  }
}

/// Contexts that are not in use.
final class ZstdContexts: @unchecked Sendable {
  /// How many are kept of each kind.
  private let capacity: Int
  private let lock = ThreadLock()
  // Under `lock`.
  private var compressors: [ZstdCompressor] = []
  private var decompressors: [ZstdDecompressor] = []

  init(capacity: Int) {
    self.capacity = capacity
  }

  /// As `ZstdCompressor.compress`; nil also where there is no memory for a context.
  func compress(_ content: RawSpan, level: Int, to frame: inout MutableRawSpan) -> Int? {
    guard let compressor = takeCompressor() ?? ZstdCompressor() else { return nil }
    defer { give(compressor) }
    return compressor.compress(content, level: level, to: &frame)
  }

  /// As `ZstdDecompressor.decompress`.
  ///
  /// - Throws: `.io` where there is no memory for a context.
  func decompress(
    _ frame: RawSpan, to content: inout MutableRawSpan
  ) throws(StoreError) -> Bool {
    guard let decompressor = takeDecompressor() ?? ZstdDecompressor() else {
      throw .failed("decompress", .outOfMemory, path: "memory")
    }
    defer { give(decompressor) }
    return decompressor.decompress(frame, to: &content)
  }

  private func takeCompressor() -> ZstdCompressor? {
    lock.lock()
    defer { lock.unlock() }
    return compressors.popLast()
  }

  private func takeDecompressor() -> ZstdDecompressor? {
    lock.lock()
    defer { lock.unlock() }
    return decompressors.popLast()
  }

  private func give(_ compressor: ZstdCompressor) {
    lock.lock()
    defer { lock.unlock() }
    if compressors.count < capacity { compressors.append(compressor) }
  }

  private func give(_ decompressor: ZstdDecompressor) {
    lock.lock()
    defer { lock.unlock() }
    if decompressors.count < capacity { decompressors.append(decompressor) }
  }
}
