/// How the records of a query are found.
public struct QueryExplanation: Hashable, Sendable {
  /// The stored name of the record.
  public let record: String
  /// Where records are looked for: `rows`, `index cityBalance`, a union or intersection of such; with how many
  /// ranges of keys.
  public let access: String
  /// What is looked at in each record that is found, because no range says it; nil if nothing.
  public let condition: FieldCondition?
  /// What is done to have the records in order.
  public let sorting: Sorting
  /// About how many entries there are to be read; exact where the condition is nil.
  public let estimatedCount: Int
  /// Every other way, and why it was not taken.
  public let others: [Other]
  /// What the query really read; nil if it was not run.
  public let actual: Actual?

  public enum Sorting: Hashable, Sendable {
    /// Records come in order as they are read.
    case none
    /// Records that have the same first values come together, and each such group is sorted.
    case groups
    /// All are found, and sorted.
    case all
    /// All are found, and only the first are kept.
    case first(Int)
  }

  /// A way that was not taken.
  public struct Other: Hashable, Sendable {
    public let access: String
    public let reason: String
  }

  public struct Actual: Hashable, Sendable {
    /// Entries of all trees that were read.
    public let entryCount: Int
    /// Rows that were looked at.
    public let rowCount: Int
    public let resultCount: Int
  }
}

extension QueryExplanation: CustomStringConvertible {
  public var description: String {
    var lines = ["\(record): \(access), about \(estimatedCount) entries"]
    if let condition { lines.append("  then only where \(condition)") }
    switch sorting {
    case .none: break
    case .groups: lines.append("  sorted in groups")
    case .all: lines.append("  sorted")
    case .first(let count): lines.append("  sorted, of which the first \(count) are kept")
    }
    if let actual {
      lines.append(
        "  read \(actual.entryCount) entries and \(actual.rowCount) rows for \(actual.resultCount) records"
      )
    }
    for other in others { lines.append("  not \(other.access): \(other.reason)") }
    return lines.joined(separator: "\n")
  }
}

// MARK: - Making one

extension QueryRunner {
  /// - Throws: as `find`.
  func explain(_ query: FieldQuery, running: Bool) throws(StoreError) -> QueryExplanation {
    let planner = QueryPlanner(record, in: trees)
    let (_, candidates) = try planner.candidates(query, for: .records)
    let plan = try planner.plan(query, for: .records)
    let chosen = text(of: plan.access)
    var others: [QueryExplanation.Other] = []
    var considered: Set<String> = [chosen]
    for candidate in candidates {
      let access = text(of: candidate.access)
      guard considered.insert(access).inserted else { continue }
      others.append(
        .init(
          access: access,
          reason: "\(candidate.estimate) entries, about \(Int((candidate.cost / 1_000).rounded()))"
            + " µs instead of \(Int((plan.cost / 1_000).rounded()))"))
    }
    if !candidates[0].isOneRecord { others += unusedIndexes(candidates) }
    var actual: QueryExplanation.Actual?
    if running {
      let found = try FoundRecords(plan, query, of: record, in: trees)
      while try found.next() {}
      actual = unsafe .init(
        entryCount: found.entryCount, rowCount: found.rowCount, resultCount: found.resultCount)
    }
    return QueryExplanation(
      record: record.record.name, access: chosen, condition: plan.unsaid,
      sorting: sorting(plan, query), estimatedCount: plan.estimate, others: others, actual: actual)
  }

  private func sorting(_ plan: QueryPlan, _ query: FieldQuery) -> QueryExplanation.Sorting {
    switch plan.given.extent {
    case .all: .none
    case .groups: .groups
    case .nothing: query.foundCount.map { .first($0) } ?? .all
    }
  }

  /// Those that may not have all of the records, or have them in no order that is of use.
  private func unusedIndexes(_ candidates: [QueryCandidate]) -> [QueryExplanation.Other] {
    let places = candidates.compactMap { candidate -> Int? in
      if case .index(let place, _) = candidate.access { place } else { nil }
    }
    return record.indexes.indices.filter { !places.contains($0) }.map { place in
      let index = record.indexes[place].layout.schema
      return .init(
        access: "index \(index.name)",
        reason: index.condition.map { "it has only records where \($0)" }
          ?? "neither the condition nor the order says something of its first field")
    }
  }

  private func text(of access: QueryAccess) -> String {
    switch access {
    case .rows(let ranges): text(of: KeySet.rows(ranges))
    case .index(let place, let ranges): text(of: KeySet.index(place, ranges))
    case .keys(let set): text(of: set)
    }
  }

  private func text(of set: KeySet) -> String {
    switch set {
    case .rows(let ranges): ranges == [.all] ? "all rows" : "rows" + text(of: ranges)
    case .index(let place, let ranges):
      "index \(record.indexes[place].layout.schema.name)"
        + (ranges == [.all] ? "" : text(of: ranges))
    case .union(let sets): "union of " + sets.map { text(of: $0) }.joined(separator: ", ")
    case .intersection(let sets):
      "intersection of " + sets.map { text(of: $0) }.joined(separator: ", ")
    }
  }

  private func text(of ranges: [KeyRange]) -> String {
    ranges.count == 1 ? " in one range" : " in \(ranges.count) ranges"
  }
}
