import CRocksDB
import Glibc
import Synchronization

/// RocksDB as a store that is written to, set up as its wiki advises ("Setup Options and Basic Tuning").
///
/// - A durable commit is a write with `sync`; concurrent ones share a flush. Log files are used again, so
///   that a flush need not change a file's size.
/// - A relaxed one goes to a buffer of the process (`manual_wal_flush`), which a thread writes and flushes
///   each time the delay is over (`FlushWAL(sync)`).
/// - Memtables of 64 MiB, the default. At the end they are flushed, and compactions that are pending or run are
///   waited for.
/// - Bloom filters of 10 bits a key. Without compression, as the others have none.
/// - Loading: entries are sorted if they are not, written to a table by themselves and ingested, which is the
///   fastest way it has to put in many at once and whole.
@safe final class RocksDBCommitEngine: CommitEngine, @unchecked Sendable {
  /// It cannot be asked; the file it was loaded from has it in its name.
  static var version: String {
    let maps = unsafe fopen("/proc/self/maps", "r")
    defer { unsafe fclose(maps) }
    var bytes = [CChar](repeating: 0, count: 4096)
    while unsafe fgets(&bytes, Int32(bytes.count), maps) != nil {
      let line = String(
        decoding: bytes.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      guard line.contains("/librocksdb.so.") else { continue }
      return line.split(separator: ".so.").last?.split(separator: "\n").first.map(String.init)
        ?? line
    }
    return "unknown"
  }

  static func promise(of durability: CommitDurability) -> String {
    switch durability {
    case .durable: "survives a power cut (sync)"
    case .relaxed:
      "a crash of any kind may undo those since the last flush (manual_wal_flush, flushed when the"
        + " delay is over)"
    }
  }

  private let directory: String
  private let options: CommitOptions
  private let settings: RocksDBSettings
  private var database: OpaquePointer?
  private var flusher: RepeatingThread?

  init(directory: String, options: CommitOptions) {
    self.directory = directory
    self.options = options
    settings = RocksDBSettings(durability: options.durability, byteCount: options.byteCount)
    unsafe database = nil
  }

  deinit {
    close()
  }

  // MARK: Opening and closing

  func open() throws {
    close()
    unsafe database = try call("rocksdb_open") {
      unsafe rocksdb_open(settings.options, directory + "/db", $0)
    }
    guard options.durability == .relaxed else { return }
    flusher = try RepeatingThread(each: options.relaxedDelay) { [unowned self] in
      try unsafe call("rocksdb_flush_wal") { unsafe rocksdb_flush_wal(database, 1, $0) }
    }
  }

  func close() {
    flusher?.end()
    flusher = nil
    guard let opened = unsafe database else { return }
    unsafe rocksdb_close(opened)
    unsafe database = nil
  }

  // MARK: Writing

  func commit(_ entries: EntryList, at positions: Range<Int>, by thread: Int) throws {
    if positions.count == 1 {
      return try put(entries.keys[positions.lowerBound], entries.values[positions.lowerBound])
    }
    let batch = unsafe rocksdb_writebatch_create()
    defer { unsafe rocksdb_writebatch_destroy(batch) }
    for index in positions {
      unsafe entries.keys[index].withCharacters { key, keyCount in
        unsafe entries.values[index].withCharacters { value, valueCount in
          unsafe rocksdb_writebatch_put(batch, key, keyCount, value, valueCount)
        }
      }
    }
    try unsafe write(batch, settings.writing)
  }

  private func put(_ key: RawSpan, _ value: RawSpan) throws {
    try unsafe call("rocksdb_put") { error in
      unsafe key.withCharacters { key, keyCount in
        unsafe value.withCharacters { value, valueCount in
          unsafe rocksdb_put(database, settings.writing, key, keyCount, value, valueCount, error)
        }
      }
    }
  }

  private func write(_ batch: OpaquePointer?, _ writing: OpaquePointer?) throws {
    try unsafe call("rocksdb_write") { unsafe rocksdb_write(database, writing, batch, $0) }
  }

  func load(_ entries: EntryList, arriving order: Arrival) throws {
    let path = directory + "/load.sst"
    let table = unsafe rocksdb_sstfilewriter_create(settings.environment, settings.options)
    defer { unsafe rocksdb_sstfilewriter_destroy(table) }
    try unsafe call("rocksdb_sstfilewriter_open") {
      unsafe rocksdb_sstfilewriter_open(table, path, $0)
    }
    switch order {
    case .sorted: try unsafe append(entries, at: 0..<entries.count, to: table)
    case .shuffled:
      try unsafe append(
        entries, at: positionsInKeyOrder(entries.keys).lazy.map(Int.init), to: table)
    }
    try unsafe call("rocksdb_sstfilewriter_finish") {
      unsafe rocksdb_sstfilewriter_finish(table, $0)
    }
    try unsafe call("rocksdb_ingest_external_file") { error in
      unsafe path.withCString { path in
        var list: UnsafePointer<CChar>? = unsafe path
        unsafe rocksdb_ingest_external_file(database, &list, 1, settings.ingesting, error)
      }
    }
  }

  private func append(
    _ entries: EntryList, at positions: some Sequence<Int>, to table: OpaquePointer?
  ) throws {
    for index in positions {
      try unsafe call("rocksdb_sstfilewriter_put") { error in
        unsafe entries.keys[index].withCharacters { key, keyCount in
          unsafe entries.values[index].withCharacters { value, valueCount in
            unsafe rocksdb_sstfilewriter_put(table, key, keyCount, value, valueCount, error)
          }
        }
      }
    }
  }

  func remove(_ keys: ByteList) throws {
    let batch = unsafe rocksdb_writebatch_create()
    defer { unsafe rocksdb_writebatch_destroy(batch) }
    for index in 0..<keys.count {
      unsafe keys[index].withCharacters { unsafe rocksdb_writebatch_delete(batch, $0, $1) }
    }
    try unsafe write(batch, settings.durable)
  }

  func settle() throws {
    try flusher?.check()
    try unsafe call("rocksdb_flush") { unsafe rocksdb_flush(database, settings.flushing, $0) }
    let debts = [
      "rocksdb.mem-table-flush-pending", "rocksdb.num-running-flushes",
      "rocksdb.compaction-pending", "rocksdb.num-running-compactions",
    ]
    while debts.contains(where: { property($0) != 0 }) { sleepMilliseconds(1) }
  }

  private func property(_ name: String) -> UInt64 {
    var value: UInt64 = 0
    return unsafe rocksdb_property_int(database, name, &value) == 0 ? value : 0
  }

  // MARK: Reading

  func count() throws -> Int {
    let iterator = unsafe rocksdb_create_iterator(database, settings.reading)
    defer { unsafe rocksdb_iter_destroy(iterator) }
    var count = 0
    unsafe rocksdb_iter_seek_to_first(iterator)
    while unsafe rocksdb_iter_valid(iterator) != 0 {
      count += 1
      unsafe rocksdb_iter_next(iterator)
    }
    try unsafe call("rocksdb_iter_get_error") { unsafe rocksdb_iter_get_error(iterator, $0) }
    return count
  }

  func read(_ keys: ByteList) throws -> Digest {
    var digest = Digest()
    for index in 0..<keys.count {
      let slice = try unsafe call("rocksdb_get_pinned") { error in
        unsafe keys[index].withCharacters {
          unsafe rocksdb_get_pinned(database, settings.reading, $0, $1, error)
        }
      }
      guard let slice = unsafe slice else {
        digest.addMiss()
        continue
      }
      var count = 0
      let start = unsafe rocksdb_pinnableslice_value(slice, &count)
      unsafe digest.add(UnsafeRawBufferPointer(start: start, count: count).bytes)
      unsafe rocksdb_pinnableslice_destroy(slice)
    }
    return digest
  }

  // MARK: Calling RocksDB

  @inline(__always)
  private func call<Result>(
    _ name: StaticString,
    _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) throws -> Result
  ) throws -> Result {
    var message: UnsafeMutablePointer<CChar>?
    let result = try unsafe body(&message)
    guard let message = unsafe message else { return result }
    defer { unsafe rocksdb_free(message) }
    throw CommitEngineError(
      engine: .rocksdb, call: "\(name)", message: unsafe String(cString: message))
  }
}

extension RawSpan {
  /// The bytes as RocksDB takes them.
  @inline(__always)
  fileprivate func withCharacters<Result>(
    _ body: (UnsafePointer<CChar>?, Int) throws -> Result
  ) rethrows -> Result {
    try unsafe withUnsafeBytes {
      try unsafe body($0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count)
    }
  }
}
