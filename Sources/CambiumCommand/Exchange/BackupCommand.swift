import ArgumentParser
import Cambium

struct BackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup", abstract: "Copies a store, while a program may be writing to it.",
    discussion: """
      The copy is of one committed state, has no garbage, and gets its name when it is complete. States \
      from before migrations are not copied.

      Example: cambium backup orders.cambium /backup/orders.cambium
      """)

  @OptionGroup var arguments: StoreArguments

  @Argument(help: "The directory of the copy, which must not exist.", completion: .directory)
  var copy: String

  @Flag(help: "Replace the store if it exists.")
  var force = false

  @Flag(
    help: """
      Leave out records that cannot be read, and copy the others one by one. Each that is left out is named \
      on standard error, and the status is 1.
      """)
  var skipDamaged = false

  func run() throws {
    if skipDamaged { return try copyReadable() }
    let store = try arguments.open(arguments.reading)
    let report = try NewStore.make(
      at: copy, of: arguments.store, replacing: force, arguments.reading
    ) { path in
      Interruption.begin()
      let bar = ProgressBar()
      defer { bar.end() }
      return try store.backUp(to: path) { progress in
        bar.show(progress.fraction, "\(Figures.count(progress.entries)) entries")
        try Interruption.check("The backup was interrupted. No copy was made.")
      }
    }
    try store.close()
    StandardOutput.line(arguments.json ? "\(report.json)" : "\(report.text) to \(copy).")
  }
}

extension BackupCommand {
  private func copyReadable() throws {
    let snapshot = try arguments.snapshot()
    let made = try NewStore.make(
      at: copy, of: arguments.store, like: arguments.store, replacing: force, arguments.reading
    ) { path in
      Interruption.begin()
      let bar = ProgressBar()
      defer { bar.end() }
      return try ReadableCopy(of: snapshot, to: path, arguments.writing, bar)
    }
    StandardOutput.line(
      arguments.json
        ? "\(["records": JSONValue(made.count), "skipped": JSONValue(made.skippedCount)] as JSONValue)"
        : "\(Figures.count(made.count, "record")) copied to \(copy).")
    try made.checkWhole()
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
