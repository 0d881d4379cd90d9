import ArgumentParser
import BenchmarkReport

/// Blobs, against zstd by hand, files, SQLite and RocksDB.
struct BlobsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "blobs",
    abstract: "Blobs: large ones, many small ones, ranges and streams.",
    discussion: """
      Every write is durable when its clock stops, and debts are paid. Reads are from memory, after an \
      untimed pass in which every byte is compared. Goals are in brackets.
      """)

  enum Part: String, CaseIterable, ExpressibleByArgument {
    /// One blob of text and one of noise, whole.
    case large
    case small
    /// Ranges of a very large blob, and the memory of streams.
    case stream
  }

  @Option(help: "What to measure.")
  var parts = CommaList(Part.allCases)

  @Option(help: "The size of a large blob, in MiB.")
  var mebibytes = 64

  @Option(help: "How many small blobs.")
  var blobs = 10_000

  @Option(help: "The size of a small blob, in bytes.")
  var size = 32_768

  @Option(help: "How many small blobs a transaction writes.")
  var batch = CommaList([1, 100])

  @Option(help: "The size of the blob that ranges are read of, in MiB.")
  var streamMebibytes = 1_024

  @Option(help: "How many ranges.")
  var ranges = 2_000

  @OptionGroup var options: BenchmarkOptions

  func validate() throws {
    let numbers = [mebibytes, blobs, streamMebibytes, ranges] + batch.elements
    guard numbers.allSatisfy({ $0 > 0 }) else {
      throw ValidationError("All sizes and counts must be at least 1.")
    }
    guard 4_097...1 << 20 ~= size else {
      throw ValidationError("A small blob has 4,097 bytes to a MiB.")
    }
  }

  func run() throws {
    let scratch = try ScratchDirectory(in: options.directory)
    defer { scratch.remove() }
    let progress = Progress()
    defer { progress.clear() }
    showHeader()
    for part in parts.elements {
      switch part {
      case .large: try runLarge(scratch, progress)
      case .small: for batch in batch.elements { try runSmall(batch, scratch, progress) }
      case .stream: try runStream(scratch, progress)
      }
    }
  }

  private func showHeader() {
    print(
      "\(Machine.processor), \(Machine.coreCount) cores, \(Figures.mebibytes(Machine.memory)),"
        + " Linux \(Machine.kernel)")
    print(
      "zstd \(StockZstd.version), SQLite and RocksDB \(RocksDBCommitEngine.version);"
        + " medians of \(options.rounds) rounds in which all take turns, seed \(options.seed)")
    for engine in BlobEngineName.allCases { print("  \(engine.rawValue): \(engine.promise)") }
  }

  // MARK: Large blobs

  private func runLarge(_ scratch: ScratchDirectory, _ progress: Progress) throws {
    var benchmark = LargeBlobBenchmark(
      mebibytes: mebibytes, roundCount: options.rounds, seed: options.seed, scratch: scratch,
      progress: progress)
    try benchmark.run()
    progress.clear()
    var table = TextTable(header: ["MiB a second", "cambium", "peer", "ratio"])
    for pair in LargeBlobPair.all {
      let (own, peer) = (benchmark.speed(pair.own), benchmark.speed(pair.other))
      let verdict = pair.goal.map { " " + $0.verdict(on: own / peer) } ?? ""
      table.append([
        pair.name, Figures.decimal(own, places: 0), Figures.decimal(peer, places: 0),
        Figures.decimal(own / peer, places: 2) + verdict,
      ])
    }
    let noise = Figures.decimal(benchmark.speed(.readNoise), places: 0)
    table.append(["noise read", noise, "", ""])
    print("\n\(mebibytes) MiB")
    for line in table.lines { print(line) }
    try options.write(benchmark.lines)
  }

  // MARK: Small blobs

  private func runSmall(
    _ batch: Int, _ scratch: ScratchDirectory, _ progress: Progress
  ) throws {
    var benchmark = SmallBlobBenchmark(
      count: blobs, size: size, batch: batch, roundCount: options.rounds, seed: options.seed,
      scratch: scratch, progress: progress)
    try benchmark.run()
    progress.clear()
    let own = (
      median(benchmark.writes[.cambium] ?? []), median(benchmark.reads[.cambium] ?? [])
    )
    var table = TextTable(header: [
      "µs a blob", "written", "cambium to it", "read", "cambium to it", "MiB on disk",
    ])
    for engine in BlobEngineName.allCases {
      let write = median(benchmark.writes[engine] ?? [])
      let read = median(benchmark.reads[engine] ?? [])
      let goals: (Goal?, Goal?) = (
        engine == .files ? .atLeast(3) : nil, engine == .sqlite ? .atLeast(2) : nil
      )
      table.append([
        engine.rawValue, microseconds(write), ratio(write / own.0, goals.0), microseconds(read),
        ratio(read / own.1, goals.1), "\((benchmark.sizes[engine] ?? 0) >> 20)",
      ])
    }
    print(
      "\n\(Figures.grouped(blobs)) blobs of \(Figures.grouped(size)) bytes of text, \(batch) a"
        + " transaction")
    for line in table.lines { print(line) }
    try options.write(benchmark.lines)
  }

  private func microseconds(_ seconds: Double) -> String {
    Figures.decimal(seconds * 1e6 / Double(blobs), places: 1)
  }

  private func ratio(_ value: Double, _ goal: Goal?) -> String {
    Figures.decimal(value, places: 2) + (goal.map { " " + $0.verdict(on: value) } ?? "")
  }

  // MARK: Streams

  private func runStream(_ scratch: ScratchDirectory, _ progress: Progress) throws {
    progress.show("a blob of \(streamMebibytes) MiB")
    var streaming = BlobStreaming(mebibytes: streamMebibytes, ranges: ranges, seed: options.seed)
    let directory = try scratch.makeDirectory("stream")
    try streaming.run(in: directory + "/store")
    try scratch.removeDirectory(directory)
    progress.clear()
    print("\nA blob of \(Figures.grouped(streamMebibytes)) MiB of text")
    let times = streaming.times.map { $0 * 1e3 }
    let middle = median(times)
    let high = times[times.count * 99 / 100]
    print(
      "  4 KiB of it: median \(Figures.decimal(middle, places: 3)) ms"
        + " \(Goal.atMost(2).verdict(on: middle)), of 99 in 100 at most"
        + " \(Figures.decimal(high, places: 3)) ms, the first"
        + " \(Figures.decimal(streaming.firstTime * 1e3, places: 3)) ms")
    for (name, growth) in [
      ("writing", streaming.writingGrowth), ("reading", streaming.readingGrowth),
    ] {
      let verdict = Goal.atMost(16).verdict(on: Double(growth) / Double(1 << 20))
      print("  memory, \(name) it as a stream: \(Figures.mebibytes(growth)) \(verdict)")
    }
    try options.write(streaming.lines)
  }
}
