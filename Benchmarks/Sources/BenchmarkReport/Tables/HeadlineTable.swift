/// One workload of each kind, for readers of the summary.
enum Headline {
  /// Of each, the first setting is taken.
  static let workloads: [(part: String, workload: String)] = [
    ("commit", "commit"), ("load", "load-sorted"), ("load", "load-shuffled"), ("load", "removal"),
    ("tree", "point-read-hits"), ("tree", "scan"), ("records", "insert-batches"),
    ("records", "fetch"), ("records", "scan"), ("import", "changed"), ("query", "equality"),
    ("query", "count-range"), ("migrate", "require"), ("compact", "compact"),
    ("blobs", "text written"),
  ]

  static func comparisons(in results: MeasuredResults) -> [Comparison] {
    workloads.compactMap { headline in
      results.comparisons.first {
        $0.key.part == headline.part && $0.key.workload == headline.workload && $0.own != nil
      }
    }
  }
}

/// These in one table, whatever their durability.
struct HeadlineTable {
  let results: MeasuredResults

  var lines: [String] {
    let comparisons = Headline.comparisons(in: results)
    guard !comparisons.isEmpty else { return [] }
    var table = MarkdownTable(
      ["workload", "setting", "durability", "Cambium", "the peers"], wordColumns: 3)
    for comparison in comparisons { table.append(row(comparison)) }
    return ["## At a glance", ""] + table.lines + [""]
  }

  private func row(_ comparison: Comparison) -> [String] {
    let key = comparison.key
    let peers = comparison.peers.map { comparison.cell($0, "\($0.engine) \($0.figureText)") }
    return [
      "\(key.part): \(key.workload)", key.setting, key.durability,
      comparison.own?.figureText ?? "", peers.joined(separator: ", "),
    ]
  }
}
