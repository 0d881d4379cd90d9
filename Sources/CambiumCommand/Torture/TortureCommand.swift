import ArgumentParser
import Cambium

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

struct TortureCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "torture", abstract: "Tests a disk, and the library on it, with crashes.",
    discussion: """
      Processes write random records to a new store, sometimes compact it, and are killed at random \
      moments. After each of them the store is opened, checked, and compared with its expected content: \
      everything that was acknowledged as durable, and nothing that was not written. The test stops at the \
      first fault, keeps the store, and prints the seed with which to repeat it.

      Example: cambium torture /mnt/disk/test --seconds 60 --seed 7
      """)

  @Argument(help: "The directory of the store, which must not exist.", completion: .directory)
  var directory: String

  @Option(help: "The length of the test in seconds. (default: 60)")
  var seconds: Int?

  @Option(help: "The length of the test in hours.")
  var hours: Int?

  @Option(help: "The random seed. Pass the seed of an earlier run to repeat it. (default: random)")
  var seed: UInt64?

  @Flag(help: "Keep the store even if the test finds nothing wrong.")
  var keep = false

  @Flag(help: "Write JSON, for programs.")
  var json = false

  func validate() throws {
    if seconds != nil && hours != nil {
      throw ValidationError("Use --seconds or --hours, not both.")
    }
    if (seconds ?? 1) < 1 || (hours ?? 1) < 1 {
      throw ValidationError("The test takes at least one second.")
    }
  }

  func run() throws {
    let seed = seed ?? UInt64.random(in: 0..<1_000_000)
    guard unsafe access(directory, F_OK) != 0 else {
      throw CommandFailure(
        .refused, "\(directory) already exists. Name a directory that does not exist.")
    }
    Interruption.begin()
    let limit = Duration.seconds(hours.map { $0 * 3600 } ?? seconds ?? 60)
    var torture = Torture(directory, seed: seed)
    let bar = ProgressBar()
    do {
      defer { bar.end() }
      try torture.run(for: limit, bar)
    } catch let failure as CommandFailure where failure.status == .fault {
      throw CommandFailure(
        .fault,
        "\(failure.message), after process \(torture.lives) with seed \(seed). The store is kept in \(directory)."
      )
    }
    if !keep { try PersistentStore.delete(at: directory) }
    StandardOutput.line(json ? "\(torture.json)" : torture.text)
    try Interruption.check("The test was interrupted. It had found nothing wrong.")
  }
}

/// Life after life of a store.
struct Torture {
  private let path: String
  private let script: TortureScript
  private var model: TortureModel
  private var random: TortureRandom
  private(set) var lives = 0
  private var kills = 0
  /// How many milliseconds a life has at most: more after one that came to nothing.
  private var patience = Self.patienceMin

  private static let patienceMin: Int32 = 400
  private static let patienceMax: Int32 = 60_000

  init(_ path: String, seed: UInt64) {
    self.path = path
    script = TortureScript(seed: seed)
    model = TortureModel(script)
    random = TortureRandom(seed: seed)
  }

  mutating func run(for limit: Duration, _ bar: ProgressBar) throws {
    let clock = ContinuousClock()
    let start = clock.now
    while start.duration(to: clock.now) < limit, !Interruption.isRequested {
      lives += 1
      let (durable, acknowledged) = try live()
      try check(durable, acknowledged)
      let elapsed = start.duration(to: clock.now)
      bar.show(
        elapsed / limit,
        "\(lives) processes, \(kills) killed, \(Figures.count(model.count)) commits")
    }
  }

  /// One life, which most often ends before its time.
  private mutating func live() throws -> (durable: Int, acknowledged: Int) {
    let transactions = Int.random(in: 1...400, using: &random)
    let time = Int32.random(in: 5...patience, using: &random)
    var child = try TortureChild([
      "torture-life", path, "--seed", "\(script.seed)", "--transactions", "\(transactions)",
    ])
    if !child.listen(milliseconds: time) {
      child.kill()
      kills += 1
    }
    let status = child.end()
    if let status, status != 0 {
      throw CommandFailure(.fault, "A process ended with status \(status)")
    }
    return (child.durable, child.acknowledged)
  }

  private mutating func check(_ durable: Int, _ acknowledged: Int) throws {
    let store: PersistentStore
    do {
      store = try PersistentStore(
        at: path, model: TortureScript.model, options: TortureLifeCommand.options)
    } catch {
      throw CommandFailure(.fault, "The store does not open: \(error)")
    }
    let count = try store.fetch(TortureProgress.self, key: 0)?.count ?? 0
    guard count >= max(durable, 0) else {
      throw CommandFailure(
        .fault,
        "Transaction \(durable) was acknowledged as durable, but the last in the store is \(count)")
    }
    guard count <= max(acknowledged, model.count) + 1 else {
      throw CommandFailure(
        .fault, "Transaction \(acknowledged) was the last, but the store has \(count)")
    }
    if count < model.count {
      throw CommandFailure(
        .fault, "Transaction \(model.count) was in the store before, but the last in it is \(count)"
      )
    }
    patience =
      count > model.count ? Self.patienceMin : min(patience * 2, Self.patienceMax)
    model.goOn(to: count)
    try model.compare(with: store)
    try store.close()
    let found = try PersistentStore.check(at: path, .deep)
    if let fault = found.faults.first { throw CommandFailure(.fault, "\(fault)") }
  }

  var text: String {
    "\(Figures.count(lives)) processes, of which \(Figures.count(kills)) were killed, made \(Figures.count(model.count)) commits: nothing wrong. Seed \(script.seed)."
  }

  var json: JSONValue {
    [
      "seed": JSONValue(script.seed), "lives": JSONValue(lives), "kills": JSONValue(kills),
      "commits": JSONValue(model.count),
    ]
  }
}
