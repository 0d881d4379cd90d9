public import Cambium

/// Changes to the records of a container that are saved together.
///
/// Models are structs, so nothing notices that one is changed: insert it again. Changes wait until `save()`, and are then one
/// transaction in each store; no transaction spans two stores. A context is used by one task or thread at a time.
public final class ModelContext {
  public let container: ModelContainer
  /// A name for the writer, which observers and the history see.
  public var author: String?
  private var pending: [Change] = []

  /// A change that waits to be saved.
  private struct Change {
    let type: any PersistentModel.Type
    let apply: (inout WriteTransaction) throws -> Void
  }

  public init(_ container: ModelContainer) {
    self.container = container
  }

  /// True if there are changes that are not saved.
  public var hasChanges: Bool { !pending.isEmpty }

  private func add(
    _ type: any PersistentModel.Type, _ change: @escaping (inout WriteTransaction) throws -> Void
  ) {
    pending.append(Change(type: type, apply: change))
  }
}

// MARK: - Changing

extension ModelContext {
  /// Adds a model, or replaces the one with its primary key, or with its values in unique fields.
  ///
  /// Errors of the model are thrown by `save()`.
  public func insert<Model: PersistentModel>(_ model: Model) {
    add(Model.self) { try $0.save(model, onConflict: .updateOther) }
  }

  /// Deletes a model, and applies the delete rules of relations.
  public func delete<Model: PersistentModel>(_ model: Model) {
    add(Model.self) { try $0.delete(model) }
  }

  /// Deletes all models that meet a descriptor's predicate, by its order, limit and offset.
  public func delete<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>) throws {
    let query = try descriptor.query()
    add(Model.self) { _ = try $0.delete(query) }
  }

  /// Commits the changes, each store's in one transaction.
  ///
  /// - Throws: `SwiftDataError.unknownSchema` for a model that the container does not have; `StoreError`. Nothing of that store is
  ///   then committed, and its changes wait as before. Stores whose changes were first are committed.
  public func save() throws {
    while let type = pending.first?.type {
      let store = try container.store(for: type)
      try store.write(author: author) { transaction in
        for change in changes(of: store) { try change.apply(&transaction) }
      }
      pending.removeAll { isChange($0, of: store) }
    }
  }

  /// Forgets all changes that are not saved.
  public func rollback() { pending = [] }

  /// Calls a block, and saves. If the block throws, its changes are forgotten.
  public func transaction(block: () throws -> Void) throws {
    let earlier = pending
    do { try block() } catch {
      pending = earlier
      throw error
    }
    try save()
  }

  private func changes(of store: PersistentStore) -> [Change] {
    pending.filter { isChange($0, of: store) }
  }

  private func isChange(_ change: Change, of store: PersistentStore) -> Bool {
    (try? container.store(for: change.type)) === store
  }
}

// MARK: - Reading

extension ModelContext {
  /// Returns the models of a descriptor.
  ///
  /// Changes that are not saved are seen as if they were: they are made in a transaction that is undone. That is exact, and as
  /// slow as saving them to memory.
  ///
  /// - Throws: `SwiftDataError.unknownSchema`; `StoreError.invalidQuery`, and errors of reading.
  public func fetch<Model>(_ descriptor: FetchDescriptor<Model>) throws -> [Model] {
    try read(descriptor, { try $0.fetch(descriptor) }, { try $0.fetch(descriptor) })
  }

  /// Returns the number of models of a descriptor.
  public func fetchCount<Model>(_ descriptor: FetchDescriptor<Model>) throws -> Int {
    try read(descriptor, { try $0.fetchCount(descriptor) }, { try $0.fetchCount(descriptor) })
  }

  /// Returns references to the models of a descriptor.
  public func fetchIdentifiers<Model: Identifiable>(
    _ descriptor: FetchDescriptor<Model>
  ) throws -> [Reference<Model>] where Model.ID: RecordKey {
    try read(
      descriptor, { try $0.fetchIdentifiers(descriptor) }, { try $0.fetchIdentifiers(descriptor) })
  }

  /// Returns the model that a reference leads to; nil if there is none.
  public func model<Model: Identifiable>(for reference: Reference<Model>) throws -> Model? {
    try read(
      FetchDescriptor<Model>(), { try $0.fetch(reference) }, { try $0.fetch(reference) })
  }

  /// Calls a block for each model of a descriptor, which are read in batches. Changes that are not saved are not seen.
  public func enumerate<Model>(
    _ descriptor: FetchDescriptor<Model>, batchSize: Int = 5000, block: (Model) throws -> Void
  ) throws {
    let snapshot = try container.store(for: Model.self).snapshot()
    try snapshot.forEachBatch(try descriptor.query(), of: batchSize) { models in
      for model in models { try block(model) }
    }
  }

  private func read<Model, Result>(
    _ descriptor: FetchDescriptor<Model>, _ saved: (StoreSnapshot) throws -> Result,
    _ unsaved: (inout WriteTransaction) throws -> Result
  ) throws -> Result {
    let store = try container.store(for: Model.self)
    let changes = changes(of: store)
    if changes.isEmpty || !descriptor.includePendingChanges { return try saved(store.snapshot()) }
    var result: Result?
    do {
      try store.write { transaction in
        for change in changes { try change.apply(&transaction) }
        result = try unsaved(&transaction)
        throw Undone()
      }
    } catch let error where !(error is Undone) { throw error } catch {}
    guard let result else { throw StoreError.closed(path: store.path) }
    return result
  }
}

/// Ends a transaction whose changes only were to be seen.
private struct Undone: Error {}

extension ModelContext: CustomStringConvertible {
  /// The number of changes that are not saved, and the container.
  public var description: String {
    let count = pending.isEmpty ? "no" : "\(pending.count)"
    return
      "ModelContext with \(count) unsaved change\(pending.count == 1 ? "" : "s") to \(container)"
  }
}
