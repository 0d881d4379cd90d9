/// A store of small blobs, by number.
protocol BlobEngine: AnyObject {
  /// The promise of a write when it returns.
  static var promise: String { get }

  init(directory: String) throws

  func open() throws
  func close() throws

  /// Writes these, the first of which has the number `first`, in one transaction where there are such.
  func write(_ contents: ArraySlice<[UInt8]>, from first: Int) throws

  /// Pays the debts of earlier writes.
  func settle() throws

  /// Reads a blob whole, and lends it.
  func read(_ number: Int, _ body: (RawSpan) throws -> Void) throws
}

enum BlobEngineName: String, CaseIterable, Sendable {
  case cambium, files, sqlite, rocksdb

  private var type: any BlobEngine.Type {
    switch self {
    case .cambium: CambiumBlobEngine.self
    case .files: FilesBlobEngine.self
    case .sqlite: SQLiteBlobEngine.self
    case .rocksdb: RocksDBBlobEngine.self
    }
  }

  var promise: String { type.promise }

  func makeEngine(directory: String) throws -> any BlobEngine {
    try type.init(directory: directory)
  }
}

struct BlobEngineError: Error, CustomStringConvertible {
  let engine: String
  let message: String

  var description: String { "\(engine): \(message)" }
}
