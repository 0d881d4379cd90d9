import Testing

@testable import BenchmarkReport

@Suite struct `A report` {
  private func section(_ title: String, of markdown: String) -> String {
    let parts = markdown.components(startingWith: "\n## ")
    return parts.first { $0.hasPrefix("\n## \(title)") } ?? ""
  }

  // MARK: Where we lose

  @Test func `lists every workload in which a peer is ahead, the worst first`() {
    let markdown = report([
      .sample("cambium", rate: 100), .sample("lmdb", rate: 150), .sample("sqlite", rate: 50),
      .sample("cambium", rate: 10, workload: "ranges"),
      .sample("lmdb", rate: 40, workload: "ranges"),
      .sample("cambium", rate: 20, workload: "first"), .sample("lmdb", rate: 20, workload: "first"),
    ]).markdown
    let losses = section("Where we lose", of: markdown)
    let rows = losses.split(separator: "\n").filter { $0.hasPrefix("| tree") }
    #expect(
      rows == [
        "| tree | ranges | 1,000,000 entries | read | lmdb | 10.0 /s | 40.0 /s | 4.00 × |",
        "| tree | scan | 1,000,000 entries | read | lmdb | 100 /s | 150 /s | 1.50 × |",
      ])
    #expect(losses.contains("A peer is faster in 2 of 3 comparisons."))
  }

  @Test func `takes less for better where less is better`() {
    let lines = [("cambium", 3.0), ("sqlite", 6.0), ("rocksdb", 1.0)].map { engine, figure in
      ResultLine(
        part: "blobs", workload: "write", setting: "", engine: engine, durability: "durable",
        rounds: 1, figure: figure, unit: .microseconds)
    }
    let losses = section("Where we lose", of: report(lines).markdown)
    #expect(losses.contains("| rocksdb | 3.00 µs | 1.00 µs | 3.00 × |"))
    #expect(!losses.contains("sqlite"))
  }

  @Test func `lists where a peer needs less of the disk or of memory`() {
    let lines: [ResultLine] = [
      .sample("cambium", rate: 2).with {
        ($0.bytesOnDisk, $0.anonymousGrowth) = (3 << 20, 8 << 20)
      },
      .sample("sqlite", rate: 1).with { ($0.bytesOnDisk, $0.anonymousGrowth) = (2 << 20, 2 << 20) },
    ]
    let losses = section("Where we lose", of: report(lines).markdown)
    #expect(!losses.contains("Slower than a peer"))
    #expect(losses.contains("| sqlite | 3.0 MiB | 2.0 MiB | 1.50 × |"))
    #expect(losses.contains("| sqlite | 8.0 MiB | 2.0 MiB | 4.00 × |"))
  }

  @Test func `takes less than a MiB of memory for a MiB`() {
    let lines: [ResultLine] = [
      .sample("cambium", rate: 2).with { $0.anonymousGrowth = 3 << 20 },
      .sample("lmdb", rate: 1).with { $0.anonymousGrowth = 0 },
      .sample("cambium", rate: 2, workload: "ranges").with { $0.anonymousGrowth = 1 << 19 },
      .sample("lmdb", rate: 1, workload: "ranges").with { $0.anonymousGrowth = 0 },
    ]
    let losses = section("Where we lose", of: report(lines).markdown)
    #expect(
      losses.contains("| scan | 1,000,000 entries | read | lmdb | 3.0 MiB | 0.0 MiB | 3.00 × |"))
    #expect(!losses.contains("ranges"))
  }

  @Test func `lists where one of a hundred operations is slower than a peer's`() {
    func latency(_ p99: Double) -> LatencyPercentiles {
      LatencyPercentiles(p50: 1_000, p90: 1_000, p99: p99, p999: 1_000)
    }
    let lines: [ResultLine] = [
      .sample("cambium", rate: 2).with { $0.latency = latency(30_000) },
      .sample("lmdb", rate: 1).with { $0.latency = latency(20_000) },
      .sample("sqlite", rate: 1).with { $0.latency = latency(40_000) },
    ]
    let losses = section("Where we lose", of: report(lines).markdown)
    #expect(losses.contains("| lmdb | 30.0 µs | 20.0 µs | 1.50 × |"))
    #expect(!losses.contains("sqlite"))
  }

  @Test func `does not take a limit for a peer`() {
    let limit = ResultLine.sample("disk", rate: 900).with { $0.role = .limit }
    let markdown = report([.sample("cambium", rate: 100), limit]).markdown
    #expect(section("Where we lose", of: markdown).contains("in 0 of 0 comparisons"))
    #expect(markdown.contains("900 (0.111 ×)"))
  }

  // MARK: Tables

  @Test func `shows figures side by side, and in bold what is better than Cambium's`() {
    let markdown = report([
      .sample("cambium", rate: 100), .sample("lmdb", rate: 200), .sample("sqlite", rate: 50),
    ]).markdown
    #expect(markdown.contains("### tree, durability: read"))
    #expect(
      markdown.contains(
        "| scan | 1,000,000 entries | /s | 100 | **200 (0.500 ×)** | 50.0 (2.00 ×) |"))
  }

  @Test func `shows the space of a store over its data, and the bytes written for each of them`() {
    let markdown = report([
      .sample("cambium", rate: 1).with {
        ($0.rawBytes, $0.bytesOnDisk, $0.anonymousGrowth) = (2 << 20, 3 << 20, 4 << 20)
        $0.details = ["device_bytes_per_byte": 8.25]
      },
      .sample("lmdb", rate: 1).with { $0.bytesOnDisk = 5 << 20 },
    ]).markdown
    #expect(
      markdown.contains(
        "| scan | 1,000,000 entries | cambium | 3.0 MiB | 1.500 | 8.25 | 4.0 MiB | – |"))
    #expect(markdown.contains("| scan | 1,000,000 entries | lmdb | 5.0 MiB | – | – | – | – |"))
  }

  @Test func `has a table for each durability class`() {
    let markdown = report([
      .sample("cambium", rate: 1, durability: "durable"),
      .sample("cambium", rate: 2, durability: "relaxed"),
    ]).markdown
    #expect(markdown.contains("### tree, durability: durable"))
    #expect(markdown.contains("### tree, durability: relaxed"))
  }

  @Test func `says machine, versions and commit`() {
    let markdown = report(everything).markdown
    for word in [
      "A Processor & Sons <2>, 2 cores, 8,192.0 MiB", "ext4", "Linux 6.18", "0123456789ab",
      "Swift version 6.3.1", "LMDB 0.9.24, SQLite 3.40.1", "2026-11-22",
    ] {
      #expect(markdown.contains(word), "\(word)")
    }
    #expect(!markdown.contains("quick"))
  }

  @Test func `of a quick run says so`() {
    let markdown = Report(ReportFile([.run(.sample(isQuick: true))])).markdown
    #expect(markdown.contains("**quick**"))
  }

  @Test func `shows each picture that it names, and names each that it has`() {
    let report = report(everything)
    for plot in report.plots {
      #expect(report.markdown.components(startingWith: "](\(plot.fileName))").count == 2)
    }
  }

  @Test func `keeps a bar in a name from making another cell`() {
    let markdown = report([.sample("cambium", rate: 1, setting: "a|b\nc")]).markdown
    #expect(markdown.contains("| a\\|b c |"))
  }

  // MARK: Missing results

  @Test func `states a step that failed, and one whose end nobody saw`() {
    let steps = ["good", "bad", "lost"].map { PlannedStep($0, ["tree", $0]) }
    let report = Report(
      ReportFile([
        .run(.sample(steps: steps)),
        .outcome(StepOutcome(step: steps[0], seconds: 1, problem: nil, peakResident: 1)),
        .outcome(StepOutcome(step: steps[1], seconds: 1, problem: "signal 11", peakResident: 1)),
      ]))
    #expect(!report.isComplete)
    #expect(report.markdown.contains("> **bad** (tree): signal 11"))
    #expect(report.markdown.contains("> **lost** (tree): did not run to its end"))
    #expect(!report.markdown.contains("**good**"))
    #expect(report.markdown.contains("> **bad failed**: signal 11"))
  }

  @Test func `of which nothing is missing is complete`() {
    let step = PlannedStep("tree", ["tree"])
    let report = Report(
      ReportFile([
        .run(.sample(steps: [step])), .result(everything[0]),
        .outcome(StepOutcome(step: step, seconds: 1, problem: nil, peakResident: 1)),
      ]))
    #expect(report.isComplete)
    #expect(!report.markdown.contains("Not everything"))
  }

  @Test func `of nothing is a report too`() {
    let report = Report(ReportFile())
    #expect(report.plots.isEmpty)
    #expect(report.markdown.contains("# Benchmarks"))
  }
}

extension String {
  /// The part before the first `mark`, and then each part that begins with one.
  func components(startingWith mark: String) -> [String] {
    var parts = [""]
    var rest = self[...]
    while !rest.isEmpty {
      if rest.hasPrefix(mark) { parts.append("") }
      let count = rest.hasPrefix(mark) ? mark.count : 1
      parts[parts.count - 1] += rest.prefix(count)
      rest = rest.dropFirst(count)
    }
    return parts
  }
}
