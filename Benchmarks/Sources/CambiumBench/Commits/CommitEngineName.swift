import ArgumentParser

/// The engines whose commits can be compared.
enum CommitEngineName: String, CaseIterable, ExpressibleByArgument, Codable {
  case cambium
  case lmdb
  /// LMDB without any flush: for relaxed commits, beside LMDB as it is.
  case lmdbNoSync = "lmdb-nosync"
  case sqlite
  case rocksdb

  private var type: any CommitEngine.Type {
    switch self {
    case .cambium: CambiumCommitEngine.self
    case .lmdb: LMDBCommitEngine.self
    case .lmdbNoSync: NoSyncLMDBCommitEngine.self
    case .sqlite: SQLiteCommitEngine.self
    case .rocksdb: RocksDBCommitEngine.self
    }
  }

  var version: String { type.version }

  func promise(of durability: CommitDurability) -> String { type.promise(of: durability) }

  func makeEngine(directory: String, options: CommitOptions) throws -> any CommitEngine {
    try type.init(directory: directory, options: options)
  }

  func takesPart(in durability: CommitDurability) -> Bool {
    self != .lmdbNoSync || durability == .relaxed
  }
}

/// An engine refused.
struct CommitEngineError: Error, CustomStringConvertible {
  let engine: CommitEngineName
  let call: String
  let message: String

  var description: String { "\(engine.rawValue): \(call): \(message)" }
}
