#if Service
  internal import Cambium
  internal import Metrics
  internal import Tracing

  /// The metrics and spans of a store.
  ///
  /// Figures are taken from time to time; the durations of flushes, folds, transactions and migrations are recorded one by one.
  struct WorkReport: Sendable {
    private let name: String
    private let tracesWork: Bool
    /// Follows the same work for the program.
    private let next: (any StoreTracer)?

    private let commits: Counter
    private let transactions, failures, flushes, folds, migrations: Timer
    private let unflushedCommits, waitingWriters, foldBacklog, observers, snapshotAge: Gauge
    private let logSize, logUsed, pageSize, livePages, blobSize, pendingRecords, health: Gauge

    /// Makes the instruments, by the factory that `MetricsSystem` has now.
    init(_ name: String, tracesWork: Bool, next: (any StoreTracer)?) {
      let store = [("store", name)]
      func timer(_ label: String) -> Timer { Timer(label: label, dimensions: store) }
      func gauge(_ label: String) -> Gauge { Gauge(label: label, dimensions: store) }
      self.name = name
      self.tracesWork = tracesWork
      self.next = next
      commits = Counter(label: "cambium_commits_total", dimensions: store)
      transactions = timer("cambium_transaction_seconds")
      failures = timer("cambium_failed_transaction_seconds")
      flushes = timer("cambium_flush_seconds")
      folds = timer("cambium_fold_seconds")
      migrations = timer("cambium_migration_seconds")
      unflushedCommits = gauge("cambium_unflushed_commits")
      waitingWriters = gauge("cambium_waiting_writers")
      foldBacklog = gauge("cambium_fold_backlog_bytes")
      observers = gauge("cambium_observers")
      snapshotAge = gauge("cambium_oldest_snapshot_seconds")
      logSize = gauge("cambium_log_bytes")
      logUsed = gauge("cambium_log_used_bytes")
      pageSize = gauge("cambium_page_bytes")
      livePages = gauge("cambium_live_page_bytes")
      blobSize = gauge("cambium_blob_bytes")
      pendingRecords = gauge("cambium_pending_records")
      health = gauge("cambium_ready")
    }

    /// Records that there is no store yet: an alert for stores that stay away needs a figure from the start.
    func recordUnready() { health.record(0) }

    /// Records the figures of a moment.
    ///
    /// - Parameters:
    ///   - commits: The commits since the figures before.
    ///   - pending: The records that a deferred migration has left.
    func record(_ metrics: StoreMetrics, commits newCommits: Int, pending: Int) {
      commits.increment(by: newCommits)
      unflushedCommits.record(metrics.unflushedCommits)
      waitingWriters.record(metrics.waitingWriters)
      foldBacklog.record(metrics.foldBacklogBytes)
      observers.record(metrics.observers)
      snapshotAge.record((metrics.oldestSnapshotAge ?? .zero) / .seconds(1))
      logSize.record(metrics.logBytes)
      logUsed.record(metrics.usedLogBytes)
      pageSize.record(metrics.pageBytes)
      livePages.record(metrics.livePageBytes)
      blobSize.record(metrics.blobBytes)
      pendingRecords.record(pending)
      health.record(StoreHealth(metrics.state).isReady ? 1 : 0)
    }
  }

  // MARK: Work

  extension WorkReport: StoreTracer {
    func begin(_ work: StoreWork) -> StoreWorkEnd? {
      let start = ContinuousClock.now
      let span = makeSpan(of: work)
      let nextEnd = next?.begin(work)
      return { error in
        record(ContinuousClock.now - start, of: work, error)
        if let span { end(span, error) }
        nextEnd?(error)
      }
    }

    private func record(_ duration: Duration, of work: StoreWork, _ error: (any Error)?) {
      let nanoseconds = Int64(duration / .nanoseconds(1))
      switch work {
      case .transaction: (error == nil ? transactions : failures).recordNanoseconds(nanoseconds)
      case .flush: flushes.recordNanoseconds(nanoseconds)
      case .fold: folds.recordNanoseconds(nanoseconds)
      case .migration: migrations.recordNanoseconds(nanoseconds)
      // Of a newer library: it has no figure yet.
      @unknown default: break
      }
    }

    /// The span of a transaction is a child of the span that its task is in. Flushes, of which one serves many transactions,
    /// have none.
    private func makeSpan(of work: StoreWork) -> (any Span)? {
      guard tracesWork else { return nil }
      let span: any Span
      switch work {
      case .transaction(let author):
        span = startSpan("cambium.transaction")
        if let author { span.attributes["cambium.author"] = author }
      case .fold: span = startSpan("cambium.fold")
      case .migration(let from, let to):
        span = startSpan("cambium.migration")
        span.attributes["cambium.from_version"] = from
        span.attributes["cambium.to_version"] = to
      default: return nil
      }
      span.attributes["cambium.store"] = name
      return span
    }

    private func end(_ span: any Span, _ error: (any Error)?) {
      if let error {
        span.recordError(error)
        span.setStatus(SpanStatus(code: .error, message: "\(error)"))
      }
      span.end()
    }
  }
#endif
