import FoundationEssentials

/// Entries as a file of lines, each of them JSON.
public struct ReportFile: Equatable, Sendable {
  public internal(set) var entries: [ReportEntry] = []
  /// Lines that are none, by their number, the first being 1.
  public private(set) var unreadable: [Int] = []

  public init(_ entries: [ReportEntry] = []) {
    self.entries = entries
  }

  /// Reads lines. Those of a run that was cut off are shown as far as they go, so a line that cannot be read is
  /// remembered, and no error.
  public init(parsing text: String) {
    let decoder = JSONDecoder()
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    where !line.isEmpty {
      if let entry = try? decoder.decode(ReportEntry.self, from: Data(line.utf8)) {
        entries.append(entry)
      } else {
        unreadable.append(index + 1)
      }
    }
  }

  public init(contentsOf path: String) throws {
    self.init(parsing: try String(contentsOf: URL(filePath: path), encoding: .utf8))
  }

  /// The entries of both.
  public func followed(by other: ReportFile) -> ReportFile {
    var both = self
    both.entries += other.entries
    both.unreadable += other.unreadable
    return both
  }

  /// All lines, each with its end.
  public func text() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try entries.reduce(into: "") { text, entry in
      text += String(decoding: try encoder.encode(entry), as: UTF8.self) + "\n"
    }
  }

  /// Writes the file at `path`, in place of its old content.
  public func write(to path: String) throws {
    try Data(text().utf8).write(to: URL(filePath: path), options: .atomic)
  }

  /// Adds entries to the file at `path`, and makes it if there is none. An interruption leaves all lines
  /// or none.
  public static func append(_ entries: [ReportEntry], to path: String) throws {
    let url = URL(filePath: path)
    let before = FileManager.default.fileExists(atPath: path) ? try Data(contentsOf: url) : Data()
    let added = Data(try ReportFile(entries).text().utf8)
    try (before + added).write(to: url, options: .atomic)
  }

  /// Adds results.
  public static func append(_ lines: [ResultLine], to path: String) throws {
    try append(lines.map(ReportEntry.result), to: path)
  }
}
