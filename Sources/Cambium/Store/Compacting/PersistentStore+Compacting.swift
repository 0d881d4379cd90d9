extension PersistentStore {
  /// Gives back the room that nothing needs any more: what lives is moved to new files, and the others are deleted.
  /// Nothing that can be read changes by it.
  ///
  /// It is done in slices, each whole or not there; others read and write meanwhile. What is written is read back and
  /// compared with what was read before it counts. If it is broken off, by a crash or an error, the next compaction
  /// goes on where this one was. The calling thread does the work, which may take minutes.
  ///
  /// - Parameter progress: Is told how far it is after each slice. It ends the compaction by throwing.
  /// - Throws: what `progress` does; `StoreError.full` where there is not enough room: one of `.segments` needs less.
  ///   `.corrupt`, `.io`, `.poisoned`, `.readOnly`, `.closed`, `.forked`: what was done until then stays done.
  @discardableResult
  public func compact(
    _ options: CompactionOptions = CompactionOptions(),
    progress: (CompactionProgress) throws -> Void = { _ in }
  ) throws -> CompactionReport {
    if options.droppingOldVersions { try dropKeptVersions() }
    return try CompactionRun.run(backend.writingEngine(), options, Pause(), progress)
  }

  /// The same for tasks: it is done on a thread of its own, and ends after a slice when the task is cancelled.
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

  /// Does some of a compaction: of the one that is pending, or of another. For who has a moment now and then; a
  /// compaction of the whole store is over when it says so, and begins anew with the next call.
  ///
  /// - Returns: whether there is more to do.
  /// - Throws: as `compact`.
  @discardableResult
  public func compactionStep(
    _ options: CompactionOptions = CompactionOptions(scope: .segments),
    budget: WorkBudget = .bytes(32 << 20)
  ) throws(StoreError) -> Bool {
    try CompactionRun.run(backend.writingEngine(), options, within: budget)
  }

  /// What a compaction would gain.
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
