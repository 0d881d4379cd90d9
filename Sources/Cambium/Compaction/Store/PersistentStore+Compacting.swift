extension PersistentStore {
  /// Reclaims the space of garbage: moves live pages to new files, and deletes the old ones. No record changes.
  ///
  /// The work is done in slices, each committed wholly or not at all; others read and write meanwhile. Written pages are
  /// read back and compared before a slice is committed. If a crash or an error interrupts it, the next compaction
  /// resumes where this one stopped. The calling thread does the work, which may take minutes.
  ///
  /// - Parameter progress: Called after each slice. It ends the compaction by throwing.
  /// - Throws: What `progress` throws; `StoreError.full` if there is not enough space (`.segments` needs less);
  ///   `.corrupt`, `.io`, `.poisoned`, `.readOnly`, `.closed`, `.forked`. Slices that were committed stay so.
  @discardableResult
  public func compact(
    _ options: CompactionOptions = CompactionOptions(),
    progress: (CompactionProgress) throws -> Void = { _ in }
  ) throws -> CompactionReport {
    if options.droppingOldVersions { try dropKeptVersions() }
    return try CompactionRun.run(backend.writingEngine(), options, Pause(), progress)
  }

  /// Reclaims the space of garbage on a thread of its own, while the task is suspended. If the task is cancelled, it
  /// ends after a slice.
  ///
  /// - Throws: as the other; `CancellationError`.
  @discardableResult
  nonisolated(nonsending)
    public func compact(
      _ options: CompactionOptions = CompactionOptions(),
      progress: @escaping @Sendable (CompactionProgress) throws -> Void = { _ in }
    ) async throws -> CompactionReport
  {
    try await LongWork.run(name: "cambium-compact") { [self] pause in
      if options.droppingOldVersions { try dropKeptVersions() }
      return try CompactionRun.run(backend.writingEngine(), options, pause, progress)
    }
  }

  /// Does a part of a compaction, for programs that do it in their idle moments: resumes the pending one, or begins
  /// another. When it returns false, the compaction is finished, and the next call begins a new one.
  ///
  /// - Returns: True if there is more to do.
  /// - Throws: as `compact`.
  @discardableResult
  public func compactionStep(
    _ options: CompactionOptions = CompactionOptions(scope: .segments),
    budget: WorkBudget = .bytes(32 << 20)
  ) throws(StoreError) -> Bool {
    try CompactionRun.run(backend.writingEngine(), options, within: budget)
  }

  /// Returns the gain of a compaction, without doing it.
  ///
  /// - Complexity: O(files of pages); no record is read.
  /// - Throws: `StoreError.corrupt`, `.io`, `.closed`, `.forked`.
  public func predictedGain(
    of options: CompactionOptions = CompactionOptions()
  ) throws(StoreError) -> CompactionPrediction {
    let usage = try backend.spaceUsage(droppingKept: options.droppingOldVersions)
    return CompactionPrediction(usage, options.request)
  }
}
