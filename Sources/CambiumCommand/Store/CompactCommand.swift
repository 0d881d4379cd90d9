import ArgumentParser
import Cambium

struct CompactCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact", abstract: "Reclaims space that is no longer needed.",
    discussion: """
      Live pages are copied to new files and compared with the originals, and the old files are deleted. If a \
      compaction is interrupted, its work so far is kept, and the next one resumes there. States from before \
      migrations count as live, unless --drop-old-versions deletes them. If less than a twentieth of the files would be \
      reclaimed, no page is moved, unless --force is given.

      Example: cambium compact orders.cambium --rate 50
      """)

  @OptionGroup var arguments: StoreArguments

  @Flag(help: "Only print how much space would be reclaimed.")
  var dryRun = false

  @Option(help: "The most MiB to write per second.")
  var rate: Int?

  @Flag(
    help: "Only compact files of which at least a fifth is garbage, which needs little free space.")
  var segments = false

  @Flag(help: "Delete the states from before migrations, after which no rollback is possible.")
  var dropOldVersions = false

  @Flag(
    help: "Move pages even if nearly all of them are live, which fills those that are not full.")
  var force = false

  func validate() throws {
    if (rate ?? 1) < 1 { throw ValidationError("The rate must be at least 1 MiB per second.") }
  }

  func run() throws {
    if dryRun { return try predict() }
    Interruption.begin()
    let logged = try LoggedCommits(arguments)
    let store = try arguments.openKeepingHistory()
    let bar = ProgressBar()
    let report: CompactionReport
    do {
      defer { bar.end() }
      report = try store.compact(options) { progress in
        bar.show(progress.fraction, "\(Figures.size(progress.writtenBytes)) written")
        try Interruption.check(
          "The compaction was interrupted. Its work so far is kept, and the next one resumes there."
        )
      }
      try store.close()
    } catch {
      try? store.close()
      throw error
    }
    let isWanted = report.slices > 0 || options.leastGainShare == 0
    StandardOutput.line(
      arguments.json ? "\(report.json)" : report.text(logged, isWanted: isWanted))
  }

  private var options: CompactionOptions {
    var options = CompactionOptions(scope: segments ? .segments : .whole)
    if !segments, !force { options.leastGainShare = 0.05 }
    options.droppingOldVersions = dropOldVersions
    options.bytesPerSecond = rate.map { $0 << 20 }
    return options
  }

  private func predict() throws {
    let logged = try LoggedCommits(arguments)
    let store = try arguments.open(arguments.reading)
    let prediction = try store.predictedGain(of: options)
    try store.close()
    // Changes that are in the log alone may make garbage in the pages.
    let isWanted =
      logged.count > 0
      || Double(prediction.gain) >= options.leastGainShare * Double(prediction.size)
    StandardOutput.line(
      arguments.json ? "\(prediction.json)" : prediction.text(logged, isWanted: isWanted))
  }
}

/// The commits that are in the log alone. A compaction moves them into pages first, which grow by that.
private struct LoggedCommits {
  let count: Int
  /// The size of the files of pages without them.
  let pageBytes: Int

  init(_ arguments: StoreArguments) throws {
    let found = try PersistentStore.inspect(
      at: arguments.store, lastCommits: 0, options: arguments.reading)
    count = Int(clamping: found.sequence - min(found.sequence, found.foldedSequence))
    pageBytes = found.pageBytes
  }
}

extension CompactionReport {
  /// - Parameter isWanted: False if it would have gained too little to move anything.
  fileprivate func text(_ logged: LoggedCommits, isWanted: Bool) -> String {
    var text =
      "Files of pages: \(Figures.change(sizeBefore, sizeAfter)). \(Figures.count(entries)) entries were moved in"
      + " \(Figures.time(elapsed)), and old files deleted: \(Figures.count(releasedFiles))."
    if !isWanted {
      text =
        "Files of pages: \(Figures.size(sizeAfter)), of which less than a twentieth can be reclaimed. Nothing was moved;"
        + " --force moves it nevertheless, and fills pages that are not full."
    }
    if logged.count > 0, logged.pageBytes < sizeBefore {
      text =
        "\(Figures.count(logged.count, "commit")) moved from the log into files of pages:"
        + " \(Figures.change(logged.pageBytes, sizeBefore)).\n" + text
    }
    if blobSizeBefore > 0 {
      text += "\nFiles of blobs: \(Figures.change(blobSizeBefore, blobSizeAfter))."
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
  /// - Parameter isWanted: False if a compaction would move nothing, as it would gain too little.
  fileprivate func text(_ logged: LoggedCommits, isWanted: Bool) -> String {
    var text = "Files of pages: \(Self.change(size, gain))."
    if !isWanted {
      text += " That is less than a twentieth, so nothing is moved without --force."
    } else if roomNeeded > 0 {
      text += " The compaction needs \(Figures.size(roomNeeded)) of free space."
    }
    if logged.count > 0 {
      text +=
        "\nIn the log alone: \(Figures.count(logged.count, "commit")). A compaction first moves them from the log into"
        + " files of pages."
    }
    if keptBytes > 0 {
      text +=
        "\n\(Figures.size(keptBytes)) are in files that states from before migrations need; --drop-old-versions reclaims"
        + " them."
    }
    if blobSize > 0 { text += "\nFiles of blobs: \(Self.change(blobSize, blobGain))." }
    return text
  }

  private static func change(_ size: Int, _ gain: Int) -> String {
    gain > 0
      ? Figures.change(size, max(0, size - gain)) : "\(Figures.size(size)), and nothing to reclaim"
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
