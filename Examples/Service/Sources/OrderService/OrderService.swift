import Cambium
import CambiumService
import CoreMetrics
import Hummingbird
import Logging
import ServiceLifecycle
import UnixSignals

/// A service that keeps orders in a store of its own.
///
///     order-service serve STORE [port [address]]      on this machine's own address, 127.0.0.1, by default
///     order-service seed STORE count        makes a store of version 1, as last year's service left it
///     order-service verify STORE            reads order ids, one a line, and reports those that are missing
@main enum OrderService {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    switch (arguments.first, arguments.dropFirst().first, arguments.dropFirst(2).first) {
    case ("serve", let path?, let port):
      try await serve(
        path, port: port.flatMap { Int($0) } ?? 8080,
        address: arguments.dropFirst(3).first ?? "127.0.0.1")
    case ("seed", let path?, let count?): try FirstOrder.seed(Int(count) ?? 0, at: path)
    case ("verify", let path?, _): try Verification.run(path)
    default:
      print(
        "usage: order-service serve STORE [port [address]] | seed STORE COUNT | verify STORE < IDS")
    }
  }

  private static func serve(_ path: String, port: Int, address: String) async throws {
    let logger = Logger(label: "orders")
    // swift-prometheus has a factory that takes the place of this one. It has to be there before the services are made.
    let metrics = MetricsPage()
    MetricsSystem.bootstrap(metrics)
    let store = makeStoreService(path, logger)
    let server = Application(
      router: Routes(service: store, metrics: metrics).router(),
      configuration: .init(address: .hostname(address, port: port)), logger: logger)
    // Both start at once: the server answers probes while the store is opened. They stop in reverse: first the server, when its
    // requests are answered, then the store.
    let group = ServiceGroup(
      configuration: .init(
        services: [store, server], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
    try await group.run()
  }

  private static func makeStoreService(_ path: String, _ logger: Logger) -> StoreService {
    var storeOptions = StoreOptions()
    storeOptions.logger = logger
    var options = StoreServiceOptions()
    options.name = "orders"
    // The service before this one may still be ending.
    options.lockTimeout = .seconds(30)
    options.metricsInterval = .seconds(1)
    // Spans go to the tracer that the program bootstraps, such as that of swift-otel; without one, to none.
    options.tracesWork = true
    return StoreService(
      at: path, model: Order.model, storeOptions: storeOptions, options: options)
  }
}
