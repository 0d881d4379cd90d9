import Cambium
import FoundationEssentials

/// Cambium: each blob in a record, compressed by zstd at level 1.
final class CambiumBlobEngine: BlobEngine {
  static let promise = "survives a power cut (.durable), whole transactions"

  private let path: String
  private var opened: PersistentStore?

  init(directory: String) {
    path = directory + "/store"
  }

  func open() throws {
    opened = try PersistentStore(at: path, model: BlobRecord.model)
  }

  func close() throws {
    try opened?.close()
    opened = nil
  }

  private var store: PersistentStore {
    get throws {
      guard let opened else { throw BlobEngineError(engine: "cambium", message: "nothing is open") }
      return opened
    }
  }

  func write(_ contents: ArraySlice<[UInt8]>, from first: Int) throws {
    try store.write { transaction in
      for (index, content) in contents.enumerated() {
        try transaction.insert(BlobRecord(id: first + index, content: Blob(Data(content))))
      }
    }
  }

  /// Closing folds the log.
  func settle() throws {
    try close()
    try open()
  }

  func read(_ number: Int, _ body: (RawSpan) throws -> Void) throws {
    guard let record = try store.fetch(BlobRecord.self, key: number) else {
      throw BlobEngineError(engine: "cambium", message: "there is no blob \(number)")
    }
    let data = try record.content.data()
    try body(data.bytes)
  }
}
