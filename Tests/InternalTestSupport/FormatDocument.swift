@testable import Cambium

/// `FORMAT.md`, as far as tests read it: tables and hexadecimal under headings.
struct FormatDocument {
  /// The lines under each heading, up to the next of any level.
  private var sections: [String: [Substring]] = [:]

  init() throws {
    var heading = ""
    for line in try Repository.text("FORMAT.md").split(
      separator: "\n", omittingEmptySubsequences: false)
    {
      if let title = line.firstMatch(of: /^#+ (.*)$/)?.1 {
        heading = String(title)
        try agree(sections[heading] == nil, "two headings are “\(heading)”")
        sections[heading] = []
      } else {
        sections[heading, default: []].append(line)
      }
    }
  }

  /// The rows of the first table under a heading, each cell by the name of its column.
  func table(_ heading: String) throws -> [[String: String]] {
    let lines = try section(heading).drop { !$0.hasPrefix("|") }.prefix { $0.hasPrefix("|") }
    try agree(lines.count > 2, "there is no table under “\(heading)”")
    let rows = lines.map { line in
      line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false)
        .map { $0.trimming(" ") }
    }
    return try rows.dropFirst(2).map { row in
      try agree(row.count == rows[0].count, "a row of “\(heading)” has \(row.count) cells: \(row)")
      return Dictionary(uniqueKeysWithValues: zip(rows[0], row))
    }
  }

  /// One column of a table, without the marks for code.
  func column(_ name: String, of heading: String) throws -> [String] {
    try table(heading).map { row in
      guard let cell = row[name] else {
        throw Disagreement(description: "“\(heading)” has no column “\(name)”")
      }
      return cell.trimming("`")
    }
  }

  /// The blocks of code under a heading whose first line is three backquotes and `hex`.
  func hex(_ heading: String) throws -> [HexLine] {
    var lines: [HexLine] = []
    var isInside = false
    for line in try section(heading) {
      if line.hasPrefix("```") {
        isInside = line == "```hex"
      } else if isInside, !line.isEmpty {
        lines.append(try HexLine(line))
      }
    }
    try agree(!lines.isEmpty, "there is no hex under “\(heading)”")
    return lines
  }

  private func section(_ heading: String) throws -> [Substring] {
    guard let lines = sections[heading] else {
      throw Disagreement(description: "there is no heading “\(heading)”")
    }
    return lines
  }
}

/// A line of bytes: their place, their values, and after two spaces their meaning.
struct HexLine {
  let offset: Int
  let bytes: Bytes
  let text: String

  init(_ line: Substring) throws {
    guard let match = line.wholeMatch(of: /([0-9a-f]+)  ((?:[0-9a-f]{2} ?)+)(?: +(.*))?/),
      let offset = Int(match.1, radix: 16)
    else { throw Disagreement(description: "no line of hex: \(line)") }
    self.offset = offset
    bytes = match.2.split(separator: " ").compactMap { UInt8($0, radix: 16) }
    text = match.3.map(String.init) ?? ""
  }
}

extension StringProtocol {
  /// Without the leading and trailing characters that are `mark`.
  func trimming(_ mark: Character) -> String {
    let start = drop { $0 == mark }
    return String(start.reversed().drop { $0 == mark }.reversed())
  }
}
