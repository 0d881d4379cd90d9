import Foundation

/// The tables of an article that say, of every two features, which tests show them together, or why they cannot meet.
struct PairTable {
  /// Two features, in whichever order.
  private struct Pair {
    let features: Set<String>
    let text: String
    let cell: String
  }

  /// The features that the first table lists.
  let features: [String]
  private let pairs: [Pair]
  /// The lines that begin like rows and do not have two cells.
  private let strays: [String]

  /// - Parameters:
  ///   - article: An article with a section of this title. Its first table lists the features; each heading below is one,
  ///     with a table of those that it is paired with.
  init(_ article: String, section title: String = "Features two by two") {
    let section = article.components(separatedBy: "\n## ").first { $0.hasPrefix(title + "\n") }
    var features: [String] = []
    var pairs: [Pair] = []
    var strays: [String] = []
    var current: String?
    for line in (section ?? "").components(separatedBy: "\n") {
      if line.hasPrefix("### ") {
        current = line.dropFirst(4).prefix(1).lowercased() + line.dropFirst(5)
        continue
      }
      guard line.hasPrefix("|") else { continue }
      let cells = line.components(separatedBy: "|").dropFirst().dropLast()
        .map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 2 else {
        strays.append(line)
        continue
      }
      if ["feature", "with"].contains(cells[0]) || cells.allSatisfy({ $0 == "---" }) { continue }
      if let current {
        pairs.append(
          Pair(
            features: [current, cells[0]], text: "\(current) with \(cells[0])", cell: cells[1]))
      } else {
        features.append(cells[0])
      }
    }
    self.features = features
    self.pairs = pairs
    self.strays = strays
  }

  /// Returns the faults of the tables. There are tests with the given names, and no others.
  func faults(tests names: Set<String>) -> [String] {
    var faults = strays.map { "This is no row of two cells: \($0)" }
    let known = Set(features)
    if known.count < features.count { faults.append("a feature is listed twice") }
    let found = Dictionary(grouping: pairs, by: \.features)
    for (place, one) in features.enumerated() {
      for other in features.dropFirst(place + 1) {
        let count = found[[one, other], default: []].count
        if count == 0 { faults.append("\(one) with \(other) is missing") }
        if count > 1 { faults.append("\(one) with \(other) is there \(count) times") }
      }
    }
    for pair in pairs {
      if pair.features.count < 2 || !pair.features.isSubset(of: known) {
        faults.append("\(pair.text) are not two features of the list")
      }
      faults += Self.faults(of: pair, names)
    }
    return faults
  }

  private static func faults(of pair: Pair, _ names: Set<String>) -> [String] {
    let reason = "no meeting: "
    if pair.cell.hasPrefix(reason), pair.cell.count > reason.count { return [] }
    // Names are between each first and second backtick.
    let tests = pair.cell.components(separatedBy: "`").enumerated()
      .filter { $0.offset % 2 == 1 }.map(\.element)
    if tests.isEmpty { return ["\(pair.text) names no test, and no reason"] }
    return tests.filter { !names.contains($0) }
      .map { "\(pair.text) names a test that does not exist: \($0)" }
  }
}
