/// The stores of a model's configurations, opened, migrated and closed together.
///
/// ```swift
/// let model = StoreModel(
///   records: [Order.self, Item.self, Draft.self],
///   configurations: ["orders": [Order.self, Item.self], "drafts": [Draft.self]])
/// let stores = try StoreGroup(model, at: ["orders": "orders.cambium", "drafts": "drafts.cambium"])
/// try stores[Draft.self].save(draft)
/// try stores["orders"].write { transaction in … }
/// ```
///
/// Each store has transactions, snapshots and a history of its own: no transaction spans two of them. A reference from one to
/// another is declared with `checked: false`, and is followed by asking the other store: `stores[Author.self].fetch(book.author)`.
public struct StoreGroup: Sendable {
  private let model: StoreModel
  private let stores: [String: PersistentStore]

  /// Opens the stores of a model's configurations, or creates them.
  ///
  /// All migrations are planned before the first begins: if one of them cannot be done, no store is changed. A migration that
  /// fails later leaves those before it done; the next opening continues.
  ///
  /// - Parameters:
  ///   - paths: The directory of each store, by the name of its configuration. Configurations without one are not opened.
  ///   - steps: The steps of each store's migration that do not follow from the descriptions, by configuration.
  ///   - migration: How stores of an older version are migrated, or that they are refused.
  /// - Throws: `StoreError.invalidDescription` if the model is wrong, or a path or steps are given for a name that is
  ///   no configuration; and errors of `PersistentStore(at:model:steps:migration:options:)`. No store is then left
  ///   open.
  public init(
    _ model: StoreModel, at paths: [String: String], steps: [String: [MigrationStep]] = [:],
    migration: MigrationMode = .automatic, options: StoreOptions = StoreOptions()
  ) throws(StoreError) {
    _ = try model.checked()
    for name in steps.keys where paths[name] == nil {
      throw model.invalid("there are steps for “\(name)”, which is not opened")
    }
    var members: [Member] = []
    for name in paths.keys.sortedRarely(by: { $0.precedes($1) }) {
      guard let path = paths[name] else { continue }
      members.append(
        Member(
          name: name, path: path, model: try model.configuration(name), steps: steps[name] ?? []))
    }
    if migration != .refuse, options.access != .reading {
      for member in members { try member.checkMigration(options) }
    }
    var stores: [String: PersistentStore] = [:]
    do throws(StoreError) {
      for member in members {
        stores[member.name] = try PersistentStore(
          at: member.path, model: member.model, steps: member.steps, migration: migration,
          options: options)
      }
    } catch {
      for store in stores.values { try? store.close() }
      throw error
    }
    self.model = model
    self.stores = stores
  }

  /// A store that is to be opened.
  private struct Member {
    let name: String
    let path: String
    let model: StoreModel
    let steps: [MigrationStep]

    /// Throws the error that prevents the store's migration. A store that does not exist is skipped.
    func checkMigration(_ options: StoreOptions) throws(StoreError) {
      let plan: MigrationPlan
      do throws(StoreError) {
        plan = try PersistentStore.migration(
          at: path, to: model, steps: steps, options: options
        ).plan
      } catch {
        if case .missing = error { return }
        throw error
      }
      guard plan.faults.isEmpty else {
        throw .cannotMigrate(
          from: plan.from, to: plan.to, reasons: plan.faults.map { "\(name): \($0)" })
      }
    }
  }
}

extension StoreGroup {
  /// The names of the configurations whose stores are open, sorted.
  public var names: [String] { stores.keys.sortedRarely { $0.precedes($1) } }

  /// The store of a configuration.
  ///
  /// - Throws: `StoreError.invalidDescription` if there is no such configuration, or it was not opened.
  public subscript(name: String) -> PersistentStore {
    get throws(StoreError) {
      guard let store = stores[name] else {
        throw model.invalid(
          "the configuration “\(name)” is not open; open are: \(names.joined(separator: ", "))")
      }
      return store
    }
  }

  /// The store that has the records of a type.
  ///
  /// - Throws: `StoreError.invalidDescription` if no open store has them, or more than one: then name the configuration.
  public subscript(type: any Record.Type) -> PersistentStore {
    get throws(StoreError) {
      let found = names.filter { model.configurations[$0]?.contains { $0 == type } ?? false }
      guard let name = found.first else {
        throw model.invalid("\(type) is in no configuration that is open")
      }
      guard found.count == 1 else {
        throw model.invalid(
          "\(type) is in the configurations \(found.joined(separator: ", ")); name the one that is meant"
        )
      }
      return try self[name]
    }
  }

  /// Returns the newest committed state of each store, by configuration. They are taken one after the other.
  ///
  /// - Throws: `StoreError.closed`, `.forked`.
  public func snapshots() throws(StoreError) -> [String: StoreSnapshot] {
    var snapshots: [String: StoreSnapshot] = [:]
    for name in names { snapshots[name] = try self[name].snapshot() }
    return snapshots
  }

  /// Closes all stores.
  ///
  /// - Throws: The first error of `PersistentStore.close()`; the other stores are closed nevertheless.
  public func close() throws(StoreError) {
    var failure: StoreError?
    for name in names {
      do throws(StoreError) { try self[name].close() } catch { failure = failure ?? error }
    }
    if let failure { throw failure }
  }
}
