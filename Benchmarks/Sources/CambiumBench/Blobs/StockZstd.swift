import CStockZstd

/// zstd as a program uses it by hand.
@safe final class StockZstd {
  static var version: String { unsafe String(cString: ZSTD_versionString()) }

  private let compressor: OpaquePointer?
  private let decompressor: OpaquePointer?

  init() {
    unsafe compressor = ZSTD_createCCtx()
    unsafe decompressor = ZSTD_createDCtx()
  }

  deinit {
    unsafe ZSTD_freeCCtx(compressor)
    unsafe ZSTD_freeDCtx(decompressor)
  }

  /// Compresses into one frame, on so many threads, and hands out the result in pieces.
  func compress(
    _ content: [UInt8], level: Int, workers: Int, _ write: (RawSpan) throws -> Void
  ) throws {
    try check(unsafe ZSTD_CCtx_reset(compressor, ZSTD_reset_session_and_parameters))
    try set(ZSTD_c_compressionLevel, level)
    try set(ZSTD_c_nbWorkers, workers)
    try set(ZSTD_c_checksumFlag, 1)
    try check(unsafe ZSTD_CCtx_setPledgedSrcSize(compressor, UInt64(content.count)))
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    try unsafe content.withUnsafeBytes { content in
      var input = unsafe ZSTD_inBuffer(src: content.baseAddress, size: content.count, pos: 0)
      var rest = 1
      while rest > 0 {
        let count = try unsafe buffer.withUnsafeMutableBytes { buffer in
          var output = unsafe ZSTD_outBuffer(dst: buffer.baseAddress, size: buffer.count, pos: 0)
          rest = try check(
            unsafe ZSTD_compressStream2(compressor, &output, &input, ZSTD_e_end))
          return unsafe output.pos
        }
        try unsafe write(buffer.span.bytes.extracting(first: count))
      }
    }
  }

  /// Compresses into one frame, on this thread.
  func compress(_ content: [UInt8], level: Int, to frame: inout [UInt8]) throws -> Int {
    try unsafe frame.withUnsafeMutableBytes { frame in
      try unsafe content.withUnsafeBytes { content in
        try check(
          unsafe ZSTD_compressCCtx(
            compressor, frame.baseAddress, frame.count, content.baseAddress, content.count,
            Int32(level)))
      }
    }
  }

  static func bound(_ count: Int) -> Int { ZSTD_compressBound(count) }

  /// Decompresses a frame, and returns how much it held.
  func decompress(_ frame: RawSpan, to content: UnsafeMutableRawBufferPointer) throws -> Int {
    try unsafe frame.withUnsafeBytes { frame in
      try check(
        unsafe ZSTD_decompressDCtx(
          decompressor, content.baseAddress, content.count, frame.baseAddress, frame.count))
    }
  }

  private func set(_ parameter: ZSTD_cParameter, _ value: Int) throws {
    try check(unsafe ZSTD_CCtx_setParameter(compressor, parameter, Int32(value)))
  }

  @discardableResult
  private func check(_ result: Int) throws -> Int {
    guard ZSTD_isError(result) == 0 else {
      throw BlobEngineError(
        engine: "zstd", message: unsafe String(cString: ZSTD_getErrorName(result)))
    }
    return result
  }
}
