import CRocksDB

/// RocksDB with blob files (BlobDB), compressed by zstd at its default level, which is all that its C interface lets
/// one choose for them.
@safe final class RocksDBBlobEngine: BlobEngine {
  static let promise = "survives a power cut (sync), whole batches"

  private let path: String
  private let settings: RocksDBSettings
  private var database: OpaquePointer?

  init(directory: String) {
    path = directory + "/db"
    settings = RocksDBSettings(durability: .durable, byteCount: 512 << 20)
    unsafe rocksdb_options_set_enable_blob_files(settings.options, 1)
    unsafe rocksdb_options_set_min_blob_size(settings.options, 4096)
    unsafe rocksdb_options_set_blob_compression_type(
      settings.options, Int32(rocksdb_zstd_compression))
    unsafe database = nil
  }

  deinit {
    close()
  }

  func open() throws {
    unsafe database = try call("rocksdb_open") {
      unsafe rocksdb_open(settings.options, path, $0)
    }
  }

  func close() {
    if let database = unsafe database { unsafe rocksdb_close(database) }
    unsafe database = nil
  }

  func write(_ contents: ArraySlice<[UInt8]>, from first: Int) throws {
    let batch = unsafe rocksdb_writebatch_create()
    defer { unsafe rocksdb_writebatch_destroy(batch) }
    for (index, content) in contents.enumerated() {
      unsafe Self.withKey(first + index) { key, keyCount in
        unsafe content.withUnsafeBytes { value in
          unsafe rocksdb_writebatch_put(
            batch, key, keyCount, value.baseAddress?.assumingMemoryBound(to: CChar.self),
            value.count)
        }
      }
    }
    try unsafe call("rocksdb_write") {
      unsafe rocksdb_write(database, settings.writing, batch, $0)
    }
  }

  func settle() throws {
    try unsafe call("rocksdb_flush") { unsafe rocksdb_flush(database, settings.flushing, $0) }
  }

  func read(_ number: Int, _ body: (RawSpan) throws -> Void) throws {
    let slice = try unsafe call("rocksdb_get_pinned") { error in
      unsafe Self.withKey(number) {
        unsafe rocksdb_get_pinned(database, settings.reading, $0, $1, error)
      }
    }
    guard let slice = unsafe slice else {
      throw BlobEngineError(engine: "rocksdb", message: "there is no blob \(number)")
    }
    defer { unsafe rocksdb_pinnableslice_destroy(slice) }
    var count = 0
    let start = unsafe rocksdb_pinnableslice_value(slice, &count)
    try unsafe body(UnsafeRawBufferPointer(start: start, count: count).bytes)
  }

  private static func withKey<Result>(
    _ number: Int, _ body: (UnsafePointer<CChar>?, Int) -> Result
  ) -> Result {
    unsafe withUnsafeBytes(of: UInt64(number).bigEndian) {
      unsafe body($0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count)
    }
  }

  private func call<Result>(
    _ name: StaticString,
    _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) throws -> Result
  ) throws -> Result {
    var message: UnsafeMutablePointer<CChar>?
    let result = try unsafe body(&message)
    guard let message = unsafe message else { return result }
    defer { unsafe rocksdb_free(message) }
    throw BlobEngineError(
      engine: "rocksdb", message: unsafe "\(name): \(String(cString: message))")
  }
}
