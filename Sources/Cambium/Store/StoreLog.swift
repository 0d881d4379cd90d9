internal import Logging
internal import Synchronization

/// The lines for a store's logger about the store as a whole: of opening, and of work that takes long or fails.
struct StoreLog: Sendable {
  private let logger: Logger?
  private let failures = CommitFailures()

  init(_ logger: Logger?) {
    self.logger = logger
  }

  func opened(_ path: String, _ report: OpenReport, version: Int) {
    guard let logger else { return }
    if let other = report.setAside {
      logger.warning(
        "A store that the model did not fit was put aside", metadata: ["path": "\(other)"])
    }
    for repaired in report.healed {
      logger.warning("Repaired from a second copy: \(repaired)")
    }
    if let reason = report.discardedTail {
      logger.warning("The end of the log was left out: \(reason)")
    }
    if !report.removedFiles.isEmpty {
      logger.debug(
        "Files that belonged to nothing were removed", metadata: ["files": "\(report.removedFiles)"]
      )
    }
    logger.info(
      report.isNew ? "Created the store" : "Opened the store",
      metadata: [
        "path": "\(path)", "version": "\(version)", "replayed": "\(report.replayedCommits)",
      ])
  }

  func refused(_ path: String, _ error: StoreError) {
    logger?.error("The store was not opened: \(error)", metadata: ["path": "\(path)"])
  }

  func expired(_ report: ExpiryReport) {
    logger?.debug(
      "\(report)", metadata: ["deleted": "\(report.deleted)", "kept": "\(report.kept)"])
  }

  func closed(_ path: String) { logger?.debug("Closed the store", metadata: ["path": "\(path)"]) }

  func compacted(_ report: CompactionReport) {
    logger?.info(
      "Compacted",
      metadata: [
        "before": "\(report.sizeBefore)", "after": "\(report.sizeAfter)",
        "elapsed": "\(report.elapsed)",
      ])
  }

  func backedUp(to path: String, _ report: BackupReport) {
    logger?.info(
      "Backed up",
      metadata: [
        "path": "\(path)", "bytes": "\(report.bytes + report.blobBytes)",
        "elapsed": "\(report.elapsed)",
      ])
  }

  /// - Parameter work: With its article.
  func ended(_ work: String, _ error: any Error) { logger?.error("\(work) ended: \(error)") }

  /// Notes a commit that failed because of the disk, not because of its content.
  ///
  /// On a full disk every commit fails, so the same error is logged once in ten seconds.
  func failed(_ error: any Error, at now: ContinuousClock.Instant = .now) {
    guard let logger, let error = error as? StoreError else { return }
    switch error {
    case .io, .full, .corrupt, .poisoned, .outcomeUnknown:
      guard let withheld = failures.note(error, at: now) else { return }
      let more = withheld > 0 ? " So did \(withheld) others since the last such line." : ""
      logger.error("A commit failed: \(error)\(more)")
    default: break
    }
  }

  /// Logs errors of background work, which no caller sees, and follows work with a tracer; nil if there is neither a logger
  /// nor a tracer.
  func listener(_ tracer: (any StoreTracer)?) -> EngineListener? {
    guard logger != nil || tracer != nil else { return nil }
    return EngineListener(tracer) { error in ended("The compaction in the background", error) }
  }
}

/// The commits that failed with the same error, one after the other.
private final class CommitFailures: Sendable {
  private struct Logged {
    let error: StoreError
    let time: ContinuousClock.Instant
    var withheld = 0
  }

  private let last = Mutex<Logged?>(nil)

  /// - Returns: How many failures were not logged since the last that was; nil if this one is not to be logged either.
  func note(_ error: StoreError, at now: ContinuousClock.Instant) -> Int? {
    last.withLock { last in
      guard let logged = last, logged.error == error else {
        last = Logged(error: error, time: now)
        return 0
      }
      if now - logged.time < .seconds(10) {
        last?.withheld += 1
        return nil
      }
      last = Logged(error: error, time: now)
      return logged.withheld
    }
  }
}
