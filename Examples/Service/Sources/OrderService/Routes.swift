import Cambium
import CambiumService
import FoundationEssentials
import Hummingbird

extension Order: ResponseCodable {}

/// The requests that the service answers.
///
///     POST /orders            {"customer": …, "cents": …}   → the order, which is on the disk then; 507 if the disk is full
///     GET  /orders/ID                                       → the order
///     GET  /orders?customer=NAME                            → the orders of a customer, by the index
///     GET  /metrics                                         → figures of the store
///     GET  /health/live, /health/ready                      → 200 or 503, and the health of the store in a line
struct Routes {
  let service: StoreService
  let metrics: MetricsPage

  func router() -> Router<BasicRequestContext> {
    let router = Router()
    router.post("orders") { request, context in try await add(request, context) }
    router.get("orders/:id") { _, context in try order(context) }
    router.get("orders") { request, _ in try await orders(request) }
    router.get("metrics") { _, _ in metrics.text }
    router.get("health/live") { _, _ in probe(\.isAlive) }
    router.get("health/ready") { _, _ in probe(\.isReady) }
    return router
  }

  /// The store, unless it is still being opened or migrated.
  private var store: PersistentStore {
    get throws {
      do {
        return try service.store()
      } catch {
        throw HTTPError(.serviceUnavailable, message: "\(error)")
      }
    }
  }

  private func probe(_ isWell: (StoreHealth) -> Bool) -> EditedResponse<String> {
    let health = service.health
    return EditedResponse(
      status: isWell(health) ? .ok : .serviceUnavailable, response: "\(health)\n")
  }
}

// MARK: - Orders

extension Routes {
  private struct NewOrder: Decodable {
    var customer: String
    var cents: Int
  }

  private func add(_ request: Request, _ context: BasicRequestContext) async throws -> Order {
    let new = try await request.decode(as: NewOrder.self, context: context)
    let order = Order(customer: new.customer, cents: new.cents)
    do {
      try await store.insert(order)
    } catch StoreError.full {
      // Nothing was written, and the request succeeds as soon as there is space.
      throw HTTPError(
        .init(code: 507, reasonPhrase: "Insufficient Storage"), message: "The disk is full.")
    }
    return order
  }

  private func order(_ context: BasicRequestContext) throws -> Order {
    let id = try context.parameters.require("id", as: UUID.self)
    guard let order = try store.fetch(Order.self, key: id) else { throw HTTPError(.notFound) }
    return order
  }

  private func orders(_ request: Request) async throws -> [Order] {
    let name = try request.uri.queryParameters.require("customer")
    return try await store.fetch(Order.where { $0.customer == name }.limit(100))
  }
}
