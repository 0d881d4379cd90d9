/// The disk space of stores, and the memory of engines.
struct SpaceTable {
  let comparisons: [Comparison]

  var lines: [String] {
    var table = MarkdownTable(
      [
        "space", "setting", "engine", "on disk", "× the data", "written for each byte",
        "memory asked for", "peak resident",
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
    [
      line.engine, text(line.bytesOnDisk),
      line.sizeOverData.map { Figures.decimal($0, places: 3) } ?? "–",
      line.writtenForEachByte.map { Figures.decimal($0, places: 2) } ?? "–",
      text(line.anonymousGrowth), text(line.peakResident),
    ]
  }

  private func text(_ bytes: Int?) -> String { bytes.map(Figures.mebibytes) ?? "–" }
}
