import ArgumentParser
import Cambium

struct CompactCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact", abstract: "Gives back the room that nothing needs any more.",
    discussion: """
      What lives is moved to new files, compared with what was read, and the others are deleted. Interrupted, what was \
      done stays done, and the next compaction goes on there. The state from before a migration counts as living, \
      unless --drop-old-versions lets go of it.

      Example: cambium compact orders.cambium --rate 50
      """)

  @OptionGroup var arguments: StoreArguments

  @Flag(help: "Only say what would be gained.")
  var dryRun = false

  @Option(help: "How many MiB are written in a second at most.")
  var rate: Int?

  @Flag(help: "Only files of which a fifth is garbage: that needs little free room.")
  var segments = false

  @Flag(help: "Let go of the states from before migrations: there is no way back then.")
  var dropOldVersions = false

  func validate() throws {
    if (rate ?? 1) < 1 { throw ValidationError("The rate is one MiB a second at least.") }
  }

  func run() throws {
    if dryRun { return try predict() }
    Interruption.begin()
    let store = try arguments.open(arguments.writing)
    let bar = ProgressBar()
    let report: CompactionReport
    do {
      defer { bar.end() }
      report = try store.compact(options) { progress in
        bar.show(progress.fraction, "\(Figures.size(progress.writtenBytes)) written")
        try Interruption.check(
          "The compaction was interrupted. What was done stays done; the next one goes on there.")
      }
      try store.close()
    } catch {
      try? store.close()
      throw error
    }
    StandardOutput.line(arguments.json ? "\(report.json)" : report.text)
  }

  private var options: CompactionOptions {
    var options = CompactionOptions(scope: segments ? .segments : .whole)
    options.droppingOldVersions = dropOldVersions
    options.bytesPerSecond = rate.map { $0 << 20 }
    return options
  }

  private func predict() throws {
    let store = try arguments.open(arguments.reading)
    let prediction = try store.predictedGain(of: options)
    try store.close()
    StandardOutput.line(arguments.json ? "\(prediction.json)" : prediction.text)
  }
}

extension CompactionReport {
  fileprivate var text: String {
    var text =
      "\(Figures.size(sizeBefore)) → \(Figures.size(sizeAfter)): \(Figures.count(releasedFiles, "file")) given back, "
      + "\(Figures.count(entries)) entries moved in \(Figures.time(elapsed))."
    if blobSizeBefore > 0 {
      text += "\nFiles of blobs: \(Figures.size(blobSizeBefore)) → \(Figures.size(blobSizeAfter))."
    }
    if let held = heldSpace.text { text += "\nNot free yet: \(held)." }
    return text
  }

  fileprivate var json: JSONValue {
    [
      "sizeBefore": JSONValue(sizeBefore), "sizeAfter": JSONValue(sizeAfter),
      "blobSizeBefore": JSONValue(blobSizeBefore), "blobSizeAfter": JSONValue(blobSizeAfter),
      "writtenBytes": JSONValue(writtenBytes), "entries": JSONValue(entries),
      "slices": JSONValue(slices), "releasedFiles": JSONValue(releasedFiles),
      "held": heldSpace.json,
      "seconds": JSONValue(elapsed / .seconds(1)),
    ]
  }
}

extension CompactionPrediction {
  fileprivate var text: String {
    var text =
      "\(Figures.size(size)) → \(Figures.size(max(0, size - gain))), and \(Figures.size(roomNeeded)) free meanwhile."
    if keptBytes > 0 {
      text +=
        "\n\(Figures.size(keptBytes)) more are of states from before migrations, or beside them."
    }
    if blobSize > 0 {
      text +=
        "\nFiles of blobs: \(Figures.size(blobSize)) → \(Figures.size(max(0, blobSize - blobGain)))."
    }
    return text
  }

  fileprivate var json: JSONValue {
    [
      "size": JSONValue(size), "liveBytes": JSONValue(liveBytes), "garbage": JSONValue(garbage),
      "keptBytes": JSONValue(keptBytes), "gain": JSONValue(gain),
      "blobSize": JSONValue(blobSize), "blobGain": JSONValue(blobGain),
      "roomNeeded": JSONValue(roomNeeded),
    ]
  }
}
