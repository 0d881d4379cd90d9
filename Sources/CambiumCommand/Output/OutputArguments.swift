import ArgumentParser

/// The arguments of commands that write to a file or to standard output.
struct OutputArguments: ParsableArguments {
  @Option(
    name: .shortAndLong, help: "The file to write. (default: standard output)", completion: .file()
  )
  var output: String?

  @Flag(help: "Overwrite the file if it exists.")
  var force = false

  /// Creates the file; nil for standard output.
  ///
  /// - Parameter store: The store that is read, into whose directory nothing is written.
  /// - Throws: `CommandFailure` if the file exists and is not to be overwritten, or cannot be made there.
  func create(of store: String) throws -> FileOutput? {
    try output.map { try FileOutput.create($0, of: store, overwriting: force) }
  }
}
