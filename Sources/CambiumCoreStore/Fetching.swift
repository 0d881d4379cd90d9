public import Cambium

/// The objects that are fetched: an entity, a condition and an order.
///
/// ```swift
/// let loved = try dataStack.fetchAll(
///   From<V2.Laundry>().where(\.favorite == true).orderBy(.ascending(\.name)))
/// ```
public struct From<Object: Record>: Sendable {
  let configuration: String?
  private var query = Query<Object>()

  /// - Parameter configuration: The store; nil for the one that has the entity.
  public init(_ configuration: String? = nil) {
    self.configuration = configuration
  }

  /// Returns the clause with another condition, which has to be met, too.
  public func `where`(_ condition: Condition<Object>) -> From { with { $0 = $0.where(condition) } }

  /// Returns the clause with another order.
  public func orderBy(_ order: Query<Object>.Order...) -> From { with { $0.order = order } }

  /// Returns the clause with its query changed: a limit, an offset.
  public func tweak(_ change: (inout Query<Object>) -> Void) -> From { with(change) }

  private func with(_ change: (inout Query<Object>) -> Void) -> From {
    var from = self
    change(&from.query)
    return from
  }

  /// The core's query of the clauses.
  public func query(_ clauses: [any FetchClause<Object>] = []) -> Query<Object> {
    clauses.reduce(self) { $1.apply(to: $0) }.query
  }
}

/// A condition or an order that is given beside `From`.
public protocol FetchClause<Object>: Sendable {
  associatedtype Object: Record
  func apply(to from: From<Object>) -> From<Object>
}

/// A condition: `Where(\.favorite == true)`.
public struct Where<Object: Record>: FetchClause {
  private let condition: Condition<Object>

  public init(_ condition: Condition<Object>) {
    self.condition = condition
  }

  public func apply(to from: From<Object>) -> From<Object> { from.where(condition) }
}

/// An order: `OrderBy(.ascending(\.name))`.
public struct OrderBy<Object: Record>: FetchClause {
  private let order: [Query<Object>.Order]

  public init(_ order: Query<Object>.Order...) {
    self.order = order
  }

  public func apply(to from: From<Object>) -> From<Object> {
    from.tweak { $0.order = order }
  }
}

extension DataStack {
  /// Returns all objects that the clauses name.
  ///
  /// - Throws: `CoreStoreError.persistentStoreNotFound`; as `fetch(_:)` of a query.
  public func fetchAll<Object>(
    _ from: From<Object>, _ clauses: any FetchClause<Object>...
  ) throws -> [Object] {
    try store(for: Object.self, in: from.configuration).fetch(from.query(clauses))
  }

  /// Returns the first object that the clauses name; nil if there is none.
  public func fetchOne<Object>(
    _ from: From<Object>, _ clauses: any FetchClause<Object>...
  ) throws -> Object? {
    try store(for: Object.self, in: from.configuration).first(from.query(clauses))
  }

  /// Returns the number of objects that the clauses name.
  public func fetchCount<Object>(
    _ from: From<Object>, _ clauses: any FetchClause<Object>...
  ) throws -> Int {
    try store(for: Object.self, in: from.configuration).count(from.query(clauses))
  }
}

extension WriteTransaction {
  /// Returns all objects that the clauses name, as the transaction has them.
  public func fetchAll<Object>(
    _ from: From<Object>, _ clauses: any FetchClause<Object>...
  ) throws -> [Object] {
    try fetch(from.query(clauses))
  }

  /// Returns the first object that the clauses name, as the transaction has it; nil if there is none.
  public func fetchOne<Object>(
    _ from: From<Object>, _ clauses: any FetchClause<Object>...
  ) throws -> Object? {
    try first(from.query(clauses))
  }

  /// Deletes all objects that the clauses name. Returns their number.
  @discardableResult
  public mutating func deleteAll<Object>(
    _ from: From<Object>, _ clauses: any FetchClause<Object>...
  ) throws -> Int {
    try delete(from.query(clauses))
  }
}
