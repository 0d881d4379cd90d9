import Cambium
import Logging
import ServiceLifecycle

/// The store as a part of the service: finishes a migration in the background, and closes when everybody else has
/// stopped.
struct StoreService: Service {
  let store: PersistentStore
  let logger: Logger

  func run() async throws {
    try await cancelWhenGracefulShutdown { try await finishMigration() }
    // Ends by a cancellation where another service has failed; the store is closed then, too.
    try? await gracefulShutdown()
    try await store.close()
    logger.info("closed the store")
  }

  /// Some thousand records, then a pause, so that requests hardly notice: more at once would be faster, and in the way
  /// longer. A shutdown ends it between two slices, a crash anywhere: the next start goes on.
  private func finishMigration() async throws {
    guard let pending = try store.pendingMigration else { return }
    logger.info("finishing the migration", metadata: ["records": "\(pending.recordCount)"])
    do {
      while try await store.finishMigration(budget: .records(2000)) {
        try await Task.sleep(for: .milliseconds(20))
      }
    } catch is CancellationError {
      return
    }
    if try store.pendingMigration == nil { logger.info("all records are of version 2") }
  }
}
