import CLMDB

/// LMDB, set up as its header advises for speed.
///
/// - Loading: one write transaction through one cursor, `MDB_APPEND` for sorted entries. Pages are
///   written in the map (`MDB_WRITEMAP`), which "may be slightly faster for DBs that fit entirely
///   in RAM": without it 10^7 sorted entries took 1.9 times as long, and 10^7 shuffled ones 2.8
///   times. The commit flushes the data (`msync`), then the meta page.
/// - Reading: one read transaction; `mdb_get` for points, one cursor for ranges and the scan.
/// - Numbers are `MDB_INTEGERKEY`, in native byte order.
/// - Not `MDB_NORDAHEAD`: it "may help random read performance when the DB is larger than RAM", and
///   here it never is. Not `MDB_NOTLS`: there is one thread.
@safe class LMDBEngine: Engine {
  static var version: String {
    "\(MDB_VERSION_MAJOR).\(MDB_VERSION_MINOR).\(MDB_VERSION_PATCH)"
  }

  private let directory: String
  private let shape: StoreShape
  private var environment: OpaquePointer?
  private var transaction: OpaquePointer?
  private var cursor: OpaquePointer?
  private var database = MDB_dbi()
  /// Where a number stands, in native byte order, while LMDB looks at it.
  private let number: UnsafeMutablePointer<UInt64>

  required init(directory: String, shape: StoreShape) {
    self.directory = directory
    self.shape = shape
    unsafe environment = nil
    unsafe transaction = nil
    unsafe cursor = nil
    unsafe number = .allocate(capacity: 1)
    unsafe number.initialize(to: 0)
  }

  deinit {
    close()
    unsafe number.deallocate()
  }

  private var hasNumbers: Bool { shape.keys == .integer8 }

  // MARK: Loading

  func load(_ entries: EntryList, arriving order: Arrival) throws {
    try begin(environmentFlags: MDB_WRITEMAP, transactionFlags: 0)
    switch order {
    case .sorted: try put(entries, at: 0..<entries.count, MDB_APPEND)
    case .shuffled: try put(entries, at: 0..<entries.count, 0)
    }
    try commit()
  }

  /// Puts the entries at `positions`, in that order.
  fileprivate func put(
    _ entries: EntryList, at positions: some Sequence<Int>, _ flags: Int32
  ) throws {
    for index in positions {
      var key = unsafe key(entries.keys[index])
      var value = unsafe MDB_val(entries.values[index])
      try check(unsafe mdb_cursor_put(cursor, &key, &value, UInt32(flags)), "mdb_cursor_put")
    }
  }

  fileprivate func commit() throws {
    unsafe mdb_cursor_close(cursor)
    unsafe cursor = nil
    let committed = unsafe mdb_txn_commit(transaction)
    unsafe transaction = nil
    try check(committed, "mdb_txn_commit")
  }

  // MARK: Opening and closing

  func open() throws {
    try begin(environmentFlags: MDB_RDONLY, transactionFlags: MDB_RDONLY)
  }

  /// Opens everything there is to open, up to the cursor.
  fileprivate func begin(environmentFlags: Int32, transactionFlags: Int32) throws {
    close()
    try check(unsafe mdb_env_create(&environment), "mdb_env_create")
    // Address space, not memory: shuffled entries leave pages a third empty.
    let mapSize = shape.byteCount * 4 + 64 << 20
    try check(unsafe mdb_env_set_mapsize(environment, mapSize), "mdb_env_set_mapsize")
    try check(
      unsafe mdb_env_open(environment, directory, UInt32(environmentFlags), 0o644), "mdb_env_open")
    try check(
      unsafe mdb_txn_begin(environment, nil, UInt32(transactionFlags), &transaction),
      "mdb_txn_begin")
    let flags = (transactionFlags == 0 ? MDB_CREATE : 0) | (hasNumbers ? MDB_INTEGERKEY : 0)
    try check(unsafe mdb_dbi_open(transaction, nil, UInt32(flags), &database), "mdb_dbi_open")
    try check(unsafe mdb_cursor_open(transaction, database, &cursor), "mdb_cursor_open")
  }

  func close() {
    unsafe mdb_cursor_close(cursor)
    unsafe mdb_txn_abort(transaction)
    unsafe mdb_env_close(environment)
    unsafe cursor = nil
    unsafe transaction = nil
    unsafe environment = nil
  }

  // MARK: Reading

  func pointReads(_ keys: ByteList) throws -> Digest {
    var digest = Digest()
    for index in 0..<keys.count {
      var key = unsafe key(keys[index])
      var value = unsafe MDB_val()
      let found = unsafe mdb_get(transaction, database, &key, &value)
      if found == MDB_NOTFOUND {
        digest.addMiss()
      } else {
        try check(found, "mdb_get")
        unsafe digest.add(RawSpan(value))
      }
    }
    return digest
  }

  /// LMDB has no such call.
  func batchReads(_ keys: ByteList, of size: Int) throws -> Digest {
    try pointReads(keys)
  }

  func ranges(from keys: ByteList, of length: Int) throws -> Digest {
    var digest = Digest()
    for index in 0..<keys.count {
      var key = unsafe key(keys[index])
      try unsafe walk(from: &key, MDB_SET_RANGE, atMost: length, into: &digest)
    }
    return digest
  }

  func scan() throws -> Digest {
    var digest = Digest()
    var key = unsafe MDB_val()
    try unsafe walk(from: &key, MDB_FIRST, atMost: .max, into: &digest)
    return digest
  }

  @inline(__always)
  private func walk(
    from key: inout MDB_val, _ start: MDB_cursor_op, atMost limit: Int, into digest: inout Digest
  ) throws {
    var value = unsafe MDB_val()
    var found = unsafe mdb_cursor_get(cursor, &key, &value, start)
    var remaining = limit
    while found == MDB_SUCCESS {
      if hasNumbers {
        unsafe digest.add(integer: key.mv_data.loadUnaligned(as: UInt64.self))
      } else {
        unsafe digest.add(RawSpan(key))
      }
      unsafe digest.add(RawSpan(value))
      remaining -= 1
      if remaining == 0 { return }
      found = unsafe mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
    }
    if found != MDB_NOTFOUND { try check(found, "mdb_cursor_get") }
  }

  // MARK: Calling LMDB

  /// The key as LMDB is to see it, until the next call of this function.
  @inline(__always)
  private func key(_ bytes: RawSpan) -> MDB_val {
    guard hasNumbers else { return unsafe MDB_val(bytes) }
    unsafe number.pointee = UInt64(bigEndian: bytes.unsafeLoadUnaligned(as: UInt64.self))
    return unsafe MDB_val(mv_size: 8, mv_data: number)
  }

  @inline(__always)
  private func check(_ code: Int32, _ call: StaticString) throws {
    if code != MDB_SUCCESS { throw LMDBEngine.error(code, call) }
  }

  @inline(never)
  private static func error(_ code: Int32, _ call: StaticString) -> EngineError {
    EngineError(
      engine: .lmdb, call: "\(call)",
      message: unsafe mdb_strerror(code).map { unsafe String(cString: $0) } ?? "code \(code)")
  }
}

/// LMDB with entries sorted by its user: appending may win back the loss of plain puts.
final class SortingLMDBEngine: LMDBEngine {
  override func load(_ entries: EntryList, arriving order: Arrival) throws {
    guard order == .shuffled else { return try super.load(entries, arriving: order) }
    try begin(environmentFlags: MDB_WRITEMAP, transactionFlags: 0)
    try put(entries, at: positionsInKeyOrder(entries.keys).lazy.map(Int.init), MDB_APPEND)
    try commit()
  }
}
