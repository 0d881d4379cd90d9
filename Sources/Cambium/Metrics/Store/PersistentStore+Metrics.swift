extension PersistentStore {
  /// Returns figures of the store at this moment: commits, flushes, folds, waiting writers, the use of its files, and its
  /// state. A store that was closed returns its last ones.
  ///
  /// ```swift
  /// let metrics = try store.metrics()
  /// print(metrics.commits, metrics.flushes.mean, metrics.totalBytes)
  /// ```
  ///
  /// No record and no page is read, and writers do not wait for it longer than for a snapshot. A store that is open for
  /// reading only counts no commits, flushes, folds and writers.
  ///
  /// - Complexity: O(snapshots + trees + files), with a call to the system for each file of blobs.
  /// - Throws: `StoreError.forked` in a child of the process that opened the store.
  public func metrics() throws(StoreError) -> StoreMetrics {
    var metrics = try backend.metrics()
    metrics.observers = hub.currentObservers
    if metrics.state == .open, backend.blobs.keeper?.isFull ?? false { metrics.state = .full }
    for segment in backend.blobs.keeper?.openSegments ?? [] {
      // A file that is being removed has no size.
      let size = (try? backend.blobs.keeper?.size(of: segment)) ?? 0
      metrics.blobBytes += Int(clamping: size)
    }
    return metrics
  }
}

extension ReadingBackend {
  func metrics() throws(StoreError) -> StoreMetrics {
    var metrics = StoreMetrics()
    metrics.state = hasClosed ? .closed : .open
    metrics.sequence = progress.published
    (metrics.logBytes, metrics.usedLogBytes) = (logUse.size, logUse.usedBytes)
    metrics.setPages(pages.footer)
    metrics.oldestSnapshotAge = oldestSnapshotAge
    return metrics
  }
}

extension Optional where Wrapped == any StoreTracer {
  /// Calls `body`, and follows it if there is a tracer.
  func following(
    _ work: StoreWork, _ body: () throws(StoreError) -> Void
  ) throws(StoreError) {
    let end = self?.begin(work)
    do throws(StoreError) {
      try body()
    } catch {
      end?(error)
      throw error
    }
    end?(nil)
  }
}
