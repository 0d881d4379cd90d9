import Cambium

extension PersistentStore {
  /// A store whose last transactions a power cut may undo, in order, as of SQLite with `synchronous = NORMAL`.
  static func relaxed(at path: String, _ records: any Record.Type...) throws -> PersistentStore {
    var options = StoreOptions()
    options.durability = .relaxed
    return try PersistentStore(at: path, model: StoreModel(records: records), options: options)
  }
}
