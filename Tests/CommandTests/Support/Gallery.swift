import Cambium
import FoundationEssentials

/// A store with values outside of rows.
enum Gallery {
  struct Picture: Record {
    var id: Int
    var content: Blob

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "content", type: .binaryData, storage: .external(threshold: 100))
    }
  }

  /// Makes one of three pictures, the second of which was deleted.
  static func make(at path: String) throws {
    let store = try PersistentStore(at: path, model: StoreModel(records: [Picture.self]))
    for id in 1...3 {
      let content = Data((0..<20_000).map { UInt8(truncatingIfNeeded: ($0 &* $0 &* id) &>> 3) })
      try store.save(Picture(id: id, content: Blob(content)))
    }
    try store.write { transaction in _ = try transaction.delete(Picture.self, key: 2) }
    try store.close()
  }
}
