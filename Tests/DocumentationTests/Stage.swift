import Cambium
import Foundation

/// The stores that the sessions of articles begin with, as the programs in the text around them have written them.
enum Stage: String {
  /// A shop with 1,000 items.
  case shop
  /// The same shop, and the lock of a release that names and counts items differently.
  case release
  /// The notes of the tutorial, in the first version.
  case notes
  /// The same notes after the second version of the program ran.
  case newNotes

  struct Unknown: Error {
    let name: String
  }

  static func named(_ name: String) throws -> Stage {
    guard let stage = Stage(rawValue: name) else { throw Unknown(name: name) }
    return stage
  }

  func set(in directory: URL) throws {
    func path(_ name: String) -> String { directory.appending(path: name).path }
    switch self {
    case .shop: try Shop.make(at: path("shop.cambium"))
    case .release:
      try Shop.make(at: path("shop.cambium"))
      try SchemaLock.write(Shop.nextModel, steps: [], at: path("Schema.lock"))
    case .notes: try Notebook.makeFirst(at: path("notes.cambium"))
    case .newNotes: try Notebook.makeSecond(at: path("notes.cambium"))
    }
  }
}

/// The store of the articles on operation.
private enum Shop {
  struct Item: Record {
    var id: Int
    var name: String
    var price: Double

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      Field("name", indexed: true)
      Field("price")
    }
  }

  static let model = StoreModel(version: 1, records: [Item.self])
  static let nextModel = StoreModel(version: 2, records: [NextItem.self])

  /// The item of the next version.
  struct NextItem: Record {
    var id: Int
    var title: String
    var price: Double
    var stock = 0

    static func recordDescription(for version: Int) -> RecordDescription {
      RecordName("Item")
      Field("id", primaryKey: true)
      if version < 2 {
        Field("name", property: "title", indexed: true)
      } else {
        Field("title", indexed: true, migrationInfo: .init(renamingID: "name"))
        Field("stock", migrationInfo: .init(default: 0))
      }
      Field("price")
    }
  }

  static func make(at path: String) throws {
    let store = try PersistentStore(at: path, model: model)
    try store.write { transaction in
      for id in 1...1_000 {
        try transaction.save(Item(id: id, name: "Item \(id)", price: Double(id) / 4))
      }
    }
    try store.close()
  }
}

/// The store of the tutorial, as its two programs write it.
private enum Notebook {
  struct FirstNote: Record {
    var id: Int
    var text: String
    var isDone = false

    static func recordDescription(for version: Int) -> RecordDescription {
      RecordName("Note")
      Field("id", primaryKey: true)
      Field("text")
      Field("isDone")
    }
  }

  struct Note: Record {
    var id: Int
    var title: String
    var isDone = false
    var priority = 0

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      if version < 2 {
        Field("text", property: "title")
      } else {
        Field("title", migrationInfo: .init(renamingID: "text"))
        Field("priority", migrationInfo: .init(default: 0))
      }
      Field("isDone")
    }
  }

  static func makeFirst(at path: String) throws {
    let store = try PersistentStore(at: path, model: StoreModel(records: [FirstNote.self]))
    try store.save(FirstNote(id: 1, text: "Buy milk"))
    try store.write { transaction in
      try transaction.save(FirstNote(id: 2, text: "Call Ada"))
      try transaction.save(FirstNote(id: 3, text: "Water the plants", isDone: true))
    }
    try store.close()
  }

  static func makeSecond(at path: String) throws {
    let store = try PersistentStore(at: path, model: StoreModel(version: 2, records: [Note.self]))
    try store.save(Note(id: 4, title: "Plant a tree", priority: 2))
    try store.close()
  }
}
