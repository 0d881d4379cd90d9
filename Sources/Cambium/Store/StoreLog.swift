internal import Logging

/// The lines for a store's logger about the store as a whole: of opening, and of work that takes long or fails.
struct StoreLog: Sendable {
  private let logger: Logger?

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
  func failed(_ error: any Error) {
    switch error as? StoreError {
    case .io, .full, .corrupt, .poisoned, .outcomeUnknown:
      logger?.error("A commit failed: \(error)")
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
