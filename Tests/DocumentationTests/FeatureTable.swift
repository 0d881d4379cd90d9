import Foundation

/// The rows of the article that says of each feature whether it works, and which tests show it.
struct FeatureTable {
  struct Row {
    let id: String
    let state: String
    let tests: [String]
  }

  /// The number of rows of each letter: A1 to A26, B1 to B16 and so on.
  static let counts: KeyValuePairs = [
    "A": 26, "B": 16, "C": 11, "D": 5, "E": 10, "F": 24, "G": 17, "H": 12, "I": 11, "J": 15,
    "K": 19, "L": 9, "M": 3, "N": 7, "O": 5, "P": 10, "Q": 5, "R": 7, "S": 6, "T": 6,
  ]

  let rows: [Row]
  /// The lines that begin like rows and do not have five cells.
  private let strays: [String]

  init(_ article: String) {
    var rows: [Row] = []
    var strays: [String] = []
    for line in article.split(separator: "\n") where line.hasPrefix("|") {
      let cells = line.split(separator: "|", omittingEmptySubsequences: false)
        .dropFirst().dropLast().map { $0.trimmingCharacters(in: .whitespaces) }
      if cells.first == "row" || cells.allSatisfy({ $0 == "---" }) { continue }
      guard cells.count == 5 else {
        strays.append(String(line))
        continue
      }
      // Names are between each first and second backtick.
      let tests = cells[4].components(separatedBy: "`").enumerated()
        .filter { $0.offset % 2 == 1 }.map(\.element)
      rows.append(Row(id: cells[0], state: cells[2], tests: tests))
    }
    (self.rows, self.strays) = (rows, strays)
  }

  /// The faults of the table, if the tests have these names.
  func faults(tests names: Set<String>) -> [String] {
    let known = Self.counts.flatMap { letter, count in (1...count).map { "\(letter)\($0)" } }
    let found = Dictionary(grouping: rows, by: \.id)
    var faults = strays.map { "This is no row of five cells: \($0)" }
    faults += known.filter { found[$0] == nil }.map { "\($0) is missing" }
    faults += found.keys.filter { !known.contains($0) }.sorted().map { "\($0) is not a known row" }
    faults += known.filter { found[$0, default: []].count > 1 }.map { "\($0) is there twice" }
    for row in rows {
      let isPart = ["partly: ", "not here: "].contains { row.state.hasPrefix($0) }
      if row.state != "works" && !isPart { faults.append("\(row.id) has no state: \(row.state)") }
      if row.state == "works" && row.tests.isEmpty {
        faults.append("\(row.id) works, and names no test")
      }
      for test in row.tests where !names.contains(test) {
        faults.append("\(row.id) names a test that does not exist: \(test)")
      }
    }
    return faults
  }
}

extension FeatureTable {
  /// The names of the tests in all sources of a folder, as far as they are sentences.
  static func testNames(under folder: URL) throws -> Set<String> {
    var names: Set<String> = []
    let files = FileManager.default.enumerator(
      at: folder, includingPropertiesForKeys: nil, options: .skipsHiddenFiles)
    while let file = files?.nextObject() as? URL {
      guard file.pathExtension == "swift" else { continue }
      names.formUnion(testNames(in: try String(contentsOf: file, encoding: .utf8)))
    }
    return names
  }

  static func testNames(in source: String) -> [String] {
    source.components(separatedBy: "@Test").dropFirst().compactMap { declaration in
      guard let name = declaration.firstMatch(of: /\bfunc\s+(`[^`]+`|\w+)/)?.1 else { return nil }
      return name.first == "`" ? String(name.dropFirst().dropLast()) : nil
    }
  }
}
