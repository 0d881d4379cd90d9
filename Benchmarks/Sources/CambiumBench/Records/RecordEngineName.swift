import ArgumentParser

/// The stores of records that can be compared.
enum RecordEngineName: String, CaseIterable, ExpressibleByArgument, Codable {
  case cambium
  case grdb
  /// GRDB with an ordinary table, as its users make one who do not think of it.
  case grdbRowID = "grdb-rowid"
  /// A file for each record.
  case json

  private var type: any RecordEngine.Type {
    switch self {
    case .cambium: CambiumRecordEngine.self
    case .grdb: GRDBRecordEngine.self
    case .grdbRowID: RowIDGRDBRecordEngine.self
    case .json: JSONFolderEngine.self
    }
  }

  var version: String { type.version }

  func promise(of durability: CommitDurability) -> String { type.promise(of: durability) }

  func makeEngine(directory: String, options: RecordOptions) throws -> any RecordEngine {
    try type.init(directory: directory, options: options)
  }

  /// True if it takes part at so many records, with or without indexes: a folder has none.
  func takesPart(with count: Int, indexes: RecordIndexes, folderMax: Int) -> Bool {
    self != .json || indexes == .none && count <= folderMax
  }
}

/// An engine refused.
struct RecordEngineError: Error, CustomStringConvertible {
  let engine: RecordEngineName
  let message: String

  var description: String { "\(engine.rawValue): \(message)" }
}
