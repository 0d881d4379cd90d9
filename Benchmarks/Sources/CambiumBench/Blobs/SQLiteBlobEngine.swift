/// SQLite, with values that the program compresses by zstd at level 1; pages of 16 KiB, which it reads and writes
/// values of this size faster with.
final class SQLiteBlobEngine: BlobEngine {
  static let promise = "survives a power cut (WAL, synchronous = FULL), whole transactions"

  private let path: String
  private let zstd = StockZstd()
  private var connection: SQLiteConnection?
  private var frame: [UInt8] = []
  private var content = [UInt8](repeating: 0, count: 1 << 20)

  init(directory: String) {
    path = directory + "/blobs.sqlite"
  }

  func open() throws {
    let connection = try SQLiteConnection(to: path, cacheSize: 256 << 20)
    try connection.run("PRAGMA page_size = 16384")
    try connection.run("PRAGMA journal_mode = WAL")
    try connection.run("PRAGMA synchronous = FULL")
    try connection.run(
      "CREATE TABLE IF NOT EXISTS blobs (id INTEGER PRIMARY KEY, content BLOB NOT NULL)")
    self.connection = connection
  }

  func close() { connection = nil }

  private var opened: SQLiteConnection {
    get throws {
      guard let connection else {
        throw BlobEngineError(engine: "sqlite", message: "nothing is open")
      }
      return connection
    }
  }

  func write(_ contents: ArraySlice<[UInt8]>, from first: Int) throws {
    let connection = try opened
    try connection.write(contents.count) {
      let insert = try connection.statement("INSERT INTO blobs VALUES (?, ?)")
      for (index, content) in contents.enumerated() {
        let bound = StockZstd.bound(content.count)
        if frame.count < bound { frame = [UInt8](repeating: 0, count: bound) }
        let count = try zstd.compress(content, level: 1, to: &frame)
        try insert.bind(number: first + index, at: 1)
        let compressed = frame
        try unsafe insert.bind(compressed.span.bytes.extracting(first: count), at: 2)
        try insert.stepAndReset()
      }
    }
  }

  func settle() throws { try opened.run("PRAGMA wal_checkpoint(TRUNCATE)") }

  func read(_ number: Int, _ body: (RawSpan) throws -> Void) throws {
    let select = try opened.statement("SELECT content FROM blobs WHERE id = ?")
    try select.bind(number: number, at: 1)
    guard try select.step() else {
      throw BlobEngineError(engine: "sqlite", message: "there is no blob \(number)")
    }
    let count = try select.withColumn(0) { frame in
      try unsafe content.withUnsafeMutableBytes { try unsafe zstd.decompress(frame, to: $0) }
    }
    try select.reset()
    let lent = content
    try unsafe body(lent.span.bytes.extracting(first: count))
  }
}
