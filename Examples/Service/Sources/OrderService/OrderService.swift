import Cambium
import Hummingbird
import Logging

/// A service that keeps orders in a store of its own.
///
///     order-service serve STORE [port [address]]      on this machine's own address, 127.0.0.1, by default
///     order-service seed STORE count        makes a store of version 1, as last year's service left it
///     order-service verify STORE            reads order ids, one a line, and says which are not there
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
    var options = StoreOptions()
    options.logger = Logger(label: "store")
    let logger = Logger(label: "orders")
    // The service before this one may still be ending.
    options.lock = .wait(for: .seconds(30))
    let store = try await PersistentStore(
      at: path, model: Order.model, migration: .deferred, options: options)
    logger.info("opened", metadata: ["report": "\(store.report)"])
    let application = Application(
      router: Routes(store: store).router(),
      configuration: .init(address: .hostname(address, port: port)),
      services: [StoreService(store: store, logger: logger)], logger: logger)
    // Services stop in reverse: requests first, then the store.
    try await application.runService()
  }
}
