public import Cambium
internal import Dispatch
internal import Logging

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension DataStack {
  /// Returns the steps that a store needs to be one of the current version: none if it has it, or does not exist yet.
  ///
  /// The store is only read.
  ///
  /// - Throws: `CoreStoreError.mappingModelNotFound` if the chain does not lead from its version, or a step cannot be taken;
  ///   `.progressiveMigrationRequired`; as `SchemaHistory.model()`; `StoreError.schemaMismatch` if the store describes its version
  ///   differently, `.newerSchema` if it has one that nothing leads back from; errors of reading.
  public func requiredMigrationsForStorage(_ storage: SQLiteStore) throws -> [MigrationType] {
    try planned(storage)?.types ?? []
  }

  /// Opens a store, or creates it, in this thread.
  ///
  /// - Returns: The storage.
  /// - Throws: `CoreStoreError.asynchronousMigrationRequired` if it has another version, unless its options allow to migrate it
  ///   here; as `requiredMigrationsForStorage(_:)`, and errors of opening.
  @discardableResult
  public func addStorageAndWait(_ storage: SQLiteStore = SQLiteStore()) throws -> SQLiteStore {
    let options = storage.localStorageOptions
    try recreating(storage) {
      let types = try requiredMigrationsForStorage(storage)
      let isAllowed =
        options.contains(.allowSynchronousLightweightMigration)
        && types.allSatisfy(\.isLightweightMigration)
      guard types.isEmpty || isAllowed else {
        throw CoreStoreError.asynchronousMigrationRequired(localStoreURL: storage.fileName)
      }
      try open(storage)
    }
    return storage
  }

  /// Migrates a store without adding it, on a thread of its own.
  ///
  /// - Parameter completion: Called on that thread in the end, with the steps that were taken.
  /// - Returns: The progress; nil if the store has the current version, or does not exist.
  /// - Throws: As `requiredMigrationsForStorage(_:)`.
  @discardableResult
  public func upgradeStorageIfNeeded(
    _ storage: SQLiteStore,
    completion: @escaping @Sendable (Result<[MigrationType], any Error>) -> Void
  ) throws -> AsyncStream<Cambium.MigrationProgress>? {
    guard let planned = try planned(storage), !planned.types.isEmpty else {
      completion(.success([]))
      return nil
    }
    let progress = planned.migration.progress
    DispatchQueue.global().async {
      completion(
        Result {
          try planned.migration.run()
          return planned.types
        })
    }
    return progress
  }

  /// Opens a store, or creates it, and migrates it before, on a thread of its own.
  ///
  /// - Parameter completion: Called in the end with the storage.
  public func addStorage(
    _ storage: SQLiteStore,
    completion: @escaping @Sendable (Result<SQLiteStore, any Error>) -> Void
  ) {
    DispatchQueue.global().async {
      completion(
        Result {
          try self.recreating(storage) {
            try self.planned(storage)?.run()
            try self.open(storage)
          }
          return storage
        })
    }
  }
}

// MARK: - In tasks

extension DataStack {
  /// The progress of adding a storage.
  public enum MigrationProgress: Sendable {
    case migrating(storage: SQLiteStore, progressObject: Cambium.MigrationProgress)
    case finished(storage: SQLiteStore, migrationRequired: Bool)
  }

  /// The verbs for tasks.
  public var async: AsyncNamespace { AsyncNamespace(stack: self) }

  /// The verbs of a stack for tasks.
  public struct AsyncNamespace: Sendable {
    let stack: DataStack

    /// Opens a store, or creates it, and migrates it before: the progress at most ten times a second, and then that it is
    /// finished. If the task stops waiting, the migration ends, and the next one resumes there.
    ///
    /// - Throws: As `requiredMigrationsForStorage(_:)`, and errors of migrating and opening.
    public func addStorage(
      _ storage: SQLiteStore
    ) -> AsyncThrowingStream<MigrationProgress, any Error> {
      let stack = stack
      return AsyncThrowingStream { continuation in
        let task = Task {
          do {
            let isMigrated = try await stack.add(storage) { progress in
              continuation.yield(.migrating(storage: storage, progressObject: progress))
            }
            continuation.yield(.finished(storage: storage, migrationRequired: isMigrated))
            continuation.finish()
          } catch {
            continuation.finish(throwing: error)
          }
        }
        continuation.onTermination = { _ in task.cancel() }
      }
    }
  }

  private func add(
    _ storage: SQLiteStore,
    _ tell: @escaping @Sendable (Cambium.MigrationProgress) -> Void
  ) async throws -> Bool {
    let planned: PlannedMigration?
    do { planned = try self.planned(storage) } catch {
      try recreate(storage, after: error)
      return false
    }
    let watching = planned.map { planned in
      let progress = planned.migration.progress
      return Task { for await step in progress { tell(step) } }
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async {
          continuation.resume(
            with: Result {
              try self.recreating(storage) {
                try planned?.run()
                try self.open(storage)
              }
            })
        }
      }
    } onCancel: {
      planned?.migration.cancel()
    }
    if let planned, !planned.types.isEmpty { await watching?.value } else { watching?.cancel() }
    return planned.map { !$0.types.isEmpty } ?? false
  }
}

// MARK: - The parts

/// A migration of a store, and its steps by name.
private struct PlannedMigration {
  let migration: Migration
  let types: [MigrationType]

  func run() throws {
    if !types.isEmpty { try migration.run() }
  }
}

extension DataStack {
  /// Returns the migration of a store; nil if there is no store.
  private func planned(_ storage: SQLiteStore) throws -> PlannedMigration? {
    let model = try model(of: storage)
    let steps = try schemaHistory.steps(storage.migrationMappingProviders)
    let migration: Migration
    do {
      migration = try PersistentStore.migration(
        at: storage.fileName, to: model, steps: steps, options: storage.storeOptions)
    } catch {
      if case .missing = error { return nil }
      throw error
    }
    let plan = migration.plan
    let types = plan.steps.map { step in
      let (source, destination) = (
        schemaHistory.name(of: step.from), schemaHistory.name(of: step.to)
      )
      return step.isInferred
        ? MigrationType.lightweight(sourceVersion: source, destinationVersion: destination)
        : .heavyweight(sourceVersion: source, destinationVersion: destination)
    }
    try check(plan, types, storage)
    return PlannedMigration(migration: migration, types: types)
  }

  private func check(
    _ plan: MigrationPlan, _ types: [MigrationType], _ storage: SQLiteStore
  ) throws(CoreStoreError) {
    let (old, new) = (schemaHistory.name(of: plan.from), schemaHistory.name(of: plan.to))
    let edges = try schemaHistory.edges()
    let isReached = old == new || edges.contains { $0.from == old }
    if isReached, types.count > 1,
      storage.localStorageOptions.contains(.preventProgressiveMigration)
    {
      throw .progressiveMigrationRequired(localStoreURL: storage.fileName)
    }
    guard isReached, plan.faults.isEmpty else {
      throw .mappingModelNotFound(
        localStoreURL: storage.fileName, sourceModelVersion: old, targetModelVersion: new,
        reasons: isReached ? plan.faults.map(\.description) : [])
    }
  }

  private func open(_ storage: SQLiteStore) throws {
    let store = try PersistentStore(
      at: storage.fileName, model: try model(of: storage),
      steps: try schemaHistory.steps(storage.migrationMappingProviders),
      options: storage.storeOptions)
    add(store, as: storage.configuration)
    if let logger = storage.options.logger, let lock = try schemaHistory.missingLock() {
      let version = try modelVersion
      logger.notice("The version \(version) is not locked. Its lock is:\nversionLock: \(lock)")
    }
  }

  /// Returns the model of a storage. A lock that is not right is logged, too.
  private func model(of storage: SQLiteStore) throws -> StoreModel {
    do { return try model(of: storage.configuration) } catch {
      if case CoreStoreError.versionLockMismatch = error {
        storage.options.logger?.error("\(error)")
      }
      throw error
    }
  }

  /// Calls `body`, and begins a new store if the options say so and the store cannot be used as it is.
  private func recreating(_ storage: SQLiteStore, _ body: () throws -> Void) throws {
    do { try body() } catch { try recreate(storage, after: error) }
  }

  private func recreate(_ storage: SQLiteStore, after error: any Error) throws {
    guard storage.localStorageOptions.contains(.recreateStoreOnModelMismatch),
      Self.isMismatch(error)
    else { throw error }
    var number = 1
    while FileManager.default.fileExists(atPath: "\(storage.fileName).aside-\(number)") {
      number += 1
    }
    try PersistentStore.move(
      from: storage.fileName, to: "\(storage.fileName).aside-\(number)")
    try open(storage)
  }

  /// True if a store is of another version, and cannot be migrated or is not.
  private static func isMismatch(_ error: any Error) -> Bool {
    switch error {
    case StoreError.schemaMismatch, StoreError.newerSchema, StoreError.cannotMigrate,
      StoreError.stepFailed, StoreError.needsMigration, StoreError.rolledBack,
      CoreStoreError.asynchronousMigrationRequired, CoreStoreError.progressiveMigrationRequired,
      CoreStoreError.mappingModelNotFound:
      true
    default: false
    }
  }
}

extension DataStack.MigrationProgress: CustomStringConvertible {
  /// The storage, and the progress as the library prints it.
  public var description: String {
    switch self {
    case .migrating(let storage, let progress): "migrating \(storage): \(progress)"
    case .finished(let storage, let migrationRequired):
      "finished \(storage)" + (migrationRequired ? ", which was migrated" : "")
    }
  }
}
