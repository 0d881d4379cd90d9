#if Service
  public import Cambium
  public import ServiceLifecycle
  internal import Logging
  internal import Synchronization

  /// A store as a service of swift-service-lifecycle: opens it, keeps it in order, watches it, and closes it when the process
  /// is to end, whatever happened meanwhile.
  ///
  /// ```swift
  /// let store = StoreService(at: "/var/lib/shop/shop.cambium", model: model)
  /// try await ServiceGroup(services: [store, server], gracefulShutdownSignals: [.sigterm], logger: logger).run()
  /// ```
  ///
  /// Put it before the services that use the store: a group stops its services in reverse, so requests end first. While the
  /// store is opened or migrated, ``store()`` throws, ``opened()`` waits, and ``health`` has the answers for probes.
  ///
  /// The service waits for the process before it, migrates the store if that is due, finishes a deferred migration slice by
  /// slice, collects deleted blobs, and reports figures through swift-metrics and, if that is wanted, spans through
  /// swift-distributed-tracing.
  public final class StoreService: Service, Sendable {
    private let path: String
    private let model: StoreModel
    private let steps: [MigrationStep]
    private let migration: MigrationMode
    private let storeOptions: StoreOptions
    private let options: StoreServiceOptions
    private let logger: Logger
    private let place = StorePlace()
    private let report: WorkReport
    /// The records that a deferred migration has left, and the commits that were reported.
    private let counts = Mutex((pending: 0, commits: 0))

    /// Makes a service of the store in the directory at `path`. Nothing is opened before the service runs.
    ///
    /// Metrics go to the factory that `MetricsSystem` has when the service is made.
    ///
    /// - Parameters:
    ///   - steps: The steps from older versions that do not follow from the descriptions.
    ///   - migration: How a store of an older version is migrated. By default, steps that cannot fail are done while the store is used.
    ///   - storeOptions: The options of the store. Its logger is also the service's; its `lock` is not used.
    ///   - options: The options of the service.
    public init(
      at path: String, model: StoreModel, steps: [MigrationStep] = [],
      migration: MigrationMode = .deferred, storeOptions: StoreOptions = StoreOptions(),
      options: StoreServiceOptions = StoreServiceOptions()
    ) {
      self.path = path
      self.model = model
      self.steps = steps
      self.migration = migration
      self.options = options
      let name = options.name ?? path.split(separator: "/").last.map { String($0) } ?? path
      let logger = storeOptions.logger ?? Logger(label: "cambium")
      let report = WorkReport(name, tracesWork: options.tracesWork, next: storeOptions.tracer)
      var storeOptions = storeOptions
      storeOptions.lock = .wait(for: options.lockTimeout)
      storeOptions.logger = logger
      storeOptions.tracer = report
      let (place, told) = (place, storeOptions.migrationProgress)
      storeOptions.migrationProgress = { progress in
        place.note(progress)
        told?(progress)
      }
      self.storeOptions = storeOptions
      self.logger = logger
      self.report = report
    }
  }

  // MARK: - The store

  extension StoreService {
    /// The health of the store, for probes.
    ///
    /// - Complexity: That of `PersistentStore.metrics()`: no record is read.
    public var health: StoreHealth { place.health }

    /// Returns the store, if it is open. Call it for each request, and keep the store no longer than that.
    ///
    /// - Throws: ``StoreUnavailable`` while the store is opened or migrated, and after it was closed.
    public func store() throws(StoreUnavailable) -> PersistentStore {
      guard let store = place.store else { throw place.unavailable }
      return store
    }

    /// Suspends until the store is open, and returns it: for services that cannot do anything before.
    ///
    /// - Throws: ``StoreUnavailable`` if it is not opened at all; `CancellationError` if the task is cancelled.
    public func opened() async throws -> PersistentStore { try await place.opening() }

    /// The number of records that a deferred migration has left, when it was last counted; 0 if there is none.
    public var pendingRecords: Int { counts.withLock { $0.pending } }
  }

  // MARK: - Running

  extension StoreService {
    /// Opens the store, and closes it when the group of services shuts down, another service fails, or the store itself fails.
    ///
    /// If the group shuts down before the store is open, opening ends: a migration is resumed by the next start.
    ///
    /// - Throws: `StoreError` as opening and closing do; the cause if the store has failed, unless
    ///   ``StoreServiceOptions/endsWhenFailed`` is false.
    public func run() async throws {
      place.begin()
      report.recordUnready()
      let store: PersistentStore
      do {
        store = try await open()
      } catch {
        if isEnding {
          logger.info("The store was not opened, since the service ends")
          return place.ended(nil)
        }
        place.ended(error)
        throw error
      }
      _ = try? notePending(store)
      place.opened(store)
      let failure = await serve(store)
      try await close(store, after: failure)
    }

    private var isEnding: Bool { Task.isCancelled || Task.isShuttingDownGracefully }

    private func open() async throws -> PersistentStore {
      try await cancelWhenGracefulShutdown { [self] in
        try await PersistentStore(
          at: path, model: model, steps: steps, migration: migration, options: storeOptions)
      }
    }

    /// Returns when the store is to be closed, with the failure that is the reason, if it is one.
    private func serve(_ store: PersistentStore) async -> StoreError? {
      await withTaskGroup(of: StoreError?.self) { group in
        group.addTask { await self.maintain(store) }
        group.addTask { await self.watch(store) }
        group.addTask {
          // Throws if another service failed; the store is closed then, too.
          try? await gracefulShutdown()
          return nil
        }
        defer { group.cancelAll() }
        return await group.next() ?? nil
      }
    }

    private func close(_ store: PersistentStore, after failure: StoreError?) async throws {
      do {
        try await store.close()
        logger.info("The store is closed")
      } catch {
        logger.error("The store was closed with an error: \(error)")
        place.ended(failure ?? error)
        reportFigures(of: store)
        throw failure ?? error
      }
      place.ended(failure)
      reportFigures(of: store)
      if let failure { throw failure }
    }
  }

  // MARK: - Watching

  extension StoreService {
    /// Reports figures until the task is cancelled, or the store has failed.
    private func watch(_ store: PersistentStore) async -> StoreError? {
      while !Task.isCancelled {
        reportFigures(of: store)
        if options.endsWhenFailed, let cause = failure(of: store) {
          logger.critical("The store has failed, and the service ends: \(cause)")
          return cause
        }
        try? await Task.sleep(for: options.metricsInterval)
      }
      return nil
    }

    private func failure(of store: PersistentStore) -> StoreError? {
      guard let metrics = try? store.metrics(), case .failed(let cause) = metrics.state else {
        return nil
      }
      return cause
    }

    private func reportFigures(of store: PersistentStore) {
      guard let metrics = try? store.metrics() else { return }
      let (pending, commits) = counts.withLock { counts in
        defer { counts.commits = metrics.commits }
        return (counts.pending, max(0, metrics.commits - counts.commits))
      }
      report.record(metrics, commits: commits, pending: pending)
    }
  }

  // MARK: - Maintenance

  extension StoreService {
    /// The pause after work that failed, such as for want of space.
    private static var retryPause: Duration { .seconds(30) }

    /// Finishes a deferred migration, and then collects blobs from time to time, until the task is cancelled.
    private func maintain(_ store: PersistentStore) async -> StoreError? {
      while !Task.isCancelled, await !finishMigration(of: store) {
        try? await Task.sleep(for: Self.retryPause)
      }
      while !Task.isCancelled {
        if options.blobCollectionInterval != nil { await collectBlobs(of: store) }
        try? await Task.sleep(for: options.blobCollectionInterval ?? .seconds(3600))
      }
      return nil
    }

    /// Rewrites some records, then pauses, so that requests hardly notice. A shutdown ends it between two parts, a crash
    /// anywhere: the next start resumes.
    ///
    /// - Returns: False if it failed and should be tried again.
    private func finishMigration(of store: PersistentStore) async -> Bool {
      do {
        guard try notePending(store) > 0 || store.pendingMigration != nil else { return true }
        logger.info("Finishing a migration", metadata: ["records": "\(pendingRecords)"])
        while try await store.finishMigration(budget: options.migrationBudget) {
          _ = try notePending(store)
          try await Task.sleep(for: options.migrationPause)
        }
        _ = try notePending(store)
        logger.info("The migration is finished", metadata: ["version": "\(store.schema.version)"])
        return true
      } catch {
        return isOver(error, "finishing the migration")
      }
    }

    /// Counts the records that a deferred migration has left.
    private func notePending(_ store: PersistentStore) throws(StoreError) -> Int {
      let pending = try store.pendingMigration?.recordCount ?? 0
      counts.withLock { $0.pending = pending }
      return pending
    }

    private func collectBlobs(of store: PersistentStore) async {
      let budget = BlobBudget(bytes: 8 << 20, garbageShare: options.blobGarbageShare)
      do {
        while try await store.collectBlobs(budget) {
          try await Task.sleep(for: options.migrationPause)
        }
      } catch {
        _ = isOver(error, "collecting blobs")
      }
    }

    /// - Returns: True if the work was ended because the service ends.
    private func isOver(_ error: any Error, _ work: String) -> Bool {
      if error is CancellationError || Task.isCancelled { return true }
      logger.error("An error ended \(work), which is tried again later: \(error)")
      return false
    }
  }
#endif
