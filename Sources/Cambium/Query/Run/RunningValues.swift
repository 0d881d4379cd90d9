/// Values that are computed from each record of a query and those before it.
struct RunningValues {
  private let steps: [FieldRunningStep]
  private var grouping: RecordGrouping
  private var ranks: RunningRanks

  /// - Parameters:
  ///   - keys: The expressions of which each value has totals and ranks of its own.
  ///   - found: The records of the query.
  /// - Throws: `.invalidQuery` if values have no order, no sum, or cannot be computed.
  init(
    _ steps: [FieldRunningStep], within keys: [FieldExpression], of found: FoundRecords,
    _ query: FieldQuery, _ record: Entity, in reader: RecordReader
  ) throws(StoreError) {
    self.steps = steps
    let aggregates = steps.compactMap { step -> FieldAggregate? in
      if case .aggregate(let aggregate) = step { aggregate } else { nil }
    }
    grouping = try RecordGrouping(record, by: keys, aggregates, in: reader)
    ranks = RunningRanks(query, found.plan.order, of: record)
  }

  /// The types of the values.
  var types: [ScalarType] {
    var results = grouping.types.results[...]
    return steps.map { step in
      if case .aggregate = step { results.popFirst() ?? .int64 } else { .int64 }
    }
  }

  /// Adds the next record, and returns its values.
  ///
  /// - Throws: `.invalidQuery` if a computation has no result; `.corrupt`, `.io`.
  mutating func add(_ key: RawSpan, _ row: RawSpan) throws(StoreError) -> [FieldValue] {
    _ = try grouping.add(key, row)
    let place = grouping.place
    var results = try grouping.results(place)[...]
    var rank: (rank: Int, denseRank: Int)?
    if steps.contains(where: { $0 == .rank || $0 == .denseRank }) {
      rank = try ranks.add(key, row, to: place)
    }
    return steps.map { step in
      switch step {
      case .aggregate: results.popFirst() ?? .null
      case .number: .integer(Int64(grouping.count(place)))
      case .rank: .integer(Int64(rank?.rank ?? 0))
      case .denseRank: .integer(Int64(rank?.denseRank ?? 0))
      }
    }
  }
}
