/// The figures that the project's README shows: lines of the report, and nothing else.
public struct SummaryTable {
  private struct Row {
    let label: String
    let part: String
    let workload: String
    /// How its setting begins, if a certain one is meant; else the first.
    var setting = ""
    var durability: String?
  }

  private static let rows = [
    Row(
      label: "durable commits, 1 thread", part: "commit", workload: "commit", setting: "1 thread,"),
    Row(
      label: "durable commits, 16 threads", part: "commit", workload: "commit",
      setting: "16 threads,"),
    Row(
      label: "structs inserted, 1,000 a transaction, durable", part: "records",
      workload: "insert-batches", durability: "durable"),
    Row(label: "structs fetched by key", part: "records", workload: "fetch"),
    Row(label: "queries by an index, equality", part: "query", workload: "equality"),
    Row(
      label: "a required field added to 1,000,000 records", part: "migrate", workload: "add",
      setting: "1,000,000 "),
    Row(
      label: "1,000,000 records split into two each", part: "migrate", workload: "split",
      setting: "1,000,000 "),
    Row(
      label: "a migration of 1,000,000 records rolled back", part: "migrate",
      workload: "rollback", setting: "1,000,000 "),
    Row(
      label: "10,000,000 records with random keys, 1,000 a transaction, durable", part: "scale",
      workload: "load-batches", setting: "1 thread, 1,000 a transaction, random keys, 10,000,000 "),
  ]

  private let results: MeasuredResults

  public init(_ file: ReportFile) {
    results = MeasuredResults(file)
  }

  /// In Markdown. A peer that is faster is bold.
  public var lines: [String] {
    var table = MarkdownTable(["a second", "Cambium", "peers"], wordColumns: 1)
    for row in Self.rows {
      if let comparison = comparison(row) { table.append(cells(row, comparison)) }
    }
    return table.lines
  }

  /// The marks that the table is between, each a line.
  private static let marks = (begin: "<!-- figures of Scripts/bench -->", end: "<!-- end -->")

  /// Returns a page with the table in place of what is between its marks; nil if they are not there.
  public func placed(in page: String) -> String? {
    let all = page.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    guard let begin = all.firstIndex(of: Self.marks.begin),
      let end = all[begin...].firstIndex(of: Self.marks.end)
    else { return nil }
    return (all[...begin] + [""] + lines + [""] + all[end...]).joined(separator: "\n")
  }

  private func comparison(_ row: Row) -> Comparison? {
    results.comparisons(of: row.part).first { comparison in
      let key = comparison.key
      return key.workload == row.workload && key.setting.hasPrefix(row.setting)
        && row.durability.map { key.durability == $0 } ?? true && comparison.own != nil
    }
  }

  private func cells(_ row: Row, _ comparison: Comparison) -> [String] {
    let peers = comparison.peers.sorted { $0.figure > $1.figure }.map { peer in
      comparison.cell(peer, "\(Palette.name(of: peer.engine)) \(Figures.short(peer.figure))")
    }
    return [
      row.label, comparison.own.map { Figures.short($0.figure) } ?? "",
      peers.joined(separator: "; "),
    ]
  }
}
