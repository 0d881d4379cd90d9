import ArgumentParser
import Cambium

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

struct BackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup", abstract: "Copies a store, while a program may be writing to it.",
    discussion: """
      The copy is of one committed state, has no garbage, and gets its name when it is complete. States \
      from before migrations are not copied. With --verify the copy is checked as check --deep does before it gets its name; \
      if anything is wrong with it, no copy is made, and the status is 1.

      Example: cambium backup orders.cambium /backup/orders.cambium --verify --rate 50
      """)

  @OptionGroup var arguments: StoreArguments

  @Argument(help: "The directory of the copy, which must not exist.", completion: .directory)
  var copy: String

  @Flag(help: "Replace the store if it exists.")
  var force = false

  @Flag(help: "Read the copy again and check it before it gets its name.")
  var verify = false

  @Option(help: "The most MiB to copy per second, on average.")
  var rate: Int?

  @OptionGroup var skipping: SkipDamagedArguments

  func validate() throws {
    if (rate ?? 1) < 1 { throw ValidationError("The rate must be at least 1 MiB per second.") }
    if skipping.skipDamaged && (verify || rate != nil) {
      throw ValidationError(
        "--verify and --rate are for copies of whole stores, not --skip-damaged.")
    }
  }

  func run() throws {
    if skipping.skipDamaged { return try copyReadable() }
    let pace = try rate.map { try CopyPace($0, arguments) }
    let store = try arguments.open(arguments.reading)
    let report = try NewStore.make(
      at: copy, of: arguments.store, replacing: force, arguments.reading
    ) { path in
      Interruption.begin()
      let bar = ProgressBar()
      defer { bar.end() }
      let made = try store.backUp(to: path) { progress in
        bar.show(progress.fraction, "\(Figures.count(progress.entries)) entries")
        try pace?.keep(progress)
        try Self.checkInterruption()
      }
      if verify { try check(path, bar) }
      return made
    }
    try store.close()
    let checked = verify ? ", and checked" : ""
    StandardOutput.line(
      arguments.json ? "\(report.json)" : "\(report.text) to \(copy)\(checked).")
  }

  fileprivate static func checkInterruption() throws {
    try Interruption.check("The backup was interrupted. No copy was made.")
  }

  /// - Throws: `CommandFailure` if there are faults.
  private func check(_ path: String, _ bar: ProgressBar) throws {
    let check = try PersistentStore.check(at: path, .deep, options: arguments.reading) { _ in
      bar.show(nil, "checking the copy")
    }
    guard let fault = check.faults.first else { return }
    throw CommandFailure(
      .fault,
      "The copy has \(Figures.count(check.faults.count, "fault")), and was not kept. The first: \(fault)",
      ErrorDetail(of: fault))
  }
}

extension BackupCommand {
  private func copyReadable() throws {
    let snapshot = try arguments.snapshot()
    let leftOut = LeftOutRecords(skipping, arguments)
    let made = try NewStore.make(
      at: copy, of: arguments.store, like: arguments.store, replacing: force, arguments.reading
    ) { path in
      Interruption.begin()
      let bar = ProgressBar()
      defer { bar.end() }
      return try ReadableCopy(
        of: snapshot, to: path, arguments.writing, leavingOut: leftOut, bar)
    }
    let records = JSONValue.Member(name: "records", value: JSONValue(made.count))
    StandardOutput.line(
      arguments.json
        ? "\(JSONValue.object([records] + leftOut.json))"
        : "\(Figures.count(made.count, "record")) copied to \(copy).")
    try leftOut.check()
  }
}

/// Keeps the rate of a backup, whose pages are about as many bytes as the live ones of the store and its log.
private struct CopyPace {
  private let bytesPerSecond: Double
  private let pageBytes: Double

  init(_ rate: Int, _ arguments: StoreArguments) throws {
    bytesPerSecond = Double(rate) * 1_048_576
    let found = try PersistentStore.inspect(
      at: arguments.store, lastCommits: 0, options: arguments.reading)
    pageBytes = Double(found.livePageBytes) + Double(found.log.usedBytes)
  }

  /// Waits until so much may have been copied.
  ///
  /// - Throws: `CommandFailure` if the command is to end.
  func keep(_ progress: BackupProgress) throws {
    let share = Double(progress.entries) / Double(max(1, progress.expectedEntries))
    let bytes = Double(progress.blobBytes) + min(1, share) * pageBytes
    var left = bytes / bytesPerSecond - progress.elapsed / .seconds(1)
    while left > 0 {
      try BackupCommand.checkInterruption()
      let pause = min(left, 0.1)
      usleep(UInt32(pause * 1e6))
      left -= pause
    }
  }
}

extension BackupReport {
  fileprivate var text: String {
    "Commit \(Figures.count(sequence)) was copied, \(Figures.size(bytes + blobBytes)) in \(Figures.time(elapsed)),"
  }

  fileprivate var json: JSONValue {
    [
      "sequence": JSONValue(sequence), "entries": JSONValue(entries), "bytes": JSONValue(bytes),
      "blob_bytes": JSONValue(blobBytes),
      "seconds": JSONValue(elapsed / .seconds(1)),
    ]
  }
}
