import ArgumentParser

/// The engines that can be compared.
enum EngineName: String, CaseIterable, ExpressibleByArgument, Codable {
  case cambium
  case lmdb
  /// LMDB where its user sorts shuffled entries and appends them: for that one workload, beside
  /// LMDB as it is.
  case lmdbSorted = "lmdb-sorted"
  case sqlite

  private var type: any Engine.Type {
    switch self {
    case .cambium: CambiumEngine.self
    case .lmdb: LMDBEngine.self
    case .lmdbSorted: SortingLMDBEngine.self
    case .sqlite: SQLiteEngine.self
    }
  }

  var version: String { type.version }

  func makeEngine(directory: String, shape: StoreShape) throws -> any Engine {
    try type.init(directory: directory, shape: shape)
  }

  func takesPart(in workload: Workload) -> Bool {
    self != .lmdbSorted || workload == .loadShuffled
  }

  /// Goals are Cambium's; the others are its measure.
  var hasGoals: Bool {
    switch self {
    case .cambium: true
    case .lmdb, .lmdbSorted, .sqlite: false
    }
  }
}
