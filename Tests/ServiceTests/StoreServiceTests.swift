#if Service
  import Cambium
  import CambiumService
  import Glibc
  import Logging
  import ServiceLifecycle
  import TestSupport
  import Testing

  /// A store as a part of a service, from its opening to its end.
  @Suite(.timeLimit(.minutes(60))) struct StoreServiceTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.path + "/parcels.cambium" }

    init() throws { directory = try TemporaryDirectory() }

    private var options: StoreServiceOptions {
      var options = StoreServiceOptions()
      options.metricsInterval = .milliseconds(5)
      options.migrationPause = .milliseconds(1)
      return options
    }

    private func makeService(_ options: StoreServiceOptions? = nil) -> StoreService {
      StoreService(at: path, model: Parcel.model(2), options: options ?? self.options)
    }

    /// Runs services in a group of their own while `body` runs, then shuts the group down.
    private func running(
      _ services: any Service..., body: @Sendable @escaping () async throws -> Void
    ) async throws {
      let group = ServiceGroup(services: services, logger: Logger(label: "test"))
      try await withThrowingTaskGroup(of: Void.self) { tasks in
        tasks.addTask { try await group.run() }
        do { try await body() } catch {
          await group.triggerGracefulShutdown()
          throw error
        }
        await group.triggerGracefulShutdown()
        try await tasks.waitForAll()
      }
    }

    @Test func `a service opens its store, and closes it when the group shuts down`() async throws {
      let service = makeService()
      #expect(service.health.isAlive)
      #expect(!service.health.isReady)
      #expect(throws: StoreUnavailable.self) { try service.store() }
      try await running(service) {
        let store = try await service.opened()
        #expect(service.health.isReady)
        try await store.save(Parcel(id: 1))
        #expect(try service.store() === store)
      }
      guard case .closed = service.health else {
        return #expect(Bool(false), "\(service.health)")
      }
      #expect(throws: StoreUnavailable.self) { try service.store() }
      await #expect(throws: StoreUnavailable.self) { try await service.opened() }
      let store = try await PersistentStore(at: path, model: Parcel.model(2))
      #expect(try store.count(Parcel.self) == 1)
      try await store.close()
    }

    @Test func `a service waits for the process before it`() async throws {
      let earlier = try await PersistentStore(at: path, model: Parcel.model(2))
      let service = makeService()
      try await running(service) {
        let waiting = Task { try await service.opened() }
        try await Task.sleep(for: .milliseconds(50))
        guard case .opening = service.health else {
          return #expect(Bool(false), "\(service.health)")
        }
        try await earlier.close()
        #expect(try await waiting.value === service.store())
      }
    }

    @Test func `a service that shuts down while it waits ends at once`() async throws {
      let earlier = try await PersistentStore(at: path, model: Parcel.model(2))
      let service = makeService()
      let start = ContinuousClock.now
      try await running(service) { try await Task.sleep(for: .milliseconds(20)) }
      #expect(ContinuousClock.now - start < .seconds(30), "it did not wait until its time was over")
      await #expect(throws: StoreUnavailable.self) { try await service.opened() }
      try await earlier.close()
    }

    @Test func `a store that cannot be opened ends the group, and says why`() async throws {
      var options = self.options
      options.lockTimeout = .milliseconds(10)
      let earlier = try await PersistentStore(at: path, model: Parcel.model(2))
      let service = makeService(options)
      await #expect(throws: StoreError.self) {
        try await running(service) { _ = try? await service.opened() }
      }
      guard case .failed(StoreError.locked) = service.health else {
        return #expect(Bool(false), "\(service.health)")
      }
      #expect(!service.health.isAlive)
      try await earlier.close()
    }

    @Test func `a task that waits for the store can be cancelled`() async throws {
      let service = makeService()
      let waiting = Task { try await service.opened() }
      waiting.cancel()
      await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test func `a deferred migration is finished while the store is used`() async throws {
      try Parcel.seed(at: path, count: 5000)
      var options = self.options
      options.migrationBudget = .records(500)
      let service = makeService(options)
      try await running(service) {
        let store = try await service.opened()
        #expect(try store.fetch(Parcel.self, key: 17)?.weight == 1)
        #expect(try await comesTrue { try store.pendingMigration == nil })
        #expect(await comesTrue { service.pendingRecords == 0 })
      }
      let store = try await PersistentStore(at: path, model: Parcel.model(2), migration: .refuse)
      #expect(try store.pendingMigration == nil)
      try await store.close()
    }

    @Test func `a service that migrates is alive and not ready, and says how far it is`()
      async throws
    {
      try Parcel.seed(at: path, count: 500)
      let isSeen = Guarded(false)
      let step = MigrationStep(to: 2) {
        UpdateRecord("Parcel") {
          UpdateField(
            "address",
            by: { _ in
              while !isSeen.withLock({ $0 }) { usleep(1000) }
              return "moved"
            })
        }
      }
      let service = StoreService(
        at: path, model: Parcel.model(2), steps: [step], options: options)
      try await running(service) {
        let isMigrating = await comesTrue {
          if case .migrating = service.health { true } else { false }
        }
        #expect(isMigrating)
        #expect(service.health.isAlive)
        #expect(!service.health.isReady)
        #expect("\(service.health)".hasPrefix("migrating to version 2"))
        isSeen.withLock { $0 = true }
        let moved = try await service.opened().fetch(Parcel.self, key: 1)
        #expect(moved?.address == "moved")
      }
    }

    @Test func `a store that fails ends the group, and can be opened again`() async throws {
      let service = makeService()
      let path = path
      await #expect(throws: StoreError.self) {
        try await running(service, Idle()) {
          let store = try await service.opened()
          try await store.save(Parcel(id: 1))
          #expect(move(path + "/log-0", to: path + "/elsewhere"))
          await expectFlushFails(store)
          let hasFailed = await comesTrue { !service.health.isAlive }
          #expect(hasFailed)
        }
      }
      guard case .failed(StoreError.filesGone) = service.health else {
        return #expect(Bool(false), "\(service.health)")
      }
      #expect(move(path + "/elsewhere", to: path + "/log-0"))
      let store = try await PersistentStore(at: path, model: Parcel.model(2))
      #expect(try store.fetch(Parcel.self, key: 1) != nil)
      try await store.close()
    }

    @Test func `a store that fails can go on being read`() async throws {
      var options = self.options
      options.endsWhenFailed = false
      let service = makeService(options)
      let path = path
      await #expect(throws: StoreError.self) {
        try await running(service) {
          let store = try await service.opened()
          try await store.save(Parcel(id: 1))
          #expect(move(path + "/log-0", to: path + "/elsewhere"))
          await expectFlushFails(store)
          let hasFailed = await comesTrue { !service.health.isAlive }
          #expect(hasFailed)
          #expect(try service.store().fetch(Parcel.self, key: 1) != nil)
        }
      }
    }

    @Test func `the store is closed when another service fails`() async throws {
      let service = makeService()
      await #expect(throws: Failing.Failure.self) {
        try await running(service, Failing(after: service)) {
          _ = await comesTrue { if case .closed = service.health { true } else { false } }
        }
      }
      guard case .closed = service.health else {
        return #expect(Bool(false), "\(service.health)")
      }
      try await PersistentStore(at: path, model: Parcel.model(2)).close()
    }
  }

  /// Renames a file, and says whether that was possible.
  private func move(_ path: String, to newPath: String) -> Bool {
    unsafe rename(path, newPath) == 0
  }

  /// In a function of its own, since the closure of one expectation cannot hold another.
  private func expectFlushFails(_ store: PersistentStore) async {
    await #expect(throws: StoreError.self) { try await store.flush() }
  }

  /// A service that does nothing.
  private struct Idle: Service {
    func run() async throws { try await gracefulShutdown() }
  }

  /// A service that fails as soon as the store is open.
  private struct Failing: Service {
    struct Failure: Error {}
    let store: StoreService

    init(after store: StoreService) { self.store = store }

    func run() async throws {
      _ = try await store.opened()
      throw Failure()
    }
  }
#endif
