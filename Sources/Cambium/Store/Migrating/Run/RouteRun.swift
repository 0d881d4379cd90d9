/// Goes a route to its end: what was deferred before is done first.
struct RouteRun {
  private let backend: any StoreBackend
  private let options: MigrationOptions
  private let monitor: MigrationMonitor

  init(_ backend: any StoreBackend, _ options: MigrationOptions, _ monitor: MigrationMonitor) {
    self.backend = backend
    self.options = options
    self.monitor = monitor
  }

  /// - Parameter isRehearsal: True if the store stays of the version that it has.
  /// - Throws: as `Migrator.run`.
  func run(_ route: MigrationRoute, isRehearsal: Bool = false) throws(StoreError) {
    // Also for what only a version on the way has outside of its rows.
    for hop in route.hops { try BlobOpening(backend).open(for: hop.change.to) }
    try finishPending(route.from)
    let tasks = try MigrationTasks(route, stepwise: options.stepwise)
    try Migrator(backend, tasks, monitor: monitor, sliceCount: options.sliceCount)
      .run(isRehearsal: isRehearsal)
    let present = isRehearsal ? route.from : route.to
    try BlobRecount(backend).runIfDue(
      try Entities(present, model: nil, names: backend.names))
  }

  private func finishPending(_ stored: Schema) throws(StoreError) {
    try DeferredOpening(backend).usePending()
    let entities = try Entities(stored, model: nil, names: backend.names)
    var finishing = DeferredFinishing(backend, entities, sliceCount: options.sliceCount) {
      body throws(StoreError) in try backend.commit(body)
    }
    _ = try finishing.run()
  }
}
