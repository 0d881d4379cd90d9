public import Cambium
internal import Synchronization

/// The versions of a model, and the stores that were added for it.
///
/// ```swift
/// let dataStack = DataStack(
///   CoreStoreSchema(modelVersion: "V1", entities: [Entity<V1.Laundry>("Laundry")]),
///   CoreStoreSchema(modelVersion: "V2", entities: [Entity<V2.Laundry>("Laundry")]),
///   migrationChain: ["V1", "V2"])
/// try dataStack.addStorageAndWait(SQLiteStore(fileName: "laundry.cambium"))
/// ```
///
/// Creating one never fails; faults of its versions are thrown when a storage is added.
public final class DataStack: Sendable {
  public let schemaHistory: SchemaHistory
  private let added = Mutex<[Added]>([])

  /// A store that was added.
  private struct Added {
    let configuration: String?
    let store: PersistentStore
  }

  /// - Parameters:
  ///   - schemas: All versions that stores may have, oldest first.
  ///   - migrationChain: The order in which stores are migrated.
  public convenience init(
    _ schemas: CoreStoreSchema..., migrationChain: MigrationChain = nil
  ) {
    self.init(
      schemaHistory: SchemaHistory(allSchema: schemas, migrationChain: migrationChain))
  }

  public init(schemaHistory: SchemaHistory) {
    self.schemaHistory = schemaHistory
  }

  /// The name of the current version.
  ///
  /// - Throws: `CoreStoreError.invalidHistory`.
  public var modelVersion: String {
    get throws(CoreStoreError) { try schemaHistory.currentModelVersion }
  }

  func model(of configuration: String?) throws -> StoreModel {
    let model = try schemaHistory.model()
    return try configuration.map { try model.configuration($0) } ?? model
  }

  func add(_ store: PersistentStore, as configuration: String?) {
    added.withLock { $0.append(Added(configuration: configuration, store: store)) }
  }
}

// MARK: - Stores

extension DataStack {
  /// Adds a store in memory.
  ///
  /// - Throws: As `SchemaHistory.model()`.
  @discardableResult
  public func addStorageAndWait(_ storage: InMemoryStore) throws -> InMemoryStore {
    let model = try model(of: storage.configuration)
    add(try PersistentStore(inMemory: model), as: storage.configuration)
    return storage
  }

  /// Returns the core's store of a configuration, or the first that was added: for everything that a stack does not offer.
  ///
  /// - Throws: `CoreStoreError.persistentStoreNotFound`.
  public func store(
    of configuration: String? = nil
  ) throws(CoreStoreError) -> PersistentStore {
    let found = added.withLock { added in
      added.first { configuration == nil || $0.configuration == configuration }?.store
    }
    guard let found else { throw .persistentStoreNotFound(configuration ?? "any entity") }
    return found
  }

  /// Returns the store that has the objects of a type.
  ///
  /// - Throws: `CoreStoreError.persistentStoreNotFound`.
  func store(
    for type: any Record.Type, in configuration: String?
  ) throws(CoreStoreError) -> PersistentStore {
    if configuration != nil { return try store(of: configuration) }
    let found = added.withLock { added in
      added.first { one in
        one.store.schema.record(named: type.recordName(in: one.store.schema.version)) != nil
      }?.store
    }
    // A kind of a hierarchy has no record of its own.
    if let found { return found }
    return try store()
  }

  /// Closes all stores, and removes them from the stack.
  ///
  /// - Throws: The first error; the other stores are closed nevertheless.
  public func unsafeRemoveAllPersistentStoresAndWait() throws(StoreError) {
    let closing = added.withLock { added in
      defer { added = [] }
      return added
    }
    var failure: StoreError?
    for one in closing {
      do throws(StoreError) { try one.store.close() } catch { failure = failure ?? error }
    }
    if let failure { throw failure }
  }
}

extension DataStack: CustomStringConvertible {
  /// The versions, and the paths of the stores that were added.
  public var description: String {
    let stores = added.withLock { $0.map(\.store.path) }
    return "DataStack of \(schemaHistory)"
      + (stores.isEmpty ? "" : "; \(stores.joined(separator: ", "))")
  }
}
