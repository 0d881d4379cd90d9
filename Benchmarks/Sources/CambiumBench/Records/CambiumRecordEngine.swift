import Cambium
import FoundationEssentials

/// Cambium, as a program uses it that knows nothing but its public interface.
final class CambiumRecordEngine: RecordEngine {
  /// Not released: the version in this working copy.
  static let version = "as checked out"

  static func promise(of durability: CommitDurability) -> String {
    switch durability {
    case .durable: "survives a power cut (.durable)"
    case .relaxed: "a crash may undo the last ones, in order (.relaxed)"
    }
  }

  private let path: String
  private let model: StoreModel
  private let options: StoreOptions
  private var opened: PersistentStore?

  init(directory: String, options: RecordOptions) {
    path = directory
    model = StoreModel(version: options.indexes.rawValue, records: [Item.self])
    var storeOptions = StoreOptions()
    storeOptions.durability =
      switch options.durability {
      case .durable: .durable
      case .relaxed: .relaxed(flushWithin: options.relaxedDelay)
      }
    self.options = storeOptions
  }

  // MARK: Opening and closing

  func open() throws {
    try close()
    opened = try PersistentStore(at: path, model: model, options: options)
  }

  func close() throws {
    guard let store = opened else { return }
    opened = nil
    try store.close()
  }

  var store: PersistentStore {
    get throws {
      guard let opened else {
        throw RecordEngineError(engine: .cambium, message: "nothing is open")
      }
      return opened
    }
  }

  // MARK: Writing

  func insertEach(_ items: ArraySlice<Item>) throws {
    let store = try store
    for item in items { try store.insert(item) }
  }

  func saveEach(_ items: ArraySlice<Item>) throws {
    let store = try store
    for item in items { try store.save(item) }
  }

  func insert(_ items: ArraySlice<Item>) throws {
    try store.write { transaction in try transaction.insert(contentsOf: items) }
  }

  func update(_ items: ArraySlice<Item>) throws {
    try store.write { transaction in
      for item in items { try transaction.update(item) }
    }
  }

  func delete(_ items: ArraySlice<Item>) throws {
    let count = try store.write { transaction in try transaction.delete(contentsOf: items) }
    guard count == items.count else {
      throw RecordEngineError(engine: .cambium, message: "deleted \(count) of \(items.count)")
    }
  }

  // MARK: Reading

  func fetch(_ ids: [UUID]) throws -> ItemDigest {
    let snapshot = try store.snapshot()
    var digest = ItemDigest()
    for id in ids {
      if let item = try snapshot.fetch(Item.self, key: id) {
        digest.add(item)
      } else {
        digest.addMiss()
      }
    }
    return digest
  }

  func fetchEach(_ ids: [UUID]) throws -> ItemDigest {
    let store = try store
    var digest = ItemDigest()
    for id in ids {
      if let item = try store.fetch(Item.self, key: id) {
        digest.add(item)
      } else {
        digest.addMiss()
      }
    }
    return digest
  }

  func scan(_ body: (Item) throws -> Void) throws {
    try store.forEach(Item.self, body)
  }
}
