import Cambium

/// The pages of a store: a function from requests to responses, without a socket.
///
/// The store is opened for reading when the first page needs it, beside any program that writes it, and each page shows the
/// newest commit that is known to be on the disk. Nothing is ever written to it.
///
/// ```swift
/// let token = BrowserToken.random()
/// let browser = Browser(store: "orders.cambium", token: token)
/// let response = browser.response(to: BrowserRequest(target: "/\(token)/", host: "localhost:8080"))
/// ```
public struct Browser: Sendable {
  private let store: FollowedStore
  private let files: SchemaFiles?
  private let gate: Gate

  /// Creates the pages of the store in a directory, which need not exist yet.
  ///
  /// - Parameters:
  ///   - path: The store's directory.
  ///   - token: The first part of the path of every address. A request without it is refused.
  ///   - schema: The files for the plan of a migration.
  ///   - allowsNetworkFileSystems: As `StoreOptions.allowsNetworkFileSystems`.
  public init(
    store path: String, token: String, schema: SchemaFiles? = nil,
    allowsNetworkFileSystems: Bool = false
  ) {
    store = FollowedStore(at: path, allowsNetworkFileSystems: allowsNetworkFileSystems)
    files = schema
    gate = Gate(token: token)
  }

  /// Returns the response to a request. Errors of the store are pages as well.
  ///
  /// - Complexity: That of the queries of a page; a query ends with an error after twenty seconds.
  public func response(to request: BrowserRequest) -> BrowserResponse {
    if let refusal = gate.refusal(of: request) { return refusal }
    // Links are relative to the path with the slash.
    if request.path.count == 1 {
      return BrowserResponse(308, plain: "The address ends with a slash.")
        .with("Location", PercentCoding.encoded(request.path[0]) + "/")
    }
    guard request.path.count == 2, let route = Route(rawValue: request.path[1]) else {
      return framed(PageFault(404, "There is no such page.").page, .overview, status: 404)
    }
    if route == .style {
      return BrowserResponse(200, "text/css; charset=utf-8", Blob(utf8: StyleSheet.text))
    }
    do {
      if route == .content { return try RecordContent.response(try store.snapshot(), request) }
      return framed(try page(route, request), route, status: 200)
    } catch {
      let fault = PageFault(error)
      return framed(fault.page, route, status: fault.status)
    }
  }

  private func page(_ route: Route, _ request: BrowserRequest) throws -> Page {
    switch route {
    case .overview, .style, .content: try OverviewPage(of: store).page
    case .records: try RecordsPage(try store.snapshot(), request).page
    case .sections: try SectionsPage(try store.snapshot(), request).page
    case .record: try RecordPage(try store.snapshot(), request).page
    case .versions: try VersionsPage(try store.inspection().schemas, request).page
    case .migration: try MigrationPage(store, files).page
    case .map: try MapPage(store).page
    case .history: try HistoryPage(try store.snapshot(), request).page
    }
  }

  private func framed(_ page: Page, _ route: Route, status: Int) -> BrowserResponse {
    let types = (try? store.snapshot().statistics().records) ?? []
    return BrowserResponse(
      status, Frame(store: store.name, types: types, route: route).html(page))
  }
}
