import Cambium
import Logging
import ServiceLifecycle

/// The store as a part of the service: finishes a migration in the background, and closes when everybody else has
/// stopped.
struct StoreService: Service {
  let store: PersistentStore
  let logger: Logger

  func run() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await finishMigration() }
      group.addTask { try await gracefulShutdown() }
      try await group.next()
      try await group.waitForAll()
    }
    try store.close()
    logger.info("closed the store")
  }

  /// A slice of 20 ms, then a pause as long, so that requests get half of a core at least. A shutdown ends it between two;
  /// the next start goes on.
  private func finishMigration() async throws {
    guard let pending = try store.pendingMigration else { return }
    logger.info("finishing the migration", metadata: ["records": "\(pending.recordCount)"])
    try await cancelWhenGracefulShutdown {
      while !Task.isCancelled, try store.finishMigration(budget: .time(.milliseconds(20))) {
        try? await Task.sleep(for: .milliseconds(20))
      }
    }
    if try store.pendingMigration == nil { logger.info("all records are of version 2") }
  }
}
