/// Colours: the same for an engine in each plot, and all of them readable on white.
enum Palette {
  static let text = "#1b1b1b"
  static let faint = "#5f6368"
  static let grid = "#dadce0"

  private static let engines: [String: String] = [
    "cambium": "#0b7a4b",
    "cambium-segments": "#5fae8b",
    "cambium-backup": "#9ccbb5",
    "lmdb": "#d9690c",
    "lmdb-sorted": "#f0a35e",
    "lmdb-nosync": "#b58a2a",
    "lmdb-copy": "#d9690c",
    "sqlite": "#2563b8",
    "sqlite-copy": "#7fa8de",
    "sqlite-restore": "#7fa8de",
    "sqlite-vacuum": "#2563b8",
    "sqlite-vacuum-into": "#7fa8de",
    "rocksdb": "#7b3fa0",
    "grdb": "#c2255c",
    "grdb-rowid": "#e58aab",
    "json": "#6b7280",
    "files": "#8d5a3b",
    "file": "#8d5a3b",
    "file, direct": "#c49a7c",
    "zstd": "#0f8b8d",
    "zstd in memory": "#1b1b1b",
    "disk": "#1b1b1b",
    "raw flush": "#1b1b1b",
  ]

  /// Of an engine's own; one for all that are not known.
  static func color(of engine: String) -> String { engines[engine] ?? "#4b5563" }

  /// If all engines but Cambium are grey.
  static func emphasis(of engine: String) -> String {
    engine.hasPrefix("cambium") ? color(of: engine) : "#aab1ba"
  }

  private static let names = [
    "cambium": "Cambium", "lmdb": "LMDB", "sqlite": "SQLite", "rocksdb": "RocksDB", "grdb": "GRDB",
  ]

  /// An engine's name as its makers write it, and the way that it was used: `SQLite, copy`.
  static func name(of engine: String) -> String {
    let words = engine.split(separator: "-", maxSplits: 1).map(String.init)
    let first = words.first.map { names[$0] ?? $0 } ?? engine
    return ([first] + words.dropFirst()).joined(separator: ", ")
  }
}
