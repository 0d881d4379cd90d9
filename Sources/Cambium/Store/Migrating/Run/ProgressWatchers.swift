internal import Synchronization

/// The consumers of a migration's progress.
final class ProgressWatchers: Sendable {
  private let watchers = Mutex<[AsyncStream<MigrationProgress>.Continuation]>([])

  /// Only the newest progress waits to be read.
  func stream() -> AsyncStream<MigrationProgress> {
    let (stream, watcher) = AsyncStream.makeStream(
      of: MigrationProgress.self, bufferingPolicy: .bufferingNewest(1))
    watchers.withLock { $0.append(watcher) }
    return stream
  }

  func tell(_ progress: MigrationProgress) {
    for watcher in watchers.withLock({ $0 }) { watcher.yield(progress) }
  }

  func end() {
    let ended = watchers.withLock { watchers in
      defer { watchers = [] }
      return watchers
    }
    for watcher in ended { watcher.finish() }
  }
}
