public import Cambium

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A query of the records of a type: a predicate, an order, and a limit.
///
/// ```swift
/// var descriptor = FetchDescriptor<Trip>(
///   predicate: #Predicate { $0.destination == "Ulm" }, sortBy: [.init(\.startDate, order: .reverse)])
/// descriptor.fetchLimit = 10
/// let trips = try context.fetch(descriptor)
/// ```
public struct FetchDescriptor<Model: PersistentModel>: Sendable {
  /// The condition; nil for all records. `Condition(_:)` of the core says what it may use: relations are no part of it.
  public var predicate: Predicate<Model>?
  /// The properties by which records are sorted; last by primary key.
  public var sortBy: [Query<Model>.Order]
  /// The highest number of records; nil for all. SwiftData does not say what a negative number means; here it is refused.
  public var fetchLimit: Int?
  /// The number of records that are left out at the beginning; nil for none. A negative number is refused.
  public var fetchOffset: Int?
  /// True if a context applies its unsaved changes first.
  public var includePendingChanges = true

  public init(predicate: Predicate<Model>? = nil, sortBy: [Query<Model>.Order] = []) {
    self.predicate = predicate
    self.sortBy = sortBy
  }

  /// Returns the core's query.
  ///
  /// - Throws: `StoreError.invalidQuery` if the predicate has a part that is not supported. A negative limit or offset is
  ///   refused when the query is run.
  public func query() throws(StoreError) -> Query<Model> {
    var query = Query<Model>().offset(fetchOffset ?? 0)
    query.limit = fetchLimit
    if let predicate { query.condition = try Condition(predicate) }
    query.order = sortBy
    return query
  }
}

extension Query.Order {
  /// Sorts by a property, as a `SortDescriptor` does.
  public init<Value>(_ field: KeyPath<Subject, Value>, order: SortOrder = .forward) {
    self = order == .forward ? .ascending(field) : .descending(field)
  }
}

// Stores, snapshots, transactions and the contexts of stages read by descriptors, too.

extension RecordReading where Self: ~Copyable {
  /// Returns the records of a descriptor.
  ///
  /// - Throws: `StoreError.invalidQuery`; as `fetch(_:)` of a query.
  public func fetch<Model>(_ descriptor: FetchDescriptor<Model>) throws -> [Model] {
    try fetch(try descriptor.query())
  }

  /// Returns the number of records of a descriptor. No record is read for it where an index decides.
  public func fetchCount<Model>(_ descriptor: FetchDescriptor<Model>) throws -> Int {
    try count(try descriptor.query())
  }

  /// Returns references to the records of a descriptor.
  public func fetchIdentifiers<Model: Identifiable>(
    _ descriptor: FetchDescriptor<Model>
  ) throws -> [Reference<Model>] where Model.ID: RecordKey {
    try ids(try descriptor.query()).map { Reference($0) }
  }

  /// Returns the records of a descriptor with related records, which are read in one pass for each relation: in place of
  /// `relationshipKeyPathsForPrefetching`.
  public func fetch<Model, First, each Other>(
    _ descriptor: FetchDescriptor<Model>, including first: Inclusion<Model, First>,
    _ others: repeat Inclusion<Model, each Other>
  ) throws -> [(Model, First, repeat each Other)] {
    try fetch(try descriptor.query(), including: first, repeat each others)
  }
}

extension FetchDescriptor: CustomStringConvertible {
  /// The query as the library prints it, or the reason for which there is none.
  public var description: String {
    do { return "FetchDescriptor<\(Model.self)>: \(try query())" } catch {
      return "FetchDescriptor<\(Model.self)>: \(error)"
    }
  }
}
