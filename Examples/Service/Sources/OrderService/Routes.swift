import Cambium
import FoundationEssentials
import Hummingbird

extension Order: ResponseCodable {}

/// What the service answers.
///
///     POST /orders            {"customer": …, "cents": …}   → the order; it is on the medium then
///     GET  /orders/ID                                       → the order
///     GET  /orders?customer=NAME                            → the orders of a customer, by the index
///     GET  /metrics                                         → what the store says of itself
struct Routes {
  let store: PersistentStore

  func router() -> Router<BasicRequestContext> {
    let router = Router()
    router.post("orders") { request, context in try await add(request, context) }
    router.get("orders/:id") { _, context in try order(context) }
    router.get("orders") { request, _ in try await orders(request) }
    router.get("metrics") { _, _ in try Metrics(of: store).text }
    return router
  }

  private struct NewOrder: Decodable {
    var customer: String
    var cents: Int
  }

  private func add(_ request: Request, _ context: BasicRequestContext) async throws -> Order {
    let new = try await request.decode(as: NewOrder.self, context: context)
    let order = Order(customer: new.customer, cents: new.cents)
    try await store.insert(order)
    return order
  }

  private func order(_ context: BasicRequestContext) throws -> Order {
    let id = try context.parameters.require("id", as: UUID.self)
    guard let order = try store.fetch(Order.self, key: id) else { throw HTTPError(.notFound) }
    return order
  }

  private func orders(_ request: Request) async throws -> [Order] {
    let name = try request.uri.queryParameters.require("customer")
    return try await store.fetch(Query<Order>(where: \.customer == name, limit: 100))
  }
}
