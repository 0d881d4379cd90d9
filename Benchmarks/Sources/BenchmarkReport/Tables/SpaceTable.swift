/// The disk space of stores, and the memory of engines.
struct SpaceTable {
  let comparisons: [Comparison]

  var lines: [String] {
    var table = MarkdownTable(
      [
        "space", "setting", "engine", "on disk", "× the data", "memory asked for", "peak resident",
      ],
      wordColumns: 3)
    for comparison in comparisons {
      // Reads leave stores as they are, and take next to no memory.
      for line in comparison.lines where line.bytesOnDisk != nil {
        table.append([comparison.key.workload, comparison.key.setting] + cells(line))
      }
    }
    guard !table.isEmpty else { return [] }
    return ["<details><summary>Space and memory</summary>", ""] + table.lines
      + ["", "</details>", ""]
  }

  private func cells(_ line: ResultLine) -> [String] {
    let share = line.bytesOnDisk.flatMap { size in
      line.rawBytes.map { Figures.decimal(Double(size) / Double(max($0, 1)), places: 3) }
    }
    return [
      line.engine, text(line.bytesOnDisk), share ?? "–", text(line.anonymousGrowth),
      text(line.peakResident),
    ]
  }

  private func text(_ bytes: Int?) -> String { bytes.map(Figures.mebibytes) ?? "–" }
}
