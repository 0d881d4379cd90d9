/// An explanation of how a union is run.
public struct UnionExplanation: Hashable, Sendable {
  /// How each query is run, with the order and the limit of the union if it has none of its own.
  public let queries: [QueryExplanation]
  /// The places of the queries whose rows are kept in memory and sorted: those with a limit or an offset of their own.
  package let sortedInMemory: [Int]
  /// True if rows of the queries are merged in the order of the union; otherwise they come one query after the other.
  package let isMerged: Bool
  /// True if each row is returned once.
  package let isDistinct: Bool
  /// The numbers of entries and rows that all queries read; nil if the union was not run.
  package let actual: QueryExplanation.Actual?
}

extension UnionExplanation: CustomStringConvertible {
  public var description: String {
    var lines = [
      "union of \(queries.count) queries, \(isMerged ? "merged in order" : "one after the other")"
        + (isDistinct ? ", each row once" : "")
    ]
    for (place, query) in queries.enumerated() {
      lines += "\(query)".split(separator: "\n").map { "  \($0)" }
      if sortedInMemory.contains(place) {
        lines.append("    then all of its rows sorted in memory")
      }
    }
    if let actual {
      lines.append(
        "read \(actual.entryCount) entries and \(actual.rowCount) rows for \(actual.resultCount) results"
      )
    }
    return lines.joined(separator: "\n")
  }
}
