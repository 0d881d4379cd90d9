/// Work that takes long, on a thread of its own: the threads that tasks share are few, and must not wait for a disk.
enum LongWork {
  /// Runs `body`, which looks at the pause between its parts: so the task's cancellation ends it there.
  ///
  /// - Throws: errors of `body`; `CancellationError`; `.io` if the system has no more threads.
  nonisolated(nonsending)
    static func run<Result: Sendable>(
      name: String, _ body: @escaping @Sendable (Pause) throws -> Result
    ) async throws -> Result
  {
    let pause = Pause()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        do {
          _ = try BackgroundThread(name: name) {
            continuation.resume(with: Swift.Result { try body(pause) })
          }
        } catch {
          continuation.resume(throwing: error)
        }
      }
    } onCancel: {
      pause.cancel()
    }
  }
}
