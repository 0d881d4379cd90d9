/// An explanation of how a query is run.
public struct QueryExplanation: Hashable, Sendable {
  /// The stored name of the record.
  package let record: String
  /// The trees that are searched: `rows`, `index cityBalance`, a union or intersection of such; with the number of ranges
  /// of keys.
  public let access: String
  /// The index by which the first records are found, as in `access`, because the condition gives each of its fields a value:
  /// such a plan is taken without comparing it with others, until 64 records were found. Nil if plans are compared first.
  public let accessByForm: String?
  /// The condition that is evaluated on each record that is found, because no range expresses it; nil if there is none.
  package let condition: FieldCondition?
  /// For each query in the condition: how it was run, and its value. For each part of the condition that leads over a relation:
  /// how the related records are found, and when.
  public let related: [String]
  /// The way in which the records are brought into order.
  public let sorting: Sorting
  /// For each tree that is read through a level: how many changes this has, which were not merged into the tree yet.
  package let levels: [String]
  /// The approximate number of entries to be read; exact if the condition is nil.
  package let estimatedCount: Int
  /// The other plans, and why they were not chosen.
  package let others: [Other]
  /// The numbers of entries and rows that the query read; nil if it was not run.
  package let actual: Actual?

  public enum Sorting: Hashable, Sendable {
    /// Records are read in order.
    case none
    /// Records with the same first values are read together, and each such group is sorted.
    case groups
    /// All records are found, and sorted.
    case all
    /// All records are found, and only the first are kept.
    case first(Int)
  }

  /// A plan that was not chosen.
  package struct Other: Hashable, Sendable {
    package let access: String
    package let reason: String
  }

  package struct Actual: Hashable, Sendable {
    /// The number of entries read, of all trees, those of related records included.
    package let entryCount: Int
    /// The number of rows read, those of related records included.
    package let rowCount: Int
    package let resultCount: Int
  }
}

extension QueryExplanation: CustomStringConvertible {
  public var description: String {
    var lines = ["\(record): \(access), about \(estimatedCount) entries"]
    if let accessByForm {
      lines.append(
        accessByForm == access
          ? "  taken without comparing plans, since the condition gives each field of the index a value"
          : "  but the first \(QueryPlanner.formPlanUpTo) records by \(accessByForm), before plans are compared"
      )
    }
    for line in related + levels { lines.append("  \(line)") }
    if let condition { lines.append("  then only where \("\(condition)".withoutEnd)") }
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

extension String {
  /// The text without the end of a long one, such as that of a list of a thousand values.
  fileprivate var withoutEnd: String {
    let most = 2_000
    return utf8.count > most ? prefix(most) + "…" : self
  }
}

extension QueryAccess {
  fileprivate func reads(index: Int) -> Bool {
    switch self {
    case .index(let place, _): place == index
    case .union(let sets), .intersection(let sets): sets.contains { $0.reads(index: index) }
    case .rows, .related, .relatedOrder: false
    }
  }
}

// MARK: - Making one

extension QueryRunner {
  /// - Throws: as `find`.
  func explain(_ query: FieldQuery, running: Bool) throws(StoreError) -> QueryExplanation {
    let reads = RelatedReads()
    var planner = planner()
    planner.reader.reads = reads
    let (planned, candidates) = try planner.candidates(query, for: .records)
    let plan = try planner.finish(planner.cheapest(of: candidates), planned)
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
    let planByForm = try planner.planByForm(query, for: .records)
    var actual: QueryExplanation.Actual?
    if running {
      let comparison = LaterComparison(reader: planner.reader, query: query, need: .records)
      let found = try FoundRecords(
        planByForm ?? plan, query, of: record, in: trees,
        comparing: planByForm.map { _ in comparison })
      while try found.next() {}
      actual = unsafe .init(
        entryCount: found.entryCount + reads.entryCount,
        rowCount: found.rowCount + reads.rowCount, resultCount: found.resultCount)
    }
    return QueryExplanation(
      record: record.record.name, access: chosen,
      accessByForm: planByForm.map { text(of: $0.access) }, condition: plan.unsaid,
      related: plan.queried.map { $0.text } + (plan.related?.explanation ?? []),
      sorting: sorting(plan, query), levels: levels(of: plan.access), estimatedCount: plan.estimate,
      others: others, actual: actual)
  }

  /// What levels lie over the rows and over the indexes that an access reads.
  private func levels(of access: QueryAccess) -> [String] {
    let indexes = record.indexes.indices.filter { access.reads(index: $0) }.map {
      (name: "index " + record.indexes[$0].layout.schema.name, slot: record.indexes[$0].slot)
    }
    return ([(name: "rows", slot: record.rows)] + indexes).compactMap { tree in
      trees.level(of: tree.slot).map {
        "\(tree.name) through a level of \($0.changeCount) changes"
      }
    }
  }

  private func sorting(_ plan: QueryPlan, _ query: FieldQuery) -> QueryExplanation.Sorting {
    switch plan.given.extent {
    case .all: .none
    case .groups: .groups
    case .nothing: query.foundCount.map { .first($0) } ?? .all
    }
  }

  /// Returns the indexes that may lack some of the records, or have them in no useful order.
  private func unusedIndexes(_ candidates: [QueryCandidate]) -> [QueryExplanation.Other] {
    let places = candidates.compactMap { candidate -> Int? in
      switch candidate.access {
      case .index(let place, _): return place
      case .union(let sets) where sets.count == 1:
        if case .index(let place, _) = sets[0] { return place }
        return nil
      default: return nil
      }
    }
    return record.indexes.indices.filter { !places.contains($0) }.map { place in
      let index = record.indexes[place].layout
      let reason =
        switch index.expanded?.expansion {
        case .none?, nil: "neither the condition nor the order says something of its first field"
        case .elements?: "the condition asks for no element of its array"
        case .words?: "the condition asks for no word of its text"
        }
      return .init(
        access: "index \(index.schema.name)",
        reason: index.schema.condition.map { "it has only records where \($0)" } ?? reason)
    }
  }

  func text(of access: QueryAccess) -> String {
    switch access {
    case .rows(let ranges): ranges == [.all] ? "all rows" : "rows" + text(of: ranges)
    case .index(let place, let ranges):
      "index \(record.indexes[place].layout.schema.name)\(word(ranges, in: place))"
        + (ranges == [.all] ? "" : text(of: ranges))
    case .union(let sets) where sets.count == 1: text(of: sets[0])
    case .union(let sets): "union of " + sets.map { text(of: $0) }.joined(separator: ", ")
    case .related(let keys): "keys of \(keys.name)"
    case .relatedOrder(let order): order.name
    case .intersection(let sets):
      "intersection of " + sets.map { text(of: $0) }.joined(separator: ", ")
    }
  }

  /// Returns the word that ranges of an index of words are for; empty for another index.
  private func word(_ ranges: [KeyRange], in place: Int) -> String {
    let (layout, index) = (record.layout, record.indexes[place].layout)
    guard let expanded = index.expanded, expanded.expansion == .words, let range = ranges.first
    else { return "" }
    var reader = KeyReader(range.low.rawSpan, layout: layout, index: place)
    for column in index.parts.columns[..<expanded.place] {
      guard (try? reader.value(column)) != nil else { return "" }
    }
    // Of the beginning of a word the range has no end.
    let start = String(decoding: reader.rest.array(), as: UTF8.self)
    guard case .string(let word) = try? reader.value(index.parts.columns[expanded.place]) else {
      return " of \((start + "*").quoted)"
    }
    return " of \(word.quoted)"
  }

  private func text(of ranges: [KeyRange]) -> String {
    ranges.count == 1 ? " in one range" : " in \(ranges.count) ranges"
  }
}
