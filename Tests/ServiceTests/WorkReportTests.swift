#if Service
  import Cambium
  import CambiumService
  import CoreMetrics
  import InMemoryTracing
  import Logging
  import MetricsTestKit
  import ServiceLifecycle
  import TestSupport
  import Testing
  import Tracing

  /// The metrics and the spans of a store that runs as a service.
  @Suite(.serialized, .timeLimit(.minutes(60))) struct WorkReportTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.path + "/parcels.cambium" }
    private let metrics = TestMetrics()

    init() throws { directory = try TemporaryDirectory() }

    private func makeService(tracesWork: Bool = false) -> StoreService {
      var options = StoreServiceOptions()
      options.metricsInterval = .milliseconds(5)
      options.tracesWork = tracesWork
      let (path, finished) = (path, options)
      return withMetricsFactory(metrics) {
        StoreService(at: path, model: Parcel.model(2), options: finished)
      }
    }

    /// Runs a service while `body` runs, then shuts it down.
    private func running(
      _ service: StoreService, _ body: @Sendable @escaping (PersistentStore) async throws -> Void
    ) async throws {
      let group = ServiceGroup(services: [service], logger: Logger(label: "test"))
      async let run: Void = group.run()
      let result = await Task { try await body(try await service.opened()) }.result
      await group.triggerGracefulShutdown()
      try await run
      try result.get()
    }

    private let store = [("store", "parcels.cambium")]

    private func gauge(_ label: String) throws -> Double? {
      try metrics.expectGauge(label, store).lastValue
    }

    @Test func `figures become metrics with the store's name`() async throws {
      try await running(makeService()) { store in
        for id in 0..<10 { try await store.save(Parcel(id: id)) }
        await #expect(throws: StoreError.self) { try await store.insert(Parcel(id: 1)) }
      }
      let commits = try metrics.expectCounter("cambium_commits_total", store).totalValue
      #expect(commits >= 10)
      let saved = try metrics.expectTimer("cambium_transaction_seconds", store)
      #expect(saved.values.count == 10)
      #expect(saved.values.allSatisfy { $0 > 0 })
      #expect(
        try metrics.expectTimer("cambium_failed_transaction_seconds", store).values.count == 1)
      #expect(try metrics.expectTimer("cambium_flush_seconds", store).values.count >= 10)
      #expect(try metrics.expectTimer("cambium_fold_seconds", store).values.count >= 1)
      #expect(try #require(try gauge("cambium_page_bytes")) > 0)
      #expect(try #require(try gauge("cambium_log_bytes")) > 0)
      #expect(try gauge("cambium_fold_backlog_bytes") == 0, "closing folds everything")
      #expect(try gauge("cambium_pending_records") == 0)
      #expect(try gauge("cambium_ready") == 0, "it is closed")
    }

    @Test func `a store that is not open yet is reported as not ready`() async throws {
      let earlier = try await PersistentStore(at: path, model: Parcel.model(2))
      let (metrics, dimensions) = (metrics, store)
      let service = makeService()
      func ready() -> Double? { try? metrics.expectGauge("cambium_ready", dimensions).lastValue }
      let group = ServiceGroup(services: [service], logger: Logger(label: "test"))
      async let run: Void = group.run()
      #expect(await comesTrue { ready() == 0 }, "the service waits for the other store")
      try await earlier.close()
      #expect(await comesTrue { ready() == 1 })
      await group.triggerGracefulShutdown()
      try await run
      #expect(ready() == 0, "it is closed")
    }

    @Test func `the metrics of an open store change with it`() async throws {
      let metrics = metrics
      let dimensions = store
      try await running(makeService()) { store in
        try await store.save(Parcel(id: 1))
        let changes = try store.changes(of: Parcel.self)
        func last(_ label: String) -> Double? {
          try? metrics.expectGauge(label, dimensions).lastValue
        }
        #expect(await comesTrue { last("cambium_ready") == 1 })
        #expect(await comesTrue { last("cambium_fold_backlog_bytes") ?? 0 > 0 })
        #expect(await comesTrue { last("cambium_oldest_snapshot_seconds") == 0 })
        try await store.save(Parcel(id: 2))
        #expect(await comesTrue { last("cambium_oldest_snapshot_seconds") ?? 0 > 0 })
        #expect(await comesTrue { last("cambium_observers") == 1 })
        _ = changes.snapshot.sequence
      }
    }

    @Test func `transactions, folds and migrations are spans if they are wanted`() async throws {
      try Parcel.seed(at: path, count: 10)
      let tracer = InMemoryTracer()
      InstrumentationSystem.bootstrap(tracer)
      try await running(makeService(tracesWork: true)) { store in
        try await withSpan("request") { _ in
          try await store.write(author: "Ada") { try $0.save(Parcel(id: 1)) }
        }
        await #expect(throws: StoreError.self) { try await store.insert(Parcel(id: 1)) }
      }
      let spans = tracer.finishedSpans
      let request = try #require(spans.first { $0.operationName == "request" })
      let transactions = spans.filter { $0.operationName == "cambium.transaction" }
      #expect(transactions.count == 2)
      let first = try #require(transactions.first)
      #expect(first.parentSpanID == request.spanID)
      #expect(first.attributes.get("cambium.author") == "Ada")
      #expect(first.attributes.get("cambium.store") == "parcels.cambium")
      #expect(first.errors.isEmpty)
      #expect(transactions.last?.errors.count == 1)
      #expect(spans.contains { $0.operationName == "cambium.fold" })
      let migration = try #require(spans.first { $0.operationName == "cambium.migration" })
      #expect(migration.attributes.get("cambium.to_version") == 2)
      tracer.clearFinishedSpans()
      try await running(makeService()) { store in try await store.save(Parcel(id: 3)) }
      #expect(tracer.finishedSpans.isEmpty, "nothing is traced unless it is wanted")
    }
  }
#endif
