/// Work that takes long, on a thread of the library.
enum LongWork {
  /// Runs `body`, which looks at the pause between its parts: so the task's cancellation ends it there.
  ///
  /// - Throws: errors of `body`; `CancellationError`.
  @concurrent
  static func run<Result: Sendable>(
    _ body: @Sendable (Pause) throws -> Result
  ) async throws -> Result {
    let pause = Pause()
    return try await withTaskCancellationHandler {
      try await TaskThreads.working.run { () throws in try body(pause) }
    } onCancel: {
      pause.cancel()
    }
  }
}
