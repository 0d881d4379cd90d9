import Cambium

/// The answer to `--version`.
enum VersionText {
  private static let version = "0.1.0"

  /// The version, and those of the libraries of the system that are used, if it was asked for: SQLite's is loaded for that.
  static var text: String {
    guard CommandLine.arguments.contains("--version") else { return version }
    let sqlite = SQLiteLibrary.version ?? "none: `import --sqlite` needs libsqlite3"
    return "\(version)\nzstd \(SystemLibraries.zstdVersion)\nSQLite \(sqlite)"
  }
}
