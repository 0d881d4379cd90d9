import ArgumentParser
import Cambium

/// The ways of giving room back that are compared.
///
/// Each begins with a store from which half of the records were removed, closed and opened again, and has ended when
/// its result would survive a power cut: copies are flushed here, where the engine itself does not.
enum CompactionMethod: String, CaseIterable, ExpressibleByArgument, Codable {
  /// All of it, in place, while the store can be written to.
  case cambium
  /// File by file.
  case cambiumSegments = "cambium-segments"
  /// A copy.
  case cambiumBackup = "cambium-backup"
  /// In place. No other process can write.
  case sqliteVacuum = "sqlite-vacuum"
  /// A copy. No other process can write.
  case sqliteVacuumInto = "sqlite-vacuum-into"
  /// A copy, as `mdb_copy -c` makes it: without free pages, the others as they are.
  case lmdbCopy = "lmdb-copy"

  var engine: CommitEngineName {
    switch self {
    case .cambium, .cambiumSegments, .cambiumBackup: .cambium
    case .sqliteVacuum, .sqliteVacuumInto: .sqlite
    case .lmdbCopy: .lmdb
    }
  }

  /// True if it makes a copy, and leaves the store as it is.
  var copies: Bool {
    switch self {
    case .cambium, .cambiumSegments, .sqliteVacuum: false
    case .cambiumBackup, .sqliteVacuumInto, .lmdbCopy: true
    }
  }

  /// Runs it on the store in `directory`.
  ///
  /// - Parameter copy: Where a copy goes; nothing is there.
  func run(in directory: String, copy: String) throws {
    switch self {
    case .cambium: try CompactedCambium.run(directory) { store in try store.compact() }
    case .cambiumSegments:
      try CompactedCambium.run(directory) { store in
        try store.compact(CompactionOptions(scope: .segments))
      }
    case .cambiumBackup: try CompactedCambium.run(directory) { store in try store.backUp(to: copy) }
    case .sqliteVacuum: try CompactedSQLite.vacuum(directory)
    case .sqliteVacuumInto: try CompactedSQLite.vacuum(directory, into: copy)
    case .lmdbCopy: try CompactedLMDB.copy(directory, to: copy)
    }
  }
}
