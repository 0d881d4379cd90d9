import CLMDB

/// LMDB as a store that is written to.
///
/// - A durable commit is LMDB's default: it flushes the data, then the meta page.
/// - A relaxed one is `MDB_NOMETASYNC`, the weakest that keeps the store whole: it still flushes the
///   data. Without any flush (`MDB_NOSYNC`) a power cut may take the whole store, so that is no peer of
///   a relaxed commit that keeps it, and an engine of its own here.
/// - Write transactions of several threads wait for each other; LMDB shares no flush among them.
/// - Loading: one transaction, written in the map (`MDB_WRITEMAP`), appending sorted entries.
@safe class LMDBCommitEngine: CommitEngine, @unchecked Sendable {
  static var version: String {
    "\(MDB_VERSION_MAJOR).\(MDB_VERSION_MINOR).\(MDB_VERSION_PATCH)"
  }

  class func promise(of durability: CommitDurability) -> String {
    switch durability {
    case .durable: "survives a power cut (default)"
    case .relaxed:
      "survives a power cut, but for the last commit, which may be undone (MDB_NOMETASYNC)"
    }
  }

  private let directory: String
  private let options: CommitOptions
  private var environment: OpaquePointer?
  private var database = MDB_dbi()

  required init(directory: String, options: CommitOptions) {
    self.directory = directory
    self.options = options
    unsafe environment = nil
  }

  deinit {
    close()
  }

  // MARK: Opening and closing

  func open() throws {
    try open(options.durability == .durable ? 0 : relaxedFlags)
  }

  fileprivate var relaxedFlags: Int32 { MDB_NOMETASYNC }

  private func open(_ flags: Int32) throws {
    close()
    try check(unsafe mdb_env_create(&environment), "mdb_env_create")
    // Address space, not memory: shuffled entries leave pages a third empty, and a commit copies.
    let mapSize = options.byteCount * 6 + 256 << 20
    try check(unsafe mdb_env_set_mapsize(environment, mapSize), "mdb_env_set_mapsize")
    try check(unsafe mdb_env_open(environment, directory, UInt32(flags), 0o644), "mdb_env_open")
    try unsafe write { transaction in
      try check(
        unsafe mdb_dbi_open(transaction, nil, UInt32(MDB_CREATE), &database), "mdb_dbi_open")
    }
  }

  func close() {
    unsafe mdb_env_close(environment)
    unsafe environment = nil
  }

  // MARK: Writing

  func commit(_ entries: EntryList, at positions: Range<Int>, by thread: Int) throws {
    try unsafe write { transaction in
      for index in positions {
        var key = unsafe MDB_val(entries.keys[index])
        var value = unsafe MDB_val(entries.values[index])
        try check(unsafe mdb_put(transaction, database, &key, &value, 0), "mdb_put")
      }
    }
  }

  func load(_ entries: EntryList, arriving order: Arrival) throws {
    try open(MDB_WRITEMAP)
    try unsafe write { transaction in
      var cursor: OpaquePointer?
      try check(unsafe mdb_cursor_open(transaction, database, &cursor), "mdb_cursor_open")
      defer { unsafe mdb_cursor_close(cursor) }
      let flags = UInt32(order == .sorted ? MDB_APPEND : 0)
      for index in 0..<entries.count {
        var key = unsafe MDB_val(entries.keys[index])
        var value = unsafe MDB_val(entries.values[index])
        try check(unsafe mdb_cursor_put(cursor, &key, &value, flags), "mdb_cursor_put")
      }
    }
    try settle()
    try open()
  }

  func remove(_ keys: ByteList) throws {
    try unsafe write { transaction in
      for index in 0..<keys.count {
        var key = unsafe MDB_val(keys[index])
        try check(unsafe mdb_del(transaction, database, &key, nil), "mdb_del")
      }
    }
    try settle()
  }

  private func write(_ body: (OpaquePointer?) throws -> Void) throws {
    var transaction: OpaquePointer?
    try check(unsafe mdb_txn_begin(environment, nil, 0, &transaction), "mdb_txn_begin")
    do {
      try unsafe body(transaction)
    } catch {
      unsafe mdb_txn_abort(transaction)
      throw error
    }
    try check(unsafe mdb_txn_commit(transaction), "mdb_txn_commit")
  }

  func settle() throws {
    try check(unsafe mdb_env_sync(environment, 1), "mdb_env_sync")
  }

  // MARK: Reading

  func count() throws -> Int {
    var status = MDB_stat()
    try unsafe read { transaction in
      try check(unsafe mdb_stat(transaction, database, &status), "mdb_stat")
    }
    return status.ms_entries
  }

  func read(_ keys: ByteList) throws -> Digest {
    var digest = Digest()
    try unsafe read { transaction in
      for index in 0..<keys.count {
        var key = unsafe MDB_val(keys[index])
        var value = unsafe MDB_val()
        let found = unsafe mdb_get(transaction, database, &key, &value)
        if found == MDB_NOTFOUND {
          digest.addMiss()
        } else {
          try check(found, "mdb_get")
          unsafe digest.add(RawSpan(value))
        }
      }
    }
    return digest
  }

  private func read(_ body: (OpaquePointer?) throws -> Void) throws {
    var transaction: OpaquePointer?
    try check(
      unsafe mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction), "mdb_txn_begin")
    defer { unsafe mdb_txn_abort(transaction) }
    try unsafe body(transaction)
  }

  // MARK: Calling LMDB

  @inline(__always)
  private func check(_ code: Int32, _ call: StaticString) throws {
    if code != MDB_SUCCESS { throw Self.error(code, call) }
  }

  @inline(never)
  private static func error(_ code: Int32, _ call: StaticString) -> CommitEngineError {
    CommitEngineError(
      engine: .lmdb, call: "\(call)",
      message: unsafe mdb_strerror(code).map { unsafe String(cString: $0) } ?? "code \(code)")
  }
}

/// LMDB that leaves flushing to the kernel.
final class NoSyncLMDBCommitEngine: LMDBCommitEngine, @unchecked Sendable {
  override class func promise(of durability: CommitDurability) -> String {
    "survives a killed process; a power cut may destroy the whole store (MDB_NOSYNC): a weaker class"
  }

  fileprivate override var relaxedFlags: Int32 { MDB_NOSYNC }
}
