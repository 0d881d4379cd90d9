import BenchmarkReport
import FoundationEssentials

/// The files of a report, in one directory.
struct ReportFiles {
  let directory: String

  static let results = "results.jsonl"

  /// Writes all of them, in place of those of an earlier report.
  func write(_ report: Report, of file: ReportFile) throws {
    // Lines that could not be read would be gone for good.
    if file.unreadable.isEmpty { try file.write(to: "\(directory)/\(Self.results)") }
    try removePlots()
    for plot in report.plots { try write(plot.svg, to: plot.fileName) }
    try write(report.markdown, to: "report.md")
  }

  /// Those of an earlier report that measured something else would stay.
  private func removePlots() throws {
    let kinds = ["throughput", "migration", "scale", "latency"]
    for name in try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
    where name.hasSuffix(".svg") && kinds.contains(where: { name.hasPrefix($0) }) {
      try FileManager.default.removeItem(atPath: "\(directory)/\(name)")
    }
  }

  private func write(_ text: String, to name: String) throws {
    try Data(text.utf8).write(to: URL(filePath: "\(directory)/\(name)"), options: .atomic)
  }
}
